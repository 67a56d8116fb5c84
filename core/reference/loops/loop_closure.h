// Closed loops described by a function that closes them: q = gamma(y). RBDA section 8.11, (8.56)-(8.60).
//
//   qd = G yd,  qdd = G ydd + g,   G = d gamma / dy,  g = Gd yd;   G^T H G ydd = G^T (tau - C - H g)
//
// y is integrated in place of q, so the loops stay closed exactly and need no stabilisation. gamma also selects one of
// several assemblies, which y alone does not determine.
#pragma once
#include "core/dynamics/crba.h"
#include "core/dynamics/newton_euler.h"
#include "core/linear/reduced.h"

namespace featherstorm {

// in   gamma   gamma(y, yd, q, G, g) writes q (nq), G (nv ny) by rows and g (nv); any scalar
// in   ny      size of y
// in   y (ny), yd (ny), tau (nv)
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  ydd (ny)
// out  q (nq), qd (nv), qdd (nv)  motion of the tree
template <class M, class Gamma, class Count, class Y, class Yd, class Tau, class F, class Out, class OutQ, class OutV,
          class OutA>
FS_HD void fd_closure(const M& m, const Gamma& gamma, Count ny, const Y& y, const Yd& yd, const Tau& tau,
                      const F& f_ext, Out ydd, OutQ q, OutV qd, OutA qdd) {
  using T = ScalarOf<Y>;
  auto H = scratch<T>(m.nh);
  auto b = scratch<T>(m.nv);
  auto G = scratch<T>(product(m.nv, ny));
  auto g = scratch<T>(m.nv);
  gamma(y, yd, q, G.data(), g.data());
  expand_reduced(m, G.data(), Zeros<T>{}, ny, yd, qd);
  newton_euler(m, q, qd, Zeros<T>{}, f_ext, b.data());
  for (int j = 0; j < m.nv; j++) b[j] = tau[j] - b[j];
  crba(m, q, H.data());
  solve_reduced(m, H.data(), b.data(), G.data(), g.data(), ny, ydd);
  expand_reduced(m, G.data(), g.data(), ny, ydd, qdd);
}

}  // namespace featherstorm
