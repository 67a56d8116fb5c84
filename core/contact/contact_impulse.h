// Simultaneous impulses at all contacts of a system, with restitution and Coulomb friction. RBDA (11.57)-(11.59),
// (11.64).
//
//   H dqd = G^T lambda,   zeta+ = A lambda + zeta-,   A = G H^-1 G^T
//   normals    zeta_n+ >= -e zeta_n-,  lambda_n >= 0, complementary   (Newton's restitution where zeta_n- < 0)
//   tangents   Coulomb's law between lambda_t and zeta_t+              (projected_gauss_seidel.h)
//
// A single contact without friction is (11.65), one with sufficient friction (11.72). Energy never grows with e = 0. It
// never grows without friction either, if all contacts have the same e and none separates before the impact. Otherwise
// Newton's rule may create energy, because it prescribes velocities regardless of the work.
#pragma once
#include "core/contact/contact_system.h"

namespace featherstorm {

// in      q (nq), v (nv)  at the impact
// in      active (nc)  1 for contacts that are closed at that instant, else 0
// in      sweeps
// in out  lambda (nr)  [N s]  initial guess or 0; impulses: normal, tangents of each contact
// out     v_next (nv)  after the impact; may be v
template <Friction friction = Friction::Cone>
FS_HD void contact_impulse(const auto& m, const auto& contacts, const auto& q, const auto& v, const auto& active,
                           int sweeps, auto lambda, auto v_next) {
  using T = ScalarOf<decltype(q)>;
  const T zero(0.0);
  auto phi = scratch<T>(contacts.nc);
  auto margin = scratch<T>(contacts.nc);
  auto b = scratch<T>(contacts.nr);
  auto weights = scratch<T>(sixfold(contacts.nc));
  auto A = scratch<T>(product(contacts.nr, contacts.nr));
  auto Z = scratch<T>(product(contacts.nr, m.nv));
  auto H = scratch<T>(m.nh);
  auto w = scratch<T>(m.nv);
  crba(m, q, H.data());
  ltdl(m, H.data());
  contact_rows(m, contacts, q, 3, phi.data(), margin.data(), Z.data());
  // b = zeta- + e min(zeta-, 0) for normals, zeta- for tangents
  for (int r = 0; r < contacts.nr; r++) {
    b[r] = zero;
    along_contact(m, contacts.contact[r / 3], [&](int j) { b[r] = b[r] + Z[r * m.nv + j] * v[j]; });
    if (r % 3 == 0) b[r] = b[r] + min(b[r], zero) * contacts.contact[r / 3].restitution;
  }
  contact_inertia(m, contacts, H.data(), 3, Z.data(), A.data());
  contact_weights(contacts, A.data(), active, weights.data(), lambda);
  for (int s = 0; s < sweeps; s++) contact_sweep<friction>(contacts, A.data(), b.data(), weights.data(), lambda);
  // v_next = v + L^-1 D^-1 Z^T lambda
  for (int j = 0; j < m.nv; j++) w[j] = zero;
  add_contact_forces(m, contacts, 3, Z.data(), lambda, w.data());
  for (int j = 0; j < m.nv; j++) w[j] = w[j] * H[m.at(j, j)];
  solve_l<Factor::LTDL>(m, H.data(), w.data());
  for (int j = 0; j < m.nv; j++) v_next[j] = v[j] + w[j];
}

}  // namespace featherstorm
