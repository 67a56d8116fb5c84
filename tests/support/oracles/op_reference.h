// Every operation of host/table/ops.h by its text in core, one instance at a time: what kernels are compared with. Compiled
// once for all tests.
#pragma once
#include "core/model/model.h"

namespace featherstorm::testing {

// Runs row `op` of the table, its first variant. in, uniform, out: the row's arrays.
void run_row(int op, const Model<double>& m, int frame, const double* const* in, const double* const* uniform,
             double* const* out);
void run_row(int op, const Model<float>& m, int frame, const float* const* in, const float* const* uniform,
             float* const* out);

}  // namespace featherstorm::testing
