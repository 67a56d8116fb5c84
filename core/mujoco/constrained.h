// Equations of motion with the constraints of a model file, and what follows from their solution.
//
//   M a = b + J^T f,   b = qfrc_smooth,   f the forces of the rows (core/constraint/newton_step.h)
//
// A step is three texts: the equations, Newton's steps towards a, the way on. Between them go M, b, the rows and a.
#pragma once
#include "core/constraint/constraint_rows.h"
#include "core/constraint/contact_rows.h"
#include "core/constraint/newton_step.h"
#include "core/mujoco/step.h"

namespace featherstorm {

// Rows of a world: those of constraints, then those of contacts.
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
  Scratch<T> mass, b;                              // (nh) packed as of crba.h, (nv)
  Scratch<T> J;                                    // of constraints, all entries
  Scratch<T> position, D, aref, active, friction;  // of constraints and contacts (core/constraint/rows.h)
  Scratch<Motion<T>> twist, axis;                  // (nb + 1), (nv)  (core/constraint/world_motion.h)
};

// All but contacts.
//
// in   q (nq), v (nv), act (na), applied
// out  s, e
template <class T>
FS_HD void equations(const auto& m, const auto& w, const auto& q, const auto& v, const auto& act, const auto& applied,
                     Smooth<T>& s, Equations<T>& e) {
  auto tau = scratch<T>(m.nv);
  smooth_forces(m, w, q, v, act, applied, s, tau.data());
  newton_euler(m, q, v, Zeros<T>{}, Zeros<T>{}, e.b.data());
  for (int k = 0; k < m.nv; k++) e.b[k] = tau[k] - e.b[k];
  crba(m, q, e.mass.data());
  constraint_rows(m, w, s.x, s.X, q, v, s.ten_length, s.ten_J, e.rows());
  world_motion(m, s.x, s.X, v, e.twist.data(), e.axis.data());
}

// The rows of all candidates behind those of the constraints.
//
// in      s, e  of equations
// in      columns  of all pairs
// in-out  e
// out     J (columns.entries)  packed
template <class T>
FS_HD void all_contact_rows(const auto& m, const auto& w, const PairColumns& columns, const Smooth<T>& s,
                            Equations<T>& e, auto J) {
  auto candidate = scratch<Candidate<T>>(slots_of(w.contacts));
  contact_candidates(m, w, s.X, candidate.data());
  contact_rows(w, columns, s.X, e.twist, e.axis, candidate.data(), rows_from(e.rows(), rows_of(w.constraints), m.nv),
               J);
}

// The blocks of all rows, in their order.
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

// The acceleration that the integrator goes on with: (M + h D) a_h = M a, with M a the forces of the joints, those of
// constraints among them.
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
