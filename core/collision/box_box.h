// Two boxes: a face of one and the part of the other over it, up to eight points; or two crossing edges, one point.
//
// The axis of least overlap decides (box_axes.h). If it is the normal of a face, the box with that face is the
// reference. The face of the other box that is most opposed to it is clipped at the edges of the reference face
// (face_clip.h). The corners of the overlap are the contact points. Their distance is the distance from the reference
// face. The slots are edges of the overlap, not in MuJoCo's order.
#pragma once
#include "core/collision/box_axes.h"
#include "core/collision/face_clip.h"

namespace featherstorm {

// Unit vector k, with k a scalar equal to 0, 1 or 2.
template <class T> FS_HD Vec3<T> unit_vector(const T& k) {
  const T zero(0.0), one(1.0), half(0.5);
  return {select(k < half, one, zero), select(abs(k - one) < half, one, zero), select(T(1.5) < k, one, zero)};
}
// Cyclic shift: components k, k + 1, k + 2 modulo 3.
template <class T> FS_HD Vec3<T> turned(const Vec3<T>& v, const T& k) {
  const auto first = k < T(0.5), second = k < T(1.5);
  auto pick = [&](const T& a, const T& b, const T& c) { return select(first, a, select(second, b, c)); };
  return {pick(v.x(), v.y(), v.z()), pick(v.y(), v.z(), v.x()), pick(v.z(), v.x(), v.y())};
}
template <class T> FS_HD Mat3<T> turned_rows(const Mat3<T>& m, const T& k) {
  Mat3<T> r;
  for (int c = 0; c < 3; c++) {
    const Vec3<T> column = turned(Vec3<T>{m(0, c), m(1, c), m(2, c)}, k);
    for (int i = 0; i < 3; i++) r(i, c) = column(i);
  }
  return r;
}
template <class T> FS_HD Mat3<T> choose_matrix(const auto& c, const Mat3<T>& a, const Mat3<T>& b) {
  Mat3<T> m;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) m(i, j) = select(c, a(i, j), b(i, j));
  return m;
}

// Nearest points of two edges: the edge of A farthest along the axis n, and the edge of B farthest against it. All in
// the axes of A. There is no contact if these points are farther apart than the margin.
template <class T>
FS_HD ContactPoint<T> edge_edge(const Mat3<T>& R, const Vec3<T>& d, const Vec3<T>& s, const Vec3<T>& S, const T& margin,
                                const BoxAxis<T>& axis) {
  const T zero(0.0), one(1.0), half(0.5);
  const Vec3<T> e = unit_vector(axis.edge_a), f = unit_vector(axis.edge_b), n_b = transpose_times(R, axis.n);
  // midpoints of the edges
  Vec3<T> a, b;
  for (int k = 0; k < 3; k++) {
    a(k) = select(axis.n(k) < zero, -s(k), s(k)) * (one - e(k));
    b(k) = select(n_b(k) < zero, S(k), -S(k)) * (one - f(k));
  }
  const Vec3<T> g = R * f, from = R * b + d - a;
  const T c = dot(e, g), u = dot(e, from), v = dot(g, from), l = dot(e, s), k = dot(f, S);
  const Vec3<T> across = g - e * c;
  const T sine2 = dot(across, across);
  const T x0 = clamp((u - c * v) * rcp(select(sine2 < T(parallel_edges), one, sine2)), l);
  const T y = clamp(c * x0 - v, k), x = clamp(u + c * y, l);
  const Vec3<T> p = a + e * x, gap = from + g * y - e * x;
  // beyond the ends of an edge, the points are farther apart than the gap along the axis
  const T distance = dot(gap, axis.n);
  const auto far = margin * margin < dot(gap, gap) && zero < distance;
  return {select(far, T(no_contact), distance), p + gap * half, axis.n};
}

