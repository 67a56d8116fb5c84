// Unit quaternions, scalar first (w x y z). RBDA section 4.5.
#pragma once
#include "core/spatial/vector3.h"

namespace featherstorm {

template <class T> struct Quaternion { T w, x, y, z; };

// R takes coordinates of the turned frame to coordinates of the fixed one: the transpose of E in RBDA (4.12).
template <class T> FS_HD Mat3<T> matrix(const Quaternion<T>& p) {
  const T one(1.0), x2 = p.x + p.x, y2 = p.y + p.y, z2 = p.z + p.z;
  const T xx = x2 * p.x, yy = y2 * p.y, zz = z2 * p.z, xy = x2 * p.y, xz = x2 * p.z, yz = y2 * p.z;
  const T wx = x2 * p.w, wy = y2 * p.w, wz = z2 * p.w, one_zz = one - zz;
  return rows<T>(one_zz - yy, xy - wz, xz + wy,  //
                 xy + wz, one_zz - xx, yz - wx,  //
                 xz - wy, yz + wx, one - xx - yy);
}
template <class T> FS_HD Quaternion<T> operator*(const Quaternion<T>& a, const Quaternion<T>& b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
template <class T> FS_HD Quaternion<T> conjugated(const Quaternion<T>& p) { return {p.w, -p.x, -p.y, -p.z}; }
template <class T> FS_HD Quaternion<T> normalised(const Quaternion<T>& p) {
  const T k = rcp(sqrt(p.w * p.w + p.x * p.x + p.y * p.y + p.z * p.z));
  return {p.w * k, p.x * k, p.y * k, p.z * k};
}

// sin(sqrt(s)) / sqrt(s) and cos(sqrt(s)), smooth at s = 0 (series below s = 0.01, relative error 1e-16 there).
template <class T> struct SincCos { T sinc, cos; };
template <class T> FS_HD SincCos<T> sinc_cos_of_square(const T& s) {
  const T small(0.01), one(1.0);
  const T x = sqrt(max(s, small));
  T sn, cs;
  sincos(x, sn, cs);
  const T series_sinc = one - s * (T(1.0 / 6) - s * (T(1.0 / 120) - s * (T(1.0 / 5040) - s * T(1.0 / 362880))));
  const T series_cos = one - s * (T(0.5) - s * (T(1.0 / 24) - s * (T(1.0 / 720) - s * T(1.0 / 40320))));
  return {select(s < small, series_sinc, sn * rcp(x)), select(s < small, series_cos, cs)};
}

// The quaternion of the rotation vector u [rad], exp(u/2).
template <class T> FS_HD Quaternion<T> quaternion_exp(const Vec3<T>& u) {
  const Vec3<T> h = u * T(0.5);
  const SincCos<T> f = sinc_cos_of_square(dot(h, h));
  return {f.cos, h.x() * f.sinc, h.y() * f.sinc, h.z() * f.sinc};
}
// The rotation vector of a unit quaternion, of length at most pi: 2 atan2(|u|, w) u/|u| with the sign that makes w >= 0.
template <class T> FS_HD Vec3<T> quaternion_log(const Quaternion<T>& p) {
  const T zero(0.0), one(1.0), small(1e-4);
  const T sign = select(p.w < zero, -one, one);
  const Vec3<T> u = Vec3<T>{p.x, p.y, p.z} * sign;
  const T s2 = dot(u, u), w = p.w * sign;
  const T s = sqrt(max(s2, small));
  // near zero: 2 asin(s)/s = 2 + s^2/3 + 3 s^4/20 + 5 s^6/56
  const T series = T(2.0) + s2 * (T(1.0 / 3) + s2 * (T(3.0 / 20) + s2 * T(5.0 / 56)));
  return u * select(s2 < small, series, T(2.0) * atan2(s, w) * rcp(s));
}

}  // namespace featherstorm
