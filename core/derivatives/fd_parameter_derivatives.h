// Derivatives of forward dynamics by the inertial parameters of all bodies: H qdd + C + g = tau is linear in them, so
//
//   dqdd/dpi = -H^-1 Y(q, qd, qdd),   tau = Y pi + armature qdd  (regressor.h)
//
// Garofalo et al. (13), (16) in the implicit form.
#pragma once
#include "core/derivatives/fd_derivatives.h"
#include "core/rates/regressor.h"

namespace featherstorm {

// in   q (nq), qd (nv), tau (nv)
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  qdd (nv)  forward dynamics
// out  dqdd_dpi (nv 10 nb)  row i: derivatives of qdd_i; parameters in the order of regressor.h
// Cost O(n d^2) + O(nb n d).
template <class OutPi>
FS_HD void fd_parameter_derivatives(const auto& m, const auto& q, const auto& qd, const auto& tau, const auto& f_ext,
                                    auto qdd, OutPi dqdd_dpi) {
  using T = ScalarOf<decltype(q)>;
  const int columns = 10 * m.nb;
  auto H = scratch<T>(m.nh);
  auto y = scratch<T>(m.nv);
  newton_euler(m, q, qd, Zeros<T>{}, f_ext, y.data());
  for (int k = 0; k < m.nv; k++) y[k] = tau[k] - y[k];
  crba(m, q, H.data());
  ltdl(m, H.data());
  solve<Factor::LTDL>(m, H.data(), y.data());
  for (int k = 0; k < m.nv; k++) qdd[k] = y[k];
  regressor(m, q, qd, y.data(), dqdd_dpi);
  for (int h = 0; h < columns; h++) {
    const Column<OutPi> c{dqdd_dpi, columns, h};
    for (int i = 0; i < m.nv; i++) y[i] = -c[i];
    solve<Factor::LTDL>(m, H.data(), y.data());
    for (int i = 0; i < m.nv; i++) c[i] = y[i];
  }
}

}  // namespace featherstorm
