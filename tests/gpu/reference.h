// Results of an operation on the host, and how far a GPU may be from them.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/cuda/op_cases.h"

namespace featherstorm::testing {

// What the host computes of all instances, and how far a correct kernel may be from it.
struct Reference {
  std::vector<std::vector<std::vector<double>>> inputs, exact;  // [instance][array][component]
  std::vector<double> tolerance_float, tolerance_double;       // [output]
};
template <class Op> Reference reference(const Model<double>& m, int count, int frame, int repeat) {
  Reference r;
  const Model<float> f = cast<float>(m);
  constexpr int outputs = Op::info.out.size();
  std::vector<double> error(outputs), scale(outputs);
  for (int i = 0; i < count; i++) {
    auto in = op_inputs<Op>(m, 1000 + i);
    for (auto& a : in)
      for (double& x : a) x = static_cast<float>(x);
    r.exact.push_back(run_on_host<Op, double>(m, in, frame, repeat));
    const auto rounded = run_on_host<Op, float>(f, in, frame, repeat);
    r.inputs.push_back(std::move(in));
    for (int k = 0; k < outputs; k++)
      for (std::size_t c = 0; c < rounded[k].size(); c++) {
        error[k] = std::max(error[k], std::abs(rounded[k][c] - r.exact[i][k][c]));
        scale[k] = std::max(scale[k], std::abs(r.exact[i][k][c]));
      }
  }
  // the host's own error in float shows how well the problem is conditioned; double has 29 bits more
  for (int k = 0; k < outputs; k++) {
    r.tolerance_float.push_back(4 * error[k] + 5e-6 * scale[k] + 1e-12);
    r.tolerance_double.push_back(8 * error[k] * 0x1p-29 + 1e-13 * scale[k] + 1e-15);
  }
  return r;
}

}  // namespace featherstorm::testing
