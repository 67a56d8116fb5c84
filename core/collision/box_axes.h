// Separating axis test for two boxes: the axis along which they are farthest apart, or overlap least.
//
// In the axes of box A, let R and d be the placement of box B, and s, S the half lengths. The gap along a unit n is
//   |n . d| - sum_k s_k |n_k| - sum_k S_k |(R^T n)_k|
// The axes are those of A, those of B, and e_i x R e_j. The components of the latter in B, from j on, are
// 0, R(i, j + 2), -R(i, j + 1).
#pragma once
#include "core/convex/contact_point.h"

namespace featherstorm {

// Edges count as parallel if sin^2 between them is below this limit; the face axes cover that case. The limit suits
// float, because a traced algorithm does not know its precision [MuJoCo: 1e-16].
inline constexpr double parallel_edges = 1e-7;

template <class T> struct BoxAxis {
  T widest;          // the greatest gap of all
  T face;            // gap along that face's normal
  T face_gap;        // along its normal
  T edge_a, edge_b;  // edges i, j of the contact
  T edge_gap;        // gap along n; the face's gap if no pair of edges has a wider one
  Vec3<T> n;         // along e_i x R e_j, unit, from A to B
};

// Finds the axis. A pair of edges must beat the faces, and earlier pairs, by a small bias, because faces give more
// points.
template <class T>
FS_HD BoxAxis<T> box_axis(const Mat3<T>& R, const Vec3<T>& d, const Vec3<T>& s, const Vec3<T>& S) {
  const T zero(0.0), one(1.0), bias(1e-6);
  Mat3<T> A;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A(i, j) = abs(R(i, j));
  const Vec3<T> reach_b = A * S, reach_a = transpose_times(A, s), D = transpose_times(R, d);
  T face(0.0), gap = abs(d.x()) - s.x() - reach_b.x();
  for (int k = 1; k < 6; k++) {
    const int i = k % 3;
    const T g = k < 3 ? abs(d(i)) - s(i) - reach_b(i) : abs(D(i)) - S(i) - reach_a(i);
    face = select(gap < g, T(k), face);
    gap = max(gap, g);
  }
  BoxAxis<T> best{gap, face, gap, zero, zero, gap, Vec3<T>{one, zero, zero}};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      // n = e_i x R e_j
      const T y = -R(i2, j), z = R(i1, j), sine2 = y * y + z * z;
      const auto parallel = sine2 < T(parallel_edges);
      const T inverse = rcp(sqrt(select(parallel, one, sine2)));
      const T middle = y * d(i1) + z * d(i2);
      const T reach = s(i1) * A(i2, j) + s(i2) * A(i1, j) + S(j1) * A(i, j2) + S(j2) * A(i, j1);
      const T g = select(parallel, T(-no_contact), (abs(middle) - reach) * inverse);
      const auto better = best.edge_gap < g - bias * abs(g) && best.face_gap < g;
      const T towards_b = select(middle < zero, -inverse, inverse);
      Vec3<T> n;
      n(i) = zero, n(i1) = y * towards_b, n(i2) = z * towards_b;
      best.widest = max(best.widest, g);
      best.edge_gap = select(better, g, best.edge_gap);
      best.edge_a = select(better, T(i), best.edge_a);
      best.edge_b = select(better, T(j), best.edge_b);
      best.n = choose(better, n, best.n);
    }
  }
  return best;
}

}  // namespace featherstorm
