// One algorithm run with each scalar on one state: double, float with a float model, and traced.
//
//   expect_every_scalar(model, {q, v}, nv, 1e-5, [](const auto& m, const auto& in, auto out) {
//     rnea(m, in[0], in[1], ...);   // in[k] points to the k-th array, out to n numbers
//   });
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/model/model.h"
#include "core/trace/evaluate.h"

namespace featherstorm::testing {

template <class T, class M, class F> std::vector<T> run(const M& m, const Arrays<double>& in, int n, const F& f) {
  Arrays<T> numbers;
  std::vector<const T*> pointers;
  for (const auto& a : in) numbers.emplace_back(a.begin(), a.end());
  for (const auto& a : numbers) pointers.push_back(a.data());
  std::vector<T> out(n, std::numeric_limits<T>::quiet_NaN());
  f(m, pointers, out.data());
  return out;
}

inline double scale_of(const std::vector<double>& a) {
  double s = 1;
  for (double x : a) s = std::max(s, std::abs(x));
  return s;
}

// `float_tolerance` is relative to the largest component; traced numbers must agree to 1e-11.
template <class F>
void expect_every_scalar(const Model<double>& m, const Arrays<double>& in, int n, double float_tolerance, const F& f) {
  const std::vector<double> d = run<double>(m, in, n, f);
  const std::vector<float> s = run<float>(cast<float>(m), in, n, f);
  Program p;
  std::vector<std::vector<Expr>> inputs;
  std::vector<const Expr*> pointers;
  for (std::size_t k = 0; k < in.size(); k++)
    inputs.push_back(p.input("in" + std::to_string(k), static_cast<int>(in[k].size())));
  for (const auto& a : inputs) pointers.push_back(a.data());
  std::vector<Expr> out(n);
  {
    Tracing scope(p.graph);
    f(m, pointers, out.data());
    p.output("out", out);
  }
  const std::vector<double> t = evaluate(p, in)[0];
  const double scale = scale_of(d);
  for (int i = 0; i < n; i++) {
    ASSERT_TRUE(std::isfinite(d[i])) << "component " << i << " was not written";
    EXPECT_NEAR(t[i], d[i], 1e-11 * scale) << "traced, component " << i;
    EXPECT_NEAR(s[i], d[i], float_tolerance * scale) << "float, component " << i;
  }
}

}  // namespace featherstorm::testing
