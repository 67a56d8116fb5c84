// Inverse operational-space inertia of several frames together, by two ways. RBDA (7.4), (7.8), section 7.1.
//
//   Phi = J H^-1 J^T,   J the stacked Jacobians (6 c x n);   block (f, g): acceleration of frame f by a force at frame g
//
//   operational_inertia      by the branch-sparse factor: H = L^T D L, Z = J L^-1, Phi = Z D^-1 Z^T; O(c n d + c^2 n)
//   operational_inertia_aba  by articulated bodies, H is never formed; O(n) for each frame and O(1) for each pair
//
// Phi is defined at every posture; its rank is that of J.
#pragma once
#include "core/dynamics/articulated_joint.h"
#include "core/dynamics/operational_space.h"
#include "core/linear/ltdl.h"

namespace featherstorm {

// in      L (nh)  the factor of ltdl
// in      rows    number of rows of J
// in out  J (rows nv)  replaced by Z = J L^-1
// out     Phi (rows rows)  J H^-1 J^T
FS_HD void operational_inertia(const auto& m, const auto& L, int rows, auto J, auto Phi) {
  using T = ScalarOf<decltype(L)>;
  for (int i = 0; i < rows; i++) {
    const auto z = slice(J, i * m.nv);
    solve_lt<Factor::LTDL>(m, L, z);
    for (int j = 0; j <= i; j++) {
      T s(0.0);
      for (int k = 0; k < m.nv; k++) s = s + z[k] * L[m.at(k, k)] * J[j * m.nv + k];
      Phi[i * rows + j] = s;
      Phi[j * rows + i] = s;
    }
  }
}

// Six motions: column c is the motion caused by unit force component c.
template <class T> struct MotionOfForce { Motion<T> column[6]; };
template <class T> FS_HD MotionOfForce<T> transposed(const MotionOfForce<T>& A) {
  MotionOfForce<T> B;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) MotionComponent<T>{B.column, i}[j] = component(A.column[i], j);
  return B;
}
template <class T> FS_HD Motion<T> operator*(const MotionOfForce<T>& A, const Force<T>& f) {
  Motion<T> a = A.column[0] * component(f, 0);
  for (int l = 1; l < 6; l++) a = a + A.column[l] * component(f, l);
  return a;
}

