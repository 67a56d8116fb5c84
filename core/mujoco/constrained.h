// Equations of motion with the constraints of a model file, and what follows from their solution.
//
//   M a = b + J^T f,   b = qfrc_smooth,   f the forces of the rows (core/constraint/newton_step.h)
//
// A step is three texts: the equations, Newton's steps towards a, the way on. Between them go M, b, the rows and a.
#pragma once
#include "core/constraint/constraint_rows.h"
#include "core/constraint/newton_step.h"
#include "core/mujoco/step.h"

namespace featherstorm {

template <class T> struct Equations {
  Equations(const auto& m, const auto& w)
      : mass(m.nh),
        b(m.nv),
        J(rows_of(w.constraints) * m.nv),
        position(rows_of(w.constraints)),
        D(rows_of(w.constraints)),
        aref(rows_of(w.constraints)),
        active(rows_of(w.constraints)),
        loss(rows_of(w.constraints)) {}
  Scratch<T> mass, b;                             // (nh) packed as of crba.h, (nv)
  Scratch<T> J, position, D, aref, active, loss;  // of constraint_rows.h
};

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
  const ConstraintRows<T*> rows{e.J.data(),    e.position.data(), e.D.data(),
                                e.aref.data(), e.active.data(),   e.loss.data()};
  constraint_rows(m, w, s.x, s.X, q, v, s.ten_length, s.ten_J, rows);
}

// Which kind each row of constraint_rows.h has.
template <class P> std::vector<RowKind> row_kinds(const Constraints<P>& c) {
  std::vector<RowKind> kinds(static_cast<std::size_t>(rows_of_equalities(c)), RowKind::Equality);
  kinds.insert(kinds.end(), static_cast<std::size_t>(rows_of_friction(c)), RowKind::Friction);
  kinds.insert(kinds.end(), static_cast<std::size_t>(rows_of_limits(c)), RowKind::Unilateral);
  return kinds;
}

// Forces of the rows at a, and at the joints.
//
// in   p, a (nv)
// out  force (n), qfrc_constraint (nv)
FS_HD void constraint_forces(const auto& p, const auto& a, auto force, auto qfrc_constraint) {
  using T = ScalarOf<decltype(force)>;
  auto r = scratch<T>(p.rows.rows());
  rows_times(p.rows, p.jacobian, a, r.data());
  for (int i = 0; i < p.rows.rows(); i++)
    force[i] = row_state<T>(p.rows.kind[i], r[i] - p.aref[i], p.D[i], p.loss[i]).force;
  for (int k = 0; k < p.tree.nv; k++) qfrc_constraint[k] = T(0.0);
  add_rows_transposed(p.rows, p.jacobian, force, qfrc_constraint);
}

}  // namespace featherstorm
