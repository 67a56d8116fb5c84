// A capsule and a box. The first point is the point of the capsule's axis nearest to the box. The second lies in the
// direction in which the axis stays over the box. Each makes the contact of a ball with the capsule's radius.
//
// In the axes of the box the capsule's axis is p + t h, |t| <= 1, and edge j of the box is corner + x e_j, |x| <= s_j.
// Candidates for the nearest point are, in MuJoCo's order, which breaks ties:
//   the ends that are outside of at most one pair of faces   the distance to that face
//   the edges x, y, z, four each                             nearest points of two segments
// The segment is not compared with edges parallel to it. If the axis cuts the box, the nearest feature may still be an
// edge.
//
// The signs of the components of h, even of those that are zero up to rounding, decide if there is a second point. For
// a capsule exactly parallel to a face, MuJoCo's answer is therefore one of two, by chance.
#pragma once
#include "core/collision/sphere_pairs.h"

namespace featherstorm {

// Feature of the box nearest to the capsule's axis.
template <class T> struct NearestFeature {
  T square;        // squared distance
  T t;             // position on the axis, -1 to 1
  T x;             // position on the edge, from its midpoint [m]
  Vec3<T> corner;  // signs; the signs of an edge have -1 along it
  T at_corner;     // 1: a corner, 0: the interior of an edge
  T edge;          // 0, 1, 2; -1: a face
  T face;          // 0, 1, 2; -1: within the box
};
template <class Condition, class T>
FS_HD NearestFeature<T> choose(const Condition& c, const NearestFeature<T>& a, const NearestFeature<T>& b) {
  return {select(c, a.square, b.square),
          select(c, a.t, b.t),
          select(c, a.x, b.x),
          choose(c, a.corner, b.corner),
          select(c, a.at_corner, b.at_corner),
          select(c, a.edge, b.edge),
          select(c, a.face, b.face)};
}

// Component k of v, with k a scalar equal to 0, 1 or 2.
template <class T> FS_HD T component(const Vec3<T>& v, const T& k) {
  return select(k < T(0.5), v.x(), select(k < T(1.5), v.y(), v.z()));
}

// Returns the nearer end. Its squared distance is `none` if both ends are outside of two pairs of faces.
template <class T>
FS_HD NearestFeature<T> nearest_end(const Vec3<T>& p, const Vec3<T>& h, const Vec3<T>& s, const T& none) {
  const T zero(0.0), one(1.0);
  NearestFeature<T> best{none, zero, zero, zero3<T>(), zero, -one, -one};
  for (const double end : {-1.0, 1.0}) {
    const Vec3<T> r = p + h * T(end);
    T outside(0.0), square(0.0), face(-1.0);
    for (int k = 0; k < 3; k++) {
      const T over = max(abs(r(k)) - s(k), zero);
      outside = outside + select(zero < over, one, zero);
      square = square + over * over;
      face = select(zero < over, T(k), face);
    }
    square = select(outside < T(1.5), square, none);
    best = choose(square < best.square, {square, T(end), zero, zero3<T>(), zero, -one, face}, best);
  }
  return best;
}

// Returns the nearest of the four edges along axis j, if it is nearer than `best`. With u = h / l:
//   best x for given t:  p_j + t h_j          best t for given x:  u . (corner + x e_j - p) / l
//   free minimum:        x = (p_j + u_j u . (corner - p)) / (1 - u_j^2)
template <class T>
FS_HD NearestFeature<T> nearest_edge(int j, const Vec3<T>& p, const Vec3<T>& h, const T& l, const Vec3<T>& s,
                                     const NearestFeature<T>& best) {
  const T zero(0.0), one(1.0), doubt(1e-15);
  const int a = j == 0 ? 1 : 0, b = j == 2 ? 1 : 2;
  const T across = h(a) * h(a) + h(b) * h(b), inverse_l2 = rcp(l * l), gain = h(j) * inverse_l2;
  const auto parallel = s(j) * s(j) * across < doubt;
  const T inverse = l * l * rcp(select(parallel, one, across));
  // nearest edge so far: squared distance, position on the axis, free minimum, signs of the corner
  T square(0.0), t(0.0), free(0.0), sign_a(0.0), sign_b(0.0);
  for (int i = 0; i < 4; i++) {
    const T side_a(i & 1 ? 1.0 : -1.0), side_b(i & 2 ? 1.0 : -1.0);
    // corner - p; along j only -p
    const T da = side_a * s(a) - p(a), db = side_b * s(b) - p(b);
    const T along = (h(a) * da + h(b) * db - h(j) * p(j)) * inverse_l2;
    const T x = (p(j) + h(j) * along) * inverse;
    const T t_i = clamp(along + gain * clamp(x, s(j)), one), wanted = p(j) + t_i * h(j);
    const T ea = da - t_i * h(a), eb = db - t_i * h(b), ej = max(abs(wanted) - s(j), zero);
    const T d = ea * ea + eb * eb + ej * ej;
    if (i == 0) {
      square = d, t = t_i, free = x, sign_a = side_a, sign_b = side_b;
    } else {
      const auto nearer = d < square - doubt;
      square = select(nearer, d, square), t = select(nearer, t_i, t), free = select(nearer, x, free);
      sign_a = select(nearer, side_a, sign_a), sign_b = select(nearer, side_b, sign_b);
    }
  }
  // MuJoCo also calls it a corner if the free minimum is beyond the edge
  const T wanted = p(j) + t * h(j);
  const auto beyond = s(j) < max(abs(free), abs(wanted));
  const T side = select(s(j) < abs(wanted), wanted, free);
  Vec3<T> corner;
  corner(a) = sign_a, corner(b) = sign_b;
  corner(j) = select(beyond, select(zero < side, one, -one), -one);
  const NearestFeature<T> edge{square, t, clamp(wanted, s(j)), corner, select(beyond, one, zero), T(j), -one};
  return choose(select(parallel, T(no_contact), square) < best.square - doubt, edge, best);
}

// Position of the second point.
template <class T> struct SecondPoint {
  T t;      // position on the axis
  T there;  // 1: it exists, 0: it does not
};

template <class T>
FS_HD SecondPoint<T> second_point(const Vec3<T>& p, const Vec3<T>& h, const T& l, const Vec3<T>& s,
                                  const NearestFeature<T>& f) {
  const T zero(0.0), one(1.0), two(2.0), half(0.5), tiny(1e-30);
  // direction of the axis, and the change of t over a length of the box
  Vec3<T> sign, inverse, width;
  for (int k = 0; k < 3; k++) {
    sign(k) = select(zero < h(k), one, -one);
    inverse(k) = rcp(max(abs(h(k)), tiny));
    width(k) = two * s(k) * inverse(k);
  }

  // corner: if h leads away from it along some axes of the box but not all, one of the three axes is alone. The point
  // lies along the edge of that axis if h is within 45 degrees of it, else over the face perpendicular to it.
  const Vec3<T> away{sign.x() * f.corner.x(), sign.y() * f.corner.y(), sign.z() * f.corner.z()};
  const T sum = away.x() + away.y() + away.z();
  const T odd = select(zero < away.y() * away.z(), zero, select(zero < away.x() * away.z(), one, two));
  const T others = min(select(odd < half, width.y(), width.x()), select(odd < T(1.5), width.z(), width.y()));
  const T h_odd = component(h, odd);
  const T along_edge = min(one - sum * f.t, component(width, odd)), over_face = min(one + sum * f.t, others);
  const T from_corner = select(half * l * l < h_odd * h_odd, along_edge, -over_face) * sum;
  const T corner_has = select(abs(sum) < two, one, zero);

  // edge: if h crosses it inward on only one of its sides. The point lies over the face that h is less steep to, up to
  // the end of that face or of the edge.
  const auto edge_x = f.edge < half, edge_y = f.edge < T(1.5);
  const T next = select(edge_x, one, select(edge_y, two, zero)), last = select(edge_x, two, select(edge_y, zero, one));
  const T wide = select(abs(component(h, last)) < abs(component(h, next)), next, last);
  const T turn = -component(away, wide);
  const T rest = component(s, f.edge) - f.x * component(sign, f.edge) * turn;
  const T from_edge = min(min(one - turn * f.t, component(width, wide)), rest * component(inverse, f.edge)) * turn;
  const T edge_has = select(component(away, next) * component(away, last) < zero, one, zero);

  // end over a face: back along the axis until it leaves one of the other two pairs of faces
  const T back = -f.t;
  T room(2.0);
  for (int k = 0; k < 3; k++) {
    const T leaves = (s(k) - back * sign(k) * (p(k) + f.t * h(k))) * inverse(k);
    room = min(room, select(abs(f.face - T(k)) < half, two, select(zero < leaves, leaves, two)));
  }
  const T face_has = select(f.face < zero, zero, one);

  const auto at_end = f.edge < zero, at_corner = zero < f.at_corner;
  return {f.t + select(at_end, room * back, select(at_corner, from_corner, from_edge)),
          select(at_end, face_has, select(at_corner, corner_has, edge_has))};
}

// in   size_a  radius, half length of the axis
// in   size_b  half lengths
// out  out (2)  the second may equal the first, as in MuJoCo
template <class T, class P>
FS_HD void capsule_box(const Placement<T>& a, const Vec3<P>& size_a, const Placement<T>& b, const Vec3<P>& size_b,
                       ContactPoint<T>* out) {
  const T radius(size_a(0)), l(size_a(1));
  const Vec3<T> s = cast<T>(size_b), along = axis_of(a, 2) * l;
  const Vec3<T> p = transpose_times(b.R, a.r - b.r), h = transpose_times(b.R, along);
  NearestFeature<T> f = nearest_end(p, h, s, T(no_contact));
  for (int j = 0; j < 3; j++) f = nearest_edge(j, p, h, l, s, f);
  const SecondPoint<T> second = second_point(p, h, l, s, f);
  out[0] = ball_box(a.r + along * f.t, p + h * f.t, radius, b, size_b);
  out[1] = ball_box(a.r + along * second.t, p + h * second.t, radius, b, size_b);
  out[1].distance = select(T(0.0) < second.there, out[1].distance, T(no_contact));
}

}  // namespace featherstorm
