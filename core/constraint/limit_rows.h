// Rows of the limits of joints and tendons. MuJoCo's documentation, chapter Computation, "Limits".
//
//   lower   position = y - lower,  J = dy/dq        upper   position = upper - y,  J = -dy/dq
//   ball    position = upper - |u|, u = 2 log Q the rotation vector,  J = -(u / |u|)^T
//
// A row is active where position < margin.
#pragma once
#include "core/constraint/rows.h"
#include "core/joint/ball.h"

namespace featherstorm {

// A row: distance to the limit, and its rate.
template <class T> struct LimitSide { T position, velocity; };

// Writes row i, except its Jacobian.
template <class T, class P>
FS_HD void set_limit_row(const auto& w, const Limit<P>& l, const LimitSide<T>& side, const auto& rows, int i) {
  const T zero(0.0), position = side.position, velocity = side.velocity;
  const T r = position - T(l.margin), d = impedance_at(l.softness, r);
  const RowAnswer<T> answer = row_answer(row_law<T>(w), l.softness, d, T(l.inverse_inertia), RowSpring::Yields);
  const auto active = r < zero;
  set_row(rows, i, position, T(select(active, rcp(answer.R), zero)), reference_acceleration(answer, r, velocity));
  rows.active[i] = select(active, T(1.0), zero);
}

// Angle and axis of a ball joint, along the shorter rotation. The axis is (1, 0, 0) for the identity.
template <class T> struct BallTurn {
  T angle;  // 0 to pi
  Vec3<T> axis;
};
template <class T> FS_HD BallTurn<T> ball_turn(const Quaternion<T>& Q) {
  const T zero(0.0), one(1.0), least(1e-30);
  const Vec3<T> u{Q.x, Q.y, Q.z};
  const T square = dot(u, u), s = sqrt(max(square, least)), sign = select(Q.w < zero, -one, one) * rcp(s);
  const auto turns = least < square;
  return {select(turns, T(2.0) * atan2(s, abs(Q.w)), zero),
          {select(turns, u.x() * sign, one), select(turns, u.y() * sign, zero), select(turns, u.z() * sign, zero)}};
}

template <class T, class P>
FS_HD LimitSide<T> ball_side(const Limit<P>& l, const BallTurn<T>& turn, const auto& v) {
  return {T(T(l.upper) - turn.angle), T(-dot(turn.axis, vector_at<T>(v, l.v)))};
}
// The row of the lower (0) or upper (1) limit of a coordinate or tendon y.
template <class T, class P> FS_HD LimitSide<T> limit_side(const Limit<P>& l, int side, const T& y, const T& rate) {
  if (side == 0) return {T(y - T(l.lower)), rate};
  return {T(T(l.upper) - y), T(-rate)};
}

// in   q (nq), v (nv), tendon_length (nt) [m], tendon_J (nt nv)
// out  rows (rows_of_limits)
// Cost O(rows), plus clearing J. A row of a tendon costs O(nv).
FS_HD void limit_rows(const auto& m, const auto& w, const auto& q, const auto& v, const auto& tendon_length,
                      const auto& tendon_J, const auto& rows) {
  using T = ScalarOf<decltype(q)>;
  int i = 0;
  for (const auto& l : w.constraints.limit) {
    if (l.kind == LimitKind::Ball) {
      const BallTurn<T> turn = ball_turn(quaternion_at<T>(q, l.q));
      const auto row = clear_row<T>(rows, i, m.nv);
      for (int k = 0; k < 3; k++) row[l.v + k] = -turn.axis(k);
      set_limit_row(w, l, ball_side(l, turn, v), rows, i);
      i++;
      continue;
    }
    const bool tendon = l.kind == LimitKind::Tendon;
    const T y = tendon ? T(tendon_length[l.tendon]) : T(q[l.q]);
    const auto lower = clear_row<T>(rows, i, m.nv), upper = clear_row<T>(rows, i + 1, m.nv);
    T velocity(0.0);
    if (tendon) {
      for (int k = 0; k < m.nv; k++) lower[k] = tendon_J[l.tendon * m.nv + k], upper[k] = -lower[k];
      velocity = row_velocity<T>(lower, v, m.nv);
    } else {
      lower[l.v] = T(1.0), upper[l.v] = T(-1.0);
      velocity = v[l.v];
    }
    for (int side = 0; side < 2; side++) set_limit_row(w, l, limit_side(l, side, y, velocity), rows, i + side);
    i += 2;
  }
}

}  // namespace featherstorm
