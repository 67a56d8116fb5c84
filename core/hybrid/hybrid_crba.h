// Hybrid dynamics by the joint-space inertia matrix. RBDA section 9.1, (9.1)-(9.3), Table 9.1; Kim (34).
//
//   [H11 0; H21 -1] [qdd1; tau2] = [tau1; 0] - C',   C' = ID(q, qd, [0; qdd2])
//
// 1: joints with known forces (fd), 2: prescribed joints. hybrid_aba.h holds the same map by articulated bodies.
#pragma once
#include "core/dynamics/id_delta.h"
#include "core/dynamics/newton_euler.h"
#include "core/linear/ltdl.h"

namespace featherstorm {

// An array of nv numbers that is zero except at joints where `prescribed` is `which`.
template <class M, class Joints, class Array, class T> struct OnlyJoints {
  const M& m;
  const Joints& prescribed;
  bool which;
  const Array& array;
  FS_HD T operator[](int k) const { return bool(prescribed[m.dof_body[k]]) == which ? T(array[k]) : T(0.0); }
};

// in   prescribed (nb + 1)  as in hybrid_aba.h
// in   q (nq)
// out  H (nh)  packed [H11 0; 0 1]: entries of two joints with known forces as in crba.h, the rows and columns of
//      prescribed joints those of the unit matrix. Its factors have the sparsity of lambda' of section 9.1
// I^c exists for nu(fd) alone, F for fd. Cost at most that of crba.
FS_HD void hybrid_inertia(const auto& m, const auto& prescribed, const auto& q, auto H) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto Ic = scratch<RigidBodyInertia<T>>(m.nb + 1);
  auto in_nu = scratch<char>(m.nb + 1);
  in_nu[0] = 0;
  for (int i = 1; i <= m.nb; i++) {
    in_nu[i] = in_nu[m.body[i].parent] || !prescribed[i];
    if (!in_nu[i]) continue;
    update_joint(m, i, q, Zeros<T>{}, x);
    Ic[i] = cast<T>(m.body[i].I);
  }
  for (int r = 0; r < m.nv; r++)
    for (int c = m.row_start[r]; c < m.row_start[r + 1]; c++) H[c] = T(c == m.at(r, r) ? 1.0 : 0.0);
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    if (!in_nu[i]) continue;
    Force<T> F[6];
    int dofs = 0;
    with_joint(m, i, x, [&](const auto& J) {
      if (in_nu[b.parent]) Ic[b.parent] += apply_transpose(J, Ic[i]);
      if (prescribed[i]) return;
      dofs = J.nv;
      // F = I^c_i S_i, H_ii = S_i^T F
      for (int k = 0; k < J.nv; k++) {
        F[k] = J.force_of_axis(k, Ic[i]);
        for (int l = 0; l <= k; l++) H[m.at(b.v + k, b.v + l)] = J.project(l, F[k]);
        H[m.at(b.v + k, b.v + k)] += m.armature[b.v + k];
        F[k] = apply_transpose(J, F[k]);
      }
    });
    // H_ij = F^T S_j on the way to the root; only joints in nu(fd) can be in fd
    for (int j = b.parent; dofs > 0 && in_nu[j]; j = m.body[j].parent)
      with_joint(m, j, x, [&](const auto& J) {
        for (int k = 0; k < dofs; k++) {
          for (int l = 0; l < J.nv && !prescribed[j]; l++) H[m.at(b.v + k, m.body[j].v + l)] = J.project(l, F[k]);
          F[k] = apply_transpose(J, F[k]);
        }
      });
  }
}

// The map of hybrid_aba; arguments as there.
template <class M, class Joints, class A>
FS_HD void hybrid_crba(const M& m, const Joints& prescribed, const auto& q, const auto& qd, const A& qdd,
                       const auto& tau, const auto& f_ext, auto qdd_out, auto tau_out) {
  using T = ScalarOf<decltype(q)>;
  auto H = scratch<T>(m.nh);
  auto C = scratch<T>(m.nv);
  auto a1 = scratch<T>(m.nv);
  // C' = ID(q, qd, [0; qdd2])
  newton_euler(m, q, qd, OnlyJoints<M, Joints, A, T>{m, prescribed, true, qdd}, f_ext, C.data());
  // H11 qdd1 = tau1 - C'1
  for (int k = 0; k < m.nv; k++) a1[k] = prescribed[m.dof_body[k]] ? T(0.0) : T(tau[k]) - C[k];
  hybrid_inertia(m, prescribed, q, H.data());
  ltdl(m, H.data());
  solve<Factor::LTDL>(m, H.data(), a1.data());
  for (int k = 0; k < m.nv; k++) qdd_out[k] = prescribed[m.dof_body[k]] ? T(qdd[k]) : a1[k];
  // tau2 = C'2 + ID_delta([qdd1; 0])_2
  id_delta(m, q, a1.data(), a1.data());
  for (int k = 0; k < m.nv; k++) tau_out[k] = prescribed[m.dof_body[k]] ? C[k] + a1[k] : T(tau[k]);
}

}  // namespace featherstorm
