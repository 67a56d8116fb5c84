// State derivatives of the dynamic matrices as whole tensors, slice by slice. Garofalo et al. (24a)-(24c); Lynch and
// Park (9.85); dH^-1/dq_k = -H^-1 dH/dq_k H^-1.
//
// A slice is the derivative along a unit vector, by the algorithms that take a direction (crba_rate.h,
// coriolis_matrix.h, rates.h): along coordinate k on the tangent space, q (+) e e_k. A tensor has n^3 numbers per
// instance. For a product with one known vector use those algorithms, which cost one slice.
#pragma once
#include "core/dynamics/crba.h"
#include "core/linear/ltdl.h"
#include "core/rates/crba_rate.h"
#include "core/rates/rates.h"

namespace featherstorm {

// The packed symmetric matrix as a dense one, by rows.
FS_HD void unpack(const auto& m, const auto& H, auto dense) {
  using T = ScalarOf<decltype(H)>;
  for (int k = 0; k < m.nv * m.nv; k++) dense[k] = T(0.0);
  for (int i = 0; i < m.nv; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j]) dense[i * m.nv + j] = dense[j * m.nv + i] = H[m.at(i, j)];
}

// in   q (nq)
// out  dH (nv nv nv)  dH_ij/dq_k at (k n + i) n + j
// Cost O(n^2 depth) + O(n^3).
FS_HD void inertia_derivatives(const auto& m, const auto& q, auto dH) {
  using T = ScalarOf<decltype(q)>;
  auto packed = scratch<T>(m.nh);
  for (int k = 0; k < m.nv; k++) {
    crba_rate(m, q, UnitArray<T>{k}, packed.data());
    unpack(m, packed.data(), slice(dH, k * m.nv * m.nv));
  }
}

// in   q (nq)
// out  Hinv (nv nv)  H^-1, by rows;  L (nh)  the factor of ltdl
FS_HD void inverse_inertia(const auto& m, const auto& q, auto Hinv, auto L) {
  using T = ScalarOf<decltype(q)>;
  const int n = m.nv;
  auto x = scratch<T>(m.nv);
  crba(m, q, L);
  ltdl(m, L);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) x[i] = T(i == j ? 1.0 : 0.0);
    solve<Factor::LTDL>(m, L, x.data());
    for (int i = 0; i < n; i++) Hinv[i * n + j] = x[i];
  }
}
// out  dHinv (nv nv)  -H^-1 dH H^-1 with the packed dH, from the results of inverse_inertia
FS_HD void inverse_inertia_change(const auto& m, const auto& Hinv, const auto& L, const auto& dH, auto dHinv) {
  using T = std::remove_cvref_t<decltype(dH[0])>;
  const int n = m.nv;
  auto x = scratch<T>(m.nv);
  auto y = scratch<T>(m.nv);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) y[i] = Hinv[i * n + j];
    mul_h(m, dH, y, x.data());
    solve<Factor::LTDL>(m, L, x.data());
    for (int i = 0; i < n; i++) dHinv[i * n + j] = -x[i];
  }
}

// in   q (nq), u (nv)
// out  Hinv (nv nv)    H^-1, by rows
// out  Hinv_u (nv nv)  its derivative along u, q (+) e u; with u = qd its rate
// Cost O(n^2 depth).
FS_HD void inverse_inertia_rate(const auto& m, const auto& q, const auto& u, auto Hinv, auto Hinv_u) {
  using T = ScalarOf<decltype(q)>;
  auto L = scratch<T>(m.nh);
  auto packed = scratch<T>(m.nh);
  inverse_inertia(m, q, Hinv, L.data());
  crba_rate(m, q, u, packed.data());
  inverse_inertia_change(m, Hinv, L.data(), packed.data(), Hinv_u);
}

// in   q (nq)
// out  Hinv (nv nv)      H^-1, by rows
// out  dHinv (nv nv nv)  dH^-1_ij/dq_k at (k n + i) n + j
// Cost O(n^3 depth).
FS_HD void inverse_inertia_derivatives(const auto& m, const auto& q, auto Hinv, auto dHinv) {
  using T = ScalarOf<decltype(q)>;
  const int n = m.nv;
  auto L = scratch<T>(m.nh);
  auto packed = scratch<T>(m.nh);
  inverse_inertia(m, q, Hinv, L.data());
  for (int k = 0; k < n; k++) {
    crba_rate(m, q, UnitArray<T>{k}, packed.data());
    inverse_inertia_change(m, Hinv, L.data(), packed.data(), slice(dHinv, k * n * n));
  }
}

// in   q (nq), qd (nv)
// out  dC_dq, dC_dqd (nv nv nv)  dC_ij/dq_k and dC_ij/dqd_k at (k n + i) n + j, of that form of C. C is linear in qd,
// so
//      dC/dqd_k = C(q, e_k); the derivative of the vector C qd has C e_k besides
// Cost O(n^2 depth) + O(n^3).
template <Coriolis form = Coriolis::Christoffel>
FS_HD void coriolis_derivatives(const auto& m, const auto& q, const auto& qd, auto dC_dq, auto dC_dqd) {
  using T = ScalarOf<decltype(q)>;
  for (int k = 0; k < m.nv; k++) {
    coriolis_matrix_rate<form>(m, q, qd, UnitArray<T>{k}, Zeros<T>{}, slice(dC_dq, k * m.nv * m.nv));
    coriolis_matrix<form>(m, q, UnitArray<T>{k}, slice(dC_dqd, k * m.nv * m.nv));
  }
}

// Christoffel symbols of the first kind, Gamma_ijk = 1/2 (dH_ij/dq_k + dH_ik/dq_j - dH_jk/dq_i), so that C_ij = sum
// Gamma_ijk qd_k and (C qd)_i = sum Gamma_ijk qd_j qd_k. For robots whose velocities are the derivatives of their
// coordinates; with ball, exponential-map and free joints only dC_dqd of coriolis_derivatives gives C.
// in   q (nq)
// out  Gamma (nv nv nv)  at (i n + j) n + k
FS_HD void christoffel_symbols(const auto& m, const auto& q, auto Gamma) {
  using T = ScalarOf<decltype(q)>;
  const int n = m.nv;
  auto packed = scratch<T>(m.nh);
  for (int k = 0; k < n * n * n; k++) Gamma[k] = T(0.0);
  const auto add = [&](int i, int j, int k, const T& x) {
    Gamma[(i * n + j) * n + k] = Gamma[(i * n + j) * n + k] + x;
  };
  for (int l = 0; l < n; l++) {
    crba_rate(m, q, UnitArray<T>{l}, packed.data());
    for (int i = 0; i < n; i++)
      for (int j = i; j >= 0; j = m.dof_parent[j]) {
        // d = 1/2 dH_ij/dq_l belongs to Gamma_ijl, Gamma_ilj and, with a minus, to Gamma_lij; so does d = 1/2
        // dH_ji/dq_l
        const T d = packed[m.at(i, j)] * T(0.5);
        add(i, j, l, d), add(i, l, j, d), add(l, i, j, -d);
        if (i != j) add(j, i, l, d), add(j, l, i, d), add(l, j, i, -d);
      }
  }
}

}  // namespace featherstorm
