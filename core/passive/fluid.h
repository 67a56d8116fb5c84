// Forces of a medium with density rho and viscosity mu on links that move in it [qfrc_fluid].
//
// u = (w; v) is the velocity of a frame on the link relative to the medium, in the frame's axes. There are two models:
//
//   box        of the link's inertia, edges a: along each principal axis, with d = (a_0 + a_1 + a_2) / 3,
//                f = -(3 pi d mu   + rho / 2  a_i a_j         |v|) v
//                n = -(pi d^3 mu   + rho / 64 a (a_i^4 + a_j^4) |w|) w
//   ellipsoid  of a geom, semiaxes s: added mass, Magnus and Kutta lift, drag; equations at `ellipsoid_force`
//
// The wind is a uniform velocity of the medium. MuJoCo's documentation, chapter "Fluid forces".
#pragma once
#include "core/model/joints.h"
#include "core/passive/body_passes.h"

namespace featherstorm {

inline constexpr double fluid_pi = 3.14159265358979323846;
// Smallest difference of moments of inertia [mjMINVAL].
inline constexpr double fluid_least = 1e-15;

// The next axis, cyclically.
FS_HD int next_axis(int k) { return (k + 1) % 3; }

// Drag of the box with the link's mass and inertia.
template <class T> FS_HD Force<T> box_force(const auto& medium, const auto& link, const Motion<T>& u) {
  const T least(fluid_least), rho(medium.density), mu(medium.viscosity), pi(fluid_pi);
  T a[3], a4[3];
  // m (a_i^2 + a_j^2) / 12 = I_k
  for (int k = 0; k < 3; k++) {
    const int i = next_axis(k), j = next_axis(i);
    const T difference = T(link.moment[i]) + T(link.moment[j]) - T(link.moment[k]);
    a[k] = sqrt(max(difference, least) * rcp(T(link.mass)) * T(6.0));
    a4[k] = (a[k] * a[k]) * (a[k] * a[k]);
  }
  const T d = (a[0] + a[1] + a[2]) * T(1.0 / 3);
  const T slow_force = T(3.0) * pi * d * mu, slow_moment = pi * (d * d * d) * mu;
  Force<T> f;
  for (int k = 0; k < 3; k++) {
    const int i = next_axis(k), j = next_axis(i);
    f.n(k) = -((slow_moment + rho * T(1.0 / 64) * a[k] * (a4[i] + a4[j]) * abs(u.w(k))) * u.w(k));
    f.f(k) = -((slow_force + rho * T(0.5) * a[i] * a[j] * abs(u.v(k))) * u.v(k));
  }
  return f;
}

// Product of x and y, component by component.
template <class T> FS_HD Vec3<T> by_components(const T* x, const Vec3<T>& y) {
  return {x[0] * y.x(), x[1] * y.y(), x[2] * y.z()};
}

// Force on an ellipsoid whose two longest semiaxes are s, s'. Its silhouette along axis k is A_max sqrt(E_k), with
// A_max = pi s s' and E_k = (s_i s_j / (s s'))^2. Along the direction d of v, the silhouette is
// A = A_max sqrt(q2 / q1), q1 = d . E d, q2 = |E d|^2.
//
//   added mass   f = p x w, n = p x v + L x w         p = rho M v, L = rho J w
//   Magnus       f = c_M rho V w x v                  V its volume
//   Kutta        f = c_K rho A q1 / q2 (E d x v) x v
//   drag         f = -(3 pi D mu + rho |v| (c_B A + c_S (A_max - A))) v,   D = 2/3 (s_0 + s_1 + s_2)
//                n = -(pi D^3 mu + rho |(c_A K + c_S (K_max - K)) w|) w,   K_k = 8/15 pi s_k max(s_i, s_j)^4
//
// drag_alone: excludes added mass and lift
template <class T>
FS_HD Force<T> ellipsoid_force(const auto& medium, const auto& e, const Motion<T>& u, bool drag_alone = false) {
  const T still(1e-36), rho(medium.density), mu(medium.viscosity), pi(fluid_pi);
  const Vec3<T>&w = u.w, &v = u.v;
  const T s[3] = {T(e.semiaxis[0]), T(e.semiaxis[1]), T(e.semiaxis[2])};
  const T sum = s[0] + s[1] + s[2], longest = max(max(s[0], s[1]), s[2]), shortest = min(min(s[0], s[1]), s[2]);
  const T middle = sum - longest - shortest, widest = pi * longest * middle, unit = rcp(longest * middle);
  T M[3], J[3], E[3], K[3];
  for (int k = 0; k < 3; k++) {
    const int i = next_axis(k), j = next_axis(i);
    const T wide = max(s[i], s[j]), silhouette = s[i] * s[j] * unit;
    M[k] = rho * T(e.virtual_mass[k]), J[k] = rho * T(e.virtual_inertia[k]);
    E[k] = silhouette * silhouette;
    K[k] = T(8.0 / 15) * pi * s[k] * ((wide * wide) * (wide * wide));
  }
  const T K_max = T(8.0 / 15) * pi * middle * ((longest * longest) * (longest * longest));
  const T volume = T(4.0 / 3) * pi * s[0] * s[1] * s[2], D = T(2.0 / 3) * sum;
  const T blunt(e.blunt_drag), slender(e.slender_drag), angular(e.angular_drag);

  Force<T> f = zero_force<T>();
  // added mass
  const Vec3<T> p = by_components(M, v), L = by_components(J, w);
  if (!drag_alone) f = {cross(p, v) + cross(L, w), cross(p, w)};
  // lift
  const T speed = sqrt(max(dot(v, v), still));
  const Vec3<T> d = v * rcp(speed), Ed = by_components(E, d);
  const T q1 = max(dot(d, Ed), still), q2 = max(dot(Ed, Ed), still);
  const T area = widest * sqrt(q2 * rcp(q1)), lift = T(e.kutta_lift) * rho * area * q1 * rcp(q2);
  if (!drag_alone) f.f = f.f + cross(w, v) * (T(e.magnus_lift) * rho * volume) + cross(cross(Ed, v) * lift, v);
  // drag
  T resistance[3];
  for (int k = 0; k < 3; k++) resistance[k] = angular * K[k] + slender * (K_max - K[k]);
  const Vec3<T> turning = by_components(resistance, w);
  f.n = f.n - w * (mu * pi * (D * D * D) + rho * sqrt(max(dot(turning, turning), still)));
  f.f = f.f - v * (mu * T(3.0) * pi * D + rho * speed * (area * blunt + slender * (widest - area)));
  return f * T(e.interaction);
}

// Adds the medium's wrenches.
//
// in      X, V (nb + 1)  placements of the bodies, and their velocities in their own axes
// in-out  f (nb + 1)     wrench on each body, moment about its origin, its axes: that of the medium is added
// Cost O(links).
template <class T> FS_HD void add_fluid_wrenches(const auto& m, const auto& w, const auto& X, const auto& V, auto& f) {
  auto against = scratch<Motion<T>>(m.nb + 1);
  const Vec3<T> wind = cast<T>(w.medium.wind);
  for (int i = 1; i <= m.nb; i++) against[i] = {V[i].w, V[i].v - transpose_times(X[i].R, wind)};
  for (const auto& link : w.link) {
    const int i = link.inertial.body;
    if (i == 0) continue;
    if (link.in_medium) {
      const Motion<T> u = apply(link.inertial.X, against[i]);
      f[i] += apply_transpose(link.inertial.X, box_force(w.medium, link, u));
    }
    for (const auto& e : link.ellipsoid) {
      const Motion<T> u = apply(e.place.X, against[i]);
      f[i] += apply_transpose(e.place.X, ellipsoid_force(w.medium, e, u));
    }
  }
}

// Computes the joint forces of the medium.
//
// in   x (nx), X (nb + 1), V (nb + 1)
// out  force (nv)  [N m | N], all entries
// Cost O(links + nb). Dynamics that accept wrenches on bodies only need add_fluid_wrenches.
FS_HD void fluid_forces(const auto& m, const auto& w, const auto& x, const auto& X, const auto& V, auto force) {
  using T = ScalarOf<decltype(x)>;
  auto f = scratch<Force<T>>(m.nb + 1);
  for (int i = 0; i <= m.nb; i++) f[i] = zero_force<T>();
  if (w.has_medium) add_fluid_wrenches<T>(m, w, X, V, f);
  joint_forces_of_wrenches(m, x, f, force);
}

}  // namespace featherstorm
