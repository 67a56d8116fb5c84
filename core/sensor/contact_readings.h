// Readings of the contacts of one instance (core/world/contact_readings.h).
//
//   f = sum over k < 3 of lambda_k e_k,   n = sum over k >= 3 of lambda_k e_(k - 3)
//
// act on the second geom at the contact's point; -f and -n act on the first [mj_contactForce].
#pragma once
#include "core/collision/candidates.h"
#include "core/sensor/frames.h"
#include "core/sensor/touch.h"
#include "core/world/contact_readings.h"

namespace featherstorm {

// A contact of some instances.
//
// force (dimension)  along its axes [N, N m]; zero for instances where held is 0
template <class T, class Force> struct FoundContact {
  int pair;
  Candidate<T> at;
  T there;  // 1 for instances with this contact: nearer than the pair's `detection`
  T held;   // 1 if it has rows: nearer than the pair's `margin`
  Force force;
};

// Output arrays, null if not requested.
//
//   count (4)       contacts; rows as MuJoCo counts them [nefc]; contacts with rows; contacts with a force
//   link (links, 9) force, moment, and the reference point of the moment; world axes. Zeros for the world.
//   sensor (sensor_numbers)
//   selection (selections, 4)  force on the first set of geoms by the second, world axes; contacts between them
template <class Array> struct ReadContacts { Array count, link, sensor, selection; };

// Force of a contact on its second geom, world axes.
template <class T> struct ContactWrench { Vec3<T> force, torque; };
template <class T, class Force> FS_HD ContactWrench<T> wrench_of(const FoundContact<T, Force>& c, int dimension) {
  ContactWrench<T> w{zero3<T>(), zero3<T>()};
  for (int i = 0; i < dimension; i++) {
    Vec3<T>& along = i < 3 ? w.force : w.torque;
    along = along + c.at.frame.e[i % 3] * T(c.force[i]);
  }
  return w;
}

// Returns the direction of a contact for a sensor: 1 along the contact's normal, -1 against it, 0 if it does not match.
// in   a, b  entries of `side` for the two geoms
FS_HD int direction_of(const ContactSensor& s, int a, int b) {
  const bool regular = (a & 1) != 0 && (b & 2) != 0, reverse = (b & 1) != 0 && (a & 2) != 0;
  if (((a | b) & 1) == 0 || ((a | b) & 2) == 0) return 0;
  if (s.given[0] && s.given[1]) return regular ? 1 : reverse ? -1 : 0;
  if (s.given[0]) return (a & 1) != 0 ? 1 : -1;
  if (s.given[1]) return (b & 2) != 0 ? 1 : -1;
  return 1;
}

// Placement of a zone in the world.
template <class T> FS_HD Placement<T> zone_place(const auto& zones, int zone) {
  Placement<T> X;
  for (int k = 0; k < 9; k++) X.R(k / 3, k % 3) = zones[zone_numbers * zone + k];
  for (int k = 0; k < 3; k++) X.r(k) = zones[zone_numbers * zone + 9 + k];
  return X;
}

// Adds the normal force if the line from the contact along the normal, out of the sensor's body, meets the sensor's
// zone.
template <class T, class Force>
FS_HD void add_touch(const auto& zone, const Placement<T>& X, const FoundContact<T, Force>& c, bool second, auto sum) {
  const T zero(0.0), pressure(c.force[0]);
  const Vec3<T> n = second ? Vec3<T>(-c.at.contact.normal) : c.at.contact.normal;
  const T meets = meets_zone(zone, Vec3<T>(transpose_times(X.R, Vec3<T>(c.at.contact.point - X.r))),
                             Vec3<T>(transpose_times(X.R, n)));
  sum[0] = sum[0] + select(zero < pressure, meets * pressure, zero);
}

// Writes the fields of one contact, except the number found, which is set last. Returns how many numbers it writes.
// direction  -1: the sensor's first object is the contact's second
template <class T, class Force>
FS_HD int contact_data(int data, const FoundContact<T, Force>& c, int dimension, int direction, T* x) {
  const T sign(static_cast<double>(direction));
  int n = 0;
  const auto put = [&](const Vec3<T>& v, const T& scale) {
    for (int k = 0; k < 3; k++) x[n++] = v(k) * scale;
  };
  // for the opposite direction: the negated force, in the frame with reversed normal and first tangent
  const auto along = [&](int first) {
    for (int k = 0; k < 3; k++) {
      const T f = first + k < dimension ? T(c.force[first + k]) : T(0.0);
      x[n++] = k == 2 ? f * sign : f;
    }
  };
  if (data & data_found) x[n++] = T(0.0);
  if (data & data_force) along(0);
  if (data & data_torque) along(3);
  if (data & data_distance) x[n++] = c.at.contact.distance;
  if (data & data_position) put(c.at.contact.point, T(1.0));
  if (data & data_normal) put(c.at.frame.e[0], sign);
  if (data & data_tangent) put(c.at.frame.e[1], sign);
  return n;
}

inline constexpr double no_criterion = 1e30;  // criterion of an empty slot

// Inserts a contact in the slots of a sensor, sorted by ascending criterion, then by order of arrival.
template <class T, class Force>
FS_HD void add_to_slots(const ContactSensor& s, const FoundContact<T, Force>& c, int dimension, int direction,
                        const T& matches, auto memory, auto slots) {
  T x[most_contact_data];
  const int n = contact_data(s.data, c, dimension, direction, x);
  T own(0.0);
  if (s.reduction == ContactReduction::LeastDistance) own = c.at.contact.distance;
  if (s.reduction == ContactReduction::GreatestForce)
    for (int k = 0; k < dimension && k < 3; k++) own = own - T(c.force[k]) * T(c.force[k]);
  own = select(T(0.0) < matches, own, T(no_criterion));
  for (int i = 0; i < s.slots; i++) {
    const T other = memory[1 + i];
    const auto before = own < other;
    memory[1 + i] = select(before, own, other), own = select(before, other, own);
    for (int k = 0; k < n; k++) {
      const T there = slots[n * i + k];
      slots[n * i + k] = select(before, x[k], there), x[k] = select(before, there, x[k]);
    }
  }
}

// Adds a contact to the sums of a net force: force (3), torque (3) about the first point, the point (3), sum of |f|,
// sum of |f| times the vector from the point (3).
template <class T, class Force>
FS_HD void add_to_net_force(const FoundContact<T, Force>& c, int dimension, int direction, const T& matches,
                            auto memory) {
  const T sign = matches * T(static_cast<double>(direction));
  const ContactWrench<T> w = wrench_of(c, dimension);
  Vec3<T> way;
  for (int k = 0; k < 3; k++) {
    const T first = memory[7 + k], is = c.at.contact.point(k);
    memory[7 + k] = select(memory[0] < T(0.5), select(T(0.0) < matches, is, first), first);
    way(k) = is - memory[7 + k];
  }
  const Vec3<T> moment = w.torque + cross(way, w.force);
  const T size = matches * sqrt(dot(w.force, w.force));
  for (int k = 0; k < 3; k++) {
    memory[1 + k] = memory[1 + k] + sign * w.force(k), memory[4 + k] = memory[4 + k] + sign * moment(k);
    memory[11 + k] = memory[11 + k] + select(T(0.0) < matches, size * way(k), T(0.0));
  }
  memory[10] = memory[10] + size;
}

// Writes the fields of the sum, about the centroid of the points weighted by force.
template <class T> FS_HD void put_net_force(const ContactSensor& s, auto memory, auto slot) {
  const T zero(0.0), one(1.0), total = memory[10], over = rcp(max(total, T(1e-15)));
  const auto any = zero < total;
  Vec3<T> force, torque, way, point;
  for (int k = 0; k < 3; k++) {
    force(k) = memory[1 + k], torque(k) = memory[4 + k], way(k) = memory[11 + k] * over;
    point(k) = select(any, T(memory[7 + k] + way(k)), zero);
  }
  const Vec3<T> about = torque - cross(way, force);
  int n = 0;
  const auto put = [&](const Vec3<T>& v) {
    for (int k = 0; k < 3; k++) slot[n++] = v(k);
  };
  if (s.data & data_found) slot[n++] = memory[0];
  if (s.data & data_force) put(force);
  if (s.data & data_torque) put(about);
  if (s.data & data_distance) slot[n++] = zero;
  if (s.data & data_position) put(point);
  const T matches = select(zero < T(memory[0]), one, zero);
  if (s.data & data_normal) put({matches, zero, zero});
  if (s.data & data_tangent) put({zero, matches, zero});
}

// Initializes the readings for an instance without contacts.
//
// out  memory (readings_memory), out
template <class T> FS_HD void begin_readings(const auto& readings, auto memory, const auto& out) {
  for (int k = 0; k < contact_counts && readings.counts; k++) out.count[k] = T(0.0);
  for (int k = 0; k < link_numbers * readings.links; k++) out.link[k] = T(0.0);
  for (int k = 0; k < sensor_numbers(readings); k++) out.sensor[k] = T(0.0);
  for (int k = 0; k < selection_numbers * readings.selections; k++) out.selection[k] = T(0.0);
  for (const ContactSensor& s : readings.sensor)
    for (int k = 0; k < memory_of(s); k++) {
      const bool criterion = s.reduction != ContactReduction::NetForce && k > 0;
      memory[s.memory + k] = T(criterion ? no_criterion : 0.0);
    }
}

// Adds one contact to all readings.
//
// in      contacts, readings  of the world
// in      X (nb + 1)          placements of the bodies
// in      zones (zones, 12)   placements of the zones, R by rows, r; world
// in-out  memory              initialized by begin_readings
// in-out  out                 ReadContacts
template <class T, class Force>
FS_HD void read_contact(const auto& contacts, const auto& readings, const auto& X, const auto& zones,
                        const FoundContact<T, Force>& c, auto memory, const auto& out) {
  const T zero(0.0), one(1.0);
  const auto there = zero < c.there;
  const auto& pair = contacts.pair[c.pair];
  const int d = pair.dimension, geoms = static_cast<int>(contacts.geom.size());
  if (readings.counts) {
    const int rows = contacts.elliptic || d == 1 ? d : 2 * (d - 1);
    T sum(0.0);
    for (int k = 0; k < d; k++) sum = sum + abs(T(c.force[k]));
    out.count[0] = out.count[0] + c.there, out.count[1] = out.count[1] + c.held * T(static_cast<double>(rows));
    out.count[2] = out.count[2] + c.held, out.count[3] = out.count[3] + select(zero < sum, one, zero);
  }
  ContactWrench<T> w{zero3<T>(), zero3<T>()};
  if (readings.links > 0 || readings.selections > 0) w = wrench_of(c, d);
  for (int side = 0; side < 2 && readings.links > 0; side++) {
    const int link = readings.link[pair.geom[side]], body = contacts.geom[pair.geom[side]].place.body;
    if (link == 0) continue;
    const Vec3<T> at = body == 0 ? zero3<T>() : Placement<T>(X[body]).r;
    const Vec3<T> lever = c.at.contact.point - at;
    const Vec3<T> moment = w.torque + cross(lever, w.force);
    const T sign(side == 0 ? -1.0 : 1.0);
    for (int k = 0; k < 3; k++) {
      const int i = link_numbers * link + k;
      out.link[i] = out.link[i] + select(there, sign * w.force(k), zero);
      out.link[i + 3] = out.link[i + 3] + select(there, sign * moment(k), zero);
      out.link[i + 6] = select(there, at(k), T(out.link[i + 6]));
    }
  }
  const auto side_of = [&](int row, int geom) {
    return static_cast<int>(readings.side[row * geoms + pair.geom[geom]]);
  };
  const int sensors = static_cast<int>(readings.sensor.size());
  for (int i = 0; i < sensors; i++) {
    const ContactSensor& s = readings.sensor[i];
    const int a = side_of(i, 0), b = side_of(i, 1);
    const int direction = s.touch ? ((a | b) & 1) : direction_of(s, a, b);
    if (direction == 0) continue;
    const Placement<T> zone = s.zone < 0 ? identity_placement<T>() : zone_place<T>(zones, s.zone);
    if (s.touch) {
      add_touch(readings.zone[s.zone], zone, c, (b & 1) != 0, slice(out.sensor, s.first));
      continue;
    }
    T matches = c.there;
    if (s.zone >= 0)
      matches = matches *
                inside(readings.zone[s.zone], Vec3<T>(transpose_times(zone.R, Vec3<T>(c.at.contact.point - zone.r))));
    const auto own = memory + s.memory;
    if (s.reduction == ContactReduction::NetForce) add_to_net_force(c, d, direction, matches, own);
    else add_to_slots(s, c, d, direction, matches, own, slice(out.sensor, s.first));
    own[0] = own[0] + matches;
  }
  for (int i = 0; i < readings.selections; i++) {
    const int a = side_of(sensors + i, 0), b = side_of(sensors + i, 1);
    const bool on_second = (b & 1) != 0 && (a & 2) != 0, on_first = (a & 1) != 0 && (b & 2) != 0;
    if (!on_first && !on_second) continue;
    const int at = selection_numbers * i;
    for (int k = 0; k < 3 && on_first != on_second; k++)
      out.selection[at + k] = out.selection[at + k] + select(there, on_second ? w.force(k) : T(-w.force(k)), zero);
    out.selection[at + 3] = out.selection[at + 3] + c.there;
  }
}

template <class T> FS_HD void end_readings(const auto& readings, auto memory, const auto& out) {
  for (const ContactSensor& s : readings.sensor) {
    if (s.touch) continue;
    const auto own = memory + s.memory;
    const auto slots = slice(out.sensor, s.first);
    if (s.reduction == ContactReduction::NetForce) {
      put_net_force<T>(s, own, slots);
      continue;
    }
    if ((s.data & data_found) == 0) continue;
    const int n = contact_data_size(s.data);
    for (int i = 0; i < s.slots; i++) slots[n * i] = select(T(own[1 + i]) < T(no_criterion), T(own[0]), T(0.0));
  }
}

}  // namespace featherstorm
