// A surface whose patch is held by a spring in series with a spring and damper: the standard linear solid, which creeps
// under a steady force and relaxes at a steady depth. RBDA section 11.8, Extensions: "a more general visco-elastic
// element". The spring-damper pair carries the inner node y, the spring the patch z:
//
//   f = -S (z - y),   yd = -(K y + f) / D
//
// A patch that is left has no force, so it stands at y at once: the bodies touch where p <= y, and z = p there. The
// force then depends on positions alone, it is continuous also at impact, and no velocity enters the normal law. With S
// to infinity this is SoftSurface.
//
//   normal   f_n = S_n max(0, y_n - p),  yd_n = -(K_n y_n + f_n) / D_n
//   tangent  f_stick = -S_t (x - y_t),  f_t = f_stick within the disc of mu f_n,  yd_t = -(K_t y_t + f_t) / D_t
//
// Where the bodies slip the patch stands where the spring carries f_t: x = y_t - f_t / S_t. Energy stored: 1/2 K y^2
// and 1/2 S (z - y)^2 of each direction; lost: D yd^2 and what slips.
//
// State of a contact: six numbers in the axes of body p, the patch's displacement, of which only the tangential part is
// read, and y.
#pragma once
#include "core/contact/soft_surface.h"

namespace featherstorm {

template <class P>
struct SeriesSurface {
  P K_n, D_n;  // the pair, normal [N/m], [N s/m], > 0
  P S_n;       // the spring in series with it [N/m], > 0
  P K_t, D_t, S_t;
  P rolling{};  // as in SoftSurface
};
template <class P>
FS_HD constexpr int soft_numbers(const SeriesSurface<P>&) {
  return 6;
}

// Where patch and inner node are.
template <class T>
struct SeriesAt {
  T y_n;         // of the inner node along the normal
  Vec3<T> x, y;  // of the patch and of the inner node in the tangent plane, world axes
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

// ud: of the patch, at a steady f_n; of the inner node. At the edge of the disc the patch gives way to what would
// stretch the spring further, and to nothing else: the slip v - xd is opposite to f_t.
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

// The inner node relaxes towards where pair and spring balance, the other ends as they are after the step: with the
// patch held, rate (K + S) / D, else under f_t with rate K / D.
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
  // the patch stays where it can hold on
  const Vec3<T> force = within_disc(Vec3<T>((y_t - x) * s.S_t), limit);
  set_displacement(k.R, Vec3<T>(y_t - force * rcp(T(s.S_t))), u);
  set_displacement(k.R, Vec3<T>(n * y_n + y_t), u, 3);
}

}  // namespace featherstorm
