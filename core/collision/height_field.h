// A height field and a convex body: contacts of the body with the prisms below it, each of which is convex.
//
// A prism stands on a triangle of the grid and ends at the three heights. The rows and columns that the body covers are
// processed in order [mjc_ConvexHField], until all slots have a contact.
#pragma once
#include "core/convex/convex_contact.h"

namespace featherstorm {

// Greatest number of contacts of a pair, as in MuJoCo [mjMAXCONPAIR].
inline constexpr int most_prisms = 50;

// Computes the contacts in the axes of the field.
// in   far  the margin
// out  out (slots)
// returns the number of contacts
template <class T, class Hulls>
FS_HD int height_field_contacts(const auto& f, const ConvexBody<T, Hulls>& body, const T& far, int slots,
                                ContactPoint<T>* out) {
  const T x(f.x), y(f.y), top(f.top), bottom(f.bottom), two(2.0);
  const Vec3<T>& r = body.X.r;
  const T reach = body.reach + far;
  if (abs(r.x()) - reach > x || abs(r.y()) - reach > y || r.z() - reach > top || r.z() + reach < -bottom) return 0;

  // bounding box of the body, enlarged by the margin
  T low[3], high[3];
  for (int k = 0; k < 3; k++) {
    Vec3<T> e = zero3<T>();
    e(k) = T(1.0);
    high[k] = farthest(body, e, -1).r(k) + body.radius + far;
    low[k] = farthest(body, Vec3<T>(-e), -1).r(k) - body.radius - far;
  }
  const T half[] = {x, y};
  const int count[] = {f.columns - 1, f.rows - 1};
  int first[2], last[2];
  for (int k = 0; k < 2; k++) {
    if (low[k] > half[k] || high[k] < -half[k]) return 0;
    first[k] = static_cast<int>(std::floor((low[k] + half[k]) / (two * half[k]) * T(count[k])));
    last[k] = static_cast<int>(std::ceil((high[k] + half[k]) / (two * half[k]) * T(count[k])));
    if (first[k] < 0) first[k] = 0;
    if (last[k] > count[k]) last[k] = count[k];
  }
  if (low[2] > top || high[2] < -bottom) return 0;

  const auto corner = [&](int row, int column) {
    const T height(f.height[row * f.columns + column]);
    return Vec3<T>{two * x * T(column) / T(count[0]) - x, two * y * T(row) / T(count[1]) - y, height * top};
  };
  int found = 0;
  for (int row = first[1]; row < last[1]; row++) {
    for (int column = first[0]; column < last[0]; column++) {
      for (const bool upper : {false, true}) {
        const Vec3<T> a = upper ? corner(row, column) : corner(row + 1, column),
                      b = upper ? corner(row + 1, column + 1) : corner(row, column),
                      c = upper ? corner(row, column + 1) : corner(row + 1, column + 1);
        if (max(a.z(), max(b.z(), c.z())) < low[2]) continue;
        const Vec3<T> above[3] = {a, b, c}, at = (a + b + c) * T(1.0 / 3.0);
        const Vec3<T> middle{at.x(), at.y(), T(0.5) * (at.z() - bottom)};
        Vec3<T> prism[6];
        T square(0.0);
        for (int k = 0; k < 3; k++) {
          prism[k + 3] = above[k] - middle;
          prism[k] = {prism[k + 3].x(), prism[k + 3].y(), -bottom - middle.z()};
          square = max(square, max(dot(prism[k], prism[k]), dot(prism[k + 3], prism[k + 3])));
        }
        ConvexBody<T, Hulls> p{GeomType::HeightField, identity_placement<T>(), zero3<T>(), T(0.0), sqrt(square)};
        p.X.r = middle, p.corner = prism;
        const ConvexContact<T> c0 = convex_contact(p, body, far);
        if (!(c0.distance < far)) continue;
        out[found++] = {c0.distance, (c0.a + c0.b) * T(0.5), c0.n};
        if (found == slots) return found;
      }
    }
  }
  return found;
}

}  // namespace featherstorm
