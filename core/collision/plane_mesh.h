// A plane and a convex mesh: the mesh's lowest corner, and up to three more corners of the face there that faces down
// most.
#pragma once
#include "core/collision/plane_round.h"
#include "core/world/hull.h"

namespace featherstorm {

// Further corners above the centre of the mesh are left out. If corners or faces are equally low, the first is used.
// out  out (4)  the lowest corner first
// Cost O(corners + pairs of a corner and a face beside it).
template <class T>
FS_HD void plane_mesh(const Placement<T>& plane, const Placement<T>& mesh, const auto& hull, ContactPoint<T>* out) {
  const T zero(0.0), big(no_contact);
  const Vec3<T> n = transpose_times(mesh.R, axis_of(plane, 2));
  // the contact points if a given corner is the lowest
  struct Touching {
    T height, companions;
    Vec3<T> r[4];
  };
  auto put = [](const auto& c, const Touching& a, Touching& b) {
    b.height = select(c, a.height, b.height);
    b.companions = select(c, a.companions, b.companions);
    for (int k = 0; k < 4; k++) b.r[k] = choose(c, a.r[k], b.r[k]);
  };
  Touching lowest{big, zero, {zero3<T>(), zero3<T>(), zero3<T>(), zero3<T>()}};
  for (const auto& corner : hull.corner) {
    const Vec3<T> r = cast<T>(corner.r);
    Touching here{big, zero, {r, r, r, r}};
    for (const auto& face : corner.face) {
      const T slope = dot(cast<T>(face.normal), n);
      Touching there{slope, T(face.companions), {r, r, r, r}};
      for (int k = 0; k < face.companions; k++) there.r[k + 1] = cast<T>(face.companion[k]);
      put(slope < here.height, there, here);
    }
    here.height = dot(r, n);
    put(here.height < lowest.height, here, lowest);
  }
  const T d = height_above(plane, mesh.r);
  for (int k = 0; k < 4; k++) {
    const T height = dot(lowest.r[k], n);
    out[k] = contact_above(plane, mesh.r + mesh.R * lowest.r[k], d + height);
    if (k == 0) continue;
    const auto there = T(k - 0.5) < lowest.companions && height <= zero;
    out[k].distance = select(there, out[k].distance, T(no_contact));
  }
}

}  // namespace featherstorm
