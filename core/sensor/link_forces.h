// Force that a link's parent link exerts on it, even if both are welded into one body [cfrc_int].
//
//   f = sum over the link and its descendants of I a + v x* I v - (applied, constraint forces),  a_0 = -g
#pragma once
#include "core/sensor/subtrees.h"

namespace featherstorm {

// Converts a wrench on a link (force, moment about its centre of mass, world axes) to a wrench about the origin of its
// body, body axes.
template <class T> FS_HD Force<T> wrench_on_body(const auto& link, const auto& X, const auto& wrench) {
  const Mat3<T>& R = X[link.inertial.body].R;
  const Vec3<T> f = transpose_times(R, Vec3<T>{T(wrench[0]), T(wrench[1]), T(wrench[2])});
  const Vec3<T> n = transpose_times(R, Vec3<T>{T(wrench[3]), T(wrench[4]), T(wrench[5])});
  return {n + cross(cast<T>(link.inertial.X.r), f), f};
}

// Computes the force on a link.
//
// in   X, V, A (nb + 1)  placements; velocities and accelerations with A_0 = -g, own axes
// in   applied, constraint (6 n_links)  wrenches on links: force, moment about the centre of mass, world axes
// Returns moment about the origin of the link's body, and force; body axes. Cost O(descendants of the link).
template <class T, class Applied>
FS_HD Force<T> link_force(const auto& m, const auto& w, const auto& x, const auto& X, const auto& V, const auto& A,
                          const Applied& applied, const auto& constraint, int link) {
  using P = typename std::remove_cvref_t<decltype(m)>::Number;
  const int base = w.link[link].inertial.body;
  auto I = scratch<RigidBodyInertia<P>>(m.nb + 1);
  auto carried = scratch<int>(m.nb + 1);
  auto f = scratch<Force<T>>(m.nb + 1);
  subtree_inertias<P>(m, w, link, I, carried);
  for (int i = base; i <= m.nb; i++)
    if (carried[i]) f[i] = I[i] * A[i] + cross_dual(V[i], I[i] * V[i]);
  for (int l = link > 0 ? link : 1; l < static_cast<int>(w.link.size()); l++) {
    if (!carries(w, link, l)) continue;
    const auto& on = w.link[l];
    const int i = on.inertial.body;
    if constexpr (is_given<Applied>) f[i] = f[i] - wrench_on_body<T>(on, X, slice(applied, 6 * l));
    f[i] = f[i] - wrench_on_body<T>(on, X, slice(constraint, 6 * l));
  }
  inward(m, carried, base,
         [&](int i) { with_joint(m, i, x, [&](const auto& J) { f[m.body[i].parent] += apply_transpose(J, f[i]); }); });
  return f[base];
}

}  // namespace featherstorm
