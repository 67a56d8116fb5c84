// The contacts' share of the cotangents of a step (host/solver/contact_gradients.h).
#include "host/cpu/solver_table.h"

extern "C" __attribute__((visibility("default"))) const featherstorm::SolverTable* featherstorm_contact_gradients() {
  return &featherstorm::solver_table<featherstorm::SolverAlgorithm::gradients>;
}
