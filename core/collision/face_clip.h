// Overlap of two faces of boxes: a rectangle |x| <= w, |y| <= h and a parallelogram that is tilted relative to it.
//
// The overlap is a convex polygon. Its edges lie on the four edges of the parallelogram and the four lines of the
// rectangle, at most one on each. Each of the eight has a slot, which holds the first point of its edge. Both figures
// are traversed counterclockwise.
//
//   edge k from r_k to r_k+1     from r_k + t_0 (r_k+1 - r_k) to .. t_1, inside all four lines
//   line m                       between its intersections with edges k, inside its two neighbours
//
// Both figures share one decision on which corners are inside of which line. If an edge lies on a line up to rounding,
// then either the edge or the line owns that side of the overlap, and no side is lost.
#pragma once
#include "core/convex/contact_point.h"

namespace featherstorm {

// centre, half edges u and v, with u x v towards +z; z is the height above the rectangle's plane
template <class T> struct TiltedFace { Vec3<T> centre, u, v; };

// A corner of the overlap, on the parallelogram.
template <class T> struct OverlapCorner {
  Vec3<T> r;
  T length;  // squared length of its edge; negative if there is no such edge
};

// in   slope  dz/dx, dz/dy of the parallelogram's plane
// out  out (8)
template <class T>
FS_HD void face_overlap(const TiltedFace<T>& f, const Vec3<T>& slope, const T& w, const T& h, OverlapCorner<T>* out) {
  const T zero(0.0), one(1.0), big(no_contact);
  const Vec3<T> corner[4] = {f.centre + f.u + f.v, f.centre - f.u + f.v, f.centre - f.u - f.v, f.centre + f.u - f.v};
  const T half[2] = {w, h};
  T first[2][2], last[2][2];  // on the lines x, y = -half, +half: the part inside the parallelogram
  for (auto& line : first)
    for (T& x : line) x = big;
  for (auto& line : last)
    for (T& x : line) x = -big;

  for (int k = 0; k < 4; k++) {
    const Vec3<T>&p = corner[k], &q = corner[(k + 1) % 4];
    const Vec3<T> e = (k % 2 == 0 ? f.u : f.v) * T(k < 2 ? -2.0 : 2.0);
    T from(0.0), to(1.0);
    for (int c = 0; c < 2; c++) {
      const T inverse = rcp(select(abs(e(c)) < T(1e-30), one, e(c)));
      for (int side = 0; side < 2; side++) {
        const T limit = side ? half[c] : -half[c];
        const auto p_out = side ? half[c] < p(c) : p(c) < -half[c];
        const auto q_out = side ? half[c] < q(c) : q(c) < -half[c];
        const T t = (limit - p(c)) * inverse;
        from = max(from, select(p_out, t, zero));
        to = min(to, select(q_out, select(p_out, -one, t), one));
        const T along = p(1 - c) + t * e(1 - c);
        first[c][side] = min(first[c][side], select(p_out, select(q_out, big, along), select(q_out, along, big)));
        last[c][side] = max(last[c][side], select(p_out, select(q_out, -big, along), select(q_out, along, -big)));
      }
    }
    const T part = to - from;
    out[k] = {p + e * from, select(zero < part, part * part * (e(0) * e(0) + e(1) * e(1)), -one)};
  }
  for (int c = 0; c < 2; c++) {
    for (int side = 0; side < 2; side++) {
      const T from = max(first[c][side], -half[1 - c]), to = min(last[c][side], half[1 - c]);
      const bool forwards = (c == 0) == (side == 1);
      const T at = side ? half[c] : -half[c], along = forwards ? from : to, part = to - from;
      const T x = c == 0 ? at : along, y = c == 0 ? along : at;
      const T z = f.centre.z() + slope.x() * (x - f.centre.x()) + slope.y() * (y - f.centre.y());
      out[4 + 2 * c + side] = {{x, y, z}, select(zero < part, part * part, -one)};
    }
  }
}

}  // namespace featherstorm
