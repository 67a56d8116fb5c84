// Rows of equality constraints. MuJoCo's documentation, chapter Computation, "Equality".
//
//   Connect   r = p_0 - p_1, world axes
//   Weld      the rows of Connect, and r = s vec(Q): Q the quaternion of frame 0 in the axes of frame 1, s the torque
//             scale
//   Joint     r = y - y0 - c(x - x0)
//   Tendon    the same for lengths
//
// The bias dJ/dt v of Connect and Weld is part of aref. Q = q_1^-1 q_0 keeps the sign of the product of the joint
// rotations, because r depends on it. With u = w_0 - w_1 and y, its rate, in the axes of frame 1,
//
//   Q' = 1/2 (0, u) Q,   Q'' = 1/2 (0, y) Q - 1/4 |u|^2 Q,   y = alpha_0 - alpha_1 - w_1 x (w_0 - w_1)
#pragma once
#include "core/constraint/point_motion.h"
#include "core/constraint/rows.h"
#include "core/kinematics/wrench_rows.h"

namespace featherstorm {

// Adds to row the derivative with respect to v of f . (velocity of p_a on body a less that of p_b on body b), world
// axes.
template <class T>
FS_HD void add_point_difference(const auto& m, const auto& x, const auto& X, int a, const Vec3<T>& p_a, int b,
                                const Vec3<T>& p_b, const Vec3<T>& f, auto row) {
  const Vec3<T> none = zero3<T>();
  while (a != b) {
    if (a > b) {
      add_joint_force(m, x, X, a, p_a, none, f, row);
      a = m.body[a].parent;
    } else {
      add_joint_force(m, x, X, b, p_b, none, -f, row);
      b = m.body[b].parent;
    }
  }
  // joints that move both bodies get the couple of the two forces
  add_wrench(m, x, X, a, p_a, cross(p_a - p_b, f), none, row);
}

// Relative orientation Q of a weld.
template <class T, class P> FS_HD Quaternion<T> relative_orientation(const Equality<P>& e, const auto& q) {
  Quaternion<T> Q{T(e.aligned.w), T(e.aligned.x), T(e.aligned.y), T(e.aligned.z)};
  for (int k = static_cast<int>(e.turn.size()) - 1; k >= 0; k--) {
    const JointTurn<P>& t = e.turn[k];
    const Vec3<T> axis = cast<T>(t.axis[0]);
    if (t.ball) {
      const Vec3<T> u = axis * q[t.q + 1] + cast<T>(t.axis[1]) * q[t.q + 2] + cast<T>(t.axis[2]) * q[t.q + 3];
      Q = Quaternion<T>{q[t.q], u.x(), u.y(), u.z()} * Q;
    } else {
      T s, c;
      sincos(T(T(0.5) * (q[t.q] - T(t.zero))), s, c);
      Q = Quaternion<T>{c, axis.x() * s, axis.y() * s, axis.z() * s} * Q;
    }
  }
  return Q;
}

// Direction of rotation, in the axes of frame 1, along which row 3 + k of a weld acts: n with
//   s/2 e_k . (Q_w u + u x vec Q) = n . u
template <class T> FS_HD Vec3<T> weld_axis(const Quaternion<T>& Q, const T& half_scale, const Vec3<T>& e_k) {
  return (e_k * Q.w + cross(Vec3<T>{Q.x, Q.y, Q.z}, e_k)) * half_scale;
}

// vec((0, u) Q)
template <class T> FS_HD Vec3<T> turned_part(const Vec3<T>& u, const Quaternion<T>& Q) {
  return u * Q.w + cross(u, Vec3<T>{Q.x, Q.y, Q.z});
}

template <class T> FS_HD Vec3<T> unit_vector(int k) {
  return {T(k == 0 ? 1.0 : 0.0), T(k == 1 ? 1.0 : 0.0), T(k == 2 ? 1.0 : 0.0)};
}

// Writes the rows of a connect or a weld. Inputs as for equality_rows.
template <class P>
FS_HD void body_equality_rows(const auto& m, const auto& w, const Equality<P>& e, const auto& x, const auto& X,
                              const auto& q, const auto& v, const auto& rows) {
  using T = ScalarOf<decltype(q)>;
  const bool weld = e.kind == EqualityKind::Weld;
  const int n = weld ? 6 : 3, a = e.place[0].body, b = e.place[1].body;
  const PointMotion<T> A = point_motion<T>(m, x, X, v, e.place[0]), B = point_motion<T>(m, x, X, v, e.place[1]);
  T r[6], velocity[6], bias[6];
  for (int k = 0; k < 3; k++) {
    r[k] = A.p(k) - B.p(k), velocity[k] = A.v(k) - B.v(k), bias[k] = A.a(k) - B.a(k);
    add_point_difference(m, x, X, a, A.p, b, B.p, unit_vector<T>(k), clear_row<T>(rows, k, m.nv));
  }
  if (weld) {
    const Quaternion<T> Q = relative_orientation<T>(e, q);
    const Mat3<T> R = X[b].R * e.place[1].X.R;
    const Vec3<T> u = transpose_times(R, A.w - B.w), w_1 = transpose_times(R, B.w);
    const Vec3<T> y = transpose_times(R, A.alpha - B.alpha) - cross(w_1, u);
    const T s(e.torque_scale), half = T(0.5) * s, quarter = T(0.25) * s * dot(u, u);
    const Vec3<T> vec{Q.x, Q.y, Q.z};
    const Vec3<T> rate = turned_part(u, Q) * half, rate_2 = turned_part(y, Q) * half - vec * quarter;
    for (int k = 0; k < 3; k++) {
      r[3 + k] = s * vec(k), velocity[3 + k] = rate(k), bias[3 + k] = rate_2(k);
      const Vec3<T> n_k = weld_axis(Q, half, unit_vector<T>(k));
      add_wrench_pair(m, x, X, a, b, A.p, R * n_k, zero3<T>(), clear_row<T>(rows, 3 + k, m.nv));
    }
  }
  // the impedance depends on the norm of the whole violation
  T square(1e-30);
  for (int k = 0; k < n; k++) square = square + r[k] * r[k];
  const T d = impedance_at(e.softness, T(sqrt(square)));
  for (int k = 0; k < n; k++) {
    const RowAnswer<T> answer = row_answer(row_law<T>(w), e.softness, d, T(e.inverse_inertia[k / 3]), RowSpring::Holds);
    set_row(rows, k, r[k], rcp(answer.R),
            T(reference_acceleration(answer, r[k], velocity[k]) - answer.share * bias[k]));
  }
}

// Violation y - y0 - c(x - x0), and the factor of the Jacobian of x.
template <class T> struct Coupled { T r, slope; };
template <class T, class P> FS_HD Coupled<T> coupled(const Equality<P>& e, const T& y, const T& x) {
  const T dy = y - T(e.zero[0]) - T(e.coefficient[0]);
  if (!e.coupled) return {dy, T(0.0)};
  const T c1(e.coefficient[1]), c2(e.coefficient[2]), c3(e.coefficient[3]), c4(e.coefficient[4]), dx = x - T(e.zero[1]);
  return {dy - dx * (c1 + dx * (c2 + dx * (c3 + dx * c4))),
          c1 + dx * (T(2.0) * c2 + dx * (T(3.0) * c3 + dx * (T(4.0) * c4)))};
}

// Writes the rows of all equality constraints.
//
// in   x (nx), X (nb + 1)  joint numbers at (q, v) and placements of the bodies
// in   q (nq), v (nv)
// in   tendon_length (nt) [m], tendon_J (nt nv)
// out  rows (rows_of_equalities)
// Cost O(rows depth), plus clearing J. A row of a tendon costs O(nv).
FS_HD void equality_rows(const auto& m, const auto& w, const auto& x, const auto& X, const auto& q, const auto& v,
                         const auto& tendon_length, const auto& tendon_J, const auto& all_rows) {
  using T = ScalarOf<decltype(q)>;
  int first = 0;
  for (const auto& e : w.constraints.equality) {
    if (!e.active) continue;
    const auto rows = rows_from(all_rows, first, m.nv);
    first += rows_of(e);
    if (e.kind == EqualityKind::Connect || e.kind == EqualityKind::Weld) {
      body_equality_rows(m, w, e, x, X, q, v, rows);
      continue;
    }
    const auto row = clear_row<T>(rows, 0, m.nv);
    T velocity(0.0), r(0.0);
    if (e.kind == EqualityKind::Joint) {
      const Coupled<T> c = coupled<T>(e, q[e.q[0]], e.coupled ? q[e.q[1]] : T(0.0));
      r = c.r;
      row[e.v[0]] = T(1.0);
      velocity = v[e.v[0]];
      if (e.coupled) row[e.v[1]] = row[e.v[1]] - c.slope, velocity = velocity - c.slope * v[e.v[1]];
    } else {
      const Coupled<T> c = coupled<T>(e, tendon_length[e.tendon[0]], e.coupled ? tendon_length[e.tendon[1]] : T(0.0));
      r = c.r;
      for (int k = 0; k < m.nv; k++) {
        row[k] = tendon_J[e.tendon[0] * m.nv + k];
        if (e.coupled) row[k] = row[k] - c.slope * tendon_J[e.tendon[1] * m.nv + k];
      }
      velocity = row_velocity<T>(row, v, m.nv);
    }
    const T d = impedance_at(e.softness, r);
    const RowAnswer<T> answer = row_answer(row_law<T>(w), e.softness, d, T(e.inverse_inertia[0]), RowSpring::Holds);
    set_row(rows, 0, r, rcp(answer.R), reference_acceleration(answer, r, velocity));
  }
}

}  // namespace featherstorm
