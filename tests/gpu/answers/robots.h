// The robots of these programs, and which rows of the table each one has.
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "host/load/load.h"
#include "tests/gpu/answers/report.h"
#include "tests/support/oracles/op_cases.h"
#include "tests/support/robots/contact_robots.h"
#include "tests/support/robots/linkages.h"

namespace featherstorm::testing {

struct NamedRobot {
  std::string name;
  Robot robot;
  // Only rows that need this are run: others are singular (a planar mechanism in space), or another robot's (contacts).
  Needs only = Needs::nothing;
};

template <class Op> bool takes_part(const NamedRobot& r) {
  return on_device<Op>(r.robot.model) && (r.only == Needs::nothing || r.only == Op::info.needs);
}

// A tree over all joint types but those of the user, with a free root.
inline Robot all_joints(unsigned seed, int bodies, bool floating) {
  RandomOptions o;
  o.types.pop_back();
  o.bodies = bodies, o.floating = floating;
  if (floating) o.roots = 0;  // rows of floating bases need one that carries all bodies
  return random_robot(seed, o);
}

// Robots of the shapes that matter: an arm, a quadruped, a humanoid, and trees over all joint types.
inline std::vector<NamedRobot> gpu_robots() {
  std::vector<NamedRobot> robots;
  RandomOptions o;
  o.types = {JointType::Revolute}, o.reversed = 0, o.roots = 0;
  o.bodies = 7, o.branching = 0;
  robots.push_back({"arm7", random_robot(31, o)});
  o.bodies = 13, o.branching = 0.35, o.floating = true;
  robots.push_back({"legged18", random_robot(32, o)});
  o.bodies = 31;
  robots.push_back({"humanoid36", random_robot(33, o)});
  for (unsigned seed = 1; seed <= 4; seed++)
    robots.push_back(
        {"all_joints_" + std::to_string(seed), all_joints(40 + seed, 3 + 4 * static_cast<int>(seed), seed % 2 == 0)});
  return robots;
}

inline NamedRobot standing_quadruped() {
  NamedRobot r{"quadruped_on_feet", quadruped(), Needs::contacts};
  r.robot.model.contacts = contacts_of(r.robot, feet());
  return r;
}
// Robots with contacts of all surfaces and of feet alone, with closed loops, and with coupled joints.
inline std::vector<NamedRobot> constrained_robots() {
  return {{"touching", touching(all_joints(43, 6, true)), Needs::contacts},
          standing_quadruped(),
          {"four_bar", closed_robot(four_bar()), Needs::loops},
          {"parallel_leg", closed_robot(parallel_leg()), Needs::loops},
          {"gripper", gripper(), Needs::coupling}};
}
// Every row that has a CUDA kernel, on small robots.
inline std::vector<NamedRobot> quick_robots() {
  return {{"tree", all_joints(42, 5, true)},
          {"touching", touching(all_joints(43, 3, true)), Needs::contacts},
          {"four_bar", closed_robot(four_bar()), Needs::loops},
          {"gripper", gripper(), Needs::coupling}};
}
// A robot of host/robots, with its feet on the ground where these frames are named.
inline NamedRobot named(const std::string& name, const std::vector<std::string>& feet = {}) {
  NamedRobot r{name, load(name)};
  std::vector<ContactSpec> specs;
  for (const std::string& foot : feet) specs.push_back(on_ground(foot, {0, 0, 0}, 0.022, 0.7));
  if (!specs.empty()) r.robot.model.contacts = contacts_of(r.robot, specs);
  return r;
}
inline const std::vector<std::string> go2_feet = {"FL_foot", "FR_foot", "RL_foot", "RR_foot"};

// Which rows of the table have run.
class Coverage {
 public:
  void ran(int op) { ran_[op] = true; }
  // A line that says how many of the rows with CUDA kernels ran, and one, a failure, that names the others.
  void report() const {
    int rows = 0, ran = 0;
    std::string others;
    for_every_op([&](auto row, int op) {
      using Op = decltype(row);
      if (!Op::info.cuda) return;
      rows++, ran += ran_[op];
      if (!ran_[op]) others += " " + std::string(Op::info.name);
    });
    if (!others.empty()) failed("rows that no robot ran", others.substr(1));
    line("%d of %d rows with CUDA kernels ran", ran, rows);
  }

 private:
  std::array<bool, op_count> ran_{};
};

}  // namespace featherstorm::testing
