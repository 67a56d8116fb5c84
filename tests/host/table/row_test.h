// Rows of the table of operations run by name on one instance of go2 on its floating base, in double, with random inputs.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/load/load.h"
#include "tests/support/tools/run_batch.h"

namespace featherstorm::testing {

class RowTest : public ::testing::Test {
 protected:
  explicit RowTest(const Robot& robot = load("go2"), unsigned seed = 3)
      : e(robot, {.threads = 1, .assemble = false}), generator(seed) {}
  Evaluator e;
  std::mt19937 generator;
  const Model<double>& m = e.robot().model;
  const int n = m.nv;
  int frame = m.nf - 1;
  Numbers q = numbers(m.nq), v = numbers(n), a = numbers(n), tau = numbers(n), f = numbers(6 * m.nb), u = numbers(n),
          du = numbers(n), da = numbers(n);

  void SetUp() override {
    const double s = std::sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
    for (int k = 3; k < 7; k++) q[k] /= s;
  }
  Numbers numbers(int count) {
    std::uniform_real_distribution<double> U(-1, 1);
    Numbers x(count);
    for (double& y : x) y = U(generator);
    return x;
  }
  Batch run(const char* op, const Batch& in, const Numbers& uniforms = {}, long repeat = 1) {
    return run_one(e, op, in, uniforms, repeat, frame);
  }
  Numbers moved(const Numbers& from, const Numbers& along, double t) { return run("integrate", {from, along}, {t})[0]; }
  static Numbers sum(const Numbers& x, const Numbers& y, double s = 1) {
    Numbers r(x);
    for (std::size_t k = 0; k < r.size(); k++) r[k] += s * y[k];
    return r;
  }
  Numbers unit(int k) const {
    Numbers x(n, 0.0);
    x[k] = 1;
    return x;
  }
  template <class F>
  static Numbers derivative(const F& f) {
    const double h = 1e-3;
    const Numbers a = sum(f(h), f(-h), -1), b = sum(f(2 * h), f(-2 * h), -1);
    Numbers r(a.size());
    for (std::size_t k = 0; k < r.size(); k++) r[k] = (8 * a[k] - b[k]) / (12 * h);
    return r;
  }
  // A x of a matrix by rows
  static Numbers times(const Numbers& A, const Numbers& x) {
    Numbers y(A.size() / x.size(), 0.0);
    for (std::size_t i = 0; i < y.size(); i++)
      for (std::size_t k = 0; k < x.size(); k++) y[i] += A[i * x.size() + k] * x[k];
    return y;
  }
  static Numbers column(const Numbers& A, int columns, int k) {
    Numbers y;
    for (std::size_t i = k; i < A.size(); i += columns) y.push_back(A[i]);
    return y;
  }
  static void expect_equal(const Numbers& found, const Numbers& expected, double tolerance = 1e-9) {
    ASSERT_EQ(found.size(), expected.size());
    double scale = 1;
    for (double x : expected) scale = std::max(scale, std::abs(x));
    for (std::size_t k = 0; k < found.size(); k++) EXPECT_NEAR(found[k], expected[k], tolerance * scale) << k;
  }
  Numbers rnea(const Numbers& q, const Numbers& v, const Numbers& a) { return run("rnea_f_ext", {q, v, a, f})[0]; }
  Numbers aba(const Numbers& q, const Numbers& v, const Numbers& tau) { return run("aba_f_ext", {q, v, tau, f})[0]; }
  // the model's inertial parameters, in the order of regressor.h
  Numbers parameters() const {
    Numbers p;
    for (int i = 1; i <= m.nb; i++) {
      const auto& I = m.body[i].I;
      for (double x : {I.m, I.h.x(), I.h.y(), I.h.z(), I.I.xx, I.I.yy, I.I.zz, I.I.xy, I.I.xz, I.I.yz}) p.push_back(x);
    }
    return p;
  }
  // armature x
  Numbers rotors(const Numbers& x) const {
    Numbers y(n);
    for (int k = 0; k < n; k++) y[k] = m.armature[k] * x[k];
    return y;
  }
};

}  // namespace featherstorm::testing
