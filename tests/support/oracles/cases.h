// The random robots of the algorithm tests, each with its oracle and a state, and calls that return vectors.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/crba.h"
#include "core/dynamics/newton_euler.h"
#include "core/dynamics/rnea.h"
#include "core/linear/ltdl.h"
#include "tests/support/oracles/dense.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/tolerance.h"

namespace featherstorm::testing {

struct Case {
  RobotSpec spec;
  Robot robot;
  dense::Tree oracle;
  State state;
  explicit Case(const RobotSpec& s, unsigned seed = 1);
  ~Case();
  const Model<double>& model() const { return robot.model; }
};

// f(case) for random trees over all joint types, sizes 1 to 14, and for two-body robots of every type and polarity.
void for_random_robots(const std::function<void(const Case&)>& f, unsigned count = 60);

// f(model, state): random robots over all joint types, every other one on a floating base. Without an oracle.
void for_robots_in_states(unsigned count, const std::function<void(const Model<double>&, const State&)>& f);

// Calls of core algorithms with arrays of T; P is the scalar of the model.
template <class T, class P>
std::vector<T> call_rnea(const Model<P>& m, const std::vector<T>& q, const std::vector<T>& v, const std::vector<T>& a,
                         const std::vector<T>& f_ext) {
  std::vector<T> tau(m.nv);
  if (f_ext.empty()) rnea(m, q.data(), v.data(), a.data(), Zeros<T>{}, tau.data());
  else rnea(m, q.data(), v.data(), a.data(), f_ext.data(), tau.data());
  return tau;
}
template <class T, class P>
std::vector<T> call_newton_euler(const Model<P>& m, const std::vector<T>& q, const std::vector<T>& v,
                                 const std::vector<T>& a, const std::vector<T>& f_ext) {
  std::vector<T> tau(m.nv);
  if (f_ext.empty()) newton_euler(m, q.data(), v.data(), a.data(), Zeros<T>{}, tau.data());
  else newton_euler(m, q.data(), v.data(), a.data(), f_ext.data(), tau.data());
  return tau;
}
template <class T, class P>
std::vector<T> call_articulated_bodies(const Model<P>& m, const std::vector<T>& q, const std::vector<T>& v,
                                       const std::vector<T>& tau, const std::vector<T>& f_ext) {
  std::vector<T> qdd(m.nv);
  if (f_ext.empty()) articulated_bodies(m, q.data(), v.data(), tau.data(), Zeros<T>{}, qdd.data());
  else articulated_bodies(m, q.data(), v.data(), tau.data(), f_ext.data(), qdd.data());
  return qdd;
}
template <class T, class P> std::vector<T> call_crba(const Model<P>& m, const std::vector<T>& q) {
  std::vector<T> H(m.nh);
  crba(m, q.data(), H.data());
  return H;
}

// compiled once, in cases.cpp
extern template std::vector<double> call_rnea(const Model<double>&, const std::vector<double>&,
                                              const std::vector<double>&, const std::vector<double>&,
                                              const std::vector<double>&);
extern template std::vector<double> call_newton_euler(const Model<double>&, const std::vector<double>&,
                                                      const std::vector<double>&, const std::vector<double>&,
                                                      const std::vector<double>&);
extern template std::vector<double> call_articulated_bodies(const Model<double>&, const std::vector<double>&,
                                                            const std::vector<double>&, const std::vector<double>&,
                                                            const std::vector<double>&);
extern template std::vector<double> call_crba(const Model<double>&, const std::vector<double>&);

// Largest force anywhere in an inverse dynamics. Rounding of its torques is relative to this scale.
double force_scale(const Case& c, const std::vector<double>& a);
// Error of accelerations, expressed as joint forces and relative to the largest force, so that H's condition number
// does not matter.
double force_error(const Case& c, const std::vector<double>& got, const std::vector<double>& expected);
template <class A> double force_error(const Case& c, const A& got, const std::vector<double>& expected) {
  return force_error(c, std::vector<double>(std::begin(got), std::end(got)), expected);
}
double condition(const dense::MatrixX& H);

}  // namespace featherstorm::testing
