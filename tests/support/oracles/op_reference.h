// Every operation of host/table/ops.h by its algorithm in core, one instance at a time, as the reference for kernels.
// Compiled once for all tests.
#pragma once
#include "core/model/model.h"

namespace featherstorm::testing {

// Runs operation `op` of the table, its first variant. in, uniform, out: the operation's arrays.
void run_row(int op, const Model<double>& m, int frame, const double* const* in, const double* const* uniform,
             double* const* out);
void run_row(int op, const Model<float>& m, int frame, const float* const* in, const float* const* uniform,
             float* const* out);

}  // namespace featherstorm::testing
