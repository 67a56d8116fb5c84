// All constraint rows that need no collision detection, in MuJoCo's order: equalities, dry friction, limits.
#pragma once
#include "core/constraint/equality_rows.h"
#include "core/constraint/friction_rows.h"
#include "core/constraint/limit_rows.h"

namespace featherstorm {

// Turns off the constraints whose rows of J are zero, one equality, tendon or coordinate at a time.
template <class T> FS_HD void turn_off_zero_rows(const auto& m, const auto& w, const auto& rows) {
  int first = 0;
  const auto look_at = [&](int n) { turn_off_zero_rows<T>(rows, first, n, m.nv), first += n; };
  for (const auto& e : w.constraints.equality)
    if (e.active) look_at(rows_of(e));
  for (int i = 0; i < rows_of_friction(w.constraints); i++) look_at(1);
  for (int i = 0; i < rows_of_limits(w.constraints); i++) look_at(1);
}

// Writes all rows: equality_rows, friction_rows, limit_rows.
//
// in   x (nx), X (nb + 1)  joint numbers at (q, v) and placements of the bodies
// in   q (nq), v (nv)
// in   tendon_length (nt) [m], tendon_J (nt nv)
// out  rows (rows_of)
// Cost: the sum of its parts.
FS_HD void constraint_rows(const auto& m, const auto& w, const auto& x, const auto& X, const auto& q, const auto& v,
                           const auto& tendon_length, const auto& tendon_J, const auto& rows) {
  equality_rows(m, w, x, X, q, v, tendon_length, tendon_J, rows);
  int first = rows_of_equalities(w.constraints);
  friction_rows(m, w, v, tendon_J, rows_from(rows, first, m.nv));
  first += rows_of_friction(w.constraints);
  limit_rows(m, w, q, v, tendon_length, tendon_J, rows_from(rows, first, m.nv));
  turn_off_zero_rows<ScalarOf<decltype(q)>>(m, w, rows);
}

}  // namespace featherstorm
