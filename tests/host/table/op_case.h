// Inputs and reference outputs of any operation of the table, for batches.
#pragma once
#include <cmath>
#include <random>
#include <vector>

#include "host/load/sample_q.h"
#include "host/table/ops.h"
#include "tests/support/oracles/op_reference.h"
#include "tests/support/robots/linkages.h"

namespace featherstorm::testing {

// One operation's arrays for a batch in double: [array][instance][component].
struct OpCase {
  std::vector<std::vector<std::vector<double>>> in, out;
  std::vector<double> uniforms;
};

// Inputs that make sense by name, and the reference outputs by the core text in double.
template <class Op> OpCase make_case(int op, const Model<double>& m, long instances, int frame, long repeat) {
  OpCase c;
  std::mt19937 g(7);
  std::uniform_real_distribution<double> U(-1, 1);
  const auto& info = Op::info;
  for (const OpArray& a : info.uniform)
    for (int k = 0; k < size_of(m, a.shape); k++)
      c.uniforms.push_back(a.name == "dt"                  ? 0.002
                           : a.name == "friction_velocity" ? 0.05
                           : a.name == "prescribed"        ? k % 2
                           : a.name == "tolerance"         ? 1e-6
                           : a.name == "rate"              ? 10
                           : a.name == "actuated"          ? (k + 1) % 2
                           : a.name == "independent"       ? k + 2 < m.nv
                           : a.name == "slop"              ? 1e-3
                           : a.name == "compliance"        ? 1e-2
                                                           : 1.0 + 0.5 * U(g));
  for (const OpArray& a : info.in) {
    auto& array = c.in.emplace_back();
    for (long i = 0; i < instances; i++) {
      std::vector<double> x(size_of(m, a.shape));
      for (double& y : x) y = U(g);
      if (a.name == "remaining") x[0] = 0.01;
      if (a.name == "step") x[0] = 0.002;
      if (a.name == "error") x[0] = 1;
      if (a.shape == Shape{nq}) x = sample_q(m, g);
      if (a.shape == Shape{nh}) {
        crba(m, sample_q(m, g).data(), x.data());
        if (a.name == "L") ltdl(m, x.data());
        if (a.name == "L_ltl") ltl(m, x.data());
      }
      array.push_back(x);
    }
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
  for (const OpArray& a : info.out)
    c.out.emplace_back(instances, std::vector<double>(size_of(m, a.shape)));
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

// f(Op{}, index) for every row of loops or couplings.
template <class F, int i = 0> void for_every_closure(F&& f) {
  if constexpr (i < op_count) {
    using Op = std::tuple_element_t<i, Ops>;
    if constexpr (needs_of<Op>() == Needs::loops || needs_of<Op>() == Needs::coupling) f(Op{}, i);
    for_every_closure<F, i + 1>(std::forward<F>(f));
  }
}

// Robots with loops or coupled joints, small enough to be unrolled.
inline std::vector<Robot> closed_robots() {
  return {closed_robot(four_bar()), closed_robot(parallel_leg()), gripper()};
}

}  // namespace featherstorm::testing
