// Two capsules: the nearest points of their axes; of parallel axes both ends of what they have beside each other.
//
//   axes  a + x u, |x| <= l,   b + y v, |y| <= k,   d = a - b,   c = u . v
//   best x for given y:   -u . d + c y          best y for given x:   v . d + c x
//   free minimum:         x = (-u . d + c v . d) / |u x v|^2
//
// The free minimum in x, clamped, then best y, clamped, then best x, clamped, is the minimum for both; the last is x as it was where y
// has not been clamped.
//
// Where both nearest points are within their axes, the way between them is along w = u x v and is -(d . w) / |w| long. Axes that cross
// have a normal of that only: the difference of the two points is what rounding leaves of it.
#pragma once
#include "core/convex/contact_point.h"

namespace featherstorm {

// sin^2 of the angle between axes that are parallel [MuJoCo's]
inline constexpr double parallel_axes = 1e-8;

// in   size_a, size_b  radius, half length of the axis
// out  out (2)  of parallel axes that have nothing beside each other both are the same
template <class T, class P>
FS_HD void capsule_capsule(const Placement<T>& a, const Vec3<P>& size_a, const Placement<T>& b, const Vec3<P>& size_b,
                           ContactPoint<T>* out) {
  const T one(1.0), zero(0.0), l(size_a(1)), k(size_b(1));
  const Vec3<T> u = axis_of(a, 2), v = axis_of(b, 2), w = cross(u, v), d = a.r - b.r;
  const T c = dot(u, v), ud = dot(u, d), vd = dot(v, d), sine2 = dot(w, w);
  const auto parallel = sine2 < T(parallel_axes);
  const T inverse = rcp(sqrt(max(sine2, T(1e-30))));
  const Vec3<T> across = choose(sine2 < T(1e-30), Vec3<T>{one, zero, zero}, w * inverse);

  // A point x of the first axis and the nearest of the second; where that ends before it, its end and the nearest to that.
  struct Nearest {
    T x, y;
    decltype(zero < one) ends;
  };
  const auto beside = [&](const T& x) {
    const T y = c * x + vd, end = clamp(y, k);
    const auto ends = k < abs(y);
    return Nearest{select(ends, clamp(c * end - ud, l), x), end, ends};
  };
  const T x = select(parallel, -l, clamp((c * vd - ud) * (inverse * inverse), l));
  const Nearest first = beside(x), second = beside(l);

  // The way along w has the error of w, of the order of epsilon / |w|; that between the points epsilon (l + k) / |way|.
  const T way = -dot(d, across);
  const auto crossed = abs(x) < l && !first.ends && way * way < sine2 * ((l + k) * (l + k));
  const Vec3<T> p = a.r + u * first.x, q = choose(crossed, p + across * way, b.r + v * first.y);
  out[0] = ball_ball(p, T(size_a(0)), q, T(size_b(0)), across);
  out[1] = ball_ball(a.r + u * second.x, T(size_a(0)), b.r + v * second.y, T(size_b(0)), across);
  out[1].distance = select(parallel, out[1].distance, T(no_contact));
}

}  // namespace featherstorm
