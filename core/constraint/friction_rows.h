// Rows of dry friction, for coordinates and tendons. MuJoCo's documentation, chapter Computation, "Friction loss".
//
//   r = 0,  aref = -B J v,  |force| <= loss
#pragma once
#include "core/constraint/rows.h"

namespace featherstorm {

// in   v (nv), tendon_J (nt nv)
// out  rows (rows_of_friction)
// Cost O(rows), plus clearing J. A row of a tendon costs O(nv).
FS_HD void friction_rows(const auto& m, const auto& w, const auto& v, const auto& tendon_J, const auto& rows) {
  using T = ScalarOf<decltype(v)>;
  int i = 0;
  for (const auto& f : w.constraints.friction) {
    const auto row = clear_row<T>(rows, i, m.nv);
    T velocity(0.0);
    if (f.of_tendon) {
      for (int k = 0; k < m.nv; k++) row[k] = tendon_J[f.index * m.nv + k];
      velocity = row_velocity<T>(row, v, m.nv);
    } else {
      row[f.index] = T(1.0);
      velocity = v[f.index];
    }
    const T zero(0.0), d = impedance_at(f.softness, zero);
    const RowAnswer<T> answer = row_answer(row_law<T>(w), f.softness, d, T(f.inverse_inertia), RowSpring::None);
    set_row(rows, i, zero, rcp(answer.R), reference_acceleration(answer, zero, velocity));
    rows.friction[i] = T(f.loss);
    i++;
  }
}

}  // namespace featherstorm
