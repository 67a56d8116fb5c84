// The path of a string between two points that may wrap around a sphere or a cylinder, as MuJoCo has it.
//
//   straight  p0 - p1
//   outside   p0 - w0 - arc - w1 - p1, in a plane: the circle's tangents through the points, and the arc between them
//   inside    p0 - w - p1, where the string touches the circle from within: both lines make the same angle with it
//
// A sphere's plane is that of its centre and the points; around a cylinder (infinitely long) the path is found in the
// plane across its axis and climbs along the axis in proportion to its length. Outside, the string is the shortest one
// that does not cut the circle, and with a side the shortest that goes around it like p0 - side - p1. It is straight
// where that touches nothing, and where a point lies within the object.
#pragma once
#include "core/spatial/vector3.h"
#include "core/world/tendons.h"

namespace featherstorm {

// What is no longer a length [mjMINVAL].
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

// a / |a|, and (1, 0) or (1, 0, 0) where a is zero.
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

// A path in the plane: whether it is straight; else where it reaches and leaves the circle, and the arc between.
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

// in   e0, e1  the points, from the circle's centre
// in   r       radius
// in   side    read where `sided`: the string goes around the centre the way that e0 - side - e1 does
//
// As complex numbers: a string that turns by the angle t from e0 to e1 leaves an arc of t - a0 - a1 on the circle,
// where a = acos(r / |e|) is between a point and where its tangent touches; that is the argument of
//   conj(e0) e1 (r - i h0) (r - i h1),   h = sqrt(|e|^2 - r^2)
template <class T>
FS_HD CirclePath<T> path_outside(const Vec2<T>& e0, const Vec2<T>& e1, const T& r, bool sided, const Vec2<T>& side) {
  const T zero(0.0), one(1.0), rr = r * r, l0 = dot(e0, e0), l1 = dot(e1, e1), c = cross(e0, e1), d = dot(e0, e1);

  // anticlockwise where t > 0; a string with a side may turn by more than pi. Half a turn counts as anticlockwise.
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

  // w = r e / |e| turned by a, forwards from e0 and backwards from e1
  const T i0 = r * rcp(max(l0, T(1e-30))), i1 = r * rcp(max(l1, T(1e-30))), k0 = sense * h0, k1 = sense * h1;
  const Vec2<T> w0 = Vec2<T>{r * e0.x - k0 * e0.y, r * e0.y + k0 * e0.x} * i0;
  const Vec2<T> w1 = Vec2<T>{r * e1.x + k1 * e1.y, r * e1.y - k1 * e1.x} * i1;
  return {straight || l0 < rr || l1 < rr || r < least_length<T>(), {w0, w1}, r * angle};
}

// With t the angle at w between either line and the circle's normal, and A, B = r / |e|, e0 and w are t - asin(A sin t)
// apart, so with G the angle between e0 and e1
//   f(t) = 2 t - asin(A sin t) - asin(B sin t) - G = 0
// by Newton's method from a right angle down: f is convex and grows, so all steps are on one side. They end where
// MuJoCo's do, at f <= 1e-6: what is left is a part of its answer. Where there is no solution the string touches
// half-way.
template <class T> FS_HD CirclePath<T> path_inside(const Vec2<T>& e0, const Vec2<T>& e1, const T& r) {
  constexpr int iterations = 13;  // mostly 4 to 6; the most that points 1e-6 r away from the circle were seen to need
  const T zero(0.0), one(1.0), least = least_length<T>(), tolerance(1e-6);
  const T l0 = sqrt(dot(e0, e0)), l1 = sqrt(dot(e1, e1));
  const Vec2<T> d = e1 - e0;
  const T dd = dot(d, d);

  // straight: a point within the circle, a line that cuts it, or a half turn
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

  // w is r e0 / |e0| or r e1 / |e1|, whichever comes first anticlockwise, turned by t - asin(A sin t)
  const auto from_0 = zero < turn;
  const Vec2<T> e = select_point(from_0, e0 * i0, e1 * i1);
  const T sA = select(from_0, A, B) * s, cA = root(sA), cosine = c * cA + s * sA, sine = s * cA - c * sA;
  const Vec2<T> solved = Vec2<T>{cosine * e.x - sine * e.y, sine * e.x + cosine * e.y} * r;
  const Vec2<T> w = select_point(zero < first, solved, direction(e0 + e1) * r);
  return {straight, {w, w}, zero};
}

// A path in space: from p0 to where the object is reached, and from where it is left to p1; both are p1 - p0 where it
// is straight.
template <class T> struct StringPath {
  Vec3<T> first, last;
  T length;
};

// in   cylinder          about axis z; else a sphere
// in   passes            AroundOrInside: inside where |side| < r, as MuJoCo decides it in every state
// in   p0, p1, side [m]  in the object's axes from its centre; side is read where the string may pass around it
// in   r [m]             its radius
// Cost about 150 operations around, 600 inside, both where the state decides.
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
    // y is across x towards p1; where p0, p1 and the centre are in line, towards the two axes that x is farther from
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
    // climb in proportion to the length across
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
