// What is computed of instances where contacts are found.
#pragma once

namespace featherstorm {

// host/solver/contact_solve.h, contact_gradients.h, contact_tangents.h
enum class SolverText { solution, gradients, tangents };
inline constexpr int solver_texts = 3;

// How many arrays one of them takes and gives, in the order of host/solver/contact_solver.h; at most.
struct SolverArrays { int in, out; };
constexpr SolverArrays arrays_of(SolverText text) {
  switch (text) {
    case SolverText::solution: return {12, 8};
    case SolverText::gradients: return {12, 5};
    default: return {15, 1};
  }
}

}  // namespace featherstorm
