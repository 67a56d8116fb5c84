#pragma once
#include "core/spatial/inertia.h"

namespace featherstorm {

// Mass centre of a body from its origin, and its inertia about it, in body axes: RBDA (2.63); without mass it is the origin.
template <class T>
struct MassCentre {
  Vec3<T> c;   // [m]
  Sym3<T> Ic;  // [kg m^2]
};
template <class T, class P>
FS_HD MassCentre<T> mass_centre(const RigidBodyInertia<P>& I) {
  const T zero(0.0), m(I.m);
  const T k = select(zero < m, rcp(select(zero < m, m, T(1.0))), zero);
  const Vec3<T> h = cast<T>(I.h), c = h * k;
  const T s = dot(h, c);
  const Sym3<T> J = cast<T>(I.I);
  return {c,
          {J.xx - s + h.x() * c.x(), J.xy + h.x() * c.y(), J.xz + h.x() * c.z(), J.yy - s + h.y() * c.y(),
           J.yz + h.y() * c.z(), J.zz - s + h.z() * c.z()}};
}

}  // namespace featherstorm
