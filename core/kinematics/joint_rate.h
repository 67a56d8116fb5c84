// Change of a joint's motion subspace and bias with its position and velocity: the apparent derivatives (in the axes of
// the body) of S and c_J along a tangent direction, RBDA (3.40)-(3.43).
//
//   S° = d/de S(q (+) e u),   c_J° = d/de c_J(q (+) e u, v + e a)   at e = 0
//
// Along u = v the columns satisfy sum S°_k v_k = c_J. Zero for the joints whose S is constant.
#pragma once
#include "core/kinematics/integrate.h"
#include "core/scalar/dual.h"

// For templates that are large and called in several places.
#ifdef __CUDACC__
#define FS_HD_CALL __host__ __device__ __noinline__
#else
#define FS_HD_CALL inline
#endif

namespace featherstorm {

template <class T> struct JointRate { Motion<T> S[6], c; };

// joint_rate of a joint whose S is not constant. It contains the algorithm of every joint type on dual numbers, so
// compilers keep it out of line: three copies in a kernel would take nvcc minutes.
template <class T, class M, class Q, class V, class U, class A>
FS_HD_CALL void joint_rate_of_varying(const M& m, int i, const Q& q, const V& v, const U& u, const A& a,
                                      JointRate<T>& r) {
  const auto& b = m.body[i];
  Dual<T> position[7];
  const auto here = dual_array(slice(q, b.q), Zeros<T>{});
  const auto step = dual_array(Zeros<T>{}, slice(u, b.v));
  integrate_joint<Dual<T>>(m, b, here, step, position);
  UserJointAt<Dual<T>> J;
  const int n = jcalc(m, b, position, dual_array(slice(v, b.v), slice(a, b.v)), J);
  const auto derivative = [](const Motion<Dual<T>>& s) -> Motion<T> {
    return {{s.w.x().d, s.w.y().d, s.w.z().d}, {s.v.x().d, s.v.y().d, s.v.z().d}};
  };
  for (int k = 0; k < n; k++) r.S[k] = derivative(J.S[k]);
  r.c = derivative(J.c);
}

// in   i        the body whose joint it is
// in   q, v     (nq), (nv)
// in   u, a     (nv), (nv)  directions of position and velocity
// out  r.S, r.c  S° of each freedom and c_J°, body axes
template <class T>
FS_HD void joint_rate(const auto& m, int i, const auto& q, const auto& v, const auto& u, const auto& a,
                      JointRate<T>& r) {
  for (int k = 0; k < 6; k++) r.S[k] = zero_motion<T>();
  r.c = zero_motion<T>();
  if (!constant_subspace(m.body[i])) joint_rate_of_varying(m, i, q, v, u, a, r);
}

}  // namespace featherstorm

#undef FS_HD_CALL
