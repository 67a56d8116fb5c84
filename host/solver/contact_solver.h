// The solver of contacts for one robot, and the derivatives of what it solves, as stages of a Sequence. They are compiled once for every
// instruction set of the host (host/cpu/solver_table.h), and for CUDA devices (cuda/kernels/contact_solver.h).
#pragma once
#include <optional>

#include "core/rigid/rigid_rows.h"
#include "core/world/contact_readings.h"
#include "host/compile/traced_kernel.h"
#include "host/memory/cuda_table.h"
#include "host/memory/device_stage.h"
#include "host/trace/world_programs.h"

namespace featherstorm {

struct ContactSolverOptions {
  int iterations;                           // at most
  double tolerance;                         // of the last step's size
  std::optional<RigidLaw<double>> rigid{};  // in place of MuJoCo's law
  bool report = false;                      // whether residual and gap are asked for
  bool forces = true;                       // whether those of contacts are
  ContactReadings<double> readings{};       // what is read off the contacts
};

// Arrays that the equations hand on (host/trace/world_programs.h), and
//
//   solution   in   qacc
//              out  qacc_next, row_force, contact_force (where asked for), passes, residual, gap (where asked for), rows: how many have a
//                   force, touched, contact_count, contact_link, contact_sensor, contact_selection (core/sensor/contact_readings.h),
//                   order_key, searches: how many of the passes searched the line
//   gradients  in   qacc, qacc_bar
//              out  lambda, pose_bar, lambda_motion_bar, qacc_motion_bar, twist_bar, touch_bar  (contact_gradients.h)
//   tangents   in   qacc, g_tan, placement_tan, twist_tan, axis_tan, touch_tan  (contact_tangents.h)
//              out  qacc_tan
struct ContactSolverStage {
  BoundKernel kernel;
  DeviceStageMaker on_device;
  std::vector<std::string> in, out;
};

// Throws Error where the library of an instruction set is not installed.
ContactSolverStage contact_solver(const Model<double>& model, const WorldPrograms& programs, Precision precision,
                                  const std::string& isa, const ContactSolverOptions& options,
                                  SolverAlgorithm text = SolverAlgorithm::solution);

}  // namespace featherstorm
