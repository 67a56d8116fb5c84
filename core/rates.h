// Rates along a motion of quantities that have a text: the text is run on dual numbers, q and qd moving with qd and qdd.
//
//   gd = dg/dq qd,   Cd = dC/dq qd + dC/dqd qdd,   Jd = dJ/dq qd
//
// Along unit vectors these are the columns of the state derivatives. Garofalo et al. (24), (25b), (25c), (28), (30).
#pragma once
#include "core/coriolis_matrix.h"
#include "core/gravity_torques.h"
#include "core/jacobian.h"

namespace featherstorm {

// An output array of Dual that keeps the derivatives.
template <class Out> struct DerivativeArray {
  using T = ScalarOf<Out>;
  struct Element {
    Out out;
    int i;
    FS_HD void operator=(const Dual<T>& x) { out[i] = x.d; }
  };
  Out out;
  FS_HD Element operator[](int i) const { return {out, i}; }
};
template <class Out> FS_HD DerivativeArray<Out> derivatives_in(const Out& out) { return {out}; }

// in   q (nq), u (nv)
// out  r (nq)  q (+) e u as dual numbers
template <class M, class Q, class U, class Out> FS_HD void along(const M& m, const Q& q, const U& u, Out& r) {
  using T = ScalarOf<Q>;
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    integrate_joint<Dual<T>>(m, b, dual_array(slice(q, b.q), Zeros<T>{}), dual_array(Zeros<T>{}, slice(u, b.v)),
                             slice(r.data(), b.q));
  }
}

// in   q (nq), qd (nv)
// out  gd (nv)  rate of the gravity torques
template <class M, class Q, class V, class Out>
FS_HD void gravity_torques_rate(const M& m, const Q& q, const V& qd, Out gd) {
  auto qe = scratch<Dual<ScalarOf<Q>>>(m.nq);
  along(m, q, qd, qe);
  gravity_torques(m, qe.data(), derivatives_in(gd));
}

// in   q (nq), qd (nv), qdd (nv)
// out  Cd (nv nv)  rate of the Coriolis matrix of that form
template <Coriolis form = Coriolis::Christoffel, class M, class Q, class V, class A, class Out>
FS_HD void coriolis_matrix_rate(const M& m, const Q& q, const V& qd, const A& qdd, Out Cd) {
  auto qe = scratch<Dual<ScalarOf<Q>>>(m.nq);
  along(m, q, qd, qe);
  coriolis_matrix<form>(m, qe.data(), dual_array(qd, qdd), derivatives_in(Cd));
}

// in   q (nq), qd (nv), frame  index of a named frame
// out  Jd (6 nv)  rate of jacobian.h
template <class M, class Q, class V, class Out>
FS_HD void jacobian_rate(const M& m, const Q& q, const V& qd, int frame, Out Jd) {
  auto qe = scratch<Dual<ScalarOf<Q>>>(m.nq);
  along(m, q, qd, qe);
  jacobian(m, qe.data(), frame, derivatives_in(Jd));
}

}  // namespace featherstorm
