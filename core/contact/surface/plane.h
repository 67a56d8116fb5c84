// Plane: z = 0 of its frame, solid below. If half_x is set, only the part |x| <= half_x, |y| <= half_y.
#pragma once
#include "core/contact/surface/contact_at.h"

namespace featherstorm {

struct PlaneSurface {
  // in      R   the axes of the surface's frame
  // in out  at  given d; phi, margin, e
  template <class T> FS_HD static void touch(const auto& c, const Mat3<T>& R, ContactAt<T>& at) {
    for (int i = 0; i < 3; i++) {
      const int column = (i + 2) % 3;
      at.e[i] = {R(0, column), R(1, column), R(2, column)};
    }
    at.phi = dot(at.e[0], at.d) - c.radius_s;
    if (c.bounded) at.margin = min(c.half_x - abs(dot(at.e[1], at.d)), c.half_y - abs(dot(at.e[2], at.d)));
  }

  // d/dt of the normal
  template <class T>
  FS_HD static Vec3<T> normal_rate(const auto&, const ContactAt<T>& at, const Motion<T>&, const Motion<T>& v_p) {
    return cross(v_p.w, at.e[0]);
  }

  // displacement of the contact point on the surface per unit displacement of the sphere's centre along it
  template <class T> FS_HD static T gear(const auto&, const ContactAt<T>&) { return T(1.0); }
};

}  // namespace featherstorm
