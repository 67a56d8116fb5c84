// The program that kernels for hosts and devices are made from: of an operation, or of a derivative of one, for one robot.
#pragma once
#include "host/trace/trace_op.h"

namespace featherstorm {

// Larger robots and programs are left to the run-time-model kernels: the code outgrows the caches, and a compiler's time
// grows faster than linearly (assembling takes about 1.5 us an operation and order).
inline constexpr int max_specialised_freedoms = 256;
inline constexpr int max_assembled_operations = 120000;
inline constexpr int max_compiled_operations = 60000;

// What a kernel computes: an operation of ops.h or a derivative of it, and which numbers of the robot are inputs.
struct Operation {
  int op;
  int frame = 0;
  Derivative derivative = Derivative::none;
  Parameters parameters = {};
};

// The program in its best variant. Throws Error where the robot or the program is too large.
Program specialised_program(const Operation& operation, const Model<double>& model, int most = max_compiled_operations);

}  // namespace featherstorm
