#include "host/load/inverse_inertia.h"

#include <Eigen/LU>
#include <cmath>

#include "core/kinematics/wrench_rows.h"
#include "host/load/joint_inertia.h"
#include "host/system/error.h"
#include "host/system/interruption.h"

namespace featherstorm {
namespace {

using Vector6 = Eigen::Matrix<double, 6, 1>;

Vector6 list(const Motion<double>& a) { return (Vector6() << a.w, a.v).finished(); }
Vector6 list(const Force<double>& f) { return (Vector6() << f.n, f.f).finished(); }
Motion<double> unit_motion(int c) {
  const Vector6 e = Vector6::Unit(c);
  return {e.head<3>(), e.tail<3>()};
}

void require_positive(const Robot& robot) {
  const std::vector<Pivot> all = pivots(robot.model, robot.q0);
  for (std::size_t i = 0; i < all.size(); i++)
    if (const double d = 1 / all[i].value; !(d > 0) || std::isinf(d))
      throw Error("robot '" + robot.name + "': its inertia matrix at q0 is not positive definite, at " +
                  robot.v_names[i] + "; the softness of contacts cannot be computed");
}

}  // namespace

InverseInertia::InverseInertia(const Robot& robot)
    : m_(robot.model), X_(static_cast<std::size_t>(m_.nb) + 1), body_(static_cast<std::size_t>(m_.nb) + 1) {
  require_positive(robot);
  std::vector<double> x(static_cast<std::size_t>(m_.nx));
  update_joints(m_, robot.q0.data(), Zeros<double>{}, x);
  body_placements(m_, x.data(), X_);
  std::vector<Matrix6> IA(body_.size());
  const auto parent_of = [&](int i) { return static_cast<std::size_t>(m_.body[static_cast<std::size_t>(i)].parent); };
  for (int i = 0; i <= m_.nb; i++) {
    const auto at = static_cast<std::size_t>(i);
    for (int c = 0; c < 6; c++) IA[at].col(c) = list(m_.body[at].I * unit_motion(c));
    body_[at].Omega.setZero(), body_[at].beyond.setZero(), body_[at].before.setZero();
  }
  for (int i = m_.nb; i >= 1; i--) {
    end_if_interrupted();
    Body& b = body_[static_cast<std::size_t>(i)];
    const Matrix6& I = IA[static_cast<std::size_t>(i)];
    const int v = m_.body[static_cast<std::size_t>(i)].v;
    with_joint(m_, i, x.data(), [&](const auto& J) {
      b.S.resize(6, J.nv);
      for (int k = 0; k < J.nv; k++) {
        double unit[6] = {};
        unit[k] = 1;
        b.S.col(k) = list(zero_motion<double>() + J.velocity(static_cast<const double*>(unit)));
      }
      for (int c = 0; c < 6; c++) b.X.col(c) = list(apply(J, unit_motion(c)));
    });
    const Columns U = I * b.S;
    Square D = b.S.transpose() * U;
    for (int k = 0; k < D.cols(); k++)
      D(k, k) += m_.armature[static_cast<std::size_t>(v) + static_cast<std::size_t>(k)];
    b.inverse = D.inverse();
    b.G = U * b.inverse;
    IA[parent_of(i)] += b.X.transpose() * (I - b.G * U.transpose()) * b.X;
    // a_i = P X a_parent,  qdd = -G^T X a_parent
    const Matrix6 PX = b.X - b.S * (b.G.transpose() * b.X);
    const Columns GX = b.X.transpose() * b.G;
    body_[parent_of(i)].beyond += GX * GX.transpose() + PX.transpose() * b.beyond * PX;
  }
  for (int i = 1; i <= m_.nb; i++) {
    end_if_interrupted();
    Body& b = body_[static_cast<std::size_t>(i)];
    const Body& p = body_[parent_of(i)];
    // Omega_i = P X Omega_parent X^T P^T + S D^-1 S^T
    const Matrix6 PX = b.X - b.S * (b.G.transpose() * b.X);
    b.Omega = PX * p.Omega * PX.transpose() + b.S * b.inverse * b.S.transpose();
    if (parent_of(i) == 0) continue;
    // A force f on the parent accelerates it by Omega f, the parent's joint by A f, and passes B f to its parent.
    const Columns GX = b.X.transpose() * b.G;
    const Matrix6 siblings = p.beyond - (GX * GX.transpose() + PX.transpose() * b.beyond * PX);
    const Matrix6& Omega = body_[static_cast<std::size_t>(m_.body[parent_of(i)].parent)].Omega;
    const Matrix6 B = (p.X - p.S * (p.G.transpose() * p.X)).transpose();
    const Eigen::Matrix<double, Eigen::Dynamic, 6, 0, 6, 6> A =
        p.inverse * p.S.transpose() - p.G.transpose() * p.X * Omega * B;
    b.before = p.Omega.transpose() * siblings * p.Omega + A.transpose() * A + B.transpose() * p.before * B;
  }
}

InverseInertia::OfBody InverseInertia::of_body(int body, const Vec3d& point) const {
  const Matrix6& Omega = body_[static_cast<std::size_t>(body)].Omega;
  OfBody r{0, 0};
  for (int k = 0; k < 3; k++) {
    const Vec3d unit = Vec3d::Unit(k);
    const Vector6 force = list(Force<double>{cross(point, unit), unit});
    r.translation += force.dot(Omega * force) / 3;
    r.rotation += Omega(k, k) / 3;
  }
  return r;
}

// D^-1 + G^T X Omega_parent X^T G
InverseInertia::Square InverseInertia::block(const Body& b) const {
  const Body& p = body_[static_cast<std::size_t>(m_.body[static_cast<std::size_t>(&b - body_.data())].parent)];
  const Columns f = b.X.transpose() * b.G;
  return b.inverse + f.transpose() * p.Omega * f;
}

double InverseInertia::of_coordinates(int v, int n) const {
  const Body& b = joint_of(v);
  const int first = v - m_.body[static_cast<std::size_t>(&b - body_.data())].v;
  return block(b).diagonal().segment(first, n).sum() / n;
}

double InverseInertia::acceleration(int v) const {
  const Body& b = joint_of(v);
  const auto i = static_cast<std::size_t>(&b - body_.data());
  const Body& p = body_[static_cast<std::size_t>(m_.body[i].parent)];
  const int k = v - m_.body[i].v;
  // the force on the parent, and the accelerations of joint and body
  const Vector6 f = -b.X.transpose() * b.G.col(k);
  const auto qdd = block(b).col(k).eval();
  const Vector6 a = b.X * (p.Omega * f) + b.S * qdd;
  return std::sqrt(qdd.squaredNorm() + a.dot(b.beyond * a) + f.dot(b.before * f));
}

}  // namespace featherstorm
