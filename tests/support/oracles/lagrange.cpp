#include "tests/support/oracles/lagrange.h"

namespace featherstorm::testing {

Lagrange::Lagrange(const Case& c) : H(c.oracle.crba(c.state.q)), g(c.model().nv) {
  const int n = c.model().nv;
  for (int k = 0; k < n; k++) {
    Numbers e(n, 0.0);
    e[k] = 1;
    const auto at = [&](double t) { return moved(c.model(), c.state.q, e, t); };
    const Vector d = derivative([&](double t) {
      const Matrix H = c.oracle.crba(at(t));
      return Vector(Eigen::Map<const Vector>(H.data(), n * n));
    });
    dH.push_back(Eigen::Map<const Matrix>(d.data(), n, n));
    g(k) = derivative([&](double t) { return Vector::Constant(1, c.oracle.potential_energy(at(t))); })(0);
  }
}

double Lagrange::christoffel(int i, int j, int k) const { return 0.5 * (dH[k](i, j) + dH[j](i, k) - dH[i](j, k)); }

Lagrange::Matrix Lagrange::coriolis(const Vector& qd) const {
  Matrix C = Matrix::Zero(qd.size(), qd.size());
  for (int i = 0; i < C.rows(); i++)
    for (int j = 0; j < C.rows(); j++)
      for (int k = 0; k < C.rows(); k++) C(i, j) += christoffel(i, j, k) * qd(k);
  return C;
}

Lagrange::Matrix Lagrange::rate(const Vector& qd) const {
  Matrix Hd = Matrix::Zero(qd.size(), qd.size());
  for (int k = 0; k < qd.size(); k++) Hd += dH[k] * qd(k);
  return Hd;
}

Lagrange::Vector Lagrange::coriolis_force(const Vector& qd) const {
  Vector c = rate(qd) * qd;
  for (int k = 0; k < qd.size(); k++) c(k) -= 0.5 * qd.dot(dH[k] * qd);
  return c;
}

Lagrange::Vector Lagrange::torque(const Vector& qd, const Vector& qdd) const {
  return H * qdd + coriolis_force(qd) + g;
}

}  // namespace featherstorm::testing
