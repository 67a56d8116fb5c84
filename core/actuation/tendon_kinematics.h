// Tendons: their lengths, and the derivatives of the lengths with respect to joint motion.
//
//   fixed     L = sum c_j q_j
//   spatial   L = sum of lengths of pieces / divisor
//   J = dL/dq along v:   J v = dL/dt,   J^T f: the joint forces for a tension -f
//
// A piece between points a and b of two bodies, with u = (b - a) / |b - a|, adds to J the row of the force u at b and
// its reaction at a. A piece that wraps around an object is two such pieces, from site to object and from object to
// site. Motion of the object does not change the arc in between. If the tendon runs straight past the object, both
// pieces lie on one line, and their contributions at the object cancel.
#pragma once
#include "core/actuation/wrapping.h"
#include "core/kinematics/wrench_rows.h"
#include "core/world/world.h"

namespace featherstorm {

// Origin of a frame in the world.
template <class T> FS_HD Vec3<T> origin_in_world(const auto& X, const auto& frame) {
  return X[frame.body].r + X[frame.body].R * cast<T>(frame.X.r);
}
// Axes of a frame in the world.
template <class T> FS_HD Mat3<T> axes_in_world(const auto& X, const auto& frame) {
  return X[frame.body].R * cast<T>(frame.X.R);
}

// Origin p of `frame`, in the axes R of `object`, relative to its origin o. Constant if both are on one body.
template <class T>
FS_HD Vec3<T> seen_from(const auto& object, const Mat3<T>& R, const Vec3<T>& o, const auto& frame, const Vec3<T>& p) {
  if (frame.body == object.body) return transpose_times(cast<T>(object.X.R), cast<T>(frame.X.r) - cast<T>(object.X.r));
  return transpose_times(R, p - o);
}

// Adds the row of a wrapped piece.
//
// in      a, b    frames of two sites
// in      object  object that the tendon passes between them
// in      scale   1 / divisor
// in-out  row (nv)
// returns the length [m] between the sites
template <class T>
FS_HD T add_wrapped_piece(const auto& m, const auto& x, const auto& X, const auto& a, const auto& object, const auto& b,
                          const T& scale, auto row) {
  const auto& place = object.place;
  const Vec3<T> p = origin_in_world<T>(X, a), q = origin_in_world<T>(X, b), o = origin_in_world<T>(X, place);
  const Mat3<T> R = axes_in_world<T>(X, place);
  Vec3<T> side = zero3<T>();
  if (object.passes == TendonSide::Around || object.passes == TendonSide::AroundOrInside)
    side = seen_from<T>(place, R, o, object.side, origin_in_world<T>(X, object.side));
  const StringPath<T> path = wrapped_path<T>(object.kind == TendonPartKind::Cylinder, object.passes, T(object.number),
                                             seen_from<T>(place, R, o, a, p), seen_from<T>(place, R, o, b, q), side);
  add_wrench_pair<T>(m, x, X, place.body, a.body, p, zero3<T>(), direction(R * path.first) * scale, row);
  add_wrench_pair<T>(m, x, X, b.body, place.body, q, zero3<T>(), direction(R * path.last) * scale, row);
  return path.length;
}

// Computes lengths and Jacobian of all tendons.
//
// in   x (nx), X (nb + 1)  joint numbers and placements of the bodies
// in   q (nq)
// out  length (nt)  [m, or the unit of a fixed tendon]
// out  J (nt nv)    row by row; all entries are written
// Cost O(nt nv) to clear J, and O(depth) for each piece of a tendon.
FS_HD void tendon_kinematics(const auto& m, const auto& w, const auto& x, const auto& X, const auto& q, auto length,
                             auto J) {
  using T = ScalarOf<decltype(q)>;
  for (int t = 0; t < w.n_tendons(); t++) {
    const auto& part = w.tendon[t].part;
    const int n = static_cast<int>(part.size());
    const auto row = slice(J, t * m.nv);
    for (int k = 0; k < m.nv; k++) row[k] = T(0.0);
    T L(0.0), scale(1.0);
    for (int j = 0; j < n; j++) {
      const auto& a = part[j];
      if (a.kind == TendonPartKind::Joint) {
        L = L + T(a.number) * q[a.q];
        row[a.v] = row[a.v] + T(a.number);
      } else if (a.kind == TendonPartKind::Pulley) {
        scale = rcp(T(a.number));
      } else if (j + 1 < n && part[j + 1].kind == TendonPartKind::Site) {
        const auto& b = part[j + 1];
        const Vec3<T> p = origin_in_world<T>(X, b.place), d = p - origin_in_world<T>(X, a.place);
        L = L + sqrt(dot(d, d)) * scale;
        add_wrench_pair<T>(m, x, X, b.place.body, a.place.body, p, zero3<T>(), direction(d) * scale, row);
      } else if (j + 2 < n && part[j + 1].kind != TendonPartKind::Pulley) {
        L = L + add_wrapped_piece<T>(m, x, X, a.place, part[j + 1], part[j + 2].place, scale, row) * scale;
        j++;
      }
    }
    length[t] = L;
  }
}

}  // namespace featherstorm
