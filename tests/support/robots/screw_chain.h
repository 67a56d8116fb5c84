// Random chains of revolute joints with general parameters, placed by axial screws: RBDA's benchmark GU(n) (section
// 10.3). A joint's placement is scrx(alpha, a) scrz(q, d) between Denavit-Hartenberg frames.
#pragma once
#include <vector>

#include "tests/support/robots/random_robot.h"

namespace featherstorm::testing {

struct ScrewJoint {
  double alpha = 0, a = 0, d = 0;
  LinkSpec link;
};
struct ScrewChain {
  std::vector<ScrewJoint> joint;
  Robot robot;
};

inline ScrewChain screw_chain(int n, unsigned seed = 1) {
  Random random(seed);
  ScrewChain c;
  ModelBuilder builder("chain");
  for (int i = 0; i < n; i++) {
    ScrewJoint j;
    j.alpha = random.uniform(0.3, 2.8), j.a = random.uniform(0.1, 0.5), j.d = random.uniform(0.1, 0.5);
    j.link = random_link(random, "l" + std::to_string(i + 1));
    builder.add_link(j.link);
    JointSpec s;
    s.name = "j" + std::to_string(i + 1), s.child = j.link.name;
    if (i > 0) s.parent = c.joint.back().link.name;
    const Mat3d Rx = matrix(RotationX<double>{std::cos(j.alpha), std::sin(j.alpha)});
    s.X = {Rx, Vec3d(j.a, 0, 0) + Rx * Vec3d(0, 0, j.d)};
    builder.add_joint(s);
    c.joint.push_back(j);
  }
  builder.set_gravity({0.7, -1.1, -9.7});
  c.robot = builder.build();
  return c;
}

}  // namespace featherstorm::testing
