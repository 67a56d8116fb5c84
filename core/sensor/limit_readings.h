// Readings of limit sensors [jointlimitpos to tendonlimitfrc]: of the first active row of the limit, 0 without one.
//
//   position   distance to the limit less its margin
//   velocity   rate of the distance
//   force      of the row
#pragma once
#include "core/constraint/limit_rows.h"

namespace featherstorm {

// in   motion, tendons  as for `sensors`
// in   row_force (rows of constraints) [N | N m]
template <class T>
FS_HD T limit_reading(const auto& m, const auto& w, const auto& sensor, const auto& motion, const auto& tendons,
                      const auto& row_force) {
  const T zero(0.0), one(1.0);
  const SensorKind kind = sensor.kind;
  const bool tendon = kind >= SensorKind::TendonLimitPosition;
  const bool force = kind == SensorKind::JointLimitForce || kind == SensorKind::TendonLimitForce;
  const bool velocity = kind == SensorKind::JointLimitVelocity || kind == SensorKind::TendonLimitVelocity;
  int row = rows_of_equalities(w.constraints) + rows_of_friction(w.constraints);
  for (const auto& l : w.constraints.limit) {
    const bool measured = tendon ? l.kind == LimitKind::Tendon && l.tendon == sensor.index
                                 : l.kind != LimitKind::Tendon && l.v == m.body[sensor.body].v;
    if (!measured) {
      row += rows_of(l);
      continue;
    }
    T moves = one;
    if (tendon) {  // a row whose Jacobian is zero does not exist
      T sum = zero;
      for (int k = 0; k < m.nv; k++) sum = sum + abs(T(tendons.J[l.tendon * m.nv + k]));
      moves = select(T(least_denominator) < sum, one, zero);
    }
    T found = zero;
    for (int k = rows_of(l) - 1; k >= 0; k--) {
      LimitSide<T> side;
      if (l.kind == LimitKind::Ball) side = ball_side(l, ball_turn(quaternion_at<T>(motion.q, l.q)), motion.v);
      else if (tendon) side = limit_side(l, k, T(tendons.length[l.tendon]), T(tendons.velocity[l.tendon]));
      else side = limit_side(l, k, T(motion.q[l.q]), T(motion.v[l.v]));
      const T r = side.position - T(l.margin), value = force ? T(row_force[row + k]) : velocity ? side.velocity : r;
      found = select(r < zero, select(zero < moves, value, found), found);
    }
    return found;
  }
  return zero;
}

}  // namespace featherstorm
