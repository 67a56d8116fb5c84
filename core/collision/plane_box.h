// A plane and a box: four of its corners.
//
// Corner i is at (+-s_x, +-s_y, +-s_z), + where bit 0, 1, 2 of i is set; i and 7 - i are opposite, and one of the two
// is below the centre. These four are the candidates, in ascending order.
#pragma once
#include "core/collision/plane_round.h"

namespace featherstorm {

template <class T> FS_HD Vec3<T> corner_signs(int i) {
  return {T(i & 1 ? 1.0 : -1.0), T(i & 2 ? 1.0 : -1.0), T(i & 4 ? 1.0 : -1.0)};
}

// If two opposite corners are both level with the centre, the one with -z is chosen. MuJoCo may then prefer them to
// deeper corners, if the centre is within the margin.
// in   size  half lengths
// out  out (4)
template <class T, class P>
FS_HD void plane_box(const Placement<T>& plane, const Placement<T>& box, const Vec3<P>& size, ContactPoint<T>* out) {
  const T zero(0.0);
  const Vec3<T> n = axis_of(plane, 2), s = cast<T>(size);
  // half edges, and their rise above the plane
  Vec3<T> edge[3];
  T rise[3];
  for (int k = 0; k < 3; k++) edge[k] = axis_of(box, k) * s(k), rise[k] = dot(n, edge[k]);
  // insert the chosen corners from the last to the first, each at the front
  Vec3<T> corner[4];
  for (auto& c : corner) c = corner_signs<T>(7);
  for (int i = 7; i >= 0; i--) {
    const Vec3<T> low = corner_signs<T>(i < 4 ? i : 7 - i);
    const T height = low.x() * rise[0] + low.y() * rise[1] + low.z() * rise[2];
    auto put = [&](const auto& chosen) {
      for (int k = i > 4 ? 7 - i : 3; k > 0; k--) corner[k] = choose(chosen, corner[k - 1], corner[k]);
      corner[0] = choose(chosen, corner_signs<T>(i), corner[0]);
    };
    if (i < 4) put(height <= zero);
    else put(zero < height);
  }
  const T d = height_above(plane, box.r);
  for (int k = 0; k < 4; k++) {
    const Vec3<T>& c = corner[k];
    out[k] = contact_above(plane, box.r + edge[0] * c.x() + edge[1] * c.y() + edge[2] * c.z(),
                           d + c.x() * rise[0] + c.y() * rise[1] + c.z() * rise[2]);
  }
}

}  // namespace featherstorm
