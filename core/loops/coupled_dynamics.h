// Dynamics of robots with geared or otherwise coupled joints (coupling.h). RBDA section 9.6, (9.26), (9.27).
//
//   qd = G u,   G^T H G ud + G^T C = G^T tau,   G constant
#pragma once
#include "core/dynamics/crba.h"
#include "core/dynamics/newton_euler.h"
#include "core/linear/semidefinite.h"
#include "core/model/coupling.h"

namespace featherstorm {

// in   u (nu)   out  qd (nv) = G u
FS_HD void coupled_velocity(const auto& m, const auto& c, const auto& u, auto qd) {
  using T = ScalarOf<decltype(u)>;
  for (int k = 0; k < m.nv; k++) {
    T s(0.0);
    for (int e = c.start[k]; e < c.start[k + 1]; e++) s = s + u[c.column[e]] * c.value[e];
    qd[k] = s;
  }
}
// in   f (nv)   out  f_u (nu) = G^T f
FS_HD void coupled_force(const auto& m, const auto& c, const auto& f, auto f_u) {
  using T = ScalarOf<decltype(f)>;
  for (int j = 0; j < c.nu; j++) f_u[j] = T(0.0);
  for (int k = 0; k < m.nv; k++)
    for (int e = c.start[k]; e < c.start[k + 1]; e++) f_u[c.column[e]] = f_u[c.column[e]] + f[k] * c.value[e];
}
// in out  q (nq)  positions of coupled joints follow those of their drivers
FS_HD void coupled_position(const auto& m, const auto& c, auto q) {
  using T = ScalarOf<decltype(q)>;
  for (int k = 0; k < m.nv; k++) {
    if (c.start[k + 1] == c.start[k] + 1 && c.driver[c.column[c.start[k]]] == k) continue;
    T s(c.offset[k]);
    for (int e = c.start[k]; e < c.start[k + 1]; e++) s = s + q[m.dof_q[c.driver[c.column[e]]]] * c.value[e];
    q[m.dof_q[k]] = s;
  }
}

// in   H (nh)  packed, of crba.h
// out  A (nu nu) = G^T H G, by rows
FS_HD void coupled_inertia(const auto& m, const auto& c, const auto& H, auto A) {
  using T = ScalarOf<decltype(H)>;
  for (int e = 0; e < c.nu * c.nu; e++) A[e] = T(0.0);
  for (int i = 0; i < m.nv; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j])
      for (int a = c.start[i]; a < c.start[i + 1]; a++)
        for (int b = c.start[j]; b < c.start[j + 1]; b++) {
          const int r = c.column[a], s = c.column[b];
          const T h = H[m.at(i, j)] * (c.value[a] * c.value[b]);
          A[r * c.nu + s] = A[r * c.nu + s] + h;
          if (i != j) A[s * c.nu + r] = A[s * c.nu + r] + h;
        }
}

// Inverse dynamics: tau_u = G^T ID(q, G u, G ud).
// in   q (nq), u (nu), ud (nu), f_ext (6 nb)   out  tau_u (nu)  [N m | N] as felt at the drivers
FS_HD void coupled_id(const auto& m, const auto& c, const auto& q, const auto& u, const auto& ud, const auto& f_ext,
                      auto tau_u) {
  using T = ScalarOf<decltype(q)>;
  auto qd = scratch<T>(m.nv);
  auto qdd = scratch<T>(m.nv);
  auto tau = scratch<T>(m.nv);
  coupled_velocity(m, c, u, qd.data());
  coupled_velocity(m, c, ud, qdd.data());
  newton_euler(m, q, qd.data(), qdd.data(), f_ext, tau.data());
  coupled_force(m, c, tau.data(), tau_u);
}

// Forward dynamics: G^T H G ud = G^T (tau - C). (9.26)
// in   q (nq), u (nu), tau (nv), f_ext (6 nb)   out  ud (nu), qdd (nv) = G ud
FS_HD void fd_coupled(const auto& m, const auto& c, const auto& q, const auto& u, const auto& tau, const auto& f_ext,
                      auto ud, auto qdd) {
  using T = ScalarOf<decltype(q)>;
  auto qd = scratch<T>(m.nv);
  auto b = scratch<T>(m.nv);
  auto H = scratch<T>(m.nh);
  auto A = scratch<T>(product(m.nv, m.nv));
  coupled_velocity(m, c, u, qd.data());
  newton_euler(m, q, qd.data(), Zeros<T>{}, f_ext, b.data());
  for (int k = 0; k < m.nv; k++) b[k] = tau[k] - b[k];
  coupled_force(m, c, b.data(), ud);
  crba(m, q, H.data());
  coupled_inertia(m, c, H.data(), A.data());
  factor_semidefinite(c.nu, A.data(), 0.0);
  solve_semidefinite(c.nu, A.data(), ud);
  coupled_velocity(m, c, ud, qdd);
}

}  // namespace featherstorm
