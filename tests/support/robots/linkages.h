// Closed-loop mechanisms for tests: the tree, its loops, and a configuration in which they are closed.
#pragma once
#include <Eigen/Dense>

#include "core/model/loops.h"
#include "core/reference/loops/null_space.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::testing {

struct Linkage {
  std::string name;
  Robot robot;
  Loops<double> loops;
  Numbers q;                      // closes the loops
  std::vector<char> actuated;     // (nv) 1 for joints with motors
  std::vector<char> independent;  // (nv) 1 for coordinates that may serve as y
  int mobility;
  const Model<double>& model() const { return robot.model; }
};

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct LoopRows {
  RowMatrix K;
  Eigen::VectorXd k, delta;
};
LoopRows constraints(const Model<double>& m, const Loops<double>& loops, const Numbers& q, const Numbers& v,
                     double rate = 0);
Numbers numbers(const Eigen::VectorXd& x);

// The shortest x with the least |K x - k|.
Eigen::VectorXd least_squares(const Eigen::MatrixXd& K, const Eigen::VectorXd& k);
// The nearest configuration with closed loops, by Newton iterations with K's pseudo-inverse.
Numbers closed(const Model<double>& m, const Loops<double>& loops, Numbers q, int iterations = 30);
// The part of a velocity that satisfies the loop constraints.
Numbers admissible(const Model<double>& m, const Loops<double>& loops, const Numbers& q, const Numbers& v);

// A random state on the constraints: a configuration near that of the linkage, and a velocity that satisfies the
// loops.
State admissible_state(const Linkage& l, unsigned seed);
// H, C, K, k in that state, external forces included.
ClosedLoopSystem system_of(const Linkage& l, const State& s, double rate = 0);

// A link in the x-y plane from its joint at the origin to x = length.
LinkSpec bar(const std::string& name, double length, double mass);
JointSpec hinge(const std::string& name, const std::string& parent, const std::string& child, const Vec3d& r);
LoopSpec pin(const std::string& p, const Vec3d& at_p, const std::string& s, const Vec3d& at_s);
Linkage finish(const std::string& name, const ModelBuilder& b, const std::vector<LoopSpec>& specs, Numbers guess,
               std::vector<char> actuated, std::vector<char> independent, int mobility);

// The links of a four-bar linkage with hinges a, b at the crank's ends and d at `base` on the x axis; without the
// loop.
ModelBuilder open_four_bar(double base, const Vec3d& gravity);
// Crank and coupler from one pivot, rocker from the other; the pin joins coupler and rocker. RBDA section 8.11.
Linkage four_bar(LoopType type = LoopType::Revolute);
Linkage slider_crank();
Linkage five_bar();
// A floating platform, and six legs (universal joint, piston) that end in ball joints on it.
Linkage stewart_platform();
// A floating trunk with a leg whose knee is driven from the hip by a crank and a push rod parallel to the thigh.
Linkage parallel_leg();
std::vector<Linkage> linkages();

// The robot of a linkage, with the loops in its model.
Robot closed_robot(const Linkage& l);
// A gripper on a wrist: the second finger mimics the first, and a knuckle follows both the first finger and the wrist.
// The model contains the coupling.
Robot gripper();

}  // namespace featherstorm::testing
