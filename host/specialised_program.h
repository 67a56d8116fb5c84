// The program of an operation for one robot, which kernels for hosts and devices are made from.
#pragma once
#include "core/builder.h"
#include "core/trace/program.h"

namespace featherstorm {

// Larger robots and programs are left to the run-time-model kernels: compile times grow faster than linearly and the
// code outgrows the instruction cache.
inline constexpr int max_specialised_freedoms = 128;
inline constexpr int max_specialised_operations = 60000;

// Multiply-adds and what else is arithmetic in the program.
int operations_of(const Program& p);

// Throws Error where the robot or the program is too large.
Program specialised_program(int op, const Model<double>& model, int frame);

}  // namespace featherstorm
