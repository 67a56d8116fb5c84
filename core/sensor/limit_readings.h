// Readings of limit sensors [jointlimitpos to tendonlimitfrc]: of the first active row of the limit, 0 without one.
//
//   position   distance to the limit less its margin
//   velocity   rate of the distance
//   force      of the row
#pragma once
#include "core/constraint/limit_rows.h"

namespace featherstorm {

FS_HD bool measures_tendon_limits(SensorKind kind) { return kind >= SensorKind::TendonLimitPosition; }

// in   motion, tendons       as for `sensors`
// in   row_force             (rows of constraints)
template <class T>
FS_HD T limit_reading(const auto& m, const auto& w, const auto& sensor, const auto& motion, const auto& tendons,
                      const auto& row_force) {
  const T zero(0.0), one(1.0);
  const bool tendon = measures_tendon_limits(sensor.kind);
  int row = rows_of_equalities(w.constraints) + rows_of_friction(w.constraints);
  for (const auto& l : w.constraints.limit) {
    const bool is_it = tendon ? l.kind == LimitKind::Tendon && l.tendon == sensor.index
                              : l.kind != LimitKind::Tendon && l.v == m.body[sensor.body].v;
    if (!is_it) {
      row += rows_of(l);
      continue;
    }
    T distance[2], rate[2], moves = one;
    if (l.kind == LimitKind::Ball) {
      const BallTurn<T> turn = ball_turn(quaternion_at<T>(motion.q, l.q));
      distance[0] = T(l.upper) - turn.angle, rate[0] = -dot(turn.axis, vector_at<T>(motion.v, l.v));
    } else {
      const T y = tendon ? T(tendons.length[l.tendon]) : T(motion.q[l.q]);
      rate[0] = tendon ? T(tendons.velocity[l.tendon]) : T(motion.v[l.v]), rate[1] = -rate[0];
      distance[0] = y - T(l.lower), distance[1] = T(l.upper) - y;
    }
    if (tendon) {  // a row whose Jacobian is zero does not exist
      T sum = zero;
      for (int k = 0; k < m.nv; k++) sum = sum + abs(T(tendons.J[l.tendon * m.nv + k]));
      moves = select(T(least_denominator) < sum, one, zero);
    }
    T found = zero;
    for (int k = rows_of(l) - 1; k >= 0; k--) {
      const T r = distance[k] - T(l.margin);
      const bool force = sensor.kind == SensorKind::JointLimitForce || sensor.kind == SensorKind::TendonLimitForce;
      const bool speed =
          sensor.kind == SensorKind::JointLimitVelocity || sensor.kind == SensorKind::TendonLimitVelocity;
      const T value = force ? T(row_force[row + k]) : speed ? rate[k] : r;
      found = select(r < zero, select(zero < moves, value, found), found);
    }
    return found;
  }
  return zero;
}

}  // namespace featherstorm
