#include "core/joint_axes.h"

#include <Eigen/Geometry>
#include <cmath>

namespace featherstorm {
namespace {

// The turn about z that puts (x, y) on the x axis; none where it is zero or on an axis already.
RotationZ<double> turn_to(double x, double y) {
  const double r = std::hypot(x, y);
  if (r < 1e-9 || std::abs(x) < 1e-9 * r || std::abs(y) < 1e-9 * r) return {1, 0};
  return {x / r, y / r};
}

}  // namespace

Mat3d z_to(const Vec3d& axis) {
  for (int k = 0; k < 3; k++)
    for (double sign : {1.0, -1.0}) {
      Vec3d e = Vec3d::Zero();
      e(k) = sign;
      if ((axis - e).norm() > 1e-12) continue;
      Mat3d R = Mat3d::Zero();  // columns x', y', z'
      R(k, 2) = sign;
      R((k + 1) % 3, 0) = 1;
      R((k + 2) % 3, 1) = sign;
      return R;
    }
  return Eigen::Quaterniond::FromTwoVectors(Vec3d::UnitZ(), axis).toRotationMatrix();
}

Mat3d clean_rotation(const Mat3d& R) {
  Eigen::Quaterniond p(R);
  Mat3d C = p.normalized().toRotationMatrix();
  for (int i = 0; i < 9; i++)
    for (double e : {-1.0, 0.0, 1.0})
      if (std::abs(C(i) - e) < 1e-9) {
        const double old = C(i);
        C(i) = e;
        if ((C * C.transpose() - Mat3d::Identity()).norm() > 1e-8) C(i) = old;
      }
  return C;
}

Zxz zxz(const Mat3d& R) {
  Zxz a;
  const double s = std::hypot(R(0, 2), R(1, 2));
  if (s < 1e-12) {  // axes parallel or opposite: alpha = 0 or pi
    a.alpha = {R(2, 2) > 0 ? 1.0 : -1.0, 0};
    a.phi = {1, 0};
    a.psi = {R(0, 0), -R(0, 1)};
    return a;
  }
  a.alpha = {R(2, 2), s};
  a.phi = {-R(1, 2) / s, R(0, 2) / s};
  a.psi = {R(2, 1) / s, R(2, 0) / s};
  // of the two solutions (phi, alpha), (phi + pi, -alpha) take the one that turns the parent least
  if (a.phi.c < -1e-12 || (std::abs(a.phi.c) <= 1e-12 && a.phi.s < 0))
    a.phi = {-a.phi.c, -a.phi.s}, a.psi = {-a.psi.c, -a.psi.s}, a.alpha.s = -s;
  return a;
}

RotationZ<double> own_turn(const Body<double>& b, const Body<double>* child) {
  if (child) {
    const Mat3d& R = child->X_T.R;
    const Vec3d& r = child->X_T.r;
    if (std::hypot(R(0, 2), R(1, 2)) >= 1e-12) return zxz(R).phi;
    if (std::hypot(r.x(), r.y()) > 1e-9) return turn_to(r.x(), r.y());
  }
  return turn_to(b.I.h.x(), b.I.h.y());
}

Vec3d clean(const Vec3d& v) {
  const double least = 1e-14 * v.norm();
  return {std::abs(v.x()) < least ? 0 : v.x(), std::abs(v.y()) < least ? 0 : v.y(), std::abs(v.z()) < least ? 0 : v.z()};
}

}  // namespace featherstorm
