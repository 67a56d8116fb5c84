// The algorithms that run over instances with found contacts, as functions of their input and output arrays
// (host/solver/contact_solver.h).
#pragma once
#include "host/memory/cuda_table.h"
#include "host/solver/contact_gradients.h"
#include "host/solver/contact_solve.h"
#include "host/solver/contact_tangents.h"

namespace featherstorm {

// in(k), out(k): array k of these instances.
template <SolverAlgorithm text, class T>
FS_HD void run_solver(const auto& solver, const auto& in, const auto& out) {
  using View = std::remove_cvref_t<decltype(in(0))>;
  if constexpr (text == SolverAlgorithm::solution || text == SolverAlgorithm::soft) {
    const SolverInputs<View> from{in(0), in(1), in(2), in(3),  in(4),  in(5), in(6),
                                  in(7), in(8), in(9), in(10), in(11), in(12)};
    const SolverOutputs<View> to{out(0),
                                 out(3),
                                 out(6),
                                 out(1),
                                 out(2),
                                 out(4),
                                 out(5),
                                 out(7),
                                 out(12),
                                 out(13),
                                 {out(8), out(9), out(10), out(11)}};
    if constexpr (text == SolverAlgorithm::soft) solve_soft<T>(solver, from, to);
    else solve_contacts<T>(solver, from, to);
  } else if constexpr (text == SolverAlgorithm::gradients) {
    const GradientInputs<View> from{in(0), in(1), in(2), in(3), in(4),  in(5),
                                    in(6), in(7), in(8), in(9), in(10), in(11)};
    const GradientOutputs<View> to{out(0), out(1), out(2), out(3), out(4), out(5)};
    contact_gradients<T>(solver, from, to);
  } else {
    const TangentInputs<View> from{in(0), in(1), in(2),  in(3),  in(4),  in(5),  in(6),  in(7),
                                   in(8), in(9), in(10), in(11), in(12), in(13), in(14), in(15)};
    contact_tangents<T>(solver, from, out(0));
  }
}

}  // namespace featherstorm
