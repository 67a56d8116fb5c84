// Analytic derivatives of forward dynamics by the implicit form: qdd(q, qd, tau) is where ID(q, qd, qdd) = tau, so
//
//   dqdd/dq = -H^-1 dID/dq,   dqdd/dqd = -H^-1 dID/dqd,   dqdd/dtau = H^-1
//
// with dID at that qdd (rnea_derivatives.h), on the tangent space; the branch-sparse factor (ltdl.h) applies H^-1.
// Carpentier and Mansard 2018; Garofalo et al. give the same through dM, dC and dg.
#pragma once
#include "core/derivatives/rnea_derivatives.h"
#include "core/dynamics/forward_dynamics.h"

namespace featherstorm {

// Column k of a row-major matrix of n columns, as an array.
template <class Array> struct Column {
  Array matrix;
  int n, k;
  FS_HD decltype(auto) operator[](int i) const { return matrix[i * n + k]; }
};

// in   q (nq), qd (nv), tau (nv)
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  qdd (nv)  forward dynamics
// out  dqdd_dq, dqdd_dqd, dqdd_dtau (nv nv)  row i: derivatives of qdd_i
// Cost O(n d^2 + n^2 d).
FS_HD void fd_derivatives(const auto& m, const auto& q, const auto& qd, const auto& tau, const auto& f_ext, auto qdd,
                          auto dqdd_dq, auto dqdd_dqd, auto dqdd_dtau) {
  using T = ScalarOf<decltype(q)>;
  auto H = scratch<T>(m.nh);
  auto y = scratch<T>(m.nv);
  const int n = m.nv;
  crba(m, q, H.data());
  ltdl(m, H.data());
  // H qdd = tau - C
  newton_euler(m, q, qd, Zeros<T>{}, f_ext, y.data());
  for (int k = 0; k < n; k++) y[k] = tau[k] - y[k];
  solve<Factor::LTDL>(m, H.data(), y.data());
  rnea_derivatives(m, q, qd, y.data(), f_ext, dqdd_dq, dqdd_dqd);
  for (int k = 0; k < n; k++) qdd[k] = y[k];
  // H^-1 = L^-1 D^-1 L^-T: joints that share only the base as an ancestor with a column's joint depend on the base
  // alone
  invert_l(m, H.data());
  inverse_of_h(m, H.data(), dqdd_dtau);
  const auto solve_column = [&](auto matrix, int k) {
    const Column<decltype(matrix)> c{matrix, n, k};
    mul_lt<Factor::LTDL>(m, H.data(), c, y.data());
    for (int i = 0; i < n; i++) y[i] = -(y[i] * H[m.at(i, i)]);
    mul_l<Factor::LTDL>(m, H.data(), y.data());
    for (int i = 0; i < n; i++) c[i] = y[i];
  };
  for (int k = 0; k < n; k++) solve_column(dqdd_dq, k), solve_column(dqdd_dqd, k);
}

}  // namespace featherstorm
