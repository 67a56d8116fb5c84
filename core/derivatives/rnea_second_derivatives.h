// Second derivatives of inverse dynamics, contracted with one direction: rnea_derivatives.h on dual numbers.
//
//   d/de dtau/dq (q (+) e u, qd + e a, qdd + e b),   d/de dtau/dqd (the same)   at e = 0
//
// One call with each unit vector for u, a or b gives a slice of the Hessian tensors, each O(n depth). On the tangent
// space of ball and free joints second derivatives by q do not commute: the step u comes first, then that of column k.
#pragma once
#include "core/derivatives/rnea_derivatives.h"
#include "core/rates/rates.h"

namespace featherstorm {

// in   q (nq), qd (nv), qdd (nv)
// in   f_ext (6 nb)  as in rnea_derivatives.h; Zeros<T>{} for none
// in   u, a, b (nv)  direction in q, qd and qdd
// out  by_q, by_qd (nv nv)  row i: derivatives of tau_i by q and by qd, differentiated along the direction
template <class F>
FS_HD void rnea_second_derivatives(const auto& m, const auto& q, const auto& qd, const auto& qdd, const F& f_ext,
                                   const auto& u, const auto& a, const auto& b, auto by_q, auto by_qd) {
  using T = ScalarOf<decltype(q)>;
  auto qe = scratch<Dual<T>>(m.nq);
  along(m, q, u, qe);
  const auto call = [&](const auto& f) {
    rnea_derivatives(m, qe.data(), dual_array(qd, a), dual_array(qdd, b), f, derivatives_in(by_q),
                     derivatives_in(by_qd));
  };
  if constexpr (is_given<F>) call(dual_array(f_ext, Zeros<T>{}));
  else call(Zeros<Dual<T>>{});
}

}  // namespace featherstorm
