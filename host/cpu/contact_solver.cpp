// Find contacts and solve for the constrained acceleration (host/solver/contact_solve.h).
#include "host/cpu/solver_table.h"

extern "C" __attribute__((visibility("default"))) const featherstorm::SolverTable* featherstorm_contact_solver() {
  return &featherstorm::solver_table<featherstorm::SolverAlgorithm::solution>;
}
