// Inputs and reference outputs of any operation of the table, for batches.
#pragma once
#include <vector>

#include "host/table/ops.h"
#include "host/trace/draw.h"
#include "tests/support/oracles/op_reference.h"
#include "tests/support/robots/linkages.h"

namespace featherstorm::testing {

// One operation's arrays for a batch in double: [array][instance][component].
struct OpCase {
  std::vector<std::vector<std::vector<double>>> in, out;
  std::vector<double> uniforms;
};

// Inputs as the row says, and the reference outputs by the core text in double.
template <class Op> OpCase make_case(int op, const Model<double>& m, long instances, int frame, long repeat) {
  OpCase c;
  Draw draw(m, 7);
  const auto& info = Op::info;
  for (const OpArray& a : info.uniform)
    for (double x : draw(a.sample, size_of(m, a.shape))) c.uniforms.push_back(x);
  for (const OpArray& a : info.in) {
    auto& array = c.in.emplace_back();
    for (long i = 0; i < instances; i++) array.push_back(draw(a.sample, size_of(m, a.shape)));
  }
  std::vector<std::vector<double>> u;
  std::size_t at = 0;
  for (const OpArray& a : info.uniform) {
    u.emplace_back(c.uniforms.begin() + at, c.uniforms.begin() + at + size_of(m, a.shape));
    at += size_of(m, a.shape);
  }
  std::vector<const double*> vu;
  for (auto& x : u) vu.push_back(x.data());
  vu.push_back(nullptr);
  for (const OpArray& a : info.out) c.out.emplace_back(instances, std::vector<double>(size_of(m, a.shape)));
  for (long i = 0; i < instances; i++) {
    std::vector<std::vector<double>> state;
    for (auto& a : c.in) state.push_back(a[i]);
    for (long r = 0; r < repeat; r++) {
      std::vector<const double*> vi;
      std::vector<double*> vo;
      for (auto& a : state) vi.push_back(a.data());
      for (auto& a : c.out) vo.push_back(a[i].data());
      run_row(op, m, frame, vi.data(), vu.data(), vo.data());
      if (Op::info.carried)
        for (std::size_t k = 0; k < c.out.size(); k++) state[k] = c.out[k][i];
    }
  }
  return c;
}

// f(Op{}, index) for every row of loops, couplings or contacts.
template <class F, int i = 0> void for_every_constrained_row(F&& f) {
  if constexpr (i < op_count) {
    using Op = Element<i, Ops>;
    constexpr Needs needs = Op::info.needs;
    if constexpr (needs == Needs::loops || needs == Needs::coupling || needs == Needs::contacts) f(Op{}, i);
    for_every_constrained_row<F, i + 1>(std::forward<F>(f));
  }
}

// Robots with loops or coupled joints, small enough to be unrolled.
inline std::vector<Robot> closed_robots() {
  return {closed_robot(four_bar()), closed_robot(parallel_leg()), gripper()};
}

}  // namespace featherstorm::testing
