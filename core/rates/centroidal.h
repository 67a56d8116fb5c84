// Centroidal momentum matrix and its rate: momentum about the centre of mass as a linear map of qd. Orin, Goswami and Lee
// (2013); Garofalo et al. (7) for its linear rows.
//
//   h_G = A qd,   dh_G/dt = A qdd + Ad qd;   column j = (n - c × f; f) of I^c S_j, c the centre of mass
//
// Rotors (armature) have no part in it.
#pragma once
#include "core/rates/coriolis_matrix.h"

namespace featherstorm {

// in   q (nq)
// out  A (6 nv)  row-major, rows angular, linear; world axes, at the centre of mass
// Cost O(n).
FS_HD void centroidal_momentum_matrix(const auto& m, const auto& q, auto A) {
  using T = ScalarOf<decltype(q)>;
  const CommonFrame f(m, q);
  auto Ic = scratch<RigidBodyInertia<T>>(m.nb + 1);
  Ic[0] = zero_inertia<T>();
  for (int i = 1; i <= m.nb; i++) Ic[i] = in_world_axes(f.X[i], m.body[i].I);
  for (int i = m.nb; i >= 1; i--) Ic[m.body[i].parent] += Ic[i];
  const Vec3<T> c = Ic[0].h * rcp(Ic[0].m);
  for (int k = 0; k < m.nv; k++) {
    const Force<T> h = Ic[m.dof_body[k]] * f.S[k];
    const Vec3<T> n = h.n - cross(c, h.f);
    for (int r = 0; r < 3; r++) A[r * m.nv + k] = n(r), A[(3 + r) * m.nv + k] = h.f(r);
  }
}

// in   q (nq), qd (nv)
// out  Ad (6 nv)  rate of A
// out  Ad_qd (6)  Ad qd: rate of the momentum at qdd = 0
// Cost O(n).
FS_HD void centroidal_momentum_rate(const auto& m, const auto& q, const auto& qd, auto Ad, auto Ad_qd) {
  using T = ScalarOf<decltype(q)>;
  CommonMotion f(m, q, qd);
  const auto& S = f.frame.S;
  auto& Ic = f.Ic;
  auto Id = scratch<RigidBodyInertia<T>>(m.nb + 1);
  for (int i = 0; i <= m.nb; i++) Id[i] = inertia_rate(Ic[i], f.v[i]);
  for (int i = m.nb; i >= 1; i--) Ic[m.body[i].parent] += Ic[i], Id[m.body[i].parent] += Id[i];
  const T k = rcp(Ic[0].m);
  const Vec3<T> c = Ic[0].h * k, cd = Id[0].h * k;
  Force<T> sum = zero_force<T>();
  for (int j = 0; j < m.nv; j++) {
    const int i = m.dof_body[j];
    const Force<T> h = Ic[i] * S[j], hd = Id[i] * S[j] + Ic[i] * f.Sd[j];
    const Force<T> column{hd.n - cross(cd, h.f) - cross(c, hd.f), hd.f};
    for (int r = 0; r < 3; r++) Ad[r * m.nv + j] = column.n(r), Ad[(3 + r) * m.nv + j] = column.f(r);
    sum += column * qd[j];
  }
  for (int r = 0; r < 6; r++) Ad_qd[r] = component(sum, r);
}

// in   q (nq)
// out  J (3 nv)  Jacobian of the centre of mass, world axes: dc/dt = J qd. Garofalo et al. (7), subtree by subtree
// Cost O(n).
FS_HD void com_jacobian(const auto& m, const auto& q, auto J) {
  using T = ScalarOf<decltype(q)>;
  const CommonFrame f(m, q);
  auto mass = scratch<T>(m.nb + 1);
  auto h = scratch<Vec3<T>>(m.nb + 1);
  mass[0] = T(0.0), h[0] = zero3<T>();
  for (int i = 1; i <= m.nb; i++) {
    mass[i] = T(m.body[i].I.m);
    h[i] = f.X[i].r * mass[i] + f.X[i].R * cast<T>(m.body[i].I.h);
  }
  for (int i = m.nb; i >= 1; i--) {
    const int p = m.body[i].parent;
    mass[p] = mass[p] + mass[i], h[p] = h[p] + h[i];
  }
  const T k = rcp(mass[0]);
  for (int j = 0; j < m.nv; j++) {
    // momentum of the subtree: m S_v + S_w × h
    const int i = m.dof_body[j];
    const Vec3<T> p = f.S[j].v * mass[i] + cross(f.S[j].w, h[i]);
    for (int r = 0; r < 3; r++) J[r * m.nv + j] = p(r) * k;
  }
}

}  // namespace featherstorm
