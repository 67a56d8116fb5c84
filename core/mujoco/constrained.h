// Equations of motion with the constraints of a model file, and the steps that follow from their solution.
//
//   M a = b + J^T f,   b = qfrc_smooth,   f the forces of the rows (core/constraint/newton_step.h)
//
// A step has three algorithms: assembling the equations, Newton iterations for a, and integration. M, b, the rows and a
// are passed between them.
#pragma once
#include "core/constraint/constraint_rows.h"
#include "core/constraint/contact_rows.h"
#include "core/constraint/newton_step.h"
#include "core/mujoco/discrete_step.h"
#include "core/mujoco/step.h"

namespace featherstorm {

// Number of rows of a world: first those of constraints, then those of contacts.
template <class P> int rows_of(const World<P>& w) { return rows_of(w.constraints) + rows_of(w.contacts); }

template <class T> struct Equations {
  Equations(const auto& m, const auto& w)
      : mass(m.nh),
        b(m.nv),
        J(rows_of(w.constraints) * m.nv),
        position(rows_of(w)),
        D(rows_of(w)),
        aref(rows_of(w)),
        active(rows_of(w)),
        friction(rows_of(w)),
        twist(m.nb + 1),
        axis(m.nv) {}
  ConstraintRows<T*> rows() {
    return {J.data(), position.data(), D.data(), aref.data(), active.data(), friction.data()};
  }
  Scratch<T> mass, b;                              // (nh) packed as in crba.h, (nv)
  Scratch<T> J;                                    // constraints only, all entries
  Scratch<T> position, D, aref, active, friction;  // constraints and contacts (core/constraint/rows.h)
  Scratch<Motion<T>> twist, axis;                  // (nb + 1), (nv)  (core/constraint/world_motion.h)
};

// Assembles the equations, except contacts.
//
// in   q (nq), v (nv), act (na), applied
// out  s, e
template <class T>
FS_HD void equations(const auto& m, const auto& w, const auto& q, const auto& v, const auto& act, const auto& applied,
                     Smooth<T>& s, Equations<T>& e) {
  auto tau = scratch<T>(m.nv);
  smooth_forces(m, w, q, v, act, applied, s, tau.data());
  mass_and_bias(m, w, q, v, s, e.mass.data(), e.b.data());
  for (int k = 0; k < m.nv; k++) e.b[k] = tau[k] - e.b[k];
  constraint_rows(m, w, s.x, s.X, q, v, s.ten_length, s.ten_J, e.rows());
  world_motion(m, s.x, s.X, v, e.twist.data(), e.axis.data());
}

// Replaces M and b by M^ and b^, if springs and dampers act at the end of the step (discrete_step.h). Rescales
// constraint rows by their inverse inertia at the present position, if the world asks for this.
//
// in      q (nq), v (nv), act (na), ctrl (nu), s
// in-out  e
// out     weights (weights_of)  (core/constraint/row_inertia.h)
// out     turning (7 alone_bodies)  for each body: 1 if nothing acts on it, then its acceleration
template <class T>
FS_HD void end_of_step(const auto& m, const auto& w, const auto& q, const auto& v, const auto& act, const auto& ctrl,
                       const Smooth<T>& s, Equations<T>& e, auto weights, auto turning) {
  const int rows = rows_of(w.constraints);
  if (!w.is_discrete()) {
    row_weights(m, w, e.mass, e.mass, weights);
    return weigh_rows(m, w, rows, e.J.data(), weights, e.D.data());
  }
  auto mass = scratch<T>(m.nh), diagonal = scratch<T>(m.nh);
  for (int k = 0; k < m.nh; k++) mass[k] = e.mass[k];
  LengthSlopes<T> slopes(w);
  length_slopes(m, w, act, ctrl, s, slopes);
  to_end_of_step(m, w, q, v, s, slopes, e.mass.data(), e.b.data(), diagonal.data());
  row_weights(m, w, mass, diagonal, weights);
  weigh_rows(m, w, rows, e.J.data(), weights, e.D.data());
  const std::vector<int> alone = alone_bodies(m, w);
  if (alone.empty()) return;
  const int n = static_cast<int>(alone.size());
  auto free = scratch<T>(n), a = scratch<T>(m.nv);
  untouched(m, w, s, slopes, rows, e.J, e.D, alone, free.data());
  turning_acceleration(m, q, v, e.mass, e.b, alone, T(w.timestep), a.data());
  for (int i = 0; i < n; i++) {
    turning[7 * i] = free[i];
    for (int k = 0; k < 6; k++) turning[7 * i + 1 + k] = a[m.body[alone[i]].v + k];
  }
}

// Writes the rows of all candidates after those of the constraints.
//
// in      s, e  of equations
// in      columns  of all pairs
// in      weights  from end_of_step
// in-out  e
// out     J (columns.entries)  packed
template <class T>
FS_HD void all_contact_rows(const auto& m, const auto& w, const PairColumns& columns, const auto& weights,
                            const Smooth<T>& s, Equations<T>& e, auto J) {
  auto candidate = scratch<Candidate<T>>(slots_of(w.contacts));
  contact_candidates(m, w, s.X, candidate.data());
  const ContactLaw<T> law = contact_law<T>(w);
  const auto inertia = [&](const auto& pair, const auto& of_pair, std::span<const PathColumn> path) {
    return contact_inertia(m, law, pair, path, of_pair, weights);
  };
  contact_rows(w, inertia, columns, s.X, e.twist, e.axis, candidate.data(),
               rows_from(e.rows(), rows_of(w.constraints), m.nv), J);
}

// Clears turning for bodies with an active contact row: they rotate like all other bodies.
//
// in      D  of all rows
// in-out  turning  from end_of_step
FS_HD void find_touched(const auto& w, const std::vector<int>& alone, const auto& D, auto turning) {
  using T = ScalarOf<decltype(turning)>;
  const T zero(0.0);
  int row = rows_of(w.constraints);
  for (const auto& pair : w.contacts.pair)
    for (int slot = 0; slot < pair.slots; slot++, row += pair.dimension)
      for (std::size_t i = 0; i < alone.size(); i++)
        for (const int geom : pair.geom)
          if (w.contacts.geom[geom].place.body == alone[i])
            turning[7 * i] = select(zero < D[row], zero, T(turning[7 * i]));
}

// Returns the blocks of all rows, in their order.
template <class P> std::vector<RowBlock> row_blocks(const World<P>& w) {
  std::vector<RowBlock> blocks;
  const auto add = [&](RowKind kind, int rows, int count) {
    for (int i = 0; i < count; i++)
      blocks.push_back({kind, blocks.empty() ? 0 : blocks.back().first + blocks.back().rows, rows});
  };
  add(RowKind::Equality, 1, rows_of_equalities(w.constraints));
  add(RowKind::Friction, 1, rows_of_friction(w.constraints));
  add(RowKind::Unilateral, 1, rows_of_limits(w.constraints));
  const RowKind contact = w.contacts.elliptic ? RowKind::Cone : RowKind::Pyramid;
  for (const ContactPair<P>& pair : w.contacts.pair)
    add(pair.dimension == 1 ? RowKind::Unilateral : contact, pair.dimension, pair.slots);
  return blocks;
}

// Computes the acceleration that the integrator uses: (M + h D) a_h = M a. M a are the forces of the joints, including
// those of constraints.
//
// in      mass, lower, upper (nh)  (velocity_slopes.h)
// in-out  a (nv)
FS_HD void damped_acceleration(const auto& m, const auto& w, const auto& mass, const auto& lower, const auto& upper,
                               const auto& h, auto a) {
  using T = ScalarOf<decltype(a)>;
  auto b = scratch<T>(m.nv);
  mul_h(m, mass, a, b.data());
  solve_with_slopes(m, w, mass, lower, upper, h, b.data());
  for (int k = 0; k < m.nv; k++) a[k] = b[k];
}

}  // namespace featherstorm
