// The solver of core/mujoco/contact_solve.h for one robot, as a stage of a Sequence on the host: compiled once for every
// instruction set (host/cpu/contact_solver.cpp), its loops go over what touches in a few instances at a time.
#pragma once
#include "host/memory/blocks.h"
#include "host/simulation/world_sequence.h"
#include "host/trace/world_programs.h"

namespace featherstorm {

// in   mass, b, jacobian, row_D, row_aref, row_friction, placement, twist, axis, qacc
// out  qacc, row_force, contact_force, passes
inline const std::vector<std::string> contact_solver_in = {"mass",         "b",         "jacobian", "row_D", "row_aref",
                                                           "row_friction", "placement", "twist",    "axis",  "qacc"};
inline const std::vector<std::string> contact_solver_out = {"qacc_next", "row_force", "contact_force", "passes"};

// Throws Error where the library of an instruction set is not installed.
BoundKernel contact_solver(const Model<double>& model, const WorldPrograms& programs, Precision precision,
                           const std::string& isa, const SolverOptions& options);

}  // namespace featherstorm
