// Contact numbers that differ between instances, without tables of a file. Friction of pair 0, and the position along
// z and the size along x of geom 2, are numbers 0, 1 and 2 of `touch`.
#pragma once
#include "core/world/touch_numbers.h"

namespace featherstorm::testing {

inline TouchNumbers differing_numbers(const GeomContacts<double>& c) {
  TouchNumbers t;
  t.size = 3;
  t.of_pair.resize(c.pair.size()), t.of_geom.resize(c.geom.size());
  for (auto& places : t.of_pair) places.fill(-1);
  for (auto& places : t.of_geom) places.fill(-1);
  for (const ContactPair<double>& p : c.pair) t.power.push_back(p.softness.power);
  t.of_pair[0][0] = 0, t.of_geom[2][11] = 1, t.of_geom[2][12] = 2;
  return t;
}

// The numbers of the file.
inline std::vector<double> numbers_of_file(const GeomContacts<double>& c) {
  return {c.pair[0].friction[0], c.geom[2].place.X.r.z(), c.geom[2].size.x()};
}

}  // namespace featherstorm::testing
