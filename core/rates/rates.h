// Derivatives along a direction of quantities that have an algorithm: the algorithm runs on dual numbers.
//
//   d/de g(q (+) e u),   d/de C(q (+) e u, qd + e a),   d/de J(q (+) e u)   at e = 0
//
// With u = qd and a = qdd these are the rates gd, Cd and Jd along a motion; along unit vectors they are the columns of
// the state derivatives dg/dq, dC/dq, dC/dqd, dJ/dq. Garofalo et al. (24), (25b), (25c), (28)-(32). dH/dq along u is
// crba_rate with u for qd.
#pragma once
#include "core/dynamics/gravity_torques.h"
#include "core/kinematics/jacobian.h"
#include "core/rates/coriolis_matrix.h"

namespace featherstorm {

// An output array of dual numbers that keeps their derivatives.
template <class Out> struct DerivativeArray {
  struct Element {
    Out out;
    int i;
    template <class T> FS_HD void operator=(const Dual<T>& x) { out[i] = x.d; }
  };
  Out out;
  FS_HD Element operator[](int i) const { return {out, i}; }
};
template <class Out> FS_HD DerivativeArray<Out> derivatives_in(const Out& out) { return {out}; }

// in   q (nq), u (nv)
// out  r (nq)  q (+) e u as dual numbers
FS_HD void along(const auto& m, const auto& q, const auto& u, auto& r) {
  using T = ScalarOf<decltype(q)>;
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    integrate_joint<Dual<T>>(m, b, dual_array(slice(q, b.q), Zeros<T>{}), dual_array(Zeros<T>{}, slice(u, b.v)),
                             slice(r.data(), b.q));
  }
}

// in   q (nq), u (nv)
// out  gd (nv)  gravity torques
FS_HD void gravity_torques_rate(const auto& m, const auto& q, const auto& u, auto gd) {
  auto qe = scratch<Dual<ScalarOf<decltype(q)>>>(m.nq);
  along(m, q, u, qe);
  gravity_torques(m, qe.data(), derivatives_in(gd));
}

// in   q (nq), qd (nv), u (nv), a (nv)
// out  Cd (nv nv)  Coriolis matrix of that form
template <Coriolis form = Coriolis::Christoffel>
FS_HD void coriolis_matrix_rate(const auto& m, const auto& q, const auto& qd, const auto& u, const auto& a, auto Cd) {
  auto qe = scratch<Dual<ScalarOf<decltype(q)>>>(m.nq);
  along(m, q, u, qe);
  coriolis_matrix<form>(m, qe.data(), dual_array(qd, a), derivatives_in(Cd));
}

// in   q (nq), u (nv), frame  index of a named frame
// out  Jd (6 nv)  jacobian.h
FS_HD void jacobian_rate(const auto& m, const auto& q, const auto& u, int frame, auto Jd) {
  auto qe = scratch<Dual<ScalarOf<decltype(q)>>>(m.nq);
  along(m, q, u, qe);
  jacobian(m, qe.data(), frame, derivatives_in(Jd));
}

// in   q (nq), qd (nv), u (nv), a (nv), frame  index of a named frame
// out  Jdd (6 nv)  jacobian_rate at qd; along a motion the second rate of the Jacobian
FS_HD void jacobian_second_rate(const auto& m, const auto& q, const auto& qd, const auto& u, const auto& a, int frame,
                                auto Jdd) {
  auto qe = scratch<Dual<ScalarOf<decltype(q)>>>(m.nq);
  along(m, q, u, qe);
  jacobian_rate(m, qe.data(), dual_array(qd, a), frame, derivatives_in(Jdd));
}

}  // namespace featherstorm
