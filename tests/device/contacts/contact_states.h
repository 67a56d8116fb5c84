// States of worlds with many contacts, and the memory that threads of the solver use for them.
#pragma once
#include <gtest/gtest.h>

#include "tests/device/sequence_cases.h"
#include "tests/support/robots/touching_world.h"

namespace featherstorm::testing {

// States near the ground: a floating base low above it, joints near zero.
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

// States with contacts between everything.
inline Robot touching_everywhere(bool convex) {
  return with_touching_world(load("go2"), {.convex = convex, .apart = 2, .margin = 100, .size = convex ? 4.0 : 1.0});
}

// Checks that no thread of the solver needed more memory than it had.
inline void expect_enough_room() {
  if (!real_gpu) EXPECT_EQ(last_solver().out_of_room, 0);
}

// Checks the last launch of the solver: no thread needed more memory than available, and at least 70 % of it was used.
inline void expect_memory_fits() {
  const StandInSolver s = last_solver();
  EXPECT_EQ(s.out_of_room, 0);
  EXPECT_LE(s.numbers, s.most_numbers);
  EXPECT_GE(s.numbers, 0.7 * s.most_numbers);
  EXPECT_LE(s.bytes, s.most_bytes);
  EXPECT_GE(s.bytes, 0.7 * s.most_bytes);
}

}  // namespace featherstorm::testing
