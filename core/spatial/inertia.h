// Rigid-body inertia (10 numbers) and articulated-body inertia (21 numbers). RBDA (2.63), (7.2) and appendix A.
#pragma once
#include "core/spatial/motion.h"

namespace featherstorm {

// I = [Ibar h×; -h× m 1]: mass [kg], first moment m c [kg m], rotational inertia about the frame's origin [kg m^2]
template <class T> struct RigidBodyInertia {
  T m;
  Vec3<T> h;
  Sym3<T> I;
};
template <class T> FS_HD RigidBodyInertia<T> zero_inertia() {
  const T o(0.0);
  return {o, zero3<T>(), {o, o, o, o, o, o}};
}
// I^A = [I H; H^T M]
template <class T> struct ArticulatedInertia {
  Sym3<T> I;
  Mat3<T> H;
  Sym3<T> M;
};

// I v
template <class A, class B>
FS_HD Force<Product<A, B>> operator*(const RigidBodyInertia<A>& J, const Motion<B>& v) {
  return {J.I * v.w + cross(J.h, v.v), v.v * J.m - cross(J.h, v.w)};
}
template <class A, class B>
FS_HD Force<Product<A, B>> operator*(const ArticulatedInertia<A>& J, const Motion<B>& v) {
  return {J.I * v.w + J.H * v.v, transpose_times(J.H, v.w) + J.M * v.v};
}
template <class A, class B>
FS_HD RigidBodyInertia<Product<A, B>> operator+(const RigidBodyInertia<A>& a, const RigidBodyInertia<B>& b) {
  return {a.m + b.m, a.h + b.h, a.I + b.I};
}
template <class T>
FS_HD ArticulatedInertia<T> operator+(const ArticulatedInertia<T>& a, const ArticulatedInertia<T>& b) {
  return {a.I + b.I, a.H + b.H, a.M + b.M};
}

template <class T> FS_HD RigidBodyInertia<T>& operator+=(RigidBodyInertia<T>& a, const RigidBodyInertia<T>& b) {
  a.m += b.m, add_to(a.h, b.h), add_to(a.I, b.I);
  return a;
}
template <class T> FS_HD ArticulatedInertia<T>& operator+=(ArticulatedInertia<T>& a, const ArticulatedInertia<T>& b) {
  add_to(a.I, b.I), add_to(a.H, b.H), add_to(a.M, b.M);
  return a;
}

template <class T, class S> FS_HD RigidBodyInertia<T> cast(const RigidBodyInertia<S>& J) {
  return {T(J.m), cast<T>(J.h), cast<T>(J.I)};
}
// A rigid body as an articulated one: H = h×, M = m 1.
template <class T, class S> FS_HD ArticulatedInertia<T> articulated(const RigidBodyInertia<S>& J) {
  const T o(0.0), m(J.m), x(J.h.x()), y(J.h.y()), z(J.h.z());
  return {cast<T>(J.I), rows<T>(o, -z, y, z, o, -x, -y, x, o), {m, o, o, m, o, m}};
}

// The inertia of a body with mass m, centre of mass c and rotational inertia Ic about c, all in the frame's axes:
// Ibar = Ic + m c× c×^T. RBDA (2.63)
template <class T> FS_HD RigidBodyInertia<T> rigid_body_inertia(T m, const Vec3<T>& c, const Sym3<T>& Ic) {
  const T xx = c.x() * c.x(), yy = c.y() * c.y(), zz = c.z() * c.z();
  return {m,
          c * m,
          {Ic.xx + m * (yy + zz), Ic.xy - m * (c.x() * c.y()), Ic.xz - m * (c.x() * c.z()), Ic.yy + m * (xx + zz),
           Ic.yz - m * (c.y() * c.z()), Ic.zz + m * (xx + yy)}};
}

// Second moments Sigma = int r r^T dm = tr(Ibar)/2 1 - Ibar.
template <class T> FS_HD Sym3<T> second_moments(const Sym3<T>& I) {
  const T k(0.5);
  return {(I.yy + I.zz - I.xx) * k, -I.xy, -I.xz, (I.xx + I.zz - I.yy) * k, -I.yz, (I.xx + I.yy - I.zz) * k};
}

}  // namespace featherstorm
