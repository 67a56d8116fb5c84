// One contact between a sphere and a surface in the common frame of world_axes, as the surfaces of this folder fill it in.
#pragma once
#include "core/model/contacts.h"

namespace featherstorm {

template <class T> struct ContactAt {
  T phi;         // gap [m], negative where the bodies penetrate
  T margin;      // how far the contact is inside the edges of its patch [m]; large where there are none
  Vec3<T> e[3];  // normal, tangents
  Vec3<T> r;     // centre of the sphere
  Vec3<T> d;     // from the surface's centre to the sphere's
  T inverse;     // of round surfaces: 1 / |d|
  Vec3<T> C;     // contact point, midway between the two surfaces
};

}  // namespace featherstorm
