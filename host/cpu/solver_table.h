// An algorithm of host/solver/solver_algorithms.h over packs of instances, for one instruction set.
#pragma once
#include "host/cpu/over_packs.h"
#include "host/cpu/pack_instances.h"
#include "host/memory/cpu_library.h"
#include "host/solver/solver_algorithms.h"

namespace featherstorm {

template <SolverAlgorithm text, class Real>
void solve_packs(const void* model, const Array* in, const Array* out, long, long first, long count) {
  const auto& solver = *static_cast<const ContactSolver<Real>*>(model);
  over_packs<Real>(in, out, first, count,
                   [&](const auto& x, const auto& y) { run_solver<text, WholePack<Real>>(solver, x, y); });
}

template <SolverAlgorithm text>
inline constexpr SolverTable solver_table{solve_packs<text, float>, solve_packs<text, double>, FEATHERSTORM_WIDTH,
                                          FEATHERSTORM_WIDTH / 2};

}  // namespace featherstorm
