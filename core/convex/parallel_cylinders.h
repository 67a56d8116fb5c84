// Contact of the sides of two cylinders with parallel axes.
//
// With k the axis, d = z k + x n from the middle of A to that of B, n perpendicular to k:
//
//   distance = x - r_A - r_B  along n,  where the heights overlap and it is greater than |z| - h_A - h_B
//
// The points are in the middle of the overlap. An expanding polytope takes 30 corners and more to follow both round
// sides.
#pragma once
#include "core/convex/convex_body.h"

namespace featherstorm {

// Axes with a smaller sine of the angle between them count as parallel.
inline constexpr double parallel_sine = 1e-12;

// Calls found(distance, a, b, n) with the points on both sides, if the bodies are such cylinders and nearest there.
//
// returns true if they are
template <class T, class Hulls>
FS_HD bool sides_of_parallel_cylinders(const ConvexBody<T, Hulls>& A, const ConvexBody<T, Hulls>& B, auto&& found) {
  if (A.type != GeomType::Cylinder || B.type != GeomType::Cylinder) return false;
  const Vec3<T> k = axis_of(A.X, 2), tilt = cross(k, axis_of(B.X, 2)), d = B.X.r - A.X.r;
  if (T(parallel_sine * parallel_sine) < dot(tilt, tilt)) return false;
  const T z = dot(k, d);
  const Vec3<T> across = d - k * z;
  const T x = sqrt(dot(across, across)), distance = x - A.size.x() - B.size.x(), heights = A.size.y() + B.size.y();
  const T beyond = abs(z) - heights;
  if (!(beyond < T(0.0)) || distance <= beyond || x <= T(1e-6) * (A.size.x() + B.size.x())) return false;
  const Vec3<T> n = across * rcp(x);
  const T below = max(-A.size.y(), z - B.size.y()), above = min(A.size.y(), z + B.size.y());
  const Vec3<T> a = A.X.r + n * A.size.x() + k * (T(0.5) * (below + above));
  found(distance, a, a + n * distance, n);
  return true;
}

}  // namespace featherstorm
