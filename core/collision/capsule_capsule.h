// Two capsules: the nearest points of their axes. Parallel axes have two contacts, at both ends of the part that they
// share.
//
//   axes  a + x u, |x| <= l,   b + y v, |y| <= k,   d = a - b,   c = u . v
//   best x for given y:   -u . d + c y          best y for given x:   v . d + c x
//   free minimum:         x = (-u . d + c v . d) / |u x v|^2
//
// The free minimum in x, clamped, then best y, clamped, then best x, clamped, is the minimum for both. The last step
// leaves x unchanged if y has not been clamped.
//
// If both nearest points are within their axes, the vector between them lies along w = u x v, with length
// -(d . w) / |w|. If the axes cross, only w gives their normal: the difference of the two points is rounding error.
#pragma once
#include "core/convex/contact_point.h"

namespace featherstorm {

// Axes count as parallel if sin^2 of their angle is below this limit [MuJoCo's]
inline constexpr double parallel_axes = 1e-8;

// in   size_a, size_b  radius, half length of the axis
// out  out (2)  parallel axes that share no part give the same point twice
template <class T, class P>
FS_HD void capsule_capsule(const Placement<T>& a, const Vec3<P>& size_a, const Placement<T>& b, const Vec3<P>& size_b,
                           ContactPoint<T>* out) {
  const T one(1.0), zero(0.0), l(size_a(1)), k(size_b(1));
  const Vec3<T> u = axis_of(a, 2), v = axis_of(b, 2), w = cross(u, v), d = a.r - b.r;
  const T c = dot(u, v), ud = dot(u, d), vd = dot(v, d), sine2 = dot(w, w);
  const auto parallel = sine2 < T(parallel_axes);
  const T inverse = rcp(sqrt(max(sine2, T(1e-30))));
  const Vec3<T> across = choose(sine2 < T(1e-30), Vec3<T>{one, zero, zero}, w * inverse);

  // A point x of the first axis and the nearest point of the second. If that is beyond the second axis: its end, and
  // the point of the first axis nearest to this end.
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

  // The length along w has an error of the order of epsilon / |w|, the distance of the points one of the order
  // of epsilon (l + k) / |way|.
  const T way = -dot(d, across);
  const auto crossed = abs(x) < l && !first.ends && way * way < sine2 * ((l + k) * (l + k));
  const Vec3<T> p = a.r + u * first.x, q = choose(crossed, p + across * way, b.r + v * first.y);
  out[0] = ball_ball(p, T(size_a(0)), q, T(size_b(0)), across);
  out[1] = ball_ball(a.r + u * second.x, T(size_a(0)), b.r + v * second.y, T(size_b(0)), across);
  out[1].distance = select(parallel, out[1].distance, T(no_contact));
}

}  // namespace featherstorm
