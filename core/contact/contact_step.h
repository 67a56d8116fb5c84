// One time step with contacts: the semi-implicit Euler method of step.h, with contact impulses at velocity level.
//
//   (H + dt D) (v_next - v) = dt (tau - C - D v) + G^T lambda,   q_next = q (+) v_next dt
//   normals    G_n v_next >= target,  lambda_n >= 0, complementary;   tangents  Coulomb's law on G_t v_next
//
//   target = -phi / dt                                  apart: the gap may just close within the step
//          = min(erp max(-phi - slop, 0) / dt, max_push)   penetrating: Baumgarte's stabilisation, RBDA (8.22)
//          = -e zeta-                                   if the step would hit, faster than `rebound`
//
// Contacts need not be declared as touching: a contact that is far apart meets its target with lambda = 0. All
// instances therefore run the same instructions. The problem is solved by projected Gauss-Seidel on the Delassus matrix
// of H + dt D, with lambda of the last step as initial guess. For any number of sweeps, forces never pull and stay
// within the friction disc. The gaps are met up to the residual of the sweeps.
//
// The push moves bodies apart but is not part of their velocity: v_next and lambda come from `relax` further sweeps
// without it. It therefore adds no energy, and no body pops out of the ground. With relax = 0 the push stays in v_next.
//
// contact_step consists of prepare, sweeps, apply. They are separate algorithms because some callers need results in
// between (residual, another solver), and others run the sweeps as a real loop of a traced Program.
#pragma once
#include "core/contact/contact_system.h"
#include "core/step/step.h"

