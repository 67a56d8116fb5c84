// Robots that swing or tumble freely, for the orders of integrators, and the distance between two of their states.
#pragma once
#include <cmath>

#include "core/kinematics/integrate.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::testing {

// A stone in space, and a motion with rotation about all axes.
inline Robot free_body() {
  ModelBuilder b;
  b.add_link({"stone", 2, {0.1, -0.2, 0.05}, Mat3d(Vec3d(1, 2, 2.5).asDiagonal())});
  b.float_root("stone");
  b.set_gravity({0, 0, 0});
  return b.build();
}
inline State tumbling() { return {free_body().q0, {0.3, -0.2, 0.1, 1.5, -2, 2.5}, {}, std::vector<double>(6), {}}; }

// Links of 1 m and 1 kg, each hanging from the one above.
inline Robot pendulum(int links) {
  ModelBuilder b;
  for (int i = 0; i < links; i++) {
    JointSpec j;
    j.name = "joint" + std::to_string(i), j.child = "link" + std::to_string(i), j.axis = {1, 0, 0};
    if (i > 0) j.parent = "link" + std::to_string(i - 1), j.X.r = {0, 0, -1};
    b.add_link({j.child, 1, {0, 0, -0.5}, Mat3d::Identity() * 0.05});
    b.add_joint(j);
  }
  return b.build();
}

// Distance of two states: on the manifold of positions, and in velocities.
inline double distance(const Model<double>& m, const State& a, const State& b) {
  double sum = 0;
  std::vector<double> u(m.nv);
  difference(m, a.q.data(), b.q.data(), u.data());
  for (int k = 0; k < m.nv; k++) sum += u[k] * u[k] + (a.v[k] - b.v[k]) * (a.v[k] - b.v[k]);
  return std::sqrt(sum);
}

}  // namespace featherstorm::testing
