// The rotation vector q as three coordinates: angular velocity from its rate and back. Liu and Jain (53)-(56).
//
//   R = exp(q×) = matrix(quaternion_exp(q)),   theta = |q|
//   w = Jhat dq/dt,   Jhat = 1 + (1 - cos theta) / theta^2 q× + (theta - sin theta) / theta^3 (q×)^2      parent's axes
//   Jhat^-1 = 1 - 1/2 q× + (1 - theta/2 cot(theta/2)) / theta^2 (q×)^2
//
// In the child's axes w is Jhat^T dq/dt. det Jhat = 2 (1 - cos theta) / theta^2 vanishes at a full turn, so q is kept
// within half a turn: quaternion_log(quaternion_exp(q)) is q (1 - 2 pi / theta) beyond. The quotients are series near
// zero and good to two digits less than full precision everywhere. joint/ball_exp.h takes angular velocities as v and
// needs neither matrix.
#pragma once
#include "core/spatial/quaternion.h"

namespace featherstorm {

// (theta - sin theta) / theta^3 of s = theta^2
template <class T>
FS_HD T exponential_sine_quotient(const T& s) {
  const T small(0.25);
  const T series =
      T(1.0 / 6) - s * (T(1.0 / 120) - s * (T(1.0 / 5040) - s * (T(1.0 / 362880) -
                                                                 s * (T(1.0 / 39916800) - s * T(1.0 / 6227020800.0)))));
  const T x = max(s, small);
  return select(s < small, series, (T(1.0) - sinc_cos_of_square(x).sinc) * rcp(x));
}
// (1 - theta/2 cot(theta/2)) / theta^2 of s = theta^2 < (2 pi)^2
template <class T>
FS_HD T exponential_cotangent_quotient(const T& s) {
  const T small(0.25);
  const T series =
      T(1.0 / 12) +
      s * (T(1.0 / 720) +
           s * (T(1.0 / 30240) + s * (T(1.0 / 1209600) + s * (T(1.0 / 47900160) + s * T(691.0 / 1307674368000.0)))));
  const T x = max(s, small);
  const SincCos<T> half = sinc_cos_of_square(x * T(0.25));
  return select(s < small, series, (T(1.0) - half.cos * rcp(half.sinc)) * rcp(x));
}
// 1 + a q× + b (q×)^2
template <class T>
FS_HD Mat3<T> rotation_polynomial(const Vec3<T>& q, const T& a, const T& b) {
  const T d = T(1.0) - b * dot(q, q), x = a * q.x(), y = a * q.y(), z = a * q.z();
  const T xy = b * (q.x() * q.y()), xz = b * (q.x() * q.z()), yz = b * (q.y() * q.z());
  return rows<T>(d + b * (q.x() * q.x()), xy - z, xz + y,  //
                 xy + z, d + b * (q.y() * q.y()), yz - x,  //
                 xz - y, yz + x, d + b * (q.z() * q.z()));
}

// in   q [rad]  rotation vector
// Returns Jhat: w = Jhat dq/dt in the parent's axes.
template <class T>
FS_HD Mat3<T> exponential_jacobian(const Vec3<T>& q) {
  const T s = dot(q, q), half = sinc_cos_of_square(s * T(0.25)).sinc;
  // 1 - cos theta = 2 sin^2(theta/2)
  return rotation_polynomial(q, T(0.5) * (half * half), exponential_sine_quotient(s));
}
// Returns Jhat^-1: dq/dt = Jhat^-1 w, w in the parent's axes; |q| < 2 pi.
template <class T>
FS_HD Mat3<T> exponential_jacobian_inverse(const Vec3<T>& q) {
  return rotation_polynomial(q, T(-0.5), exponential_cotangent_quotient(dot(q, q)));
}

}  // namespace featherstorm
