// Surface model: a massless patch on springs and dampers at the contact point. RBDA (11.73)-(11.79).
//
//   normal   f_n = max(0, -K_n z - D_n pd) where p <= z, else 0        zd = -(K_n z + f_n) / D_n
//   tangent  f_stick = -K_t x - D_t v,  f_t = f_stick within the disc of mu f_n        xd = -(K_t x + f_t) / D_t
//
// p is the gap (negative if the undeformed bodies overlap), z the patch's displacement along the normal, x the
// displacement in the tangent plane. In contact z = p. A free patch relaxes as z e^(-K t / D). This is also the highest
// curve that a patch can follow, so contact lasts while p is not above it. One number z covers both cases, and no event
// needs to be detected.
//
// A sticking body does not creep: at v = 0 the spring of the patch holds f_t = -K_t x. The slip velocity is
// v - xd = (f_t - f_stick) / D_t. The stored energy is 1/2 K_n z^2 + 1/2 K_t x^2. Energy is dissipated by
// D_n zd^2, D_t xd^2, slip and `rolling`.
//
// Nonlinear model (section 11.8, Extensions; Hunt and Crossley 1975, Marhefka and Orin 1999), with the depth d = -z:
//
//   f_n = max(0, d^n (K_n - D_n pd)),    a free patch recovers at the constant speed K_n / D_n
//
// The force begins and ends at zero, unlike that of a linear damper. A slow impact at speed w has the restitution
// e = 1 - 2/3 (D_n / K_n) w, for any n, K_n and mass. n = 3/2 is Hertz's law for spheres. The energy is
// K_n d^(n+1) / (n+1).
//
// The state of a contact is the patch's displacement u = n z + x in the axes of body p: three numbers, for any
// direction of the normal.
#pragma once
#include "core/contact/soft_contact.h"

