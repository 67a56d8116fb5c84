// The random robots that the algorithm tests run on, each with its oracle and a state, and calls that return vectors.
#pragma once
#include <gtest/gtest.h>

#include "core/aba.h"
#include "core/crba.h"
#include "core/ltdl.h"
#include "core/newton_euler.h"
#include "core/rnea.h"
#include "tests/support/dense.h"
#include "tests/support/random_robot.h"
#include "tests/support/tolerance.h"

namespace featherstorm::testing {

struct Case {
  RobotSpec spec;
  Robot robot;
  dense::Tree oracle;
  State state;
  explicit Case(const RobotSpec& s, unsigned seed = 1)
      : spec(s), robot(build(s)), oracle(s, robot), state(random_state(robot, seed)) {}
  const Model<double>& model() const { return robot.model; }
};

// f(case) for random trees over all joint types, sizes 1 to 14, and for two-body robots of every type and polarity.
template <class F> void for_random_robots(F f, unsigned count = 60) {
  for (unsigned seed = 1; seed <= count; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 1 + static_cast<int>(seed % 14);
    o.floating = seed % 3 == 0;
    f(Case(random_spec(seed, o), seed));
  }
  for (JointType type : all_joint_types)
    for (bool reversed : {false, true}) {
      RandomOptions o;
      o.bodies = 3, o.types = {type}, o.reversed = reversed, o.branching = 0, o.roots = 0;
      SCOPED_TRACE(name_of(type) + (reversed ? " reversed" : ""));
      f(Case(random_spec(100, o), 100));
    }
}

// Calls of the texts in core with arrays of T; P is the scalar of the model.
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
std::vector<T> call_aba(const Model<P>& m, const std::vector<T>& q, const std::vector<T>& v, const std::vector<T>& tau,
                        const std::vector<T>& f_ext) {
  std::vector<T> qdd(m.nv);
  if (f_ext.empty()) aba(m, q.data(), v.data(), tau.data(), Zeros<T>{}, qdd.data());
  else aba(m, q.data(), v.data(), tau.data(), f_ext.data(), qdd.data());
  return qdd;
}
template <class T, class P> std::vector<T> call_crba(const Model<P>& m, const std::vector<T>& q) {
  std::vector<T> H(m.nh);
  crba(m, q.data(), H.data());
  return H;
}

// Largest force anywhere in an inverse dynamics: the scale that rounding of its torques is relative to.
inline double force_scale(const Case& c, const std::vector<double>& a) {
  const dense::MatrixX H = c.oracle.crba(c.state.q);
  const std::vector<double> zero(c.model().nv, 0.0);
  const dense::VectorX bias = c.oracle.rnea(c.state.q, c.state.v, zero, c.state.f_ext);
  return 1 + H.cwiseAbs().maxCoeff() * largest(a) + bias.cwiseAbs().maxCoeff();
}
// Error of accelerations as the joint forces it stands for, relative to the largest force: free of H's condition number.
template <class A> double force_error(const Case& c, const A& got, const std::vector<double>& expected) {
  dense::VectorX d(c.model().nv);
  for (int k = 0; k < c.model().nv; k++) d(k) = static_cast<double>(got[k]) - expected[k];
  const double e = (c.oracle.crba(c.state.q) * d).cwiseAbs().maxCoeff() / force_scale(c, expected);
  return e >= 0 ? e : std::numeric_limits<double>::infinity();  // NaN
}
inline double condition(const dense::MatrixX& H) {
  const dense::VectorX e = Eigen::SelfAdjointEigenSolver<dense::MatrixX>(H, Eigen::EigenvaluesOnly).eigenvalues();
  return e(e.size() - 1) / e(0);
}

}  // namespace featherstorm::testing
