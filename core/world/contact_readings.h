// Readings of the contacts of one instance: counts, forces on links and geoms, touch and contact sensors.
//
// Names of MuJoCo are in brackets. core/sensor/contact_readings.h computes the numbers.
#pragma once
#include <vector>

#include "core/scalar/scalar.h"

namespace featherstorm {

// Bits of the fields that a contact sensor outputs, in this order [mjtConDataField].
enum ContactData : int {
  data_found = 1,  // number of matching contacts
  data_force = 2,
  data_torque = 4,
  data_distance = 8,
  data_position = 16,
  data_normal = 32,
  data_tangent = 64,
};
inline constexpr int most_contact_data = 17;  // numbers of all fields together
FS_HD constexpr int contact_data_size(int data) {
  const auto has = [data](int bit) { return (data & bit) != 0; };
  return has(data_found) + has(data_distance) + 3 * (has(data_force) + has(data_torque) + has(data_position)) +
         3 * (has(data_normal) + has(data_tangent));
}

// Rule that selects contacts if more match than a contact sensor has slots.
enum class ContactReduction : unsigned char { None, LeastDistance, GreatestForce, NetForce };

// Volume of a site, for touch sensors and contact sensors.
template <class P> struct ContactZone {
  int sensor = 0;  // sensor of the world with the zone's placement
  int shape = 0;   // [mjtGeom]
  P size[3] = {};  // [m] [site_size]
};

// A touch sensor or a contact sensor. `first` is the index of its first number among those of all such sensors.
struct ContactSensor {
  bool touch = false;
  int first = 0, slots = 1;
  int data = 0;  // bits of ContactData
  ContactReduction reduction = ContactReduction::None;
  bool given[2] = {};  // true if the file names the first, the second object
  int zone = -1;       // index of its zone; -1: the whole space
  int memory = 0;      // offset of its working memory
};
// Working memory of a contact sensor: a count, then a criterion for each slot, or the sums of a net force.
inline constexpr int net_force_sums = 14;
FS_HD constexpr int memory_of(const ContactSensor& s) {
  if (s.touch) return 0;
  return 1 + (s.reduction == ContactReduction::NetForce ? net_force_sums : s.slots);
}
// Number of outputs of a sensor.
FS_HD constexpr int count_of(const ContactSensor& s) { return s.touch ? 1 : s.slots * contact_data_size(s.data); }

// Requested readings.
template <class P> struct ContactReadings {
  std::vector<int> link;  // (geoms) link that carries each geom
  std::vector<ContactZone<P>> zone;
  std::vector<ContactSensor> sensor;  // in the order of the file
  // (sensors and selections, geoms) bit 0: the geom is in the first object, bit 1: in the second
  std::vector<unsigned char> side;
  int selections = 0;  // forces on one set of geoms by another; their rows of `side` follow the rows of sensors
  int links = 0;       // links with forces, including the world as the first; 0: not requested
  bool counts = false;
};
inline constexpr int contact_counts = 4, link_numbers = 9, selection_numbers = 4, zone_numbers = 12;

FS_HD bool reads_contacts(const auto& r) { return r.counts || r.links > 0 || r.selections > 0 || r.sensor.size() > 0; }
// Size of all sensor outputs, and of their working memory.
FS_HD int sensor_numbers(const auto& r) {
  const int n = static_cast<int>(r.sensor.size());
  return n == 0 ? 0 : r.sensor[n - 1].first + count_of(r.sensor[n - 1]);
}
FS_HD int readings_memory(const auto& r) {
  const int n = static_cast<int>(r.sensor.size());
  return n == 0 ? 0 : r.sensor[n - 1].memory + memory_of(r.sensor[n - 1]);
}

template <class P, class S> ContactReadings<P> cast(const ContactReadings<S>& c) {
  ContactReadings<P> r;
  for (const auto& z : c.zone) r.zone.push_back({z.sensor, z.shape, {P(z.size[0]), P(z.size[1]), P(z.size[2])}});
  r.link = c.link, r.sensor = c.sensor, r.side = c.side;
  r.selections = c.selections, r.links = c.links, r.counts = c.counts;
  return r;
}

}  // namespace featherstorm
