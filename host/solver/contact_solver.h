// The solver of host/solver/contact_solve.h for one robot, as a stage of a Sequence. It is compiled once for every instruction set
// of the host (host/cpu/contact_solver.cpp), and for CUDA devices (cuda/kernels/contact_solver.h).
#pragma once
#include <optional>

#include "core/rigid/rigid_rows.h"
#include "host/compile/traced_kernel.h"
#include "host/memory/device_stage.h"
#include "host/trace/world_programs.h"

namespace featherstorm {

// in   mass or factor (ContactSolverStage), qacc_smooth, jacobian, row_D, row_aref, row_friction, placement, twist, axis, qacc,
//      touch, weights
// out  qacc, row_force, contact_force (where asked for), passes, residual, gap (where asked for), rows: how many have a force,
//      touched
inline const std::vector<std::string> contact_solver_out = {"qacc_next", "row_force", "contact_force", "passes",
                                                            "residual",  "gap",       "rows",          "touched"};

struct ContactSolverOptions {
  int iterations;                           // at most
  double tolerance;                         // of the last step's size
  std::optional<RigidLaw<double>> rigid{};  // in place of MuJoCo's law
  bool report = false;                      // whether residual and gap are asked for
  bool forces = true;                       // whether those of contacts are
};

struct ContactSolverStage {
  BoundKernel kernel;
  DeviceStageMaker on_device;
  std::vector<std::string> in;  // mass, of robots that are solved in the space of rows factor; and the others
};

// Throws Error where the library of an instruction set is not installed.
ContactSolverStage contact_solver(const Model<double>& model, const WorldPrograms& programs, Precision precision,
                                  const std::string& isa, const ContactSolverOptions& options);

}  // namespace featherstorm
