// Rows of contacts: of each its normal, then the tangents, then turning about the normal and about the tangents, as far as
// its dimension goes. MuJoCo's documentation, chapter Computation, "Contact".
//
//   row k < 3   J = e_k . (velocity of the contact's point on body 2 less that on body 1)
//   row k + 3   J = e_k . (angular velocity of body 2 less that of body 1)
//   r = distance - margin;  aref = -(B J v + K d r) of the normal, -B J v of the others
//
// What they weigh, with A the inverse inertia of both bodies, mu = f_1 / sqrt(impedance ratio):
//   without friction   R = (1 - d) / d A
//   pyramid            R = 2 mu^2 (1 - d) / d A (1 + f_1^2) of every edge, normal +- f_k other
//   cone               R_0 = (1 - d) / d A,   R_k f_k^2 = R_0 mu^2
//
// A contact that is not there has D = 0 and aref = 0.
#pragma once
#include "core/collision/candidates.h"
#include "core/constraint/row_kind.h"
#include "core/constraint/rows.h"
#include "core/kinematics/wrench_rows.h"

namespace featherstorm {

// Angular velocity of a body and velocity of its point at p, world axes.
template <class T> struct Twist { Vec3<T> w, v; };
template <class T>
FS_HD Twist<T> twist_at(const Placement<T>& X, const Motion<T>& V, const Vec3<T>& p) {
  const Vec3<T> w = X.R * V.w;
  return {w, X.R * V.v + cross(w, p - X.r)};
}

// Weight, stiffness and damping of the rows of one contact.
template <class T, class P>
FS_HD void set_contact_rows(const auto& w, const ContactPair<P>& pair, const T& distance, const auto& velocity,
                            const auto& rows) {
  const T zero(0.0), one(1.0), least(least_denominator), r = distance - T(pair.margin);
  const auto active = r < zero;
  const T d = impedance_at(pair.softness, r), ratio(w.contacts.impedance_ratio), f1(pair.friction[0]);
  const ReferenceGains<T> gains = reference_gains<T>(pair.softness, w.timestep, w.constraints.safe_reference);
  const bool frictionless = pair.dimension == 1, cone = w.contacts.elliptic;
  T A(pair.inverse_inertia[0]);
  if (!frictionless && !cone) A = A * (one + f1 * f1);
  const T R0 = max((one - d) * A * rcp(d), least), square = f1 * f1 * rcp(max(ratio, least));
  const T R = frictionless || cone ? R0 : T(2.0) * square * R0;
  Softness<P> others = pair.softness;
  if (cone) others.reference[0] = pair.friction_reference[0], others.reference[1] = pair.friction_reference[1];
  const T damping = reference_gains<T>(others, w.timestep, w.constraints.safe_reference).damping;
  for (int k = 0; k < pair.dimension; k++) {
    const T f = k == 0 ? (frictionless ? zero : T(sqrt(square))) : T(pair.friction[k - 1]);
    const T Rk = cone && k > 0 ? R0 * square * rcp(f * f) : R;
    const T aref = k == 0 ? reference_acceleration(gains, d, r, velocity[k]) : T(-(damping * velocity[k]));
    rows.position[k] = k == 0 ? distance : zero;
    rows.D[k] = select(active, rcp(Rk), zero), rows.aref[k] = select(active, aref, zero);
    rows.active[k] = select(active, one, zero), rows.friction[k] = f;
  }
}

// in   x (nx), X (nb + 1)  joint numbers at (q, v) and placements of the bodies
// in   V (nb + 1)  velocities of the bodies, their axes
// in   candidate (slots_of)
// out  rows (rows_of)
// Cost O(rows depth), without what clears J.
FS_HD void contact_rows(const auto& m, const auto& w, const auto& x, const auto& X, const auto& V,
                        const auto& candidate, const auto& all_rows) {
  using T = ScalarOf<decltype(x)>;
  const Vec3<T> none = zero3<T>();
  int first = 0, slot = 0;
  for (const auto& pair : w.contacts.pair) {
    const int a = w.contacts.geom[pair.geom[0]].place.body, b = w.contacts.geom[pair.geom[1]].place.body;
    for (int i = 0; i < pair.slots; i++, slot++) {
      const Candidate<T>& c = candidate[slot];
      const auto rows = rows_from(all_rows, first, m.nv);
      first += pair.dimension;
      const Vec3<T>& p = c.contact.point;
      const Twist<T> A = twist_at(X[a], V[a], p), B = twist_at(X[b], V[b], p);
      T velocity[most_rows];
      for (int k = 0; k < pair.dimension; k++) {
        const Vec3<T>& e = c.frame.e[k % 3];
        const bool turns = k >= 3;
        velocity[k] = turns ? dot(e, B.w - A.w) : dot(e, B.v - A.v);
        add_wrench_pair(m, x, X, b, a, p, turns ? e : none, turns ? none : e, clear_row<T>(rows, k, m.nv));
      }
      set_contact_rows(w, pair, c.contact.distance, velocity, rows);
    }
  }
}

}  // namespace featherstorm
