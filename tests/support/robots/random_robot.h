// Random robots over all joint types and random states of them, the same for the same seed on every machine.
//
//   const RobotSpec spec = random_spec(seed, options);   // links and joints in the user's frames, for the dense oracle
//   const Robot robot = build(spec);                     // or random_robot(seed, options)
//   const State s = random_state(robot, seed);
//
// Tests print the seed: SCOPED_TRACE("seed " + std::to_string(seed)).
#pragma once
#include <Eigen/Geometry>
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/builder.h"
#include "core/model/joints.h"
#include "tests/support/robots/user_joints.h"

namespace featherstorm::testing {

// splitmix64, because the standard library's distributions differ between implementations.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x1234567u) {}
  double uniform(double low, double high);
  int below(int n);
  bool chance(double p);
  Vec3d vector(double scale = 1);
  Eigen::Quaterniond quaternion();
  Mat3d rotation();
  // one of the 24 rotations that permute the coordinate axes
  Mat3d aligned_rotation();
  template <class Element> void shuffle(std::vector<Element>& a) {
    for (int i = static_cast<int>(a.size()) - 1; i > 0; i--) std::swap(a[i], a[below(i + 1)]);
  }

 private:
  std::uint64_t bits();
  std::uint64_t state_;
};

inline const std::vector<JointType> all_joint_types = {
    JointType::Revolute,  JointType::Prismatic,  JointType::Helical, JointType::Cylindrical,
    JointType::Planar,    JointType::Ball,       JointType::BallYpr, JointType::BallExp,
    JointType::Universal, JointType::RackPinion, JointType::Free,    JointType::UserDefined};

std::string name_of(JointType type);

struct RandomOptions {
  int bodies = 8;  // moving bodies
  std::vector<JointType> types = all_joint_types;
  double reversed = 0.3;   // probability that a joint runs from child to parent
  double branching = 0.5;  // probability that a body is attached to any earlier one, not to the last
  double roots = 0.1;      // probability that a body is attached to the world
  double aligned = 0.4;    // probability that a placement or an axis is along coordinate axes
  double armature = 0.3;   // probability that a joint has a rotor
  double fixed = 0.3;      // probability of an additional link welded to a body
  bool floating = false;   // the first body floats
  bool shuffled = true;    // joints are added in random order
};

// The arguments for a builder, kept for oracles that must not read the model.
struct RobotSpec {
  std::string name = "robot";
  std::vector<LinkSpec> links;
  std::vector<JointSpec> joints;
  std::vector<FrameSpec> frames;
  std::vector<std::string> floating;
  Vec3d gravity{0, 0, -9.81};
};

ModelBuilder builder(const RobotSpec& spec);
Robot build(const RobotSpec& spec);

// A physically valid body: principal second moments are positive.
LinkSpec random_link(Random& random, const std::string& name);
Placement<double> random_placement(Random& random, double aligned);
JointSpec random_joint(Random& random, const std::string& name, JointType type, const RandomOptions& options);

RobotSpec random_spec(unsigned seed, const RandomOptions& options = {});
Robot random_robot(unsigned seed, const RandomOptions& options = {});

// All inputs of an algorithm, in the order of the model.
struct State {
  std::vector<double> q, v, a, tau, f_ext;  // (nq), (nv), (nv), (nv), (6 nb)
};

void store_unit_quaternion(Random& random, double* q);
// Quaternions are unit, the pitch of yaw-pitch-roll joints is within 1.2 rad, f_ext has random forces on all bodies.
State random_state(const Model<double>& m, unsigned seed);
State random_state(const Robot& robot, unsigned seed);

}  // namespace featherstorm::testing
