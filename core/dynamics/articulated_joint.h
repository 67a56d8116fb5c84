// The articulated-body sweeps at one joint: eliminate it from the equation of motion of its subtree.
// RBDA (7.18)-(7.24) and (7.43)-(7.50).
#pragma once
#include "core/model/joints.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// A = L D L^T of a small symmetric positive definite matrix given by its lower triangle; L below, 1/D on the diagonal.
template <int n, class T> FS_HD void factor_small(T (&A)[n][n]) {
  for (int k = 0; k < n; k++) {
    for (int j = 0; j < k; j++) {
      const T l = A[k][j] * A[j][j];  // column j holds L_kj / d_j
      A[k][k] = A[k][k] - l * A[k][j];
      for (int i = k + 1; i < n; i++) A[i][k] = A[i][k] - A[i][j] * l;
      A[k][j] = l;
    }
    A[k][k] = rcp(A[k][k]);
  }
}
// x = A^-1 x
template <int n, class T> FS_HD void solve_small(const T (&A)[n][n], T (&x)[n]) {
  for (int k = 0; k < n; k++)
    for (int j = 0; j < k; j++) x[k] = x[k] - A[k][j] * x[j];
  for (int k = n - 1; k >= 0; k--) {
    x[k] = x[k] * A[k][k];
    for (int i = k + 1; i < n; i++) x[k] = x[k] - A[i][k] * x[i];
  }
}

// a = I^A^-1 f
template <class T> FS_HD Motion<T> solve_articulated(const ArticulatedInertia<T>& J, const Force<T>& f) {
  const Mat3<T> I = full(J.I), M = full(J.M);
  T A[6][6], x[6];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A[i][j] = I(i, j), A[3 + i][j] = J.H(j, i), A[3 + i][3 + j] = M(i, j);
  for (int k = 0; k < 6; k++) x[k] = component(f, k);
  factor_small(A);
  solve_small(A, x);
  return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

// in   J, tau       the joint, its forces
// in   armature(k)  added to D_kk of the joint; rotor: true if it may be more than zero
// in   IA, p        articulated inertia and bias force of the subtree, in the body's frame
// out  G = U D^-1, y = D^-1 u
// out  Ia = IA - U G^T,  pa = p + U y
template <class J, class Armature, class Tau, class T, class Columns, class Y>
FS_HD void articulate(const J& joint, const Armature& armature, bool, const Tau& tau, const ArticulatedInertia<T>& IA,
                      const Force<T>& p, Columns G, Y y, ArticulatedInertia<T>& Ia, Force<T>& pa) {
  constexpr int n = J::nv;
  Force<T> U[n];
  T D[n][n], u[n];
  for (int k = 0; k < n; k++) {
    U[k] = joint.force_of_axis(k, IA);
    for (int l = 0; l <= k; l++) D[k][l] = joint.project(l, U[k]);
    D[k][k] = D[k][k] + armature(k);
    u[k] = tau[k] - joint.project(k, p);
  }
  factor_small(D);
  // rows of D^-1 U^T
  for (int c = 0; c < 6; c++) {
    T row[n];
    for (int k = 0; k < n; k++) row[k] = component(U[k], c);
    solve_small(D, row);
    for (int k = 0; k < n; k++) (c < 3 ? G[k].n(c) : G[k].f(c - 3)) = row[k];
  }
  solve_small(D, u);
  const auto minus = [](const ArticulatedInertia<T>& A, const Force<T>& U, const Force<T>& G) -> ArticulatedInertia<T> {
    return {minus_outer(A.I, U.n, G.n), minus_outer(A.H, U.n, G.f), minus_outer(A.M, U.f, G.f)};
  };
  pa = p + U[0] * u[0];
  Ia = minus(IA, U[0], G[0]);
  y[0] = u[0];
  for (int k = 1; k < n; k++) {
    y[k] = u[k];
    pa += U[k] * u[k];
    Ia = minus(Ia, U[k], G[k]);
  }
}
// Without rotor I^a S = 0 and S^T p^a = tau, RBDA (7.23), exactly. Setting these values saves operations in a trace.
// Separate from articulate, because only bodies with a parent need it: CUDA kernels for 64 freedoms take 7 registers
// less.
FS_HD void set_exact(const auto& joint, bool rotor, const auto& tau, auto& Ia, auto& pa) {
  if (!rotor) joint.clear_axis(Ia), joint.set_axis_force(pa, tau);
}
// A free joint without rotor: S is square and orthogonal, so D^-1 = S^T I^A^-1 S, G = S, I^a = 0 and p^a = S tau.
template <class T, class Armature, class Tau, class Columns, class Y>
FS_HD void articulate(const FreeAt<T>& joint, const Armature& armature, bool rotor, const Tau& tau,
                      const ArticulatedInertia<T>& IA, const Force<T>& p, Columns G, Y y, ArticulatedInertia<T>& Ia,
                      Force<T>& pa) {
  if (rotor) return articulate<FreeAt<T>>(joint, armature, rotor, tau, IA, p, G, y, Ia, pa);  // as any other joint
  const Motion<T> t = joint.velocity(tau);
  pa = {t.w, t.v};
  const Motion<T> a = solve_articulated(IA, pa - p);
  const Force<T> f{a.w, a.v};
  for (int k = 0; k < 6; k++) y[k] = joint.project(k, f);
  const T o(0.0);
  Ia = {{o, o, o, o, o, o}, rows<T>(o, o, o, o, o, o, o, o, o), {o, o, o, o, o, o}};
}

// qdd = y - G^T a1, where a1 = X a_parent + c
template <class J, class T, class Columns, class Y, class Out>
FS_HD void accelerate(const J&, bool, const Motion<T>& a1, Columns G, Y y, Out qdd) {
  for (int k = 0; k < J::nv; k++) qdd[k] = y[k] - dot(a1, G[k]);
}
template <class T, class Columns, class Y, class Out>
FS_HD void accelerate(const FreeAt<T>& joint, bool rotor, const Motion<T>& a1, Columns G, Y y, Out qdd) {
  if (rotor) return accelerate<FreeAt<T>>(joint, rotor, a1, G, y, qdd);
  const Force<T> f{a1.w, a1.v};
  for (int k = 0; k < 6; k++) qdd[k] = y[k] - joint.project(k, f);
}

}  // namespace featherstorm
