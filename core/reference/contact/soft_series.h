// Surface model: a patch on a spring in series with a spring-damper pair. This is the standard linear solid, which
// creeps under a constant force and relaxes at a constant depth. RBDA section 11.8, Extensions: "a more general
// visco-elastic element". The spring-damper pair carries the inner node y, the spring the patch z:
//
//   f = -S (z - y),   yd = -(K y + f) / D
//
// A free patch has no force, so it moves to y at once. The bodies touch if p <= y, and z = p there. The force then
// depends on positions alone: it is continuous even at impact, and the normal law does not contain velocities. In the
// limit of infinite S this is SoftSurface.
//
//   normal   f_n = S_n max(0, y_n - p),  yd_n = -(K_n y_n + f_n) / D_n
//   tangent  f_stick = -S_t (x - y_t),  f_t = f_stick within the disc of mu f_n,  yd_t = -(K_t y_t + f_t) / D_t
//
// If the bodies slip, the patch is where the spring carries f_t: x = y_t - f_t / S_t. The energy stored in each
// direction is 1/2 K y^2 and 1/2 S (z - y)^2. D yd^2 and slip dissipate energy.
//
// The state of a contact has six numbers in the axes of body p: the patch's displacement, of which only the tangential
// part is read, and y.
#pragma once
#include "core/contact/soft_surface.h"

namespace featherstorm {

template <class P>
struct SeriesSurface {
  P K_n, D_n;  // spring-damper pair, normal [N/m], [N s/m], > 0
  P S_n;       // spring in series with the pair [N/m], > 0
  P K_t, D_t, S_t;
  P rolling{};  // as in SoftSurface
};
template <class P>
FS_HD constexpr int soft_numbers(const SeriesSurface<P>&) {
  return 6;
}

// Positions of the patch and the inner node.
template <class T>
struct SeriesAt {
  T y_n;         // inner node, along the normal
  Vec3<T> x, y;  // patch and inner node, in the tangent plane, world axes
  T touches;     // 1 or 0
};
template <class T>
FS_HD SeriesAt<T> series_at(const SoftContact<T>& k, const auto& u) {
  const T zero(0.0), one(1.0);
  const Vec3<T>& n = k.at.e[0];
  const Vec3<T> x = displacement(k.R, u), y = displacement(k.R, u, 3);
  const T y_n = dot(n, y), touches = select(zero <= k.at.margin, select(k.at.phi <= y_n, one, zero), zero);
  return {y_n, x - n * dot(n, x), y - n * y_n, touches};
}

// Computes forces and rates. ud: rate of the patch at a constant f_n, then of the inner node. At the edge of the disc,
// the patch yields only to motion that would stretch the spring further, so the slip v - xd is opposite to f_t.
template <class P, class T>
FS_HD SoftForce<T> soft_force(const SeriesSurface<P>& s, const Contact<P>& c, const SoftContact<T>& k, const auto& u,
                              auto ud) {
  const T zero(0.0);
  const Vec3<T>& n = k.at.e[0];
  const SeriesAt<T> at = series_at(k, u);
  const T f_n = (at.y_n - k.at.phi) * s.S_n * at.touches, limit = f_n * c.friction, square = limit * limit;
  const Vec3<T> stick = (at.y - at.x) * s.S_t, f_t = within_disc(stick, limit);
  const Vec3<T> yd_t = -((at.y * s.K_t + f_t) * rcp(T(s.D_t)));
  const T yd_n = -((at.y_n * s.K_n + f_n) * rcp(T(s.D_n)));
  const auto holds = dot(stick, stick) < square, some = zero < square;
  const T gives = min(dot(f_t, Vec3<T>(k.v - yd_t)), zero) * rcp(select(some, square, T(1.0)));
  Vec3<T> xd;
  for (int i = 0; i < 3; i++) xd(i) = select(holds, T(k.v(i)), select(some, T(k.v(i) - f_t(i) * gives), T(yd_t(i))));
  set_displacement(k.R, Vec3<T>(n * select(zero < at.touches, k.zeta, yd_n) + xd), ud);
  set_displacement(k.R, Vec3<T>(n * yd_n + yd_t), ud, 3);
  return {f_n, f_t, k.locus * -(f_n * s.rolling)};
}

// Updates the state. The inner node relaxes towards the balance of pair and spring, with the other ends as they are
// after the step: at rate (K + S) / D if the patch is held, else under f_t at rate K / D.
template <class P, class T>
FS_HD void soft_update(const SeriesSurface<P>& s, const Contact<P>& c, const SoftContact<T>& k, const auto& f,
                       const T& dt, auto u) {
  const Vec3<T>& n = k.at.e[0];
  const SeriesAt<T> at = series_at(k, u);
  const T S_n = at.touches * s.S_n, sum_n = S_n + s.K_n, rest_n = S_n * (k.at.phi + dt * k.zeta) * rcp(sum_n);
  const T y_n = rest_n + (at.y_n - rest_n) * exp(-(dt * sum_n * rcp(T(s.D_n))));
  const T limit = f[0] * c.friction;
  const auto sticks = f[1] * f[1] + f[2] * f[2] < limit * limit * T(1 - 1e-5);
  const Vec3<T> x = at.x + k.v * dt, f_t = k.at.e[1] * f[1] + k.at.e[2] * f[2];
  const T held = T(s.S_t) * rcp(T(s.K_t + s.S_t));
  const T fast = exp(-(dt * (s.K_t + s.S_t) * rcp(T(s.D_t)))), slow = exp(-(dt * s.K_t * rcp(T(s.D_t))));
  Vec3<T> y_t, x_t;
  for (int i = 0; i < 3; i++) {
    const T rest = select(sticks, x(i) * held, -(f_t(i) * rcp(T(s.K_t))));
    y_t(i) = rest + (at.y(i) - rest) * select(sticks, fast, slow);
  }
  // the patch stays if it can stick
  const Vec3<T> force = within_disc(Vec3<T>((y_t - x) * s.S_t), limit);
  set_displacement(k.R, Vec3<T>(y_t - force * rcp(T(s.S_t))), u);
  set_displacement(k.R, Vec3<T>(n * y_n + y_t), u, 3);
}

}  // namespace featherstorm