namespace featherstorm {

// The compliance of one contact.
template <class P>
struct SoftSurface {
  P K_n, D_n;   // normal [N/m], [N s/m], > 0
  P K_t, D_t;   // tangential, > 0
  P rolling{};  // resistance to motion of the contact point over the surface: rolling * f_n * its velocity [s/m]
};
template <class P>
struct NonlinearSurface {
  P K_n, D_n;  // normal [N/m^n], [N s/m^(n+1)], > 0
  P K_t, D_t;  // tangential, linear [N/m], [N s/m], > 0
  int n2 = 3;  // 2 n, at least 2
  P rolling{};
};
template <class P>
FS_HD constexpr int soft_numbers(const SoftSurface<P>&) {
  return 3;
}
template <class P>
FS_HD constexpr int soft_numbers(const NonlinearSurface<P>&) {
  return 3;
}

// Combines two soft bodies: springs and dampers in series. Exact if K / D is the same for both (section 11.8).
template <class P>
FS_HD SoftSurface<P> in_series(const SoftSurface<P>& a, const SoftSurface<P>& b) {
  auto half = [](const P& x, const P& y) { return x * y * rcp(x + y); };
  return {half(a.K_n, b.K_n), half(a.D_n, b.D_n), half(a.K_t, b.K_t), half(a.D_t, b.D_t)};
}

// Normal laws. press: force at displacement z [m] and speed zeta [m/s], before clamping to push only. recovery: speed
// of a free patch. recovered: its displacement after dt.
template <class P, class T>
FS_HD T press(const SoftSurface<P>& s, const T& z, const T& zeta) {
  return -(z * s.K_n + zeta * s.D_n);
}
template <class P, class T>
FS_HD T recovery(const SoftSurface<P>& s, const T& z) {
  return -(z * (s.K_n * rcp(T(s.D_n))));
}
template <class P, class T>
FS_HD T recovered(const SoftSurface<P>& s, const T& z, const T& dt) {
  return z * exp(-(dt * s.K_n * rcp(T(s.D_n))));
}
template <class P, class T>
FS_HD T press(const NonlinearSurface<P>& s, const T& z, const T& zeta) {
  const T zero(0.0), d = max(-z, zero), inside = select(zero < d, d, T(1.0));
  T power(1.0);
  for (int k = 0; k < s.n2 / 2; k++) power = power * d;
  if (s.n2 % 2 == 1) power = power * sqrt(inside);
  return power * (T(s.K_n) - zeta * s.D_n);
}
template <class P, class T>
FS_HD T recovery(const NonlinearSurface<P>& s, const T& z) {
  const T zero(0.0), speed = T(s.K_n) * rcp(T(s.D_n));
  return select(z < zero, speed, select(zero < z, -speed, zero));
}
template <class P, class T>
FS_HD T recovered(const NonlinearSurface<P>& s, const T& z, const T& dt) {
  const T most = dt * s.K_n * rcp(T(s.D_n));
  return z - max(min(z, most), -most);
}

// Displacement of the patch along the normal and in the tangent plane, and a flag for touching bodies, for which z = p.
template <class T>
struct Patch {
  T z;
  Vec3<T> x;
  T touches;  // 1 or 0
};
// in  u  displacement of the patch, world axes
template <class T>
FS_HD Patch<T> patch_at(const ContactAt<T>& at, const Vec3<T>& u) {
  const T zero(0.0), one(1.0), z = dot(at.e[0], u);
  const T touches = select(zero <= at.margin, select(at.phi <= z, one, zero), zero);
  return {select(zero < touches, at.phi, z), u - at.e[0] * z, touches};
}
// Convert three numbers of a state to world axes, and back.
template <class T>
FS_HD Vec3<T> displacement(const Mat3<T>& R, const auto& u, int first = 0) {
  return R * Vec3<T>{u[first], u[first + 1], u[first + 2]};
}
template <class T>
FS_HD void set_displacement(const Mat3<T>& R, const Vec3<T>& x, auto u, int first = 0) {
  const Vec3<T> in_p = transpose_times(R, x);
  for (int i = 0; i < 3; i++) u[first + i] = in_p(i);
}

// Computes forces and rates. Law: SoftSurface or NonlinearSurface. Arguments as in soft_contact.h.
template <class P, class T>
FS_HD SoftForce<T> soft_force(const auto& s, const Contact<P>& c, const SoftContact<T>& k, const auto& u, auto ud) {
  const T zero(0.0);
  const Patch<T> patch = patch_at(k.at, displacement(k.R, u));
  const T f_n = max(press(s, patch.z, k.zeta), zero) * patch.touches;
  const Vec3<T> f_t = within_disc(Vec3<T>(-(patch.x * s.K_t + k.v * s.D_t)), T(f_n * c.friction));
  // zd = -(K_n z + f_n) / D_n, equal to pd in contact; xd = -(K_t x + f_t) / D_t
  const T free = recovery(s, patch.z), zd = select(zero < patch.touches, min(k.zeta, free), free);
  set_displacement(k.R, Vec3<T>(k.at.e[0] * zd - (patch.x * s.K_t + f_t) * rcp(T(s.D_t))), ud);
  return {f_n, f_t, k.locus * -(f_n * s.rolling)};
}

// Updates the state: z relaxes. x moves with the body if it sticks, and relaxes under f_t if it slips.
template <class P, class T>
FS_HD void soft_update(const auto& s, const Contact<P>& c, const SoftContact<T>& k, const auto& f, const T& dt,
                       auto u) {
  const Patch<T> patch = patch_at(k.at, displacement(k.R, u));
  const T z = recovered(s, patch.z, dt), decay = exp(-(dt * s.K_t * rcp(T(s.D_t))));
  // sticks: strictly within the disc
  const T limit = f[0] * c.friction * T(1 - 1e-5);
  const auto sticks = f[1] * f[1] + f[2] * f[2] < limit * limit;
  const Vec3<T> f_t = k.at.e[1] * f[1] + k.at.e[2] * f[2], rest = -(f_t * rcp(T(s.K_t)));
  const Vec3<T> moved = patch.x + k.v * dt, relaxed = rest + (patch.x - rest) * decay;
  Vec3<T> next;
  for (int i = 0; i < 3; i++) next(i) = k.at.e[0](i) * z + select(sticks, moved(i), relaxed(i));
  set_displacement(k.R, next, u);
}

}  // namespace featherstorm