namespace featherstorm {

// Parameters of a step, the same for all contacts.
template <class T> struct ContactParameters {
  T erp;         // fraction of a penetration removed in a step, 0 to 1; 0.2 is usual
  T slop;        // penetration that is not removed [m]
  T max_push;    // fastest removal of a penetration [m/s]
  T rebound;     // slowest rebound; slower impacts do not rebound [m/s]
  T compliance;  // added to the diagonal of A for normals [1/kg]: makes lambda unique, and softens; 0 is allowed
};

// Separation velocity that a contact must reach at the end of the step, and the part of it that is push.
template <class T> struct ContactTarget {
  T speed, push;  // [m/s]
};
// in  phi [m], before, free [m/s]  gap; its rate at the beginning of the step and at its end without contact forces
template <class T, class P, class S>
FS_HD ContactTarget<T> contact_target(const Contact<P>& c, const ContactParameters<S>& p, const T& dt,
                                      const T& per_second, const T& phi, const T& before, const T& free) {
  const T zero(0.0), bounce = -(before * c.restitution);
  const T push = min(max(-phi - T(p.slop), zero) * T(p.erp) * per_second, T(p.max_push));
  const T none = select(phi + dt * free < zero, bounce, zero);  // also 0 if the step would not hit
  const auto bounces = T(p.rebound) < none;
  return {select(bounces, bounce, select(zero < phi, -(phi * per_second), push)), select(bounces, zero, push)};
}

// Assembles the contact problem of a step.
//
// in      q, v, drive, f_ext, s  as in step.h;  c  see above
// out     phi (nc)  [m]  gaps at q
// out     v_free (nv)  velocity at the end of the step without contacts
// out     L (nh)  factor of H + dt D
// out     Z (nr nv)  G L^-1
// out     A (nr nr), b (nr), weights (6 nc)  inputs of contact_sweep
// out     push (nc)  [m/s]  added to b of the normals, gives the velocity without push
// in out  lambda (nr)  set to 0 for contacts outside their patches
template <class M, class C, class Q, class V, class Drive, class F, class S, class OutPhi, class OutV, class OutL,
          class OutZ, class OutA, class OutB, class OutW, class OutP, class InOut>
FS_HD void contact_step_prepare(const M& m, const C& contacts, const Q& q, const V& v, const Drive& drive,
                                const F& f_ext, const StepParameters<S>& s, const ContactParameters<S>& c, OutPhi phi,
                                OutV v_free, OutL L, OutZ Z, OutA A, OutB b, OutW weights, OutP push, InOut lambda) {
  using T = ScalarOf<Q>;
  const T zero(0.0), one(1.0), dt(s.dt), per_second = rcp(dt);
  auto active = scratch<T>(contacts.nc);
  // v_free = v + dt (H + dt D)^-1 (tau - C - D v)
  step_equations(m, q, v, drive, f_ext, s, v_free, L);
  ltdl(m, L);
  solve<Factor::LTDL>(m, L, v_free);
  for (int k = 0; k < m.nv; k++) v_free[k] = v[k] + dt * v_free[k];
  contact_rows(m, contacts, q, 3, phi, active.data(), Z);
  // b = G v_free - target
  for (int r = 0; r < contacts.nr; r++) {
    T before(0.0), free(0.0);
    along_contact(m, contacts.contact[r / 3], [&](int j) {
      before = before + Z[r * m.nv + j] * v[j];
      free = free + Z[r * m.nv + j] * v_free[j];
    });
    b[r] = free;
    if (r % 3 > 0) continue;
    const ContactTarget<T> target =
        contact_target(contacts.contact[r / 3], c, dt, per_second, T(phi[r / 3]), before, free);
    b[r] = free - target.speed;
    push[r / 3] = target.push;
  }
  for (int k = 0; k < contacts.nc; k++) active[k] = select(zero <= active[k], one, zero);
  contact_inertia(m, contacts, L, 3, Z, A);
  for (int k = 0; k < contacts.nc; k++) {
    const int r = 3 * k * (contacts.nr + 1);
    A[r] = A[r] + T(c.compliance);
  }
  contact_weights(contacts, A, active.data(), weights, lambda);
}

// Computes v_next = v_free + L^-1 D^-1 Z^T lambda. v_next may be v_free.
FS_HD void apply_contact_impulses(const auto& m, const auto& contacts, const auto& v_free, const auto& L, const auto& Z,
                                  const auto& lambda, auto v_next) {
  using T = ScalarOf<decltype(v_free)>;
  auto w = scratch<T>(m.nv);
  for (int k = 0; k < m.nv; k++) w[k] = T(0.0);
  add_contact_forces(m, contacts, 3, Z, lambda, w.data());
  for (int k = 0; k < m.nv; k++) w[k] = w[k] * L[m.at(k, k)];
  solve_l<Factor::LTDL>(m, L, w.data());
  for (int k = 0; k < m.nv; k++) v_next[k] = v_free[k] + w[k];
}

// Takes one step.
//
// in      q (nq), v (nv), drive, f_ext (6 nb), s  as in step.h
// in      c  see above
// in      sweeps, relax  number of sweeps with and without push
// in out  lambda (nr)  [N s]  impulses of the last step as initial guess, or 0; impulses of this step
// out     q_next (nq), v_next (nv)  may be q, v
// Cost of step, contact_inertia with 3 rows, and O(nr^2) per sweep.
template <Friction friction = Friction::Cone, class S>
FS_HD void contact_step(const auto& m, const auto& contacts, const auto& q, const auto& v, const auto& drive,
                        const auto& f_ext, const StepParameters<S>& s, const ContactParameters<S>& c, int sweeps,
                        int relax, auto lambda, auto q_next, auto v_next) {
  using T = ScalarOf<decltype(q)>;
  auto phi = scratch<T>(contacts.nc);
  auto push = scratch<T>(contacts.nc);
  auto v_free = scratch<T>(m.nv);
  auto L = scratch<T>(m.nh);
  auto Z = scratch<T>(product(contacts.nr, m.nv));
  auto A = scratch<T>(product(contacts.nr, contacts.nr));
  auto b = scratch<T>(contacts.nr);
  auto weights = scratch<T>(sixfold(contacts.nc));
  contact_step_prepare(m, contacts, q, v, drive, f_ext, s, c, phi.data(), v_free.data(), L.data(), Z.data(), A.data(),
                       b.data(), weights.data(), push.data(), lambda);
  for (int k = 0; k < sweeps; k++) contact_sweep<friction>(contacts, A.data(), b.data(), weights.data(), lambda);
  apply_contact_impulses(m, contacts, v_free.data(), L.data(), Z.data(), lambda, v_next);
  integrate(m, q, v_next, T(s.dt), q_next);
  if (relax == 0) return;
  for (int k = 0; k < contacts.nc; k++) b[3 * k] = b[3 * k] + push[k];
  for (int k = 0; k < relax; k++) contact_sweep<friction>(contacts, A.data(), b.data(), weights.data(), lambda);
  apply_contact_impulses(m, contacts, v_free.data(), L.data(), Z.data(), lambda, v_next);
}

}  // namespace featherstorm
