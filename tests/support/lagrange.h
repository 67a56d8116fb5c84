// The Lagrangian form as an oracle: derivatives of H(q) and V(q) of the dense oracle by differences. Only for robots whose
// velocities are the derivatives of their coordinates (`coordinate_joints`). Lynch and Park 9.1, 9.4; Liu and Jain section 2.
#pragma once
#include "tests/support/cases.h"
#include "tests/support/differences.h"

namespace featherstorm::testing {

inline const std::vector<JointType> coordinate_joints = {
    JointType::Revolute, JointType::Prismatic, JointType::Helical,    JointType::Cylindrical, JointType::Planar,
    JointType::BallYpr,  JointType::Universal, JointType::RackPinion, JointType::UserDefined};

struct Lagrange {
  using Matrix = Eigen::MatrixXd;
  using Vector = Eigen::VectorXd;
  Matrix H;
  std::vector<Matrix> dH;  // dH/dq_k
  Vector g;                // dV/dq

  Lagrange(const Case& c) : H(c.oracle.crba(c.state.q)), g(c.model().nv) {
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
  // Gamma_ijk = 1/2 (dH_ij/dq_k + dH_ik/dq_j - dH_jk/dq_i), (9.85)
  double christoffel(int i, int j, int k) const { return 0.5 * (dH[k](i, j) + dH[j](i, k) - dH[i](j, k)); }
  // C_ij = sum Gamma_ijk qd_k, (9.87)
  Matrix coriolis(const Vector& qd) const {
    Matrix C = Matrix::Zero(qd.size(), qd.size());
    for (int i = 0; i < C.rows(); i++)
      for (int j = 0; j < C.rows(); j++)
        for (int k = 0; k < C.rows(); k++) C(i, j) += christoffel(i, j, k) * qd(k);
    return C;
  }
  Matrix rate(const Vector& qd) const {
    Matrix Hd = Matrix::Zero(qd.size(), qd.size());
    for (int k = 0; k < qd.size(); k++) Hd += dH[k] * qd(k);
    return Hd;
  }
  // c = Hd qd - dT/dq, Liu and Jain (17)
  Vector coriolis_force(const Vector& qd) const {
    Vector c = rate(qd) * qd;
    for (int k = 0; k < qd.size(); k++) c(k) -= 0.5 * qd.dot(dH[k] * qd);
    return c;
  }
  // d/dt dL/dqd - dL/dq
  Vector torque(const Vector& qd, const Vector& qdd) const { return H * qdd + coriolis_force(qd) + g; }
};

}  // namespace featherstorm::testing
