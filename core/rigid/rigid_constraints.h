// Rewrites rows of constraints and contacts, written for MuJoCo's law, for the rigid law (core/rigid/rigid_rows.h).
#pragma once
#include "core/constraint/constraint_rows.h"
#include "core/rigid/rigid_rows.h"

namespace featherstorm {

// Rewrites the rows of constraints.
//
// in      v (nv)
// in-out  rows (rows_of)  D becomes scale, aref that of the rigid law
// Cost O(rows nv).
FS_HD void rigid_constraint_rows(const auto& m, const auto& w, const auto& law, const auto& v, const auto& rows) {
  using T = ScalarOf<decltype(v)>;
  const T zero(0.0);
  const auto velocity = [&](int i) { return row_velocity<T>(slice(rows.J, i * m.nv), v, m.nv); };
  const auto set = [&](int i, const RigidRow<T>& row) { rows.D[i] = row.scale, rows.aref[i] = row.aref; };
  int i = 0;
  for (const int end = rows_of_equalities(w.constraints); i < end; i++)
    set(i, rigid_equality(law, w.timestep, T(rows.position[i]), T(velocity(i))));
  for (const int end = i + rows_of_friction(w.constraints); i < end; i++)
    set(i, rigid_friction(law, w.timestep, T(velocity(i))));
  for (const auto& l : w.constraints.limit)
    for (const int end = i + rows_of(l); i < end; i++) {
      const T gap = rows.position[i] - T(l.margin), rate = velocity(i);
      set(i, rigid_unilateral(law, w.timestep, false, gap, rate));
      const auto near = zero < rigid_nearness(w.timestep, gap, rate);
      rows.D[i] = select(near, T(rows.D[i]), zero), rows.active[i] = select(near, T(1.0), zero);
    }
  turn_off_zero_rows<T>(m, w, rows);
}

// Writes the rows of one contact. Returns a number above zero if the contact may have a force.
//
// in   velocity (dimension)
// out  rows  D: scale
template <class T, class P>
FS_HD T rigid_contact_rows(const T& timestep, const auto& law, const ContactPair<P>& pair, const T& gap,
                           const T* velocity, const auto& rows) {
  const T near = rigid_nearness(timestep, gap, velocity[0]);
  for (int k = 0; k < pair.dimension; k++) {
    const RigidRow<T> row =
        k == 0 ? rigid_unilateral(law, timestep, true, gap, velocity[0]) : rigid_friction(law, timestep, velocity[k]);
    rows.aref[k] = row.aref, rows.D[k] = select(T(0.0) < near, row.scale, T(0.0));
    rows.friction[k] = k == 0 ? T(0.0) : T(pair.friction[k - 1]);
  }
  return near;
}

}  // namespace featherstorm