// Blocks of Phi: motions of the frames `at` by forces at the frames `by`.
// in   q (nq)
// in   at (rows), by (columns)  indices of named frames
// out  Phi (6 rows 6 columns)  rows and columns of each frame angular, linear; world axes, at the frame's origin
FS_HD void operational_inertia_blocks(const auto& m, const auto& q, const auto& at, int rows, const auto& by,
                                      int columns, auto Phi) {
  using T = ScalarOf<decltype(q)>;
  const CommonFrame common(m, q);
  const auto& X = common.X;
  const auto& S = common.S;
  auto G = scratch<Force<T>>(m.nv);    // U D^-1
  auto SD = scratch<Motion<T>>(m.nv);  // S D^-1
  auto IA = scratch<ArticulatedInertia<T>>(m.nb + 1);
  auto Omega = scratch<MotionOfForce<T>>(m.nb + 1);  // motion of body i by a force on it
  auto K = scratch<MotionOfForce<T>>(m.nb + 1);      // motion of body i by unit forces at a frame
  auto on_path = scratch<char>(m.nb + 1);            // from the world to that frame
  for (int i = 1; i <= m.nb; i++) IA[i] = articulated<T>(in_world_axes(X[i], m.body[i].I));
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    with_joint(m, i, common.x, [&](const auto& J) {
      constexpr int n = std::remove_cvref_t<decltype(J)>::nv;
      Force<T> U[n];
      T D[n][n];
      // U = I^A S,  D = S^T U + armature
      for (int k = 0; k < n; k++) {
        U[k] = IA[i] * S[b.v + k];
        for (int l = 0; l <= k; l++) D[k][l] = dot(S[b.v + l], U[k]);
        D[k][k] = D[k][k] + m.armature[b.v + k];
      }
      factor_small(D);
      for (int c = 0; c < 6; c++) {
        T u[n], s[n];
        for (int k = 0; k < n; k++) u[k] = component(U[k], c), s[k] = component(S[b.v + k], c);
        solve_small(D, u);
        solve_small(D, s);
        for (int k = 0; k < n; k++) {
          (c < 3 ? G[b.v + k].n(c) : G[b.v + k].f(c - 3)) = u[k];
          MotionComponent<T>{SD.data(), c}[b.v + k] = s[k];
        }
      }
      // I^A_parent += I^A - U D^-1 U^T
      if (b.parent == 0) return;
      ArticulatedInertia<T> Ia = IA[i];
      for (int k = 0; k < n; k++)
        Ia = {minus_outer(Ia.I, U[k].n, G[b.v + k].n), minus_outer(Ia.H, U[k].n, G[b.v + k].f),
              minus_outer(Ia.M, U[k].f, G[b.v + k].f)};
      IA[b.parent] += Ia;
    });
  }
  // a_i = (1 - S G^T) a_parent, the part that the joint transmits
  const auto pass = [&](int i, const MotionOfForce<T>& A) {
    const int v = m.body[i].v, dofs = freedoms(m, i);
    MotionOfForce<T> B;
    for (int c = 0; c < 6; c++) {
      B.column[c] = A.column[c];
      for (int k = v; k < v + dofs; k++) B.column[c] = B.column[c] - S[k] * dot(A.column[c], G[k]);
    }
    return B;
  };
  for (int c = 0; c < 6; c++) Omega[0].column[c] = zero_motion<T>();
  for (int i = 1; i <= m.nb; i++) {
    // Omega_i = (1 - S G^T) Omega_parent (1 - S G^T)^T + S D^-1 S^T
    Omega[i] = pass(i, transposed(pass(i, Omega[m.body[i].parent])));
    for (int c = 0; c < 6; c++)
      for (int k = m.body[i].v; k < m.body[i].v + freedoms(m, i); k++)
        Omega[i].column[c] = Omega[i].column[c] + SD[k] * component(S[k], c);
  }
  const auto origin = [&](int frame) -> Vec3<T> {
    const auto& F = m.frame[frame];
    return X[F.body].r + X[F.body].R * F.X.r;
  };
  for (int g = 0; g < columns; g++) {
    for (int i = 0; i <= m.nb; i++) on_path[i] = 0;
    // unit forces at frame g, and the part that each joint passes on to the parent: f - G S^T f
    Force<T> f[6];
    for (int c = 0; c < 6; c++) {
      const Vec3<T> e{T(c % 3 == 0 ? 1.0 : 0.0), T(c % 3 == 1 ? 1.0 : 0.0), T(c % 3 == 2 ? 1.0 : 0.0)};
      f[c] = c < 3 ? Force<T>{e, zero3<T>()} : Force<T>{cross(origin(by[g]), e), e};
    }
    K[0] = Omega[0];
    for (int i = m.frame[by[g]].body; i > 0; i = m.body[i].parent) {
      on_path[i] = 1;
      for (int c = 0; c < 6; c++) {
        K[i].column[c] = Omega[i] * f[c];
        Force<T> passed = f[c];
        for (int k = m.body[i].v; k < m.body[i].v + freedoms(m, i); k++) passed = passed - G[k] * dot(S[k], f[c]);
        f[c] = passed;
      }
    }
    for (int i = 1; i <= m.nb; i++)
      if (!on_path[i]) K[i] = pass(i, K[m.body[i].parent]);
    for (int h = 0; h < rows; h++)
      for (int c = 0; c < 6; c++) {
        Motion<T> a = K[m.frame[at[h]].body].column[c];
        a.v = a.v + cross(a.w, origin(at[h]));
        for (int l = 0; l < 6; l++) Phi[(6 * h + l) * 6 * columns + 6 * g + c] = component(a, l);
      }
  }
}

// in   q (nq)
// in   frame (count)  indices of named frames
// out  Phi (6 count 6 count)
FS_HD void operational_inertia_aba(const auto& m, const auto& q, const auto& frame, int count, auto Phi) {
  operational_inertia_blocks(m, q, frame, count, frame, count, Phi);
}

// All named frames, by their index.
struct AllFrames {
  FS_HD int operator[](int i) const { return i; }
};
// in   q (nq), frame  index of a named frame
// out  Phi (6 nf 6)  block f: motion of frame f by forces at `frame`. One call for each of several frames gives
//      all blocks of their Phi, at O(1) for each block
FS_HD void operational_inertia_column(const auto& m, const auto& q, int frame, auto Phi) {
  operational_inertia_blocks(m, q, AllFrames{}, m.nf, &frame, 1, Phi);
}

}  // namespace featherstorm
