// Sphere and cavity: a given radius about the origin of its frame, solid inside or outside.
//
//   n = +-d / |d|,   phi = +-(|d| - radius) - radius_s;   at the centre there is no normal, hence no contact
#pragma once
#include "core/contact/surface/contact_at.h"

namespace featherstorm {

// Two tangents of a unit normal, continuous except across n_z = 0. Duff et al., Building an orthonormal basis,
// revisited, 2017.
template <class T> FS_HD void set_tangents(Vec3<T> (&e)[3]) {
  const T one(1.0), x = e[0].x(), y = e[0].y(), z = e[0].z(), sign = select(z < T(0.0), -one, one);
  const T a = -rcp(sign + z), b = x * y * a;
  e[1] = {one + sign * x * x * a, sign * b, -(sign * x)};
  e[2] = {b, sign + y * y * a, -y};
}

struct RoundSurface {
  template <class T> FS_HD static T side(const auto& c) { return T(c.surface == Surface::Sphere ? 1.0 : -1.0); }

  template <class T> FS_HD static void touch(const auto& c, const Mat3<T>&, ContactAt<T>& at) {
    const T tiny(1e-30), l = sqrt(max(dot(at.d, at.d), tiny)), sign = side<T>(c);
    at.inverse = rcp(l);
    at.e[0] = at.d * (sign * at.inverse);
    at.phi = sign * (l - c.radius) - c.radius_s;
    set_tangents(at.e);
  }

  // d/dt of the normal, from the relative velocity d of the bodies
  template <class T>
  FS_HD static Vec3<T> normal_rate(const auto& c, const ContactAt<T>& at, const Motion<T>& v_s, const Motion<T>& v_p) {
    const Vec3<T> dd = v_s.v + cross(v_s.w, at.r) - (v_p.v + cross(v_p.w, at.r - at.d));
    return (dd - at.e[0] * dot(at.e[0], dd)) * (side<T>(c) * at.inverse);
  }

  template <class T> FS_HD static T gear(const auto& c, const ContactAt<T>& at) { return at.inverse * c.radius; }
};

}  // namespace featherstorm
