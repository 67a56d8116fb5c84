// A part of a plane on springs and dampers at fixed places, which keeps the dents that bodies leave in it. RBDA section
// 11.8, Extensions: "an array of spring-damper pairs at fixed locations in the compliant surface, and an interpolation
// scheme based on the location of the contact point".
//
// nx * ny nodes form a grid over the patch |x| <= half_x, |y| <= half_y. Node i of a row is at -half_x + (i - 1/2) h
// with h = 2 half_x / (nx - 2), so one row lies outside on each side. The displacement at the contact point
// interpolates the nodes by quadratic B-splines w_i. Their sum is 1 in the whole patch, and their slopes are
// continuous:
//
//   z = sum w_i z_i,   node i carries w_i f:   K' z_i + D' zd_i + w_i f = 0,   K' = w K, D' = w D
//
// In contact z = p while the point moves over the grid, so sum w_i zd_i = pd - slope . locus with slope = sum z_i grad
// w_i. With s = sum w_i^2 (in both directions; the same for tangents, which stick at fixed places of the surface)
//
//   f_n = max(0, -(K' z + D' (pd - slope . locus)) / s),   f_stick = -(K' x + D' v) / s
//
// w = (19/32)^2 makes K the stiffness at a node; between nodes it is up to 1.42 times that. The dent's slope carries a
// part of the force: -f_n slope opposes the motion of the contact point, which must climb the undeformed part. Rolling
// therefore dissipates what the dampers absorb, without a `rolling` coefficient. The power balance is exact:
//
//   f_n pd + f_t v + resist . locus + d/dt (energy of springs) = -sum D' |ud_i|^2 + f_t . slip
//
// The state of a contact has 3 nx ny numbers, node by node, along x first: displacement in x, y and along the normal,
// in the surface's own axes. Every contact has its own nodes, so one contact does not feel the dents of another.
#pragma once
#include "core/contact/soft_surface.h"

