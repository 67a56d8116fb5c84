// Results of an operation on the host, and how far a GPU may be from them.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/gpu/answers/cores.h"
#include "tests/support/oracles/op_cases.h"

namespace featherstorm::testing {

// What the host computes of all instances, and how far a correct kernel may be from it.
struct Reference {
  std::vector<std::vector<std::vector<double>>> inputs, exact;  // [instance][array][component]
  std::vector<double> tolerance_float, tolerance_double;        // [output]
  template <class Real> const std::vector<double>& tolerance() const {
    return sizeof(Real) == 4 ? tolerance_float : tolerance_double;
  }
};

// inputs(i): of instance i. exact(in) and rounded(in): its outputs in double and in float.
template <class Inputs, class Exact, class Rounded>
Reference reference_of(int count, int outputs, const Inputs& inputs, const Exact& exact, const Rounded& rounded) {
  Reference r;
  r.inputs.resize(count), r.exact.resize(count);
  std::vector<std::vector<double>> error(count, std::vector<double>(outputs)), scale = error;
  on_all_cores(count, [&](int i) {
    auto in = inputs(i);
    for (auto& a : in)
      for (double& x : a) x = static_cast<float>(x);
    r.exact[i] = exact(in);
    const auto in_float = rounded(in);
    r.inputs[i] = std::move(in);
    for (int k = 0; k < outputs; k++)
      for (std::size_t c = 0; c < in_float[k].size(); c++) {
        error[i][k] = std::max(error[i][k], std::abs(in_float[k][c] - r.exact[i][k][c]));
        scale[i][k] = std::max(scale[i][k], std::abs(r.exact[i][k][c]));
      }
  });
  // the host's own error in float shows how well the problem is conditioned; double has 29 bits more
  for (int k = 0; k < outputs; k++) {
    double e = 0, s = 0;
    for (int i = 0; i < count; i++) e = std::max(e, error[i][k]), s = std::max(s, scale[i][k]);
    r.tolerance_float.push_back(4 * e + 5e-6 * s + 1e-12);
    r.tolerance_double.push_back(8 * e * 0x1p-29 + 1e-13 * s + 1e-15);
  }
  return r;
}
inline Reference reference(const RowText& row, const Model<double>& m, int count, int frame, int repeat) {
  const Model<float> f = cast<float>(m);
  const auto u = op_uniforms(row, m);
  return reference_of(
      count, static_cast<int>(row.out.size()), [&](int i) { return op_inputs(row, m, 1000 + i); },
      [&](const auto& in) { return run_on_host<double>(row, m, in, u, frame, repeat); },
      [&](const auto& in) { return run_on_host<float>(row, f, in, u, frame, repeat); });
}
template <class Op> Reference reference(const Model<double>& m, int count, int frame, int repeat) {
  return reference(row_text<Op>(), m, count, frame, repeat);
}

// The greatest error of outputs, found(k, c, i) of instance i, as a part of the tolerance; infinite where one is no number.
template <class Real, class Found> double worst_of(const Reference& r, int count, const Found& found) {
  std::vector<double> worst(count);
  on_all_cores(count, [&](int i) {
    const auto& exact = r.exact[i % r.exact.size()];
    for (std::size_t k = 0; k < exact.size(); k++)
      for (std::size_t c = 0; c < exact[k].size(); c++) {
        const double e = std::abs(found(k, c, i) - exact[k][c]) / r.tolerance<Real>()[k];
        worst[i] = e <= worst[i] ? worst[i] : std::isnan(e) ? std::numeric_limits<double>::infinity() : e;
      }
  });
  return count ? *std::max_element(worst.begin(), worst.end()) : 0;
}

}  // namespace featherstorm::testing
