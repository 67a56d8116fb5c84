// Coriolis matrices: C(q, qd) with C qd = ID(q, qd, 0) without gravity and C + C^T = dH/dt, so that dH/dt - 2 C is skew.
//
//   C(i, j) = S_i^T (I^c Sd_j + B^c S_j),   I^c and B^c of the subtree of the later of the two bodies,   Sd = dS/dt
//
// C is not unique: any B with B v = v x* I v and B + B^T = dI/dt gives one, and these three differ.
//   Christoffel  B = 1/2 (v x* I - I v x + (. x* I v))   that of the Christoffel symbols, Lynch and Park (9.87), where
//                v = dq/dt; the recursion is Echeandia and Wensing's (2021)
//   BodyFixed    B = v x* I                              Garofalo et al. (6b): sum J^T (Psi J + Lambda Jd), body axes
//   MassCentre   B = [w x Ic 0; -m vc x 0] at the mass centre   Liu and Jain (46): J^T Mc Jd + J^T [w~] Mc J, world axes
#pragma once
#include "core/kinematics/common_frame.h"
#include "core/rates/velocity_force.h"

namespace featherstorm {

enum class Coriolis { Christoffel, BodyFixed, MassCentre };

// A map from motions to forces: what the unit motions become.
template <class T> struct ForceOfMotion { Force<T> column[6]; };
template <class T> FS_HD Force<T> operator*(const ForceOfMotion<T>& B, const Motion<T>& u) {
  Force<T> f = B.column[0] * component(u, 0);
  for (int c = 1; c < 6; c++) f += B.column[c] * component(u, c);
  return f;
}
template <class T> FS_HD ForceOfMotion<T>& operator+=(ForceOfMotion<T>& a, const ForceOfMotion<T>& b) {
  for (int c = 0; c < 6; c++) a.column[c] += b.column[c];
  return a;
}

// 2 B of one body in a fixed frame.
template <Coriolis form, class T>
FS_HD auto twice_body_coriolis(const RigidBodyInertia<T>& I, const Motion<T>& v, const Force<T>& h) {
  if constexpr (form == Coriolis::Christoffel) {
    return velocity_force(I, v, h);
  } else if constexpr (form == Coriolis::MassCentre) {
    // at the frame's origin: [w x Ibar - h x v x - m c^2 w x, 0; -p x, 0]
    const T zero(0.0), k = select(zero < I.m, rcp(select(zero < I.m, I.m, T(1.0))), zero);
    const Vec3<T> n = v.w * (dot(I.h, I.h) * k);
    const Mat3<T> A = minus_cross(cross_columns(v.w, full(I.I)), n);
    const Mat3<T> hv = minus_outer(A, v.v, I.h);  // h x v x = v h^T - (h.v) 1
    const T s = dot(I.h, v.v);
    Mat3<T> W;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) W(i, j) = hv(i, j) * T(2.0);
    for (int i = 0; i < 3; i++) W(i, i) = W(i, i) + (s + s);
    return VelocityForce<T>{W, h.f};
  } else {
    ForceOfMotion<T> B;
    for (int c = 0; c < 6; c++) {
      const Vec3<T> e{T(c % 3 == 0 ? 2.0 : 0.0), T(c % 3 == 1 ? 2.0 : 0.0), T(c % 3 == 2 ? 2.0 : 0.0)};
      B.column[c] = cross_dual(v, I * (c < 3 ? Motion<T>{e, zero3<T>()} : Motion<T>{zero3<T>(), e}));
    }
    return B;
  }
}

// in   q (nq), qd (nv)
// out  C (nv nv)  row-major; zero where i and j are not ancestor and descendant. Is written only
// Cost O(n depth).
template <Coriolis form = Coriolis::Christoffel>
FS_HD void coriolis_matrix(const auto& m, const auto& q, const auto& qd, auto C) {
  using T = ScalarOf<decltype(q)>;
  using Body = decltype(twice_body_coriolis<form>(std::declval<RigidBodyInertia<T>>(), std::declval<Motion<T>>(),
                                                  std::declval<Force<T>>()));
  CommonMotion f(m, q, qd);
  const auto &S = f.frame.S, &Sd = f.Sd;
  auto& Ic = f.Ic;
  auto B = scratch<Body>(m.nb + 1);  // 2 B^c
  const int n = m.nv;
  const T half(0.5);
  for (int k = 0; k < n * n; k++) C[k] = T(0.0);
  for (int i = 0; i <= m.nb; i++) B[i] = twice_body_coriolis<form>(Ic[i], f.v[i], Ic[i] * f.v[i]);
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    for (int k = b.v; k < b.v + freedoms(m, i); k++) {
      // column k and row k: F = I^c Sd_k + B^c S_k, and S_k^T (I^c Sd_l + B^c S_l) for the ancestors l
      const Force<T> F = Ic[i] * Sd[k] + (B[i] * S[k]) * half, P = Ic[i] * S[k];
      for (int l = b.v; l < b.v + freedoms(m, i); l++) C[l * n + k] = dot(S[l], F);
      for (int l = m.dof_parent[b.v]; l >= 0; l = m.dof_parent[l]) {
        C[l * n + k] = dot(S[l], F);
        C[k * n + l] = dot(Sd[l], P) + dot(S[k], B[i] * S[l]) * half;
      }
    }
    Ic[b.parent] += Ic[i], B[b.parent] += B[i];
  }
}

}  // namespace featherstorm
