#include "tests/support/tools/differences.h"

#include "core/kinematics/integrate.h"

namespace featherstorm::testing {

Numbers moved(const Model<double>& m, const Numbers& q, const Numbers& v, double dt) {
  Numbers r(m.nq);
  integrate(m, q.data(), v.data(), dt, r.data());
  return r;
}

Numbers sum(const Numbers& a, const Numbers& b, double s) {
  Numbers r(a);
  for (std::size_t i = 0; i < a.size(); i++) r[i] += s * b[i];
  return r;
}

Eigen::VectorXd derivative(const std::function<Eigen::VectorXd(double)>& f, double h) {
  const Eigen::VectorXd a = (f(h) - f(-h)) / (2 * h), b = (f(2 * h) - f(-2 * h)) / (4 * h);
  return (4 * a - b) / 3;
}

Eigen::VectorXd rate(const Model<double>& m, const Numbers& q, const Numbers& v, const Numbers& a,
                     const std::function<Eigen::VectorXd(const Numbers& q, const Numbers& v)>& f, double h) {
  // q(t) = q (+) (v t + a t^2 / 2), exact to second order for plain coordinates and to first order everywhere
  return derivative([&](double t) { return f(moved(m, q, sum(v, a, t / 2), t), sum(v, a, t)); }, h);
}

Eigen::VectorXd vector(const Numbers& a) { return Eigen::Map<const Eigen::VectorXd>(a.data(), a.size()); }
Eigen::MatrixXd square(const Numbers& a, int n, int k) {
  return Eigen::Map<const Eigen::MatrixXd>(a.data() + k * n * n, n, n).transpose();
}

}  // namespace featherstorm::testing
