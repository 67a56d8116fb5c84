// Products with a general rotation matrix in fewer operations, and transforms of inertias built from them. RBDA section
// A.5 and the last rows of Table A.4.
//
// They are for generators and for counting. Kernels run the plain forms of rotation.h, because compilers turn those
// into multiply-adds, while the sums here depend on one another. E maps old to new coordinates, as in the book.
#pragma once
#include "core/spatial/inertia.h"

namespace featherstorm {

// F G of two rotation matrices: two columns; the third is their cross product. 24m + 15a
template <class T>
FS_HD Mat3<T> rotation_product(const Mat3<T>& F, const Mat3<T>& G) {
  const Vec3<T> a = F * Vec3<T>{G(0, 0), G(1, 0), G(2, 0)}, b = F * Vec3<T>{G(0, 1), G(1, 1), G(2, 1)}, c = cross(a, b);
  return rows<T>(a.x(), b.x(), c.x(), a.y(), b.y(), c.y(), a.z(), b.z(), c.z());
}

// E A E^T: A = L + D + v× with the third column of L zero and D = A33 1, so E A E^T = E L E^T + D + (E v)×. 40m + 39a.
// Entry 11 of E L E^T comes from the trace.
template <class T>
FS_HD Mat3<T> rotate_general(const Mat3<T>& E, const Mat3<T>& A) {
  const T L11 = A(0, 0) - A(2, 2), L22 = A(1, 1) - A(2, 2), L31 = A(2, 0) + A(0, 2), L32 = A(2, 1) + A(1, 2);
  const Vec3<T> Y1 = E * Vec3<T>{L11, A(1, 0), L31}, Y2 = E * Vec3<T>{A(0, 1), L22, L32};
  const auto Z = [&](int i, int j) { return Y1(i) * E(j, 0) + Y2(i) * E(j, 1); };
  const T Z22 = Z(1, 1), Z33 = Z(2, 2), Z11 = L11 + L22 - Z22 - Z33;
  // E v with v = (-A23, A13, 0)
  Vec3<T> u;
  for (int i = 0; i < 3; i++) u(i) = E(i, 1) * A(0, 2) - E(i, 0) * A(1, 2);
  return rows<T>(Z11 + A(2, 2), Z(0, 1) - u.z(), Z(0, 2) + u.y(),  //
                 Z(1, 0) + u.z(), Z22 + A(2, 2), Z(1, 2) - u.x(),  //
                 Z(2, 0) - u.y(), Z(2, 1) + u.x(), Z33 + A(2, 2));
}
// E A E^T for symmetric A: only the lower triangle. 28m + 29a
template <class T>
FS_HD Sym3<T> rotate_symmetric(const Mat3<T>& E, const Sym3<T>& A) {
  const T L11 = A.xx - A.zz, L22 = A.yy - A.zz, L31 = A.xz + A.xz, L32 = A.yz + A.yz;
  const auto Y = [&](int i, const T& x, const T& y, const T& z) { return E(i, 0) * x + E(i, 1) * y + E(i, 2) * z; };
  const T Y21 = Y(1, L11, A.xy, L31), Y22 = Y(1, A.xy, L22, L32), Y31 = Y(2, L11, A.xy, L31),
          Y32 = Y(2, A.xy, L22, L32);
  const T Z21 = Y21 * E(0, 0) + Y22 * E(0, 1), Z22 = Y21 * E(1, 0) + Y22 * E(1, 1);
  const T Z31 = Y31 * E(0, 0) + Y32 * E(0, 1), Z32 = Y31 * E(1, 0) + Y32 * E(1, 1), Z33 = Y31 * E(2, 0) + Y32 * E(2, 1);
  const T Z11 = L11 + L22 - Z22 - Z33;
  Vec3<T> u;
  for (int i = 0; i < 3; i++) u(i) = E(i, 1) * A.xz - E(i, 0) * A.yz;
  return {Z11 + A.zz, Z21 + u.z(), Z31 - u.y(), Z22 + A.zz, Z32 + u.x(), Z33 + A.zz};
}

// X* I X^-1 of a rigid body: y = h - m r, Z = I + r×h× + y×r×, then (m, E y, E Z E^T). 52m + 56a
template <class T>
FS_HD RigidBodyInertia<T> transform_inertia(const Mat3<T>& E, const Vec3<T>& r, const RigidBodyInertia<T>& J) {
  const Vec3<T>& h = J.h;
  const Vec3<T> y = h - r * J.m;
  // a×b× = b a^T - (a.b) 1
  const T hx = h.x() * r.x(), hy = h.y() * r.y(), hz = h.z() * r.z();
  const T yx = y.x() * r.x(), yy = y.y() * r.y(), yz = y.z() * r.z();
  const Sym3<T> Z{J.I.xx - (hy + hz) - (yy + yz),         J.I.xy + h.y() * r.x() + r.y() * y.x(),
                  J.I.xz + h.z() * r.x() + r.z() * y.x(), J.I.yy - (hx + hz) - (yx + yz),
                  J.I.yz + h.z() * r.y() + r.z() * y.y(), J.I.zz - (hx + hy) - (yx + yy)};
  return {J.m, E * y, rotate_symmetric(E, Z)};
}
// X* I^A X^-1: Y = H - r×M, then E M E^T, E Y E^T, E (I - r×H^T + Y r×) E^T. 135m + 139a
template <class T>
FS_HD ArticulatedInertia<T> transform_inertia(const Mat3<T>& E, const Vec3<T>& r, const ArticulatedInertia<T>& J) {
  // r×M; the symmetry of M lets three products serve twice: 15m + 9a
  const Sym3<T>& M = J.M;
  const T x_yz = r.x() * M.yz, y_xz = r.y() * M.xz, z_xy = r.z() * M.xy;
  const Mat3<T> K = rows<T>(y_xz - z_xy, r.y() * M.yz - r.z() * M.yy, r.y() * M.zz - r.z() * M.yz,  //
                            r.z() * M.xx - r.x() * M.xz, z_xy - x_yz, r.z() * M.xz - r.x() * M.zz,  //
                            r.x() * M.xy - r.y() * M.xx, r.x() * M.yy - r.y() * M.xy, x_yz - y_xz);
  Mat3<T> Y, Z = full(J.I);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) Y(i, j) = J.H(i, j) - K(i, j);
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) {
      const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
      Z(i, j) = Z(i, j) - (r(a) * J.H(j, b) - r(b) * J.H(j, a)) + (Y(i, c) * r(d) - Y(i, d) * r(c));
    }
  return {rotate_symmetric(E, upper(Z)), rotate_general(E, Y), rotate_symmetric(E, J.M)};
}

}  // namespace featherstorm
