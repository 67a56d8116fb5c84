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
#include <span>

#include "core/collision/candidates.h"
#include "core/constraint/pair_columns.h"
#include "core/constraint/row_kind.h"
#include "core/constraint/rows.h"
#include "core/constraint/world_motion.h"

namespace featherstorm {

// Velocity of a point p that a motion at r carries along.
template <class T> FS_HD Vec3<T> velocity_at(const Motion<T>& V, const Vec3<T>& r, const Vec3<T>& p) {
  return V.v + cross(V.w, p - r);
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

// What the bodies of a contact do against each other along its axes: of translation, then of rotation.
template <class T>
FS_HD void relative_velocity(const auto& X, const auto& twist, int a, int b, const Candidate<T>& c, int dimension,
                             T* velocity) {
  const Vec3<T>& p = c.contact.point;
  Vec3<T> v = velocity_at(twist[b], X[b].r, p), w = twist[b].w;
  if (a != 0) v = v - velocity_at(twist[a], X[a].r, p), w = w - twist[a].w;
  for (int k = 0; k < dimension; k++) velocity[k] = dot(c.frame.e[k % 3], k < 3 ? v : w);
}

// in   columns  of the pair
// in   X (nb + 1), axis (nv)  placements of the bodies and how coordinates move them (world_motion.h)
// out  J (dimension columns)
template <class T>
FS_HD void contact_jacobian(std::span<const PathColumn> columns, const auto& X, const auto& axis, const Candidate<T>& c,
                            int dimension, auto J) {
  const int n = static_cast<int>(columns.size());
  for (int k = 0; k < n; k++) {
    const Motion<T>& S = axis[columns[k].v];
    const Vec3<T> v = velocity_at(S, X[columns[k].body].r, c.contact.point);
    for (int i = 0; i < dimension; i++) {
      const T along = dot(c.frame.e[i % 3], i < 3 ? v : S.w);
      J[i * n + k] = columns[k].first ? -along : along;
    }
  }
}

// Rows of all candidates.
//
// in   columns  of all pairs
// in   X (nb + 1), twist (nb + 1), axis (nv)  (world_motion.h)
// in   candidate (slots_of)
// out  rows (rows_of), but for their J
// out  J (columns.entries)  packed
// Cost O(rows depth).
FS_HD void contact_rows(const auto& w, const PairColumns& columns, const auto& X, const auto& twist, const auto& axis,
                        const auto& candidate, const auto& all_rows, auto J) {
  using T = ScalarOf<decltype(J)>;
  int first = 0, slot = 0, entry = 0;
  for (int p = 0; p < static_cast<int>(w.contacts.pair.size()); p++) {
    const auto& pair = w.contacts.pair[p];
    const int a = w.contacts.geom[pair.geom[0]].place.body, b = w.contacts.geom[pair.geom[1]].place.body;
    const int n = columns.columns(p);
    for (int i = 0; i < pair.slots; i++, slot++, first += pair.dimension, entry += pair.dimension * n) {
      const Candidate<T>& c = candidate[slot];
      T velocity[most_rows];
      relative_velocity(X, twist, a, b, c, pair.dimension, velocity);
      contact_jacobian(std::span(columns.column).subspan(columns.start[p], n), X, axis, c, pair.dimension,
                       slice(J, entry));
      set_contact_rows(w, pair, c.contact.distance, velocity, rows_from(all_rows, first, 0));
    }
  }
}

}  // namespace featherstorm
