#include "tests/support/oracles/op_reference.h"

#include "host/table/ops.h"

namespace featherstorm::testing {
namespace {

template <class Real, int i = 0>
void run(int op, const Model<Real>& m, int frame, const Real* const* in, const Real* const* uniform, Real* const* out) {
  if constexpr (i < op_count) {
    if (i == op) Element<i, Ops>::template run<0>(m, frame, in, uniform, out);
    else run<Real, i + 1>(op, m, frame, in, uniform, out);
  }
}

}  // namespace

void run_row(int op, const Model<double>& m, int frame, const double* const* in, const double* const* uniform,
             double* const* out) {
  run(op, m, frame, in, uniform, out);
}
void run_row(int op, const Model<float>& m, int frame, const float* const* in, const float* const* uniform,
             float* const* out) {
  run(op, m, frame, in, uniform, out);
}

}  // namespace featherstorm::testing
