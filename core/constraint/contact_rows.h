// Rows of contacts. Each contact has the rows normal, two tangents, torsion about the normal and rolling about the two
// tangents, in this order, up to its dimension. MuJoCo's documentation, chapter Computation, "Contact".
//
//   row k < 3   J = e_k . (velocity of the contact's point on body 2 less that on body 1)
//   row k + 3   J = e_k . (angular velocity of body 2 less that of body 1)
//   r = distance - margin;  aref = -(B J v + K d r) for the normal, -(B J v + s) for the others,
//   s the velocity of the surfaces
//
// Regularisation, with A the inverse inertia of both bodies and mu = f_1 / sqrt(impedance ratio):
//   without friction   R = (1 - d) / d A
//   pyramid            R = 2 mu^2 (1 - d) / d A (1 + f_1^2) of every edge, normal +- f_k other
//   cone               R_0 = (1 - d) / d A,   R_k f_k^2 = R_0 mu^2
//
// In float, a term J^T D J with A D > 1e6 hides the inertia M that it is added to. Impedance ratios can make the
// tangent rows of a cone that stiff. Their A D is therefore at most 1e5 in float, and mu is that of the impedance ratio
// that gives this value.
//
// A slot without a contact has D = 0 and aref = 0.
#pragma once
#include <span>

#include "core/collision/candidates.h"
#include "core/constraint/pair_columns.h"
#include "core/constraint/row_inertia.h"
#include "core/constraint/row_pattern.h"
#include "core/constraint/rows.h"
#include "core/constraint/world_motion.h"
#include "core/scalar/some.h"
#include "core/scalar/unroll.h"

