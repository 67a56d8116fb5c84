// Conversions between generalised and maximal coordinates: velocities of all bodies and forces on all bodies. Liu and
// Jain, section 6.
//
//   V = J qd,   qd = (J^T W J)^-1 J^T W V,   Q = J^T F,   F = W J (J^T W J)^-1 Q          (60), (61), (67), (70)
//
// V has for each body its angular velocity and the velocity of its mass centre, F the moment about the mass centre and
// the force, six numbers a body, all in world axes. (Liu and Jain stack all v, then all w.) J^T W J is a joint-space
// inertia matrix, so it is computed by composite bodies and factorised with the tree's sparsity:
//   Metric::Unit     W = 1, the pseudo-inverse of (61) and (70): bodies of mass 1 kg and inertia 1 kg m^2. It adds the
//                    squares of rad/s and m/s, so the result depends on the unit of length where V is not admitted
//   Metric::Inertia  W = the bodies' own inertia: the motion that has the momentum of V, without rotors. It is the
//                    velocity after the joints' impulses act on V, and does not depend on units
#pragma once
#include "core/kinematics/common_frame.h"
#include "core/linear/ltdl.h"
#include "core/spatial/mass_centre.h"

namespace featherstorm {

enum class Metric { Unit, Inertia };

// Three numbers of an array as a vector, and back.
template <class T>
FS_HD Vec3<T> vector_from(const auto& a, int k) {
  return {T(a[k]), T(a[k + 1]), T(a[k + 2])};
}
template <class T>
FS_HD void store_vector(auto& out, int k, const Vec3<T>& v) {
  for (int i = 0; i < 3; i++) out[k + i] = v(i);
}

// Mass centres of all bodies from the origin of the common frame (world_axes.h), its axes.
FS_HD void mass_centres(const auto& m, const auto& X, auto& r) {
  using T = std::remove_cvref_t<decltype(X[0].r(0))>;
  for (int i = 1; i <= m.nb; i++) r[i] = X[i].r + X[i].R * mass_centre<T>(m.body[i].I).c;
}

// W of a body at its mass centre, in its axes.
template <Metric metric, class T, class P>
FS_HD RigidBodyInertia<T> weight(const RigidBodyInertia<P>& I) {
  const T o(0.0), l(1.0);
  const Sym3<T> Ic = mass_centre<T>(I).Ic;
  if constexpr (metric == Metric::Unit) return {l, zero3<T>(), {l, o, o, l, o, l}};
  else return {T(I.m), zero3<T>(), Ic};
}

// V = J qd in the common frame.
FS_HD void body_velocities_at(const auto& m, const auto& S, const auto& r, const auto& qd, auto out) {
  using T = std::remove_cvref_t<decltype(r[0](0))>;
  auto v = scratch<Motion<T>>(m.nb + 1);
  common_velocities(m, S, qd, v);
  for (int i = 1; i <= m.nb; i++) {
    store_vector(out, 6 * (i - 1), v[i].w);
    store_vector(out, 6 * (i - 1) + 3, v[i].v + cross(v[i].w, r[i]));
  }
}
// Q = J^T F in the common frame; force(i) at the mass centre of body i.
FS_HD void joint_forces_of(const auto& m, const auto& S, const auto& r, const auto& force, auto Q) {
  using T = std::remove_cvref_t<decltype(r[0](0))>;
  auto f = scratch<Force<T>>(m.nb + 1);
  f[0] = zero_force<T>();
  for (int i = 1; i <= m.nb; i++) {
    const Force<T> g = force(i);
    f[i] = {g.n + cross(r[i], g.f), g.f};
  }
  for (int i = m.nb; i >= 1; i--) {
    for (int k = m.body[i].v; k < m.body[i].v + freedoms(m, i); k++) Q[k] = dot(S[k], f[i]);
    f[m.body[i].parent] += f[i];
  }
}
// The factor of J^T W J.
template <Metric metric>
FS_HD void factor_metric(const auto& m, const auto& X, const auto& S, const auto& r, auto H) {
  using T = ScalarOf<decltype(H)>;
  auto Ic = scratch<RigidBodyInertia<T>>(m.nb + 1);
  Ic[0] = zero_inertia<T>();
  for (int i = 1; i <= m.nb; i++) Ic[i] = shift(r[i], rotate(X[i].R, weight<metric, T>(m.body[i].I)));
  for (int i = m.nb; i >= 1; i--) {
    for (int k = m.body[i].v; k < m.body[i].v + freedoms(m, i); k++) {
      const Force<T> P = Ic[i] * S[k];
      for (int l = k; l >= 0; l = m.dof_parent[l]) H[m.at(k, l)] = dot(S[l], P);
    }
    Ic[m.body[i].parent] += Ic[i];
  }
  ltdl(m, H);
}
// W V of body i
template <Metric metric, class T>
FS_HD Force<T> weighted(const auto& m, int i, const Mat3<T>& R, const Vec3<T>& w, const Vec3<T>& v) {
  const RigidBodyInertia<T> W = weight<metric, T>(m.body[i].I);
  return {R * (W.I * transpose_times(R, w)), v * W.m};
}

// in   q (nq), qd (nv)
// out  V (6 nb)  [rad/s, m/s]
// Cost O(nb).
FS_HD void maximal_velocity(const auto& m, const auto& q, const auto& qd, auto V) {
  using T = ScalarOf<decltype(q)>;
  const CommonFrame f(m, q);
  auto r = scratch<Vec3<T>>(m.nb + 1);
  mass_centres(m, f.X, r);
  body_velocities_at(m, f.S, r, qd, V);
}

// in   q (nq), V (6 nb)  [rad/s, m/s]
// out  qd (nv)
// out  residual (6 nb)  V - J qd: not zero where the joints do not admit V; its W-norm is least
// J must have full column rank: no joint at a singularity of its coordinates. Cost O(n depth).
template <Metric metric = Metric::Unit>
FS_HD void generalised_velocity(const auto& m, const auto& q, const auto& V, auto qd, auto residual) {
  using T = ScalarOf<decltype(q)>;
  const CommonFrame f(m, q);
  auto r = scratch<Vec3<T>>(m.nb + 1);
  auto H = scratch<T>(m.nh);
  mass_centres(m, f.X, r);
  factor_metric<metric>(m, f.X, f.S, r, H.data());
  joint_forces_of(
      m, f.S, r,
      [&](int i) {
        const int k = 6 * (i - 1);
        return weighted<metric>(m, i, f.X[i].R, vector_from<T>(V, k), vector_from<T>(V, k + 3));
      },
      qd);
  solve<Factor::LTDL>(m, H.data(), qd);
  body_velocities_at(m, f.S, r, qd, residual);
  for (int k = 0; k < 6 * m.nb; k++) residual[k] = T(V[k]) - residual[k];
}

// in   q (nq), F (6 nb)  [N m, N]  moment about each mass centre and force
// out  Q (nv)  [N m | N]  the joint forces that do the same work on every velocity, (48)
// Cost O(nb).
FS_HD void generalised_force(const auto& m, const auto& q, const auto& F, auto Q) {
  using T = ScalarOf<decltype(q)>;
  const CommonFrame f(m, q);
  auto r = scratch<Vec3<T>>(m.nb + 1);
  mass_centres(m, f.X, r);
  joint_forces_of(
      m, f.S, r, [&](int i) { return Force<T>{vector_from<T>(F, 6 * (i - 1)), vector_from<T>(F, 6 * (i - 1) + 3)}; },
      Q);
}

// in   q (nq), Q (nv)  [N m | N]
// out  F (6 nb)  [N m, N]  one of the many with J^T F = Q; for Metric::Unit the shortest, (70)
// J must have full column rank. Cost O(n depth).
template <Metric metric = Metric::Unit>
FS_HD void maximal_force(const auto& m, const auto& q, const auto& Q, auto F) {
  using T = ScalarOf<decltype(q)>;
  const CommonFrame f(m, q);
  auto r = scratch<Vec3<T>>(m.nb + 1);
  auto H = scratch<T>(m.nh);
  auto y = scratch<T>(m.nv);
  mass_centres(m, f.X, r);
  factor_metric<metric>(m, f.X, f.S, r, H.data());
  for (int k = 0; k < m.nv; k++) y[k] = Q[k];
  solve<Factor::LTDL>(m, H.data(), y.data());
  body_velocities_at(m, f.S, r, y, F);
  for (int i = 1; i <= m.nb; i++) {
    const int k = 6 * (i - 1);
    const Force<T> F_i = weighted<metric>(m, i, f.X[i].R, vector_from<T>(F, k), vector_from<T>(F, k + 3));
    store_vector(F, k, F_i.n), store_vector(F, k + 3, F_i.f);
  }
}

// Forces given at points of the bodies as forces at the mass centres: n = n' + (p - x) × f. Liu and Jain (67) and note.
// in   q (nq)
// in   p (3 nb) [m]  point of application on each body, world; F_p (6 nb)  [N m, N]  moment without that of f, and f
// out  F (6 nb)  as in generalised_force
FS_HD void force_at_mass_centres(const auto& m, const auto& q, const auto& p, const auto& F_p, auto F) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto X = scratch<Placement<T>>(m.nb + 1);
  update_joints(m, q, Zeros<T>{}, x);
  body_placements(m, x, X);
  for (int i = 1; i <= m.nb; i++) {
    const int k = 6 * (i - 1);
    const Vec3<T> f = vector_from<T>(F_p, k + 3), centre = X[i].r + X[i].R * mass_centre<T>(m.body[i].I).c;
    store_vector(F, k, vector_from<T>(F_p, k) + cross(vector_from<T>(p, 3 * (i - 1)) - centre, f));
    store_vector(F, k + 3, f);
  }
}

}  // namespace featherstorm