namespace featherstorm {

template <class P>
struct ArraySurface {
  P K_n, D_n, K_t, D_t;  // at a node, as in SoftSurface
  int nx = 3, ny = 3;    // number of nodes, at least 3 each
};
template <class P>
FS_HD constexpr int soft_numbers(const ArraySurface<P>& s) {
  return 3 * s.nx * s.ny;
}
inline constexpr double spline_at_node = 0.3525390625;  // (19/32)^2

// Checks that the contacts can have such a surface. Throws ModelError for a contact that is not on a bounded plane, and
// for fewer than 3 nodes in a direction.
void check_array(const Contacts<double>& contacts, const ArraySurface<double>& s);

// Quadratic B-spline at distance t from its centre, in grid widths, and its slope.
template <class T>
struct Spline {
  T value, slope;
};
template <class T>
FS_HD Spline<T> quadratic_spline(const T& t) {
  const T zero(0.0), d = abs(t), a = max(T(1.5) - d, zero), b = max(T(0.5) - d, zero);
  const T slope = b * T(3.0) - a;
  return {a * a * T(0.5) - b * b * T(1.5), select(t < zero, -slope, slope)};
}

// Calls visit(node, w, grad w in x, in y) for all nodes.
template <class P, class T>
FS_HD void over_nodes(const ArraySurface<P>& s, const Contact<P>& c, const SoftContact<T>& k, auto&& visit) {
  const T dx = T(s.nx - 2.0) * rcp(T(c.half_x + c.half_x)), dy = T(s.ny - 2.0) * rcp(T(c.half_y + c.half_y));
  const T x = (dot(k.at.e[1], k.at.d) + c.half_x) * dx, y = (dot(k.at.e[2], k.at.d) + c.half_y) * dy;
  for (int j = 0; j < s.ny; j++) {
    const Spline<T> b = quadratic_spline(T(y - T(j - 0.5)));
    for (int i = 0; i < s.nx; i++) {
      const Spline<T> a = quadratic_spline(T(x - T(i - 0.5)));
      visit(i + s.nx * j, T(a.value * b.value), T(a.slope * b.value * dx), T(a.value * b.slope * dy));
    }
  }
}

// Interpolated surface at the contact point; vectors are (x, y) of the surface.
template <class T>
struct ArrayAt {
  T z, x[2];   // displacement
  T slope[2];  // slope of the normal displacement
  T squares;   // sum w_i^2; 1 outside the grid, where the sum is 0
  T touches;
  T push;  // nodes are w_i push deeper than in the state, so that z = p in contact
};
template <class P, class T>
FS_HD ArrayAt<T> array_at(const ArraySurface<P>& s, const Contact<P>& c, const SoftContact<T>& k, const auto& u) {
  const T zero(0.0), one(1.0);
  ArrayAt<T> r{zero, {zero, zero}, {zero, zero}, zero, zero, zero};
  T spread[2] = {zero, zero};  // sum w_i grad w_i
  over_nodes(s, c, k, [&](int n, const T& w, const T& by_x, const T& by_y) {
    const T z = u[3 * n + 2], g[2] = {by_x, by_y};
    r.z = r.z + w * z;
    r.squares = r.squares + w * w;
    for (int i = 0; i < 2; i++) {
      r.x[i] = r.x[i] + w * u[3 * n + i];
      r.slope[i] = r.slope[i] + g[i] * z;
      spread[i] = spread[i] + g[i] * w;
    }
  });
  const auto inside = zero <= k.at.margin;
  r.touches = select(inside, select(k.at.phi <= r.z, one, zero), zero);
  r.squares = select(inside, r.squares, one);
  r.push = (k.at.phi - r.z) * rcp(r.squares) * r.touches;
  r.z = select(zero < r.touches, k.at.phi, r.z);
  for (int i = 0; i < 2; i++) r.slope[i] = r.slope[i] + spread[i] * r.push;
  return r;
}

template <class P, class T>
FS_HD SoftForce<T> soft_force(const ArraySurface<P>& s, const Contact<P>& c, const SoftContact<T>& k, const auto& u,
                              auto ud) {
  const T zero(0.0), w(spline_at_node);
  const ArrayAt<T> at = array_at(s, c, k, u);
  const Vec3<T>&e_x = k.at.e[1], &e_y = k.at.e[2];
  const Vec3<T> slope = e_x * at.slope[0] + e_y * at.slope[1], x = e_x * at.x[0] + e_y * at.x[1];
  const T share = w * rcp(at.squares), climb = k.zeta - dot(slope, k.locus);
  const T f_n = max(-(at.z * s.K_n + climb * s.D_n) * share, zero) * at.touches;
  const Vec3<T> f_t = within_disc(Vec3<T>(-((x * s.K_t + k.v * s.D_t) * share)), T(f_n * c.friction));
  const T K_t(s.K_t), K_n(s.K_n), per_t = rcp(w * s.D_t), per_n = rcp(w * s.D_n), t[2] = {dot(e_x, f_t), dot(e_y, f_t)};
  over_nodes(s, c, k, [&](int n, const T& w_n, const T&, const T&) {
    const T z = u[3 * n + 2] + w_n * at.push;
    for (int i = 0; i < 2; i++) ud[3 * n + i] = -((w * K_t * u[3 * n + i] + w_n * t[i]) * per_t);
    ud[3 * n + 2] = -((w * K_n * z + w_n * f_n) * per_n);
  });
  return {f_n, f_t, slope * -f_n};
}

// Relaxes the nodes. Along the normal they relax from their present position, as far as a free surface can follow; the
// next step presses them down again where the body is lower. In the tangent plane they relax under their part of the
// friction. If the bodies stick, nodes under the contact point move with the body.
template <class P, class T>
FS_HD void soft_update(const ArraySurface<P>& s, const Contact<P>& c, const SoftContact<T>& k, const auto& f,
                       const T& dt, auto u) {
  const T w(spline_at_node), one(1.0), zero(0.0);
  const ArrayAt<T> at = array_at(s, c, k, u);
  const T decay_n = exp(-(dt * s.K_n * rcp(T(s.D_n)))), decay_t = exp(-(dt * s.K_t * rcp(T(s.D_t))));
  const T per_t = rcp(w * s.K_t), limit = f[0] * c.friction * T(1 - 1e-5);
  const T sticks = select(f[1] * f[1] + f[2] * f[2] < limit * limit, one, zero);
  const T v[2] = {dot(k.at.e[1], k.v), dot(k.at.e[2], k.v)};
  // relax, then move along w_i so that the surface at the contact point has moved with the body
  T gap[2] = {zero, zero};
  over_nodes(s, c, k, [&](int n, const T& w_n, const T&, const T&) {
    u[3 * n + 2] = (u[3 * n + 2] + w_n * at.push) * decay_n;
    for (int i = 0; i < 2; i++) {
      const T x = u[3 * n + i], rest_t = -(w_n * f[1 + i] * per_t), next = rest_t + (x - rest_t) * decay_t;
      gap[i] = gap[i] + w_n * (x + v[i] * dt - next);
      u[3 * n + i] = next;
    }
  });
  const T per = sticks * rcp(at.squares);
  over_nodes(s, c, k, [&](int n, const T& w_n, const T&, const T&) {
    for (int i = 0; i < 2; i++) u[3 * n + i] = u[3 * n + i] + w_n * gap[i] * per;
  });
}

}  // namespace featherstorm
