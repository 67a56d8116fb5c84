// Heron's steps towards the square root of a, needed as long as x^2 is not a within a part of 1e-9: for stages that are repeated
// for the instances that need it.
#pragma once
#include <cmath>

#include "core/trace/program.h"
#include "host/rollout/sequence.h"

namespace featherstorm::testing {

inline Program heron() {
  Program p;
  const auto x = p.input("x", 1), a = p.input("a", 1), more = p.input("more", 1), passes = p.input("passes", 1);
  Tracing scope(p.graph);
  const Expr next = Expr(0.5) * (x[0] + a[0] * rcp(x[0])), error = abs(next * next - a[0]);
  p.output("x_next", {next});
  p.output("more_next", {select(Expr(1e-9) * a[0] < error, more[0], Expr(0.0))});
  p.output("passes_next", {passes[0] + Expr(1.0)});
  return p;
}

// x, more, passes of up to `most` steps; all of "x", "a", "more", "passes" begin with what they are given.
inline Sequence heron_sequence(const Stage& bound, long most) {
  Sequence s(Precision::float64, 1);
  for (const char* name : {"x", "a", "more", "passes", "x_next", "more_next", "passes_next"}) s.array(name, 1);
  Stage stage = bound;
  stage.in = {"x", "a", "more", "passes"}, stage.out = {"x_next", "more_next", "passes_next"};
  stage.swaps = {{"x", "x_next"}, {"more", "more_next"}, {"passes", "passes_next"}};
  stage.repeat = most, stage.needed = "more";
  s.stage(stage);
  return s;
}

// The numbers whose roots are taken: some need no pass at all, some a few, some more than they get.
inline double heron_number(long b) { return b % 7 == 3 ? 0.0 : std::pow(10.0, static_cast<double>(b % 11)); }

struct HeronResult {
  double root;
  long passes;
};
inline HeronResult heron_result(long b, long most) {
  const double a = heron_number(b);
  HeronResult r{1, 0};
  for (bool again = a > 0; again && r.passes < most; r.passes++) {
    r.root = 0.5 * (r.root + a * (1 / r.root));
    again = std::abs(r.root * r.root - a) > 1e-9 * a;
  }
  return r;
}

}  // namespace featherstorm::testing
