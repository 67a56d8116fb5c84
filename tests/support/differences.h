// Derivatives by central differences along the configurations of a robot, extrapolated once (error of order h^4).
#pragma once
#include <Eigen/Dense>
#include <vector>

#include "core/integrate.h"

namespace featherstorm::testing {

using Numbers = std::vector<double>;

// q (+) v dt
inline Numbers moved(const Model<double>& m, const Numbers& q, const Numbers& v, double dt) {
  Numbers r(m.nq);
  integrate(m, q.data(), v.data(), dt, r.data());
  return r;
}
inline Numbers sum(const Numbers& a, const Numbers& b, double s) {
  Numbers r(a);
  for (std::size_t i = 0; i < a.size(); i++) r[i] += s * b[i];
  return r;
}

// df/dt at t = 0 of f(t) with values in R^n
template <class F> Eigen::VectorXd derivative(const F& f, double h = 1e-3) {
  const Eigen::VectorXd a = (f(h) - f(-h)) / (2 * h), b = (f(2 * h) - f(-2 * h)) / (4 * h);
  return (4 * a - b) / 3;
}

// d/dt f(q(t), v(t)) where dq/dt = v and dv/dt = a
template <class F>
Eigen::VectorXd rate(const Model<double>& m, const Numbers& q, const Numbers& v, const Numbers& a, const F& f,
                     double h = 1e-3) {
  // q(t) = q (+) (v t + a t^2 / 2), exact to second order for plain coordinates and to first order everywhere
  return derivative([&](double t) { return f(moved(m, q, sum(v, a, t / 2), t), sum(v, a, t)); }, h);
}

inline Eigen::VectorXd vector(const Numbers& a) { return Eigen::Map<const Eigen::VectorXd>(a.data(), a.size()); }

}  // namespace featherstorm::testing
