// The tangent of a step's acceleration (host/solver/contact_tangents.h).
#include "host/cpu/solver_table.h"

extern "C" __attribute__((visibility("default"))) const featherstorm::SolverTable* featherstorm_contact_tangents() {
  return &featherstorm::solver_table<featherstorm::SolverAlgorithm::tangents>;
}
