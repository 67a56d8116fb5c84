// What touches, and the acceleration under all constraints, of instances side by side.
//
// Where all candidates of a robot are more than touch at a time, what is far is left out (find_rows.h). What is left is solved in the
// space of its rows (solve_rows.h), of instances with many, and of robots that always have many, in that of coordinates
// (solve_coordinates.h).
#pragma once
#include "host/solver/solve_coordinates.h"
#include "host/solver/solve_rows.h"

namespace featherstorm {

// in   in
// out  out
template <class T>
FS_HD void solve_contacts(const auto& solver, const auto& in, const auto& out) {
  const int constraints = solver.constraints.rows(), contacts = solver.contacts.rows;
  const FoundRows<T> found(solver, in, false);
  const PresentRows<T>& present = found.present();
  hand_out_touched(solver, present, out);
  for (int i = 0; i < constraints; i++) out.row_force[i] = T(0.0);
  if (solver.forces)
    for (int i = 0; i < contacts; i++) out.contact_force[i] = T(0.0);
  if (solver.report) out.residual[0] = T(0.0), out.gap[0] = present.gap;
  int count[lanes<T>];
  count_rows(solver, present, count);
  unsigned few = 0, many = 0;
  for (int l = 0; l < lanes<T>; l++) {
    set_lane(out.rows[0], l, count[l]);
    (count[l] <= solver.most_rows ? few : many) |= 1u << l;
  }
  if (few != 0) solve_rows(solver, present, few, in, out);
  if (many != 0) solve_coordinates(solver, present, many, in, out);
}

}  // namespace featherstorm
