// Derivatives of the contacts' share of cotangents (contact_gradients.h) by numbers that differ among instances:
// friction, softness, sizes of geoms and their placements on bodies.
//
//   S = sum over contacts of l . f(r)        l = J lambda, r = J a - aref; f depends on D, friction and aref
//
// The numbers are treated one at a time: each is a Dual in the algorithm of the rows.
#pragma once
#include "core/scalar/dual.h"
#include "host/contacts/find_rows.h"
#include "host/solver/moving_contacts.h"

namespace featherstorm {

// Numbers that differ among instances, with the derivative along number `one`.
template <class T, class Array> struct AlongOne {
  Array x;
  int one;
  FS_HD Dual<T> operator[](int k) const { return {T(x[k]), T(k == one ? 1.0 : 0.0)}; }
};

// Return the placement of a geom with the numbers of these instances.
template <class U> FS_HD Placement<U> geom_at(const auto& solver, const auto& X, int geom, const auto& touch) {
  const Placement<U> place = place_among<U>(solver, geom, touch);
  const int body = solver.world.contacts.geom[geom].place.body;
  return body == 0 ? place : cast<U>(X[body]) * place;
}
// Return whether a geom's placement or size depends on one of the numbers.
FS_HD bool moves_by(const auto& solver, int geom, int number) {
  if (solver.touch.of_geom.empty()) return false;
  for (const int at : solver.touch.of_geom[geom])
    if (at == number) return true;
  return false;
}

// Rows of the relative motion V at a contact: e_k . v(p), then e_k . w.
template <class U, class T>
FS_HD void rows_of_motion(const Candidate<U>& c, int dimension, const Motion<T>& V, auto rows) {
  const Vec3<U> w = cast<U>(V.w), v = cast<U>(V.v) + cross(w, c.contact.point);
  for (int k = 0; k < dimension; k++) rows[k] = dot(c.frame.e[k % 3], k < 3 ? v : w);
}

// Return dS / d number for the contacts of one pair.
//
// in   in             as in contact_gradients.h
// in   first, end     the pair's blocks
// in   motion (3)     of geom 2 relative to geom 1, at the world's origin, under lambda, a and v
template <class T>
FS_HD T slope_by_number(const auto& solver, const auto& in, const PresentRows<T>& present, int first, int end,
                        const Motion<T>* motion, int number) {
  using U = Dual<T>;
  using Memory = std::remove_cvref_t<decltype(in.placement)>;
  const auto& contacts = solver.world.contacts;
  const int p = present.block[first].source;
  const Placements<T, Memory> X{in.placement};
  const AlongOne<T, Memory> touch{in.touch, number};
  auto own = scratch<ContactPair<U>>(1);
  auto moving = scratch<ContactPoint<U>>(most_slots);
  auto position = scratch<U>(most_rows), D = scratch<U>(most_rows), aref = scratch<U>(most_rows),
       active = scratch<U>(most_rows), coefficient = scratch<U>(most_rows), velocity = scratch<U>(most_rows),
       l = scratch<U>(most_rows), r = scratch<U>(most_rows), f = scratch<U>(most_rows),
       slope = scratch<U>(most_entries);
  const ConstraintRows<U*> rows{{}, position.data(), D.data(), aref.data(), active.data(), coefficient.data()};
  const ContactLaw<U> law = law_among<U>(solver, touch);
  own[0] = pair_among<U>(solver, p, touch);
  const ContactPair<U>& pair = own[0];
  const int d = pair.dimension, geom_a = pair.geom[0], geom_b = pair.geom[1];
  const RowKind kind = solver.group[solver.group_of[true][p]].kind;
  const bool moves = moves_by(solver, geom_a, number) || moves_by(solver, geom_b, number);
  const Placement<U> B = geom_at<U>(solver, X, geom_b, touch);
  if (moves) points_along(solver, pair, geom_at<U>(solver, X, geom_a, touch), B, touch, moving.data());
  T sum(0.0);
  for (int i = first; i < end; i++) {
    const ContactPoint<T>& is = present.point[i];
    const ContactPoint<U> at = moves ? nearest_slot(is, moving.data(), pair.slots)
                                     : ContactPoint<U>{U(is.distance), cast<U>(is.point), cast<U>(is.normal)};
    const Candidate<U> c{at, candidate_frame(contacts.geom[geom_a], contacts.geom[geom_b], B, at.normal)};
    rows_of_motion(c, d, motion[0], l.data());
    rows_of_motion(c, d, motion[1], r.data());
    rows_of_motion(c, d, motion[2], velocity.data());
    set_contact_rows(law, pair, usual_inertia<U>(pair, law.cone), at.distance, velocity.data(), rows);
    for (int k = 0; k < d; k++) r[k] = r[k] - aref[k];
    block_state<U>(RowBlock{kind, 0, d}, r.data(), D.data(), coefficient.data(), f.data(), slope.data());
    T along(0.0);
    for (int k = 0; k < d; k++) along = along + (l[k] * f[k]).d;
    sum = sum + select(where<T>(present.block[i].instances), along, T(0.0));
  }
  return sum;
}

}  // namespace featherstorm
