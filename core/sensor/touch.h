// Touch: sum of the normal forces of a body's contacts whose line of force meets the zone of a site [mjSENS_TOUCH].
//
// The line starts at the contact and runs along the normal, away from the body's own surface.
#pragma once
#include "core/collision/ray.h"

namespace featherstorm {

// Returns 1 if the line meets the zone, else 0.
//
// in   sensor  with the zone's shape [mjtGeom] and size
// in   p, v    the line in the zone's axes
template <class T> FS_HD T meets_zone(const auto& sensor, const Vec3<T>& p, const Vec3<T>& v) {
  const Vec3<T> size{T(sensor.size[0]), T(sensor.size[1]), T(sensor.size[2])};
  return is_ahead(within_solid(static_cast<GeomType>(sensor.shape), size, p, v));
}

}  // namespace featherstorm
