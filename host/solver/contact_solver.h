// The contact solver of one robot, and the derivatives of its solution, as stages of a Sequence. They are compiled for
// every instruction set of the host (host/cpu/solver_table.h) and for CUDA devices (cuda/kernels/contact_solver.h).
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
  int iterations;                           // greatest number of Newton iterations
  double tolerance;                         // for the size of the last step
  std::optional<RigidLaw<double>> rigid{};  // replaces MuJoCo's law
  bool report = false;                      // whether residual and gap are requested
  bool forces = true;                       // whether contact forces are requested
  ContactReadings<double> readings{};       // readings computed from the contacts
};

// A contact solver as a stage. Its arrays are the outputs of the equations (host/trace/world_programs.h), and
//
//   solution   in   qacc
//              out  qacc_next
//              out  row_force, contact_force (if requested)
//              out  passes    iterations of Newton's method
//              out  searches  iterations that searched the line
//              out  residual, gap (if requested)
//              out  rows      number of rows with a force
//              out  touched, contact_count, contact_link, contact_sensor, contact_selection
//                   (core/sensor/contact_readings.h)
//              out  order_key
//   gradients  in   qacc, qacc_bar
//              out  lambda, pose_bar, lambda_motion_bar, qacc_motion_bar, twist_bar, touch_bar  (contact_gradients.h)
//   tangents   in   qacc, g_tan, placement_tan, twist_tan, axis_tan, touch_tan  (contact_tangents.h)
//              out  qacc_tan
struct ContactSolverStage {
  BoundKernel kernel;
  DeviceStageMaker on_device;
  std::vector<std::string> in, out;
};

// Throws Error if the library of the instruction set is not installed.
ContactSolverStage contact_solver(const Model<double>& model, const WorldPrograms& programs, Precision precision,
                                  const std::string& isa, const ContactSolverOptions& options,
                                  SolverAlgorithm text = SolverAlgorithm::solution);

}  // namespace featherstorm
