// Analytic derivatives of inverse dynamics on the tangent space: the recursion of Carpentier and Mansard ("Analytical
// derivatives of rigid body dynamics algorithms", 2018) in one fixed frame, for joints of every type.
//
//   dtau/dq (i, k) = d/de tau_i(q (+) e e_k, qd, qdd),   dtau/dqd (i, k) = d tau_i / d qd_k
//
// A step along coordinate k of body b turns all bodies beyond b by S_k. It also changes their velocities and
// accelerations by
//   psi = v_p x S + s,   u = psi x v + phi,   phi = a_p x S + v_p x psi + v_b x s + t
// where s and t are the changes from the joint's own S and c_J (joint_rate.h). A step of its velocity changes them by S
// and S x v + chi with chi = (v_p + v_b) x S + dc_J/dqd_k. With I^c and D^c of a subtree (velocity_force.h) and its
// force F:
//   dF = S x* F + I^c phi + D^c psi,   dF = I^c chi + D^c S
#pragma once
#include "core/kinematics/joint_rate.h"
#include "core/kinematics/world_axes.h"
#include "core/rates/velocity_force.h"

namespace featherstorm {

// External forces of subtrees, given in world axes at each body's origin: these do not turn with the bodies.
//   S x* f - df = (w × n - E w; w × f)   summed,   E = r× f×
template <class T> struct FixedForces {
  Vec3<T> n, f;
  Mat3<T> E;
};
template <class T> FS_HD FixedForces<T> fixed_force(const Vec3<T>& r, const Vec3<T>& n, const Vec3<T>& f) {
  const T s = dot(r, f);
  FixedForces<T> x{n, f, {}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) x.E(i, j) = i == j ? f(i) * r(j) - s : f(i) * r(j);
  return x;
}

// in   q (nq), qd (nv), qdd (nv)  Zeros<T>{} for an absent qd or qdd
// in   f_ext (6 nb)  as in rnea.h, kept as they are while q changes; Zeros<T>{} for none
// out  dtau_dq (nv nv), dtau_dqd (nv nv)  row i: derivatives of tau_i; zero where i and k are not ancestor and descendant
// Cost O(n depth).
template <class F>
FS_HD void rnea_derivatives(const auto& m, const auto& q, const auto& qd, const auto& qdd, const F& f_ext, auto dtau_dq,
                            auto dtau_dqd) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto X = scratch<Placement<T>>(m.nb + 1);
  auto S = scratch<Motion<T>>(m.nv);
  auto psi = scratch<Motion<T>>(m.nv);
  auto phi = scratch<Motion<T>>(m.nv);
  auto chi = scratch<Motion<T>>(m.nv);
  auto v = scratch<Motion<T>>(m.nb + 1);
  auto a = scratch<Motion<T>>(m.nb + 1);
  auto f = scratch<Force<T>>(m.nb + 1);
  auto Ic = scratch<RigidBodyInertia<T>>(m.nb + 1);
  auto D = scratch<VelocityForce<T>>(m.nb + 1);
  auto fixed = scratch<FixedForces<T>>(m.nb + 1);
  const int n = m.nv;
  for (int k = 0; k < n * n; k++) dtau_dq[k] = T(0.0), dtau_dqd[k] = T(0.0);
  update_joints(m, q, qd, x);
  base_axes(m, x, X, S);
  v[0] = zero_motion<T>();
  a[0] = {zero3<T>(), -(X[0].R * cast<T>(m.gravity))};
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    const int p = b.parent;
    with_joint(m, i, x, [&](const auto& J) {
      const Motion<T> vJ = apply_inverse(X[i], zero_motion<T>() + J.velocity(slice(qd, b.v)));
      const Motion<T> aJ = apply_inverse(X[i], zero_motion<T>() + J.velocity(slice(qdd, b.v)) + J.bias(slice(qd, b.v)));
      v[i] = v[p] + vJ;
      a[i] = a[p] + aJ + cross(v[p], vJ);
    });
    const int dofs = freedoms(m, i);
    for (int k = b.v; k < b.v + dofs; k++) {
      psi[k] = cross(v[p], S[k]);
      phi[k] = cross(a[p], S[k]) + cross(v[p], psi[k]);
      chi[k] = cross(v[p] + v[i], S[k]);
      if (constant_subspace(b)) continue;
      // s = dS/dq_k qd,  t = dS/dq_k qdd + dc_J/dq_k,  and dc_J/dqd_k
      JointRate<T> r;
      joint_rate(m, i, q, qd, UnitArray<T>{k}, Zeros<T>{}, r);
      Motion<T> s = zero_motion<T>(), t = r.c;
      for (int l = 0; l < dofs; l++) s = s + r.S[l] * qd[b.v + l], t = t + r.S[l] * qdd[b.v + l];
      s = apply_inverse(X[i], s);
      psi[k] = psi[k] + s;
      phi[k] = phi[k] + cross(v[p] + v[i], s) + apply_inverse(X[i], t);
      joint_rate(m, i, q, qd, Zeros<T>{}, UnitArray<T>{k}, r);
      chi[k] = chi[k] + apply_inverse(X[i], r.c);
    }
    Ic[i] = in_world_axes(X[i], b.I);
    const Force<T> h = Ic[i] * v[i];
    D[i] = velocity_force(Ic[i], v[i], h);
    f[i] = Ic[i] * a[i] + cross_dual(v[i], h);
    if constexpr (is_given<F>) {
      const auto g = slice(f_ext, 6 * (i - 1));
      fixed[i] = fixed_force(X[i].r, X[0].R * Vec3<T>{g[0], g[1], g[2]}, X[0].R * Vec3<T>{g[3], g[4], g[5]});
      f[i] = f[i] - Force<T>{fixed[i].n + cross(X[i].r, fixed[i].f), fixed[i].f};
    }
  }
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    const int dofs = freedoms(m, i);
    for (int k = b.v; k < b.v + dofs; k++) {
      // columns: effect of a step along k on the subtree's force; rows: effect of steps along ancestors on tau_k
      Force<T> by_q = Ic[i] * phi[k] + D[i] * psi[k];
      const Force<T> by_qd = Ic[i] * chi[k] + D[i] * S[k], P = Ic[i] * S[k];
      const Vec3<T> w = transpose_times(D[i], S[k]);
      Vec3<T> turned = zero3<T>();
      if constexpr (is_given<F>) {
        const FixedForces<T>& g = fixed[i];
        by_q += Force<T>{cross(S[k].w, g.n) - g.E * S[k].w, cross(S[k].w, g.f)};
        turned = cross(g.n, S[k].w) + cross(g.f, S[k].v) - transpose_times(g.E, S[k].w);
      }
      // the joint's own block: also dS_l/dq_k . F
      const Force<T> F_i = apply_dual(X[i], f[i]);
      JointRate<T> r;
      joint_rate(m, i, q, qd, UnitArray<T>{k}, Zeros<T>{}, r);
      for (int l = 0; l < dofs; l++) {
        dtau_dq[(b.v + l) * n + k] = dot(S[b.v + l], by_q) + dot(r.S[l], F_i);
        dtau_dqd[(b.v + l) * n + k] = dot(S[b.v + l], by_qd);
      }
      // the subtree's force turns with it
      by_q += cross_dual(S[k], f[i]);
      for (int l = m.dof_parent[b.v]; l >= 0; l = m.dof_parent[l]) {
        dtau_dq[l * n + k] = dot(S[l], by_q);
        dtau_dqd[l * n + k] = dot(S[l], by_qd);
        dtau_dq[k * n + l] = dot(phi[l], P) + dot(psi[l].w, w) + dot(S[l].w, turned);
        dtau_dqd[k * n + l] = dot(chi[l], P) + dot(S[l].w, w);
      }
    }
    if (b.parent == 0) continue;
    f[b.parent] += f[i];
    Ic[b.parent] += Ic[i];
    D[b.parent] += D[i];
    if constexpr (is_given<F>) {
      FixedForces<T>& g = fixed[b.parent];
      add_to(g.n, fixed[i].n), add_to(g.f, fixed[i].f), add_to(g.E, fixed[i].E);
    }
  }
}

}  // namespace featherstorm
