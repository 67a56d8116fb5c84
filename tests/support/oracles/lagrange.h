// The Lagrangian form as an oracle: derivatives of H(q) and V(q) of the dense oracle by differences. Only for robots
// whose velocities are the derivatives of their coordinates (`coordinate_joints`). Lynch and Park 9.1, 9.4; Liu and
// Jain section 2.
#pragma once
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

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

  Lagrange(const Case& c);
  // Gamma_ijk = 1/2 (dH_ij/dq_k + dH_ik/dq_j - dH_jk/dq_i), (9.85)
  double christoffel(int i, int j, int k) const;
  // C_ij = sum Gamma_ijk qd_k, (9.87)
  Matrix coriolis(const Vector& qd) const;
  Matrix rate(const Vector& qd) const;
  // c = Hd qd - dT/dq, Liu and Jain (17)
  Vector coriolis_force(const Vector& qd) const;
  // d/dt dL/dqd - dL/dq
  Vector torque(const Vector& qd, const Vector& qdd) const;
};

}  // namespace featherstorm::testing
