// Mass, centre of mass and momentum of the whole model. RBDA (2.58)-(2.61).
//
//   h_i = I_i v_i + sum over children X^T h_j,   h_0 = h_0 about the world's origin
//   m c = sum m_i c_i,   m cd = linear part of h_0,   angular momentum about c = h_0 - c × m cd
#pragma once
#include "core/kinematics/first_moments.h"
#include "core/kinematics/spatial_motions.h"

namespace featherstorm {

// Mass of all moving bodies [kg].
template <class M> FS_HD auto total_mass(const M& m) {
  typename M::Number mass(0.0);
  for (int i = 1; i <= m.nb; i++) mass = mass + m.body[i].I.m;
  return mass;
}

// in   q (nq), qd (nv)
// out  com (3)  [m]  centre of mass, world
// out  com_velocity (3)  [m/s]  world axes
// out  h (6)  [kg m^2/s, kg m/s]  angular momentum about the world's origin and linear momentum, world axes
// out  h_com (3)  [kg m^2/s]  angular momentum about the centre of mass, world axes
// Rotors (armature) have no part in it. Cost O(nb).
FS_HD void momentum(const auto& m, const auto& q, const auto& qd, auto com, auto com_velocity, auto h, auto h_com) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto mass = scratch<T>(m.nb + 1);
  auto v = scratch<Motion<T>>(m.nb + 1);
  auto hs = scratch<Force<T>>(m.nb + 1);  // momentum of the subtree
  auto mc = scratch<Vec3<T>>(m.nb + 1);   // mass of the subtree times its centre
  hs[0] = zero_force<T>();
  // h = I v
  spatial_velocities(m, q, qd, x, v, [&](int i) { hs[i] = m.body[i].I * v[i]; });
  for (int i = m.nb; i >= 1; i--) {
    const int p = m.body[i].parent;
    // h_parent += X^T h
    with_joint(m, i, x, [&](const auto& J) { hs[p] = hs[p] + apply_transpose(J, hs[i]); });
  }
  first_moments(m, x, mass, mc);
  const T k = rcp(mass[0]);
  const Vec3<T> c = mc[0] * k, cd = hs[0].f * k, L = hs[0].n - cross(c, hs[0].f);
  for (int i = 0; i < 3; i++) {
    com[i] = c(i), com_velocity[i] = cd(i);
    h[i] = hs[0].n(i), h[3 + i] = hs[0].f(i);
    h_com[i] = L(i);
  }
}

}  // namespace featherstorm
