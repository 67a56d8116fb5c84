// Forces at the joints during a time step: drives, stops, damping and dry friction, as tau - D v.
//
// tau is evaluated at the beginning of the step; D >= 0 (nv) may be applied at its end, where it is
// unconditionally stable (step.h). For each coordinate of velocity v:
//   drive      tau_d + kp (target - q) - kd v, within +-max_effort; a drive at its limit has no kd
//   stop       limit_stiffness times the distance of q beyond its limit, and limit_damping v there
//   damping    damping v
//   friction   mu v / sqrt(v^2 + eps^2), a smooth mu sign(v); a damper of mu / sqrt(v^2 + eps^2)
// Targets and stops are for coordinates whose v is dq/dt (model.dof_q).
#pragma once
#include "core/model/model.h"

namespace featherstorm {

// The drives of all joints; Zeros<T>{} for absent ones.
template <class Tau, class Target, class Kp, class Kd> struct Drive {
  Tau tau;        // (nv) [N m | N]
  Target target;  // (nv) [rad | m], read where model.dof_q >= 0
  Kp kp;          // (nv) >= 0 [N m/rad | N/m]
  Kd kd;          // (nv) >= 0 [N m s/rad | N s/m]
};
template <class Tau, class Target, class Kp, class Kd> Drive(Tau, Target, Kp, Kd) -> Drive<Tau, Target, Kp, Kd>;

// Numbers of a step that are the same for all joints.
template <class T> struct StepParameters {
  T dt;                 // [s]
  T limit_stiffness;    // of the stops [N m/rad | N/m]
  T limit_damping;      // [N m s/rad | N s/m]
  T friction_velocity;  // eps > 0: friction is at 71 % of its full value there [rad/s | m/s]
};

// True if a limit of the model is finite. (Comparisons hold for infinities under -ffinite-math-only too.)
template <class P> FS_HD bool is_limit(const P& x) {
#ifndef __CUDA_ARCH__
  if constexpr (std::is_same_v<P, Expr>) {
    const Graph& g = Tracing::graph();
    return !g.is_constant(x.edge()) || is_limit(g.value(x.edge()));
  } else
#endif
    return P(-1e30) < x && x < P(1e30);
}

// in   q (nq), v (nv), drive, s
// out  tau (nv) [N m | N], D (nv) [N m s/rad | N s/m]
template <class S, class Out>
FS_HD void joint_forces(const auto& m, const auto& q, const auto& v, const auto& drive, const StepParameters<S>& s,
                        Out tau, Out D) {
  using T = ScalarOf<decltype(q)>;
  const T zero(0.0), eps(s.friction_velocity);
  for (int k = 0; k < m.nv; k++) {
    const int j = m.dof_q[k];
    T f(drive.tau[k]), d(0.0);
    if (j >= 0) {
      f = f + drive.kp[k] * (drive.target[k] - q[j]);
      d = d + drive.kd[k];
    }
    if (is_limit(m.max_effort[k])) {
      // within the limit the drive is f - d v, beyond it the limit
      const T e(m.max_effort[k]), u = f - d * v[k];
      f = select(e < abs(u), max(min(u, e), -e), f);
      d = select(e < abs(u), zero, d);
    }
    if (j >= 0 && is_limit(m.lower[k])) {
      const T x = T(m.lower[k]) - q[j];
      f = f + T(s.limit_stiffness) * max(x, zero);
      d = d + select(zero < x, T(s.limit_damping), zero);
    }
    if (j >= 0 && is_limit(m.upper[k])) {
      const T x = q[j] - T(m.upper[k]);
      f = f - T(s.limit_stiffness) * max(x, zero);
      d = d + select(zero < x, T(s.limit_damping), zero);
    }
    tau[k] = f;
    // d += damping + mu / sqrt(v^2 + eps^2)
    D[k] = d + m.damping[k] + rcp(sqrt(v[k] * v[k] + eps * eps)) * m.friction[k];
  }
}

}  // namespace featherstorm
