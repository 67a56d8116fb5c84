// Geometry of one contact between a sphere and a surface, in the common frame of world_axes. The surfaces of this
// folder fill it in.
#pragma once
#include "core/model/contacts.h"

namespace featherstorm {

template <class T> struct ContactAt {
  T phi;         // gap [m], negative where the bodies penetrate
  T margin;      // distance of the contact inside the edges of its patch [m]; large if the patch has no edges
  Vec3<T> e[3];  // normal, tangents
  Vec3<T> r;     // centre of the sphere
  Vec3<T> d;     // from the surface's centre to the sphere's
  T inverse;     // round surfaces only: 1 / |d|
  Vec3<T> C;     // contact point, midway between the two surfaces
};

}  // namespace featherstorm
