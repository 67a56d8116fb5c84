// Path of a string between two points that may wrap around a sphere or a cylinder, as in MuJoCo.
//
//   straight  p0 - p1
//   outside   p0 - w0 - arc - w1 - p1, in a plane: the circle's tangents through the points, and the arc between them
//   inside    p0 - w - p1; the string touches the circle from within, and both lines make the same angle with it
//
// For a sphere, the plane contains its centre and the points. For a cylinder (infinitely long), the path is found in
// the plane perpendicular to its axis. It then climbs along the axis in proportion to its length.
//
// Outside, the string is the shortest one that does not cut the circle. With a side site, it is the shortest one that
// goes around the circle like p0 - side - p1. It is straight if that touches nothing, and if a point lies within the
// object.
#pragma once
#include "core/spatial/vector3.h"
#include "core/world/tendons.h"

namespace featherstorm {

// Lengths below this are treated as zero [mjMINVAL].
template <class T> FS_HD T least_length() { return T(1e-15); }

template <class T> struct Vec2 { T x, y; };
template <class T> FS_HD Vec2<T> operator+(const Vec2<T>& a, const Vec2<T>& b) { return {a.x + b.x, a.y + b.y}; }
template <class T> FS_HD Vec2<T> operator-(const Vec2<T>& a, const Vec2<T>& b) { return {a.x - b.x, a.y - b.y}; }
template <class T> FS_HD Vec2<T> operator*(const Vec2<T>& a, const T& s) { return {a.x * s, a.y * s}; }
template <class T> FS_HD T dot(const Vec2<T>& a, const Vec2<T>& b) { return a.x * b.x + a.y * b.y; }
template <class T> FS_HD T cross(const Vec2<T>& a, const Vec2<T>& b) { return a.x * b.y - a.y * b.x; }
template <class C, class T> FS_HD Vec2<T> select_point(const C& c, const Vec2<T>& a, const Vec2<T>& b) {
  return {select(c, a.x, b.x), select(c, a.y, b.y)};
}
template <class C, class T> FS_HD Vec3<T> select_point(const C& c, const Vec3<T>& a, const Vec3<T>& b) {
  return {select(c, a.x(), b.x()), select(c, a.y(), b.y()), select(c, a.z(), b.z())};
}

// Returns a / |a|, or (1, 0) or (1, 0, 0) if a is zero.
template <class T> FS_HD Vec2<T> direction(const Vec2<T>& a) {
  const T n = sqrt(dot(a, a));
  const auto none = n < least_length<T>();
  return select_point(none, Vec2<T>{T(1.0), T(0.0)}, a * rcp(select(none, T(1.0), n)));
}
template <class T> FS_HD Vec3<T> direction(const Vec3<T>& a) {
  const T n = sqrt(dot(a, a));
  const auto none = n < least_length<T>();
  return select_point(none, Vec3<T>{T(1.0), T(0.0), T(0.0)}, a * rcp(select(none, T(1.0), n)));
}

// A path in the plane. If it is not straight: the points where it reaches and leaves the circle, and the arc in
// between.
template <class T> struct CirclePath {
  decltype(T() < T()) straight;
  Vec2<T> w[2];
  T arc;
};

template <class C, class T>
FS_HD CirclePath<T> select_path(const C& c, const CirclePath<T>& a, const CirclePath<T>& b) {
  return {(c && a.straight) || (!c && b.straight),
          {select_point(c, a.w[0], b.w[0]), select_point(c, a.w[1], b.w[1])},
          select(c, a.arc, b.arc)};
}

// Finds the path outside a circle.
//
// in   e0, e1  the points, relative to the circle's centre
// in   r       radius
// in   side    read if `sided`: the string goes around the centre in the direction of e0 - side - e1
//
// A string that turns by the angle t from e0 to e1 leaves an arc of t - a0 - a1 on the circle. a = acos(r / |e|) is the
// angle between a point and its tangent's point of contact. In complex numbers, the arc is the argument of
//   conj(e0) e1 (r - i h0) (r - i h1),   h = sqrt(|e|^2 - r^2)
template <class T>
FS_HD CirclePath<T> path_outside(const Vec2<T>& e0, const Vec2<T>& e1, const T& r, bool sided, const Vec2<T>& side) {
  const T zero(0.0), one(1.0), rr = r * r, l0 = dot(e0, e0), l1 = dot(e1, e1), c = cross(e0, e1), d = dot(e0, e1);

  // t > 0 is anticlockwise; a string with a side may turn by more than pi. Half a turn counts as anticlockwise.
  T sense = select(c < zero, -one, one);
  if (sided) {
    const T c0 = cross(e0, side), c1 = cross(side, e1);
    sense = select(zero < c0 && zero < c1, one, select(c0 < zero && c1 < zero, -one, sense));
  }
  const T h0 = sqrt(max(l0 - rr, zero)), h1 = sqrt(max(l1 - rr, zero));
  const T s = sense * c, x = rr - h0 * h1, y = r * (h0 + h1), sine = s * x - d * y, cosine = d * x + s * y;
  auto straight = sine <= zero;
  if (sided) straight = straight && zero <= s;
  T angle = atan2(sine, cosine);
  if (sided) angle = select(angle < zero, angle + T(6.283185307179586), angle);

  // w = r e / |e| rotated by a, forwards from e0 and backwards from e1
  const T i0 = r * rcp(max(l0, T(1e-30))), i1 = r * rcp(max(l1, T(1e-30))), k0 = sense * h0, k1 = sense * h1;
  const Vec2<T> w0 = Vec2<T>{r * e0.x - k0 * e0.y, r * e0.y + k0 * e0.x} * i0;
  const Vec2<T> w1 = Vec2<T>{r * e1.x + k1 * e1.y, r * e1.y - k1 * e1.x} * i1;
  return {straight || l0 < rr || l1 < rr || r < least_length<T>(), {w0, w1}, r * angle};
}

// Finds the path inside a circle.
//
// Let t be the angle at w between either line and the circle's normal, and A, B = r / |e|. The angle between e0 and w
// is t - asin(A sin t). With G the angle between e0 and e1, t solves
//   f(t) = 2 t - asin(A sin t) - asin(B sin t) - G = 0
//
// Newton's method starts at a right angle and descends: f is convex and increasing, so all iterates stay on one side.
// It stops where MuJoCo stops, at f <= 1e-6, so the remaining error is part of the answer. If there is no solution, the
// string touches half-way.
template <class T> FS_HD CirclePath<T> path_inside(const Vec2<T>& e0, const Vec2<T>& e1, const T& r) {
  constexpr int iterations = 13;  // usually 4 to 6; 13 is the maximum observed for points 1e-6 r away from the circle
  const T zero(0.0), one(1.0), least = least_length<T>(), tolerance(1e-6);
  const T l0 = sqrt(dot(e0, e0)), l1 = sqrt(dot(e1, e1));
  const Vec2<T> d = e1 - e0;
  const T dd = dot(d, d);

  // straight: a point within the circle, a line that cuts it, or half a turn
  const auto near = dd <= least;
  const T a = -dot(d, e0) * rcp(select(near, one, dd));
  const Vec2<T> n = e0 + d * a;
  const auto cuts = !near && zero < a && a < one && dot(n, n) <= r * r;
  const auto straight = l0 <= r || l1 <= r || r < least || cuts;

  const T i0 = rcp(max(l0, T(1e-18))), i1 = rcp(max(l1, T(1e-18))), turn = cross(e0, e1);
  const T A = min(r * i0, one), B = min(r * i1, one), G = atan2(abs(turn), dot(e0, e1));
  const auto root = [&](const T& x) { return sqrt(max((one - x) * (one + x), zero)); };
  const auto arc_sine = [&](const T& x) { return atan2(x, root(x)); };
  const T first = T(3.141592653589793) - arc_sine(A) - arc_sine(B) - G;
  T t = T(1.5707963267948966) - select(tolerance < first, T(0.5) * first, zero), s, c;
  for (int i = 1; i < iterations; i++) {
    sincos(t, s, c);
    const T sA = A * s, sB = B * s, f = T(2.0) * t - arc_sine(sA) - arc_sine(sB) - G;
    const T slope = T(2.0) - c * (A * rcp(max(root(sA), least)) + B * rcp(max(root(sB), least)));
    t = select(tolerance < abs(f), max(t - f * rcp(max(slope, least)), zero), t);
  }
  sincos(t, s, c);

  // w is r e0 / |e0| or r e1 / |e1|, whichever comes first anticlockwise, rotated by t - asin(A sin t)
  const auto from_0 = zero < turn;
  const Vec2<T> e = select_point(from_0, e0 * i0, e1 * i1);
  const T sA = select(from_0, A, B) * s, cA = root(sA), cosine = c * cA + s * sA, sine = s * cA - c * sA;
  const Vec2<T> solved = Vec2<T>{cosine * e.x - sine * e.y, sine * e.x + cosine * e.y} * r;
  const Vec2<T> w = select_point(zero < first, solved, direction(e0 + e1) * r);
  return {straight, {w, w}, zero};
}

// A path in space: the vector from p0 to the object, and from the object to p1. Both are p1 - p0 if it is straight.
template <class T> struct StringPath {
  Vec3<T> first, last;
  T length;
};

// Finds the path.
//
// in   cylinder          true: a cylinder about axis z; false: a sphere
// in   passes            AroundOrInside: inside if |side| < r, as MuJoCo decides in every state
// in   p0, p1, side [m]  in the object's axes, relative to its centre; side is read if the string may pass around it
// in   r [m]             radius of the object
// Cost about 150 operations around, 600 inside, both if the state decides.
template <class T>
FS_HD StringPath<T> wrapped_path(bool cylinder, TendonSide passes, const T& r, const Vec3<T>& p0, const Vec3<T>& p1,
                                 const Vec3<T>& side) {
  const T zero(0.0), one(1.0), least = least_length<T>();
  const T n0 = sqrt(dot(p0, p0)), n1 = sqrt(dot(p1, p1));

  // axes x and y of the plane
  Vec3<T> x{one, zero, zero}, y{zero, one, zero};
  Vec2<T> e0{p0.x(), p0.y()}, e1{p1.x(), p1.y()};
  if (!cylinder) {
    x = direction(p0);
    // y is perpendicular to x, towards p1; if p0, p1 and the centre are in line, towards the two axes that x is farther
    // from
    const Vec3<T> normal = cross(p0, p1), s{abs(x.x()), abs(x.y()), abs(x.z())};
    const auto along_y = s.x() < s.y() && s.z() < s.y(), along_z = s.x() < s.z() && s.y() < s.z();
    const Vec3<T> axes{select(along_y || along_z, one, zero), select(along_y, zero, one), select(along_z, zero, one)};
    const Vec3<T> towards = select_point(sqrt(dot(normal, normal)) < least, axes, p1);
    y = direction(towards - x * dot(x, towards));
    e0 = {n0, zero}, e1 = {dot(p1, x), dot(p1, y)};
  }

  const CirclePath<T> c = [&] {
    if (passes == TendonSide::Inside) return path_inside(e0, e1, r);
    const bool sided = passes != TendonSide::None;
    const Vec2<T> towards_side = sided ? direction(Vec2<T>{dot(side, x), dot(side, y)}) : Vec2<T>{zero, zero};
    const CirclePath<T> around = path_outside(e0, e1, r, sided, towards_side);
    if (passes != TendonSide::AroundOrInside) return around;
    return select_path(sqrt(dot(side, side)) < r, path_inside(e0, e1, r), around);
  }();
  const auto straight = c.straight || n0 < least || n1 < least;

  Vec3<T> w0 = x * c.w[0].x + y * c.w[0].y, w1 = x * c.w[1].x + y * c.w[1].y;
  T arc = c.arc;
  if (cylinder) {
    // climb in proportion to the length in the plane
    const Vec2<T> a = e0 - c.w[0], b = e1 - c.w[1];
    const T before = sqrt(dot(a, a)), after = sqrt(dot(b, b)), rise = p1.z() - p0.z();
    const T slope = rise * rcp(max(before + arc + after, T(1e-30))), height = slope * arc;
    w0.z() = p0.z() + slope * before;
    w1.z() = w0.z() + height;
    arc = sqrt(arc * arc + height * height);
  }
  StringPath<T> path;
  path.first = select_point(straight, p1 - p0, w0 - p0);
  path.last = select_point(straight, p1 - p0, p1 - w1);
  const T first = sqrt(dot(path.first, path.first));
  path.length = first + select(straight, zero, arc + sqrt(dot(path.last, path.last)));
  return path;
}

}  // namespace featherstorm
