// The solver of host/solver/contact_solve.h for one robot, as a stage of a Sequence on the host. Its loops are compiled once for
// every instruction set (host/cpu/contact_solver.cpp); its kernels with places for contacts are made for the robot when a
// batch first needs them.
#pragma once
#include "host/compile/traced_kernel.h"
#include "host/trace/world_programs.h"

namespace featherstorm {

// in   mass, b, jacobian, row_D, row_aref, row_friction, placement, twist, axis, qacc
// out  qacc, row_force, contact_force, passes
inline const std::vector<std::string> contact_solver_in = {"mass",         "b",         "jacobian", "row_D", "row_aref",
                                                           "row_friction", "placement", "twist",    "axis",  "qacc"};
inline const std::vector<std::string> contact_solver_out = {"qacc_next", "row_force", "contact_force", "passes"};

struct ContactSolverOptions {
  int iterations;    // at most
  double tolerance;  // of what is left of the forces, beside the greatest
  bool assemble;     // whether kernels with places may be made
};

// Throws Error where the library of an instruction set is not installed.
BoundKernel contact_solver(const Model<double>& model, const WorldPrograms& programs, Precision precision,
                           const std::string& isa, const ContactSolverOptions& options);

}  // namespace featherstorm
