// Inertia along tendons [armature]. A kinetic energy 1/2 A (dL/dt)^2 with dL/dt = J v adds to the equations of motion
//
//   M += J^T A J,   C += J^T A (dJ/dt v)
//
// Only entries of M between coordinates on one path from the world are added, as in MuJoCo. M keeps the sparsity of the
// tree, so a tendon across branches does not couple them. MuJoCo's documentation, XML reference,
// tendon/spatial/armature.
#pragma once
#include "core/actuation/tendon_kinematics.h"
#include "core/passive/body_passes.h"

namespace featherstorm {

// Calls f(i, j, A J_i J_j) for each entry (i, j) of M, j <= i.
//
// in   J (n_tendons nv)
template <class T> FS_HD void for_each_tendon_inertia(const auto& m, const auto& w, const auto& J, const auto& f) {
  for (int t = 0; t < w.n_tendons(); t++) {
    if (!w.tendon[t].inert) continue;
    for (int i = 0; i < m.nv; i++) {
      const T weighted = T(w.tendon[t].armature) * J[t * m.nv + i];
      for (int j = i; j >= 0; j = m.dof_parent[j]) f(i, j, T(weighted * J[t * m.nv + j]));
    }
  }
}

// in      J (n_tendons nv)
// in-out  mass (nh)  packed as in crba.h; M of tendons is added
template <class T> FS_HD void add_tendon_inertia(const auto& m, const auto& w, const auto& J, auto mass) {
  for_each_tendon_inertia<T>(m, w, J,
                             [&](int i, int j, const T& entry) { mass[m.at(i, j)] = mass[m.at(i, j)] + entry; });
}

// Returns v^T M v of the tendons alone, twice their kinetic energy [J].
template <class T> FS_HD T twice_tendon_energy(const auto& m, const auto& w, const auto& J, const auto& v) {
  T sum(0.0);
  for_each_tendon_inertia<T>(
      m, w, J, [&](int i, int j, const T& entry) { sum = sum + T(i == j ? 1.0 : 2.0) * entry * v[i] * v[j]; });
  return sum;
}

// Velocity and classical acceleration of the origin of a frame, world axes.
template <class T> struct PointRates { Vec3<T> velocity, acceleration; };
template <class T> FS_HD PointRates<T> rates_of_origin(const auto& X, const auto& V, const auto& A, const auto& frame) {
  const Motion<T>&v = V[frame.body], &a = A[frame.body];
  const Vec3<T> r = cast<T>(frame.X.r), u = v.v + cross(v.w, r);
  const Mat3<T>& R = X[frame.body].R;
  return {R * u, R * (a.v + cross(a.w, r) + cross(v.w, u))};
}

// Returns dJ/dt v of a tendon: the second derivative of its length at constant coordinate velocities [m/s^2].
//
// in   X, V (nb + 1)  placements and velocities of the bodies
// in   A (nb + 1)     their accelerations at constant v; a uniform acceleration of all bodies has no effect
//
// A straight piece along n, between points with relative velocity u and acceleration e, has
// n.e + |u - n (n.u)|^2 / length.
template <class T>
FS_HD T tendon_acceleration(const auto& tendon, const auto& X, const auto& V, const auto& A) {
  T sum(0.0), scale(1.0);
  const int n = static_cast<int>(tendon.part.size());
  for (int k = 0; k + 1 < n; k++) {
    const auto& a = tendon.part[k];
    const auto& b = tendon.part[k + 1];
    if (a.kind == TendonPartKind::Pulley) scale = rcp(T(a.number));
    if (a.kind != TendonPartKind::Site || b.kind != TendonPartKind::Site) continue;
    const PointRates<T> first = rates_of_origin<T>(X, V, A, a.place), last = rates_of_origin<T>(X, V, A, b.place);
    const Vec3<T> d = origin_in_world<T>(X, b.place) - origin_in_world<T>(X, a.place), along = direction(d);
    const Vec3<T> u = last.velocity - first.velocity, across = u - along * dot(along, u);
    const T length = sqrt(dot(d, d));
    const auto none = length < least_length<T>();
    const T turning = dot(across, across) * select(none, T(0.0), rcp(select(none, T(1.0), length)));
    sum = sum + (dot(along, last.acceleration - first.acceleration) + turning) * scale;
  }
  return sum;
}

// in      x (nx), X (nb + 1)  joint numbers at v and placements of the bodies
// in      v (nv), J (n_tendons nv)
// in-out  bias (nv)  [N m | N]  C of tendons is added
// Cost O(nb) for the accelerations of the bodies, if a spatial tendon has inertia.
template <class T>
FS_HD void add_tendon_bias(const auto& m, const auto& w, const auto& x, const auto& X, const auto& v, const auto& J,
                           auto bias) {
  bool any = false;
  for (const auto& tendon : w.tendon) any = any || (tendon.inert && tendon.spatial);
  if (!any) return;
  auto V = scratch<Motion<T>>(m.nb + 1);
  auto A = scratch<Motion<T>>(m.nb + 1);
  body_velocities(m, x, v, V);
  accelerations_with_gravity(m, x, v, Zeros<T>{}, V, A);
  for (int t = 0; t < w.n_tendons(); t++) {
    const auto& tendon = w.tendon[t];
    if (!tendon.inert || !tendon.spatial) continue;
    const T force = T(tendon.armature) * tendon_acceleration<T>(tendon, X, V, A);
    for (int k = 0; k < m.nv; k++) bias[k] = bias[k] + J[t * m.nv + k] * force;
  }
}

}  // namespace featherstorm
