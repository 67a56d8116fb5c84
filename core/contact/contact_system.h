// Contact dynamics of a rigid-body system: the matrix and the vector of its complementarity problem. RBDA
// (11.34)-(11.36).
//
//   zetad = M lambda + d,   zetad >= 0,  lambda >= 0,  zetad . lambda = 0
//   M = G H^-1 G^T = Z D^-1 Z^T,   Z = G L^-1,   d = G H^-1 (tau - C) + Gd qd,   rows of G the normals t^T
//
// H = L^T D L is the branch-sparse factor; half solves run only along the paths of each contact.
#pragma once
#include "core/contact/contact_kinematics.h"
#include "core/contact/projected_gauss_seidel.h"
#include "core/dynamics/crba.h"
#include "core/dynamics/newton_euler.h"
#include "core/linear/ltdl.h"

namespace featherstorm {

// Computes the Delassus matrix of a set of contacts.
// in      L (nh)  the factor of ltdl
// in      rows    per contact, as in contact_rows
// in out  G (rows nc nv)  replaced by Z = G L^-1
// out     A (rows nc rows nc)  [1/kg] symmetric, semidefinite; all entries
// Cost O(rows nc d^2 + (rows nc)^2 d), d the length of paths in coordinates.
FS_HD void contact_inertia(const auto& m, const auto& contacts, const auto& L, int rows, auto G, auto A) {
  using T = ScalarOf<decltype(L)>;
  const int n = rows * contacts.nc;
  for (int a = 0; a < n; a++) {
    const auto& c = contacts.contact[a / rows];
    const auto z = slice(G, a * m.nv);
    // z = L^-T z
    along_contact(m, c, [&](int i) {
      for (int j = m.dof_parent[i]; j >= 0; j = m.dof_parent[j]) z[j] = z[j] - L[m.at(i, j)] * z[i];
    });
    for (int b = 0; b <= a; b++) A[a * n + b] = T(0.0);
    along_contact(m, c, [&](int j) {
      const T y = z[j] * L[m.at(j, j)];
      for (int b = 0; b <= a; b++) A[a * n + b] = A[a * n + b] + y * G[b * m.nv + j];
    });
    for (int b = 0; b < a; b++) A[b * n + a] = A[a * n + b];
  }
}

// w = w + Z^T lambda
FS_HD void add_contact_forces(const auto& m, const auto& contacts, int rows, const auto& Z, const auto& lambda,
                              auto w) {
  for (int a = 0; a < rows * contacts.nc; a++)
    along_contact(m, contacts.contact[a / rows], [&](int j) { w[j] = w[j] + Z[a * m.nv + j] * lambda[a]; });
}

// Computes all quantities of (11.34), and the inputs needed to get qdd from lambda.
// in   q (nq), qd (nv), tau (nv), f_ext (6 nb)  as in fd_crba
// out  phi, margin, zeta (nc)  as in contact_kinematics.h
// out  A (nc nc)  [1/kg] M of (11.35)
// out  d (nc)     [m/s^2]
// out  H (nh)     the factor L, D of the inertia matrix
// out  Z (nc nv)  G L^-1
// out  w (nv)     L^-T (tau - C), so that qdd = L^-1 D^-1 (w + Z^T lambda)
// Cost O(nb + nh d) plus contact_inertia.
template <class M, class C, class Q, class V, class Tau, class F, class Out, class OutA, class OutH, class OutZ,
          class OutW>
FS_HD void contact_system(const M& m, const C& contacts, const Q& q, const V& qd, const Tau& tau, const F& f_ext,
                          Out phi, Out margin, Out zeta, OutA A, Out d, OutH H, OutZ Z, OutW w) {
  using T = ScalarOf<Q>;
  newton_euler(m, q, qd, Zeros<T>{}, f_ext, w);
  for (int j = 0; j < m.nv; j++) w[j] = tau[j] - w[j];
  crba(m, q, H);
  ltdl(m, H);
  solve_lt<Factor::LTDL>(m, H, w);
  contact_rows(m, contacts, q, 1, phi, margin, Z);
  contact_rates(m, contacts, q, qd, zeta, d);
  contact_inertia(m, contacts, H, 1, Z, A);
  // d = Z D^-1 w + Gd qd
  for (int k = 0; k < contacts.nc; k++)
    along_contact(m, contacts.contact[k], [&](int j) { d[k] = d[k] + Z[k * m.nv + j] * H[m.at(j, j)] * w[j]; });
}

// Forward dynamics with frictionless contacts: solves (11.41), (11.42) by sweeps of projected Gauss-Seidel.
// in      q (nq), qd (nv), tau (nv), f_ext (6 nb)
// in      touching (nc)  1 for contacts in state 3 of Figure 11.4 (contact_state.h), else 0
// in      sweeps  a sweep costs O(nc^2)
// in out  lambda (nc)  [N]  initial guess or 0; the contact forces
// out     qdd (nv)     [rad/s^2 | m/s^2]
FS_HD void fd_contacts(const auto& m, const auto& contacts, const auto& q, const auto& qd, const auto& tau,
                       const auto& f_ext, const auto& touching, int sweeps, auto lambda, auto qdd) {
  using T = ScalarOf<decltype(q)>;
  auto phi = scratch<T>(contacts.nc);
  auto margin = scratch<T>(contacts.nc);
  auto zeta = scratch<T>(contacts.nc);
  auto d = scratch<T>(contacts.nc);
  auto inverse = scratch<T>(contacts.nc);
  auto A = scratch<T>(product(contacts.nc, contacts.nc));
  auto Z = scratch<T>(product(contacts.nc, m.nv));
  auto H = scratch<T>(m.nh);
  contact_system(m, contacts, q, qd, tau, f_ext, phi.data(), margin.data(), zeta.data(), A.data(), d.data(), H.data(),
                 Z.data(), qdd);
  normal_weights(contacts.nc, A.data(), touching, inverse.data(), lambda);
  for (int s = 0; s < sweeps; s++) normal_sweep(contacts.nc, A.data(), d.data(), inverse.data(), lambda);
  // qdd = L^-1 D^-1 (w + Z^T lambda)
  add_contact_forces(m, contacts, 1, Z.data(), lambda, qdd);
  for (int j = 0; j < m.nv; j++) qdd[j] = qdd[j] * H[m.at(j, j)];
  solve_l<Factor::LTDL>(m, H.data(), qdd);
}

}  // namespace featherstorm
