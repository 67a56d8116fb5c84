// Contact or nearest points of two convex bodies.
//
//   apart     a, b are the nearest points of both; n points along b - a
//   overlap   n is the shortest way on which B can leave A; a, b coincide once B has moved
//
// In both cases planes perpendicular to n touch A at a and B at b from outside: distance = n . (b - a), negative if
// they overlap. Radii around the bodies shift a and b along n.
#pragma once
#include "core/convex/least_depth.h"
#include "core/convex/parallel_cylinders.h"
#include "core/convex/polish.h"

namespace featherstorm {

template <class T> struct ConvexContact {
  T distance = T(no_contact);
  Vec3<T> a, b;  // points on the surfaces
  Vec3<T> n;     // from A to B, unit
  int corners = 0;
  Difference<T> corner[3];  // differences whose simplex contains the answer
};

// Tolerance of an answer before polish.h refines it, relative to the size of the bodies.
inline constexpr double roughly = 1e-6;
// Gaps below this fraction of the bodies' reach are refined in the same way, to find their direction.
inline constexpr double narrow = 1e-4;

// Finds the contact with tolerance `enough`, for the bodies without their radii.
//
// returns true if the answer is exact up to rounding
template <class T, class Hulls>
FS_HD bool find_contact(const ConvexBody<T, Hulls>& A, const ConvexBody<T, Hulls>& B, const T& far, const T& small,
                        const T& enough, ConvexContact<T>& c) {
  c.corners = 0;
  const NearestPoints<T> near = nearest_points(A, B, far, small, enough);
  if (near.apart == Apart::Far) return true;
  Polished<T> p;
  T low, high;  // bounds of the depth
  if (near.apart == Apart::Near) {
    p.a = p.b = zero3<T>();
    for (int k = 0; k < near.simplex.n; k++) {
      const Difference<T>& d = near.simplex.corner[k];
      p.a = p.a + d.a * near.simplex.weight[k], p.b = p.b + d.b * near.simplex.weight[k];
      c.corner[c.corners++] = d;
    }
    const T length = sqrt(dot(near.x, near.x));
    p.n = near.x * (-rcp(length)), p.d = -length;
    low = -length, high = -near.least;
  } else {
    const Depth<T> depth = least_depth(A, B, near.simplex, small, enough);
    p = {depth.depth, depth.n, depth.at.a, depth.at.b};
    for (const Difference<T>& d : depth.corner) c.corner[c.corners++] = d;
    low = depth.depth, high = depth.most;
  }
  // the direction of a gap that is small relative to the bodies has few correct digits
  const bool rough = small < enough, is_narrow = low < T(0.0) && -low < T(narrow) * (A.reach + B.reach);
  // if rounding stops the growth of a polytope, as for round bodies that lie along each other, the answer is rough too
  const bool is_open = T(10.0) * enough < high - low;
  bool done = !rough;
  if (rough || is_narrow || is_open)
    done = polish(A, touching_corners(c.corner, c.corners, &Difference<T>::corner_a), B,
                  touching_corners(c.corner, c.corners, &Difference<T>::corner_b), low, high, small, p) ||
           done;
  c.distance = -p.d, c.n = p.n, c.a = p.a, c.b = p.b;
  return done;
}

// Finds the contact of two convex bodies.
//
// in   far  the search stops at greater distances
template <class T, class Hulls>
FS_HD ConvexContact<T> convex_contact(ConvexBody<T, Hulls> A, ConvexBody<T, Hulls> B, const T& far) {
  const Vec3<T> d = B.X.r - A.X.r, origin = A.X.r;
  const T around = A.radius + B.radius, reach = A.reach + B.reach + far;
  ConvexContact<T> c;
  if (reach * reach < dot(d, d)) return c;
  if (sides_of_parallel_cylinders(A, B, [&](const T& distance, const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& n) {
        c.distance = distance, c.a = a, c.b = b, c.n = n;
      }))
    return c;
  // relative to the origin of A, where numbers are small
  A.X.r = zero3<T>(), B.X.r = d;
  const T small = (A.reach + B.reach) * T(nothing<T>);
  // round bodies are solved roughly first
  const bool is_round = !A.is_polytope() || !B.is_polytope();
  if (!is_round || !find_contact(A, B, far + around, small, (A.reach + B.reach) * T(roughly), c))
    find_contact(A, B, far + around, small, small, c);
  if (c.corners == 0) return c;
  c.distance = c.distance - around;
  c.a = c.a + origin + c.n * A.radius, c.b = c.b + origin - c.n * B.radius;
  return c;
}

}  // namespace featherstorm
