// Arrays of constraint rows, and the functions that write to them.
#pragma once
#include "core/constraint/impedance.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// n rows, written by equality_rows, friction_rows and limit_rows.
template <class Array> struct ConstraintRows {
  Array J;         // (n nv)  Jacobian, row by row, all entries
  Array position;  // (n)     [m | rad]
  Array D;         // (n)     1 / R, curvature of the row's cost; 0 for a row that is not active
  Array aref;      // (n)     reference acceleration
  Array active;    // (n)     1 if active; 0 for a limit that is not reached, and for rows with a zero Jacobian
  Array friction;  // (n)     greatest force of dry friction; for contacts as in core/constraint/row_state.h; else 0
};

// Returns the rows from number `first` on.
template <class Array> FS_HD auto rows_from(const ConstraintRows<Array>& rows, int first, int nv) {
  return ConstraintRows<Slice<Array>>{slice(rows.J, first * nv), slice(rows.position, first),
                                      slice(rows.D, first),      slice(rows.aref, first),
                                      slice(rows.active, first), slice(rows.friction, first)};
}

// Returns row i of J, set to zero.
template <class T> FS_HD auto clear_row(const auto& rows, int i, int nv) {
  const auto row = slice(rows.J, i * nv);
  for (int k = 0; k < nv; k++) row[k] = T(0.0);
  return row;
}

// Writes an active row without dry friction.
template <class T> FS_HD void set_row(const auto& rows, int i, const T& position, const T& D, const T& aref) {
  rows.position[i] = position, rows.D[i] = D, rows.aref[i] = aref;
  rows.active[i] = T(1.0), rows.friction[i] = T(0.0);
}

// Turns off n rows from number `first` on if all entries of their Jacobian are zero: their forces move nothing, and
// MuJoCo makes no such rows. If the inverse inertia of such a row is also zero, its force would be as large as 1 / R.
template <class T> FS_HD void turn_off_zero_rows(const auto& rows, int first, int n, int nv) {
  const T zero(0.0);
  T sum(0.0);
  for (int k = first * nv; k < (first + n) * nv; k++) sum = sum + abs(rows.J[k]);
  const auto moves = T(least_denominator) < sum;
  for (int i = first; i < first + n; i++) {
    rows.D[i] = select(moves, T(rows.D[i]), zero);
    rows.active[i] = select(moves, T(rows.active[i]), zero);
  }
}

// row . v
template <class T> FS_HD T row_velocity(const auto& row, const auto& v, int nv) {
  T s(0.0);
  for (int k = 0; k < nv; k++) s = s + row[k] * v[k];
  return s;
}

}  // namespace featherstorm