// in   size_a, size_b  half lengths
// in   margin          no contact if an axis has a wider gap
// out  out (8)         two edges use the first slot
template <class T, class P>
FS_HD void box_box(const Placement<T>& A, const Vec3<P>& size_a, const Placement<T>& B, const Vec3<P>& size_b,
                   const T& margin, ContactPoint<T>* out) {
  const T zero(0.0), one(1.0), half(0.5);
  const Vec3<T> s = cast<T>(size_a), S = cast<T>(size_b), d = transpose_times(A.R, B.r - A.r);
  const Mat3<T> R = transposed(A.R) * B.R;
  const BoxAxis<T> axis = box_axis(R, d, s, S);

  // the edges win, unless their axis nearly equals a face normal and is not much better
  const auto of_b = T(2.5) < axis.face;
  const T a = select(of_b, axis.face - T(3.0), axis.face);
  const Vec3<T> n_face = turned(choose(of_b, transpose_times(R, axis.n), axis.n), a);
  const T enough =
      select(T(0.99) < abs(n_face.x()), axis.face_gap + abs(axis.face_gap) * T(0.05) + T(1e-15), axis.face_gap);
  const auto edges = axis.face_gap < axis.edge_gap && enough <= axis.edge_gap;
  const T none(no_contact);
  const auto apart = margin + (s.x() + s.y() + s.z() + S.x() + S.y() + S.z()) * T(1e-13) < axis.widest;

  // reference face: its normal is axis a of the reference, towards the other box; x, y are the next axes
  const Mat3<T> to_reference = turned_rows(choose_matrix(of_b, transposed(R), R), a);
  const Vec3<T> size = turned(choose(of_b, S, s), a), other = choose(of_b, s, S);
  const Vec3<T> p = turned(choose(of_b, -transpose_times(R, d), d), a);
  const T up = select(p.x() < zero, -one, one);
  // most opposed face of the other box: its normal is axis b; u and v are the next axes
  const T t0 = abs(to_reference(0, 0)), t1 = abs(to_reference(0, 1)), t2 = abs(to_reference(0, 2));
  const T b = select(max(t0, t1) < t2, T(2.0), select(t0 < t1, one, zero));
  const Mat3<T> M = transposed(turned_rows(transposed(to_reference), b));
  const Vec3<T> other_size = turned(other, b);
  const T rise = up * M(0, 0), side = select(zero < rise, -other_size.x(), other_size.x());
  auto in_face = [&](int column, const T& length) {
    return Vec3<T>{M(1, column) * length, M(2, column) * length, up * M(0, column) * length};
  };
  TiltedFace<T> face;
  face.centre = Vec3<T>{p.y(), p.z(), up * p.x() - size.x()} + in_face(0, side);
  face.u = in_face(1, other_size.y());
  face.v = in_face(2, select(M(0, 0) < zero, -other_size.z(), other_size.z()));
  const T inverse = rcp(rise);
  const Vec3<T> slope{-(M(1, 0) * inverse), -(M(2, 0) * inverse), zero};
  OverlapCorner<T> corner[8];
  face_overlap(face, slope, size.y(), size.z(), corner);

  const Mat3<T> axes = choose_matrix(of_b, B.R, A.R);
  const Mat3<T> W = transposed(turned_rows(transposed(axes), a));
  const Vec3<T> e_z = Vec3<T>{W(0, 0), W(1, 0), W(2, 0)} * up, origin = choose(of_b, B.r, A.r);
  const Vec3<T> normal = e_z * select(of_b, -one, one);
  const T shortest = (size.y() * size.y() + size.z() * size.z()) * T(1e-14);
  const Vec3<T> e_x{W(0, 1), W(1, 1), W(2, 1)}, e_y{W(0, 2), W(1, 2), W(2, 2)};
  for (int k = 0; k < 8; k++) {
    const Vec3<T>& r = corner[k].r;
    const auto there = shortest <= corner[k].length && !edges && !apart;
    out[k] = {select(there, r.z(), none), origin + e_x * r.x() + e_y * r.y() + e_z * (size.x() + half * r.z()), normal};
  }
  const ContactPoint<T> crossing = edge_edge(R, d, s, S, margin, axis);
  out[0].distance = select(edges, select(apart, none, crossing.distance), out[0].distance);
  out[0].point = choose(edges, A.r + A.R * crossing.point, out[0].point);
  out[0].normal = choose(edges, A.R * crossing.normal, out[0].normal);
}

}  // namespace featherstorm
