// The program of an operation or derivative for one robot, from which host and device kernels are made.
#pragma once
#include "host/trace/trace_op.h"

namespace featherstorm {

// Larger robots and programs are left to the kernels that take the model as data: the code would exceed the caches,
// and compile time grows faster than linearly (assembling takes about 1.5 us per operation and order).
inline constexpr int max_specialised_freedoms = 256;
inline constexpr int max_assembled_operations = 120000;
inline constexpr int max_compiled_operations = 60000;

// The function that a kernel computes: an operation of ops.h or a derivative of it, and the numbers of the robot that
// are inputs.
struct Operation {
  int op;
  int frame = 0;
  Derivative derivative = Derivative::none;
  Parameters parameters = {};
};

// The program of the best variant. Throws Error if the robot or the program is too large.
Program specialised_program(const Operation& operation, const Model<double>& model, int most = max_compiled_operations);

}  // namespace featherstorm
