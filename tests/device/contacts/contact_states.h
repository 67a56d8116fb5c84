// States of worlds in which much touches.
#pragma once
#include "tests/device/sequence_cases.h"

namespace featherstorm::testing {

// States near the ground: a floating base low above it, joints anywhere near their zero.
inline Twin positions_near_the_ground(const Robot& robot, Precision p, long B) {
  const Model<double>& m = robot.model;
  const bool floats = m.nq > m.nv;
  Twin q(p, B, m.nq, 1);
  q.fill([&](long i, long k) {
    const double x = std::sin(1.3 * static_cast<double>(i) + 2.1 * static_cast<double>(k));
    if (!floats) return x;
    return k == 2 ? 0.2 + 0.1 * x : k == 3 ? 1.0 : k < 7 ? 0.0 : 0.8 * x;
  });
  return q;
}

}  // namespace featherstorm::testing
