// One step in time of closed loops: step.h with the constraints of RBDA (8.37)-(8.41) and Baumgarte's stabilisation,
// (8.12).
//
//   (H + dt D) qdd = tau - C(q, v) - D v + K^T lambda,   K qdd = k(rate)
//   v_next = v + dt qdd,   q_next = q (+) v_next dt
//
// Loops stay closed to an error of order dt, which Baumgarte's terms remove within about 1 / rate. rate dt below 1,
// such as 0.1, is stable. Loops that are open at the beginning close within a few 1 / rate.
#pragma once
#include "core/loops/fd_loops.h"
#include "core/step/step.h"

namespace featherstorm {

// in   q (nq), v (nv), drive
// in   f_ext (6 nb)  as in rnea.h, constant during the step; Zeros<T>{} for none
// in   s          dt and the numbers common to all joints
// in   rate       [1/s], tolerance  as in fd_loops.h
// out  q_next (nq), v_next (nv)  may be q, v
template <class M, class L, class Q, class V, class Drive, class F, class S, class Rate, class Tolerance, class QNext,
          class VNext>
FS_HD void loop_step(const M& m, const L& loops, const Q& q, const V& v, const Drive& drive, const F& f_ext,
                     const StepParameters<S>& s, const Rate& rate, const Tolerance& tolerance, QNext q_next,
                     VNext v_next) {
  using T = ScalarOf<Q>;
  auto b = scratch<T>(m.nv);
  auto qdd = scratch<T>(m.nv);
  auto H = scratch<T>(m.nh);
  auto K = scratch<T>(product(loops.nc, m.nv));
  auto A = scratch<T>(product(loops.nc, loops.nc));
  auto lambda = scratch<T>(loops.nc);
  auto delta = scratch<T>(loops.nc);
  step_equations(m, q, v, drive, f_ext, s, b.data(), H.data());
  loop_constraints(m, loops, q, v, rate, K.data(), lambda.data(), delta.data());
  ltdl(m, H.data());
  solve_loops(m, loops.nc, H.data(), b.data(), K.data(), A.data(), tolerance, qdd.data(), lambda.data());
  advance(m, q, v, qdd.data(), T(s.dt), q_next, v_next);
}

}  // namespace featherstorm