namespace featherstorm {

// Velocity at point p of a rigid motion V whose reference point is r.
template <class T> FS_HD Vec3<T> velocity_at(const Motion<T>& V, const Vec3<T>& r, const Vec3<T>& p) {
  return V.v + cross(V.w, p - r);
}

// Settings that all contacts of a world share.
template <class T> struct ContactLaw {
  RowLaw<T> rows;
  T impedance_ratio;    // [impratio]
  bool cone;            // else a pyramid [cone]
  bool exact;           // true: inverse inertia at the present position; false: at qpos0 [diagexact]
  bool single = false;  // true if numbers are float: then tangents have a limit
};
// The numbers of w decide, not T: traced numbers and dual numbers of a float world have its limit or none.
template <class T> FS_HD ContactLaw<T> contact_law(const auto& w) {
  return {row_law<T>(w), T(w.contacts.impedance_ratio), w.contacts.elliptic, w.constraints.exact_inertia,
          std::is_same_v<std::remove_cvref_t<decltype(w.timestep)>, float>};
}

// Inverse inertia along the first row of a contact, or along the first edge of its pyramid, at qpos0.
template <class T, class P> FS_HD T usual_inertia(const ContactPair<P>& pair, bool cone) {
  const T A(pair.inverse_inertia[0]), f1(pair.friction[0]);
  return pair.dimension == 1 || cone ? A : A * (T(1.0) + f1 * f1);
}

// Inverse inertia along the same direction at the present position.
//
// in   m  the tree of M
// in   J (dimension columns)  packed
// in   weights (weights_of)  (row_inertia.h)
template <class T, class P>
FS_HD T contact_inertia(const auto& m, const ContactLaw<T>& law, const ContactPair<P>& pair,
                        std::span<const PathColumn> columns, const auto& J, const auto& weights) {
  const T usual = usual_inertia<T>(pair, law.cone);
  if (!law.exact && !law.rows.discrete) return usual;
  const int n = static_cast<int>(columns.size());
  auto edge = scratch<T>(n);
  for (int k = 0; k < n; k++) edge[k] = first_edge<T>(pair, law.cone, J, n, k);
  const auto at = [&](int k) { return columns[static_cast<std::size_t>(k)].v; };
  if (!law.exact) return usual * discrete_share<T>(n, m.nv, edge, at, weights);
  auto row = scratch<T>(m.nv);
  for (int k = 0; k < m.nv; k++) row[k] = T(0.0);
  for (int k = 0; k < n; k++) row[at(k)] = edge[k];
  return exact_inertia<T>(m, weights, row);
}

// Limit of A D for the tangent rows of a cone in float, and a limit that no weight reaches.
inline constexpr double greatest_tangent_weight = 1e5, no_limit = 1e30;
// False for numbers that have no limit: those of double, and traced ones, whose programs serve both precisions.
template <class T> inline constexpr bool has_limit = !is_traced<T> && !std::is_same_v<T, double>;
template <class T> inline constexpr bool has_limit<Dual<T>> = has_limit<T>;

// Constants of a contact's rows that depend only on its pair, not on its position.
//
//   D_k = weight_k / R,  1 / R = d / (1 - d) hardness,  hardness = 1 / A
template <class T> struct ContactGains {
  ImpedanceCurve<T> impedance;
  ReferenceGains<T> normal;  // K, B
  T damping;                 // B of the other rows
  T hardness;
  T weight[most_rows], friction[most_rows];
  T greatest;  // limit of 1 / R for the tangents of a cone
};
template <class To, class P> ContactGains<To> cast(const ContactGains<P>& g) {
  const ImpedanceCurve<P>& d = g.impedance;
  ContactGains<To> to{
      {To(d.first), To(d.rise), To(d.per_width), To(d.midpoint), To(d.below), To(d.above), To(d.exponent), d.power},
      {To(g.normal.stiffness), To(g.normal.damping)},
      To(g.damping),
      To(g.hardness),
      {},
      {},
      To(g.greatest)};
  for (int k = 0; k < most_rows; k++) to.weight[k] = To(g.weight[k]), to.friction[k] = To(g.friction[k]);
  return to;
}
// in   A  inverse inertia along the contact's first row or edge
template <class T, class P>
FS_HD ContactGains<T> contact_gains(const ContactLaw<T>& law, const ContactPair<P>& pair, const T& A) {
  const T zero(0.0), one(1.0), least(least_denominator), f1(pair.friction[0]);
  const bool frictionless = pair.dimension == 1, cone = law.cone;
  const RowLaw<T>& rows = law.rows;
  const ReferenceGains<T> normal = reference_gains<T>(pair.softness, rows.timestep, rows.safe_reference);
  ContactGains<T> g{
      impedance_curve<T>(pair.softness), normal, normal.damping, rcp(max(A, T(1e-25))), {}, {}, T(no_limit)};
  if (cone) {
    Softness<P> others = pair.softness;
    others.reference[0] = pair.friction_reference[0], others.reference[1] = pair.friction_reference[1];
    g.damping = reference_gains<T>(others, rows.timestep, rows.safe_reference).damping;
  }
  const T square = f1 * f1 * rcp(max(law.impedance_ratio, least)), per_square = rcp(square);
  T hardest = zero;
  for (int k = 0; k < most_rows; k++) g.weight[k] = g.friction[k] = zero;
  for (int k = 0; k < pair.dimension; k++) {
    const T f = k == 0 ? (frictionless ? zero : T(sqrt(square))) : T(pair.friction[k - 1]);
    g.friction[k] = f;
    g.weight[k] = frictionless || (cone && k == 0) ? one : cone ? f * f * per_square : T(0.5) * per_square;
    if (k > 0) hardest = max(hardest, g.weight[k]);
  }
  if (law.single && cone && !frictionless) g.greatest = T(greatest_tangent_weight) * g.hardness * rcp(hardest);
  return g;
}

// Returns the greatest d / (1 - d).
FS_HD double greatest_weight(const ContactGains<double>& g) {
  const double d = max(g.impedance.first, g.impedance.first + g.impedance.rise);
  return d / (1 - d);
}

// Coefficients of aref = -(damping v + stiffness r), and 1 / R (weight).
template <class T> struct ContactAnswer { T stiffness, damping, others_damping, weight; };
template <class T, class P> FS_HD ContactAnswer<T> contact_answer(const ContactGains<P>& g, const T& r) {
  const T d = impedance_at(g.impedance, r);
  return {d * T(g.normal.stiffness), T(g.normal.damping), T(g.damping),
          min(d * T(g.hardness) * rcp(T(1.0) - d), T(1.0 / least_denominator))};
}

// Writes weight, stiffness and damping of the rows of one contact.
//
// in   r  distance less margin
template <class T, class P>
FS_HD void set_contact_rows(const ContactGains<P>& g, const ContactAnswer<T>& answer, int dimension, const T& r,
                            const auto& velocity, const auto& rows) {
  const T zero(0.0), one(1.0);
  const auto active = r < zero;
  T tangent = answer.weight;
  if constexpr (has_limit<T>) tangent = min(tangent, T(g.greatest));
  for (int k = 0; k < dimension; k++) {
    const T aref =
        k == 0 ? T(-(answer.damping * velocity[k] + answer.stiffness * r)) : T(-(answer.others_damping * velocity[k]));
    rows.D[k] = select(active, (k == 0 ? answer.weight : tangent) * T(g.weight[k]), zero);
    rows.aref[k] = select(active, aref, zero);
    rows.active[k] = select(active, one, zero), rows.friction[k] = T(g.friction[k]);
  }
  // mu as of the impedance ratio that gives these tangents
  if (has_limit<T> && some(answer.weight - tangent))
    rows.friction[0] = rows.friction[0] * sqrt(answer.weight * rcp(tangent));
}
// in   A  inverse inertia along the contact's first row or edge
template <class T, class P>
FS_HD void set_contact_rows(const ContactLaw<T>& law, const ContactPair<P>& pair, const T& A, const T& distance,
                            const auto& velocity, const auto& rows) {
  const T r = distance - T(pair.margin);
  const ContactGains<T> g = contact_gains<T>(law, pair, A);
  ContactAnswer<T> answer = contact_answer(g, r);
  if (law.rows.discrete) {
    const T d = impedance_at(g.impedance, r);
    const RowAnswer<T> normal = discrete_answer(law.rows, pair.softness, d, A, RowSpring::Yields);
    answer = {normal.stiffness, normal.damping, normal.damping, rcp(normal.R)};
    if (law.cone) {
      Softness<P> others = pair.softness;
      others.reference[0] = pair.friction_reference[0], others.reference[1] = pair.friction_reference[1];
      answer.others_damping = discrete_answer(law.rows, others, d, A, RowSpring::None).damping;
    }
  }
  set_contact_rows(g, answer, pair.dimension, r, velocity, rows);
  for (int k = 0; k < pair.dimension; k++) rows.position[k] = k == 0 ? distance : T(0.0);
}

// Relative velocity of the two bodies of a contact along its axes: translation, then rotation.
template <class T>
FS_HD void relative_velocity(const auto& X, const auto& twist, int a, int b, const Candidate<T>& c, int dimension,
                             T* velocity) {
  const Vec3<T>& p = c.contact.point;
  Vec3<T> v = velocity_at(twist[b], X[b].r, p), w = twist[b].w;
  if (a != 0) v = v - velocity_at(twist[a], X[a].r, p), w = w - twist[a].w;
  for (int k = 0; k < dimension; k++) velocity[k] = dot(c.frame.e[k % 3], k < 3 ? v : w);
}

// Adds the velocity of the surface of geom b, at B, relative to that of geom a, at A. Only the tangents and the
// rotation about the normal change.
//
//   v + w x (p - r)   of each surface, w and v turned from its geom's axes, r the geom's origin  [geom_surfacevel]
template <class T>
FS_HD void add_surface_velocity(const auto& a, const auto& b, const Placement<T>& A, const Placement<T>& B,
                                const Candidate<T>& c, int dimension, auto velocity) {
  const auto add = [&](const auto& geom, const Placement<T>& X, double sign) {
    const Vec3<T> w = X.R * cast<T>(geom.surface.w) * T(sign);
    const Vec3<T> v = X.R * cast<T>(geom.surface.v) * T(sign) + cross(w, c.contact.point - X.r);
    for (int k = 1; k < dimension && k < 4; k++) velocity[k] = velocity[k] + dot(c.frame.e[k % 3], k < 3 ? v : w);
  };
  if (a.surface_moves) add(a, A, -1.0);
  if (b.surface_moves) add(b, B, 1.0);
}

// Writes the Jacobian of one contact.
//
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

// Writes the rows of all candidates.
//
// in   inertia(pair, packed J, columns of the pair)  inverse inertia along a contact's first row or edge
// in   columns  of all pairs
// in   X (nb + 1), twist (nb + 1), axis (nv)  (world_motion.h)
// in   candidate (slots_of)
// out  rows (rows_of), except their J
// out  J (columns.entries)  packed
// Cost O(rows depth).
FS_HD void contact_rows(const auto& w, const auto& inertia, const PairColumns& columns, const auto& X,
                        const auto& twist, const auto& axis, const auto& candidate, const auto& all_rows, auto J) {
  using T = ScalarOf<decltype(J)>;
  const ContactLaw<T> law = contact_law<T>(w);
  int first = 0, slot = 0, entry = 0;
  for (int p = 0; p < static_cast<int>(w.contacts.pair.size()); p++) {
    const auto& pair = w.contacts.pair[p];
    const auto &geom_a = w.contacts.geom[pair.geom[0]], &geom_b = w.contacts.geom[pair.geom[1]];
    const int a = geom_a.place.body, b = geom_b.place.body, n = columns.columns(p);
    const bool surfaces_move = geom_a.surface_moves || geom_b.surface_moves;
    for (int i = 0; i < pair.slots; i++, slot++, first += pair.dimension, entry += pair.dimension * n) {
      const Candidate<T>& c = candidate[slot];
      T velocity[most_rows];
      relative_velocity(X, twist, a, b, c, pair.dimension, velocity);
      if (surfaces_move)
        add_surface_velocity(geom_a, geom_b, geom_placement<T>(X, geom_a), geom_placement<T>(X, geom_b), c,
                             pair.dimension, velocity);
      const std::span of_pair = std::span(columns.column).subspan(columns.start[p], n);
      contact_jacobian(of_pair, X, axis, c, pair.dimension, slice(J, entry));
      const T A = inertia(pair, slice(J, entry), of_pair);
      set_contact_rows(law, pair, A, c.contact.distance, velocity, rows_from(all_rows, first, 0));
    }
  }
}

}  // namespace featherstorm
