// The tangent of a step's acceleration with found contacts, for one pack of instances. See
// host/gradients/world_gradients.h.
//
//   H a_tan = -dg with a held                                     H = M + J^T W J, Newton's last matrix
//   dg = dg of smooth forces and constraints - sum over contacts of d(J^T f(J a - aref))
//
// Contacts, their Jacobians, softness and forces are computed as in a step, in numbers with derivatives (Dual) along
// the motion of the bodies.
#pragma once
#include "host/solver/last_matrix.h"
#include "host/solver/moving_contacts.h"

namespace featherstorm {

// Outputs of the equations (host/trace/world_programs.h), the solution, and tangents with a held.
template <class Array> struct TangentInputs {
  Array mass;                         // (nh)
  Array jacobian, D, aref, friction;  // rows of constraints
  Array placement, twist, axis;       // as in SolverInputs
  Array qacc;                         // (nv)
  Array touch, weights;
  Array g_tan;  // (nv)  of smooth forces and constraints
  Array placement_tan, twist_tan, axis_tan, touch_tan;
};

// out  qacc_tan (nv)
template <class T>
FS_HD void contact_tangents(const auto& solver, const auto& in, const auto& qacc_tan) {
  using U = Dual<T>;
  const auto& w = solver.world;
  const int nv = solver.nv;
  const FoundRows<T> found(solver, in, true);
  const PresentRows<T>& present = found.present();
  auto x = scratch<T>(nv);
  for (int k = 0; k < nv; k++) x[k] = -in.g_tan[k];

  using Memory = std::remove_cvref_t<decltype(in.placement)>;
  using Moving = DualArray<Memory, Memory>;
  const Placements<U, Moving> X{dual_array(in.placement, in.placement_tan)};
  const Motions<U, Moving> twist{dual_array(in.twist, in.twist_tan)}, axis{dual_array(in.axis, in.axis_tan)};
  const Moving touch = dual_array(in.touch, in.touch_tan);
  GeomPlaces<U, std::remove_cvref_t<decltype(solver)>, Placements<U, Moving>, Moving> places(solver, X, touch);
  auto of_pair = scratch<ContactPoint<U>>(most_slots);
  auto moving = scratch<U>(most_rows * (nv + 1));
  // in memory of the launch, as in contact_gradients.h
  auto velocity = scratch<U>(most_rows), position = scratch<U>(most_rows), of_D = scratch<U>(most_rows),
       reference = scratch<U>(most_rows), active = scratch<U>(most_rows), coefficient = scratch<U>(most_rows),
       r = scratch<U>(most_rows), f = scratch<U>(most_rows), slope = scratch<U>(most_entries);
  auto own = scratch<ContactPair<U>>(1);
  const ContactLaw<U> law = law_among<U>(solver, touch);
  int there = -1;  // the pair that `own` and `of_pair` belong to
  for (int i = present.constraints; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    const ContactPair<U>& pair = own[0];
    if (c.source != there) own[0] = pair_among<U>(solver, c.source, touch);
    const auto &a = w.contacts.geom[pair.geom[0]], &b = w.contacts.geom[pair.geom[1]];
    const int d = pair.dimension, n = solver.pairs.columns(c.source);
    const Placement<U>& B = places[pair.geom[1]];
    if (c.source != there) points_along(solver, pair, places[pair.geom[0]], B, touch, of_pair.data());
    there = c.source;
    const ContactPoint<U> at = nearest_slot(present.point[i], of_pair.data(), pair.slots);
    const Candidate<U> candidate{at, candidate_frame(a, b, B, at.normal)};
    relative_velocity(X, twist, a.place.body, b.place.body, candidate, d, velocity.data());
    const std::span<const PathColumn> path(solver.pairs.column.data() + solver.pairs.start[c.source],
                                           static_cast<std::size_t>(n));
    contact_jacobian(path, X, axis, candidate, d, moving.data());
    set_contact_rows(
        law, pair, usual_inertia<U>(pair, law.cone), at.distance, velocity.data(),
        ConstraintRows<U*>{{}, position.data(), of_D.data(), reference.data(), active.data(), coefficient.data()});
    const auto& group = solver.group[solver.group_of[true][c.source]];
    for (int s = 0; s < d; s++) {
      r[s] = -reference[s];
      for (int k = 0; k < n; k++) r[s] = r[s] + moving[s * n + k] * T(in.qacc[column_of(solver, c, k)]);
    }
    block_state<U>(RowBlock{group.kind, 0, d}, r.data(), of_D.data(), coefficient.data(), f.data(), slope.data());
    const auto here = where<T>(c.instances);
    for (int k = 0; k < n; k++) {
      T along(0.0);
      for (int s = 0; s < d; s++) along = along + (moving[s * n + k] * f[s]).d;
      T& sum = x[column_of(solver, c, k)];
      sum = sum + select(here, along, T(0.0));
    }
  }
  auto force = scratch<T>(most_rows * (present.count + 1)), W = scratch<T>(most_entries * (present.count + 1));
  solve_last_matrix(solver, present, in, force.data(), W.data(), x.data());
  for (int k = 0; k < nv; k++) qacc_tan[k] = x[k];
}

}  // namespace featherstorm
