// The change of the force I a + v x* I v that a body needs, for a change u of its velocity, without the change of a:
//
//   D u = I (u x v) + u x* I v + v x* I u,   D = v x* I - I v x + (. x* I v) = [W 0; -2 p x 0]
//
// with W = rate of the rotational inertia - n x, (n; p) = I v. The right half vanishes, so D has 12 numbers, and D of a
// subtree is the sum over its bodies. D = 2 B of the Coriolis matrix; D + D^T = 2 dI/dt, RBDA (2.65).
#pragma once
#include "core/spatial/transform.h"

namespace featherstorm {

template <class T> struct VelocityForce {
  Mat3<T> W;
  Vec3<T> p;  // momentum
};

// d/dt of the rotational inertia about the origin of a fixed frame, of a body that moves with v:
// w x Ibar + (w x Ibar)^T + 2 (h.v) 1 - h v^T - v h^T
template <class T> FS_HD Mat3<T> rotational_inertia_rate(const RigidBodyInertia<T>& I, const Motion<T>& v) {
  const Mat3<T> A = cross_columns(v.w, full(I.I));
  const T s = dot(I.h, v.v);
  Mat3<T> r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) r(i, j) = A(i, j) + A(j, i) - (I.h(i) * v.v(j) + v.v(i) * I.h(j));
  for (int i = 0; i < 3; i++) r(i, i) = r(i, i) + (s + s);
  return r;
}

// dI/dt of a body in a fixed frame, v x* I - I v x, in the form of an inertia: no mass, the momentum as first moment
template <class T> FS_HD RigidBodyInertia<T> inertia_rate(const RigidBodyInertia<T>& I, const Motion<T>& v) {
  return {T(0.0), v.v * I.m - cross(I.h, v.w), upper(rotational_inertia_rate(I, v))};
}

// m - n x
template <class T> FS_HD Mat3<T> minus_cross(const Mat3<T>& m, const Vec3<T>& n) {
  return rows<T>(m(0, 0), m(0, 1) + n.z(), m(0, 2) - n.y(),  //
                 m(1, 0) - n.z(), m(1, 1), m(1, 2) + n.x(),  //
                 m(2, 0) + n.y(), m(2, 1) - n.x(), m(2, 2));
}

// D of a body with inertia I, velocity v and momentum h = I v, all in one fixed frame.
template <class T>
FS_HD VelocityForce<T> velocity_force(const RigidBodyInertia<T>& I, const Motion<T>& v, const Force<T>& h) {
  return {minus_cross(rotational_inertia_rate(I, v), h.n), h.f};
}
template <class T> FS_HD VelocityForce<T>& operator+=(VelocityForce<T>& a, const VelocityForce<T>& b) {
  add_to(a.W, b.W), add_to(a.p, b.p);
  return a;
}
// D u
template <class T> FS_HD Force<T> operator*(const VelocityForce<T>& D, const Motion<T>& u) {
  const Vec3<T> c = cross(u.w, D.p);
  return {D.W * u.w, c + c};
}
// The angular part of D^T u; the linear part is zero.
template <class T> FS_HD Vec3<T> transpose_times(const VelocityForce<T>& D, const Motion<T>& u) {
  const Vec3<T> c = cross(D.p, u.v);
  return transpose_times(D.W, u.w) + (c + c);
}

}  // namespace featherstorm
