// Spatial and planar arithmetic as matrices: RBDA Tables 2.2, A.1 and A.2, function by function under the book's names.
//
// Reference only, in double with Eigen: for experiments, and for reading tests beside the book. No algorithm forms
// these matrices (transform.h, motion.h). Every transform maps motion coordinates from the old frame to the new one.
// The arguments give the placement of the new frame. The force transform is X^-T. Angles [rad], vectors [m]; planar
// vectors are (w, vx, vy) and (n, fx, fy).
#pragma once
#include <Eigen/Dense>
#include <cmath>

#include "core/spatial/vector3.h"

namespace featherstorm::matrices {

using Vector2 = Eigen::Vector2d;
using Vector3 = Eigen::Vector3d;
using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix3 = Eigen::Matrix3d;
using Matrix4 = Eigen::Matrix4d;
using Matrix6 = Eigen::Matrix<double, 6, 6>;

// v×. RBDA (2.23)
inline Matrix3 cross_matrix(const Vector3& v) {
  return (Matrix3() << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0).finished();
}
// Rotations of the frame: map coordinates in old axes to coordinates in new axes. Table 2.2, Table A.2
inline Matrix3 rx(double t) {
  const double c = std::cos(t), s = std::sin(t);
  return (Matrix3() << 1, 0, 0, 0, c, s, 0, -s, c).finished();
}
inline Matrix3 ry(double t) {
  const double c = std::cos(t), s = std::sin(t);
  return (Matrix3() << c, 0, -s, 0, 1, 0, s, 0, c).finished();
}
inline Matrix3 rz(double t) {
  const double c = std::cos(t), s = std::sin(t);
  return (Matrix3() << c, s, 0, -s, c, 0, 0, 0, 1).finished();
}
inline Matrix6 rot(const Matrix3& E) {
  Matrix6 X = Matrix6::Zero();
  X.topLeftCorner<3, 3>() = X.bottomRightCorner<3, 3>() = E;
  return X;
}
inline Matrix6 rotx(double t) { return rot(rx(t)); }
inline Matrix6 roty(double t) { return rot(ry(t)); }
inline Matrix6 rotz(double t) { return rot(rz(t)); }
// [1 0; -r× 1]
inline Matrix6 xlt(const Vector3& r) {
  Matrix6 X = Matrix6::Identity();
  X.bottomLeftCorner<3, 3>() = -cross_matrix(r);
  return X;
}
// Homogeneous coordinates of points, from the old frame to the new: [E -E r; 0 1]. RBDA (2.28)
inline Matrix4 homogeneous(const Matrix3& E, const Vector3& r) {
  Matrix4 T = Matrix4::Identity();
  T.topLeftCorner<3, 3>() = E;
  T.topRightCorner<3, 1>() = (-(E * r)).eval();
  return T;
}
// v× = [w× 0; v_O× w×], v×* = -(v×)^T. RBDA (2.31), (2.32)
inline Matrix6 crm(const Vector6& v) {
  Matrix6 C = Matrix6::Zero();
  C.topLeftCorner<3, 3>() = C.bottomRightCorner<3, 3>() = cross_matrix(v.head<3>());
  C.bottomLeftCorner<3, 3>() = cross_matrix(v.tail<3>());
  return C;
}
inline Matrix6 crf(const Vector6& v) { return -crm(v).transpose(); }
// [I_C + m c× c×^T, m c×; m c×^T, m 1]. RBDA (2.63)
inline Matrix6 mcI(double m, const Vector3& c, const Matrix3& I_C) {
  const Matrix3 C = cross_matrix(c);  // C^T = -C
  Matrix6 I;
  I << I_C - m * (C * C), m * C, -m * C, m * Matrix3::Identity();
  return I;
}
// Its inverse in closed form, Phi_O of RBDA (2.74): [I_C^-1, I_C^-1 c×^T; c× I_C^-1, 1/m + c× I_C^-1 c×^T].
inline Matrix6 inverse_mcI(double m, const Vector3& c, const Matrix3& I_C) {
  const Matrix3 C = cross_matrix(c), J = I_C.inverse(), K = C * J;
  Matrix6 Phi;
  Phi << J, -(J * C), K, Matrix3::Identity() / m - K * C;
  return Phi;
}
// Motion that moves the old frame to the new one in unit time: exact for translations, first order for rotations. It is
// an invariant of X: v = X v = X^-1 v.
inline Vector6 XtoV(const Matrix6& X) {
  Vector6 v;
  v << X(1, 2) - X(2, 1), X(2, 0) - X(0, 2), X(0, 1) - X(1, 0), X(4, 2) - X(5, 1), X(5, 0) - X(3, 2), X(3, 1) - X(4, 0);
  return 0.5 * v;
}

// Planar functions, Table A.1.
inline Matrix3 Xpln(double t, const Vector2& r) {
  const double c = std::cos(t), s = std::sin(t);
  return (Matrix3() << 1, 0, 0, s * r.x() - c * r.y(), c, s, c * r.x() + s * r.y(), -s, c).finished();
}
inline Matrix3 crm(const Vector3& v) { return (Matrix3() << 0, 0, 0, v(2), 0, -v(0), -v(1), v(0), 0).finished(); }
inline Matrix3 crf(const Vector3& v) { return -crm(v).transpose(); }
inline Matrix3 mcI(double m, const Vector2& c, double I_C) {
  return (Matrix3() << I_C + m * c.squaredNorm(), -m * c.y(), m * c.x(), -m * c.y(), m, 0, m * c.x(), 0, m).finished();
}
// XtoV_simple: first order. XtoV: an invariant of X, and a multiple of the exact motion u = v asin(X23) / X23.
inline Vector3 XtoV_simple(const Matrix3& X) { return {X(1, 2), X(2, 0), -X(1, 0)}; }
inline Vector3 XtoV(const Matrix3& X) {
  return {X(1, 2), (X(2, 0) + X(1, 1) * X(2, 0) + X(1, 2) * X(1, 0)) / 2,
          (-X(1, 0) - X(1, 1) * X(1, 0) + X(1, 2) * X(2, 0)) / 2};
}

}  // namespace featherstorm::matrices
