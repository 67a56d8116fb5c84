// Least signed distance between the geoms of two objects, and the segment of this length [mj_geomDistance].
//
//   distance   of the nearest pair; cutoff if no pair is nearer
//   from, to   its nearest points; if the geoms overlap, the surface points along the direction of least depth; zero if
//              no pair is nearer than the cutoff
//
// Pairs with a closed form use the algorithms of contacts (core/collision). Two boxes are an exception, because their
// contacts are corners of a common face. All other pairs use the loops of core/convex.
#pragma once
#include "core/collision/candidates.h"
#include "core/sensor/readings.h"

namespace featherstorm {

template <class T> struct GeomSegment {
  T distance;        // [m]
  Vec3<T> from, to;  // on the first and on the second object, world axes [m]
};

// has_distance: true if a pair of shapes, in any order, has a distance. has_closed_distance: true if it has a closed
// form.
constexpr bool has_distance(GeomType a, GeomType b) { return (a < b ? slots_of(a, b) : slots_of(b, a)) > 0; }
constexpr bool has_closed_distance(GeomType a, GeomType b) {
  return (a != GeomType::Box || b != GeomType::Box) && (a < b ? has_closed_form(a, b) : has_closed_form(b, a));
}

// Computes the distance of a pair by a closed form. a does not come after b in MuJoCo's order.
// in-out  best  replaced if the pair is nearer; sign: -1 if `best` goes from b to a
template <class T, class S>
FS_HD void take_closed_distance(const auto& c, const Geom<S>& a, const Geom<S>& b, const Placement<T>& A,
                                const Placement<T>& B, double sign, GeomSegment<T>& best) {
  ContactPoint<T> point[most_slots];
  ContactPair<T> pair;
  pair.slots = slots_of(a.type, b.type);
  contact_points(c, a, b, pair, A, B, point);
  for (int k = 0; k < pair.slots; k++) {
    const auto& p = point[k];
    const auto nearer = p.distance < min(best.distance, T(no_contact));
    const Vec3<T> half = p.normal * (p.distance * T(0.5 * sign));
    best.from = choose(nearer, p.point - half, best.from), best.to = choose(nearer, p.point + half, best.to);
    best.distance = select(nearer, p.distance, best.distance);
  }
}

// Computes the distance of a pair by loops, one instance after the other, in double.
template <class T, class S>
FS_HD void take_convex_distance(const auto& c, const Geom<S>& a, const Geom<S>& b, const Placement<T>& A,
                                const Placement<T>& B, double sign, GeomSegment<T>& best) {
  auto point = scratch<ContactPoint<double>>(most_prisms);
  for (int l = 0; l < lanes<T>; l++) {
    const auto &first = geom_of_instance(a, l), &second = geom_of_instance(b, l);
    const Placement<double> X = placement_of(A, l), Y = placement_of(B, l);
    const double far = static_cast<double>(lane(best.distance, l));
    GeomSegment<double> found{no_contact, zero3<double>(), zero3<double>()};
    if (first.type == GeomType::HeightField) {
      const int n = contacts_of_instance(c, first, second, far, most_prisms, X, Y, point.data());
      for (int k = 0; k < n; k++)
        if (point[k].distance < found.distance) {
          const Vec3<double> half = point[k].normal * (0.5 * point[k].distance);
          found = {point[k].distance, point[k].point - half, point[k].point + half};
        }
    } else {
      const auto contact = convex_contact(convex_body(c, first, X), convex_body(c, second, Y), far);
      if (contact.corners > 0) found = {contact.distance, contact.a, contact.b};
    }
    if (!(found.distance < far)) continue;
    set_lane(best.distance, l, found.distance);
    for (int i = 0; i < 3; i++) {
      set_lane(best.from(i), l, sign < 0 ? found.to(i) : found.from(i));
      set_lane(best.to(i), l, sign < 0 ? found.from(i) : found.to(i));
    }
  }
}

// Finds the nearest pair.
//
// in   placed  placed(geom): placement of a geom in the world
// Cost: as the contacts of all pairs.
template <class T> FS_HD GeomSegment<T> nearest_geoms(const auto& c, const auto& sensor, auto&& placed) {
  GeomSegment<T> best{T(sensor.cutoff), zero3<T>(), zero3<T>()};
  for (int i = sensor.geom[0]; i < sensor.geom[0] + sensor.n_geoms[0]; i++)
    for (int j = sensor.geom[1]; j < sensor.geom[1] + sensor.n_geoms[1]; j++) {
      const bool flipped = c.geom[j].type < c.geom[i].type;
      const auto &a = c.geom[flipped ? j : i], &b = c.geom[flipped ? i : j];
      if (!has_distance(a.type, b.type)) continue;
      const Placement<T> A = placed(a), B = placed(b);
      const double sign = flipped ? -1 : 1;
      if (has_closed_distance(a.type, b.type)) take_closed_distance(c, a, b, A, B, sign, best);
      else if constexpr (is_traced<T>) cannot_trace<T>();
      else take_convex_distance(c, a, b, A, B, sign, best);
    }
  return best;
}

// Writes the sensor's reading of that distance.
template <class T> FS_HD void put_distance(const auto& sensor, const GeomSegment<T>& s, auto& out) {
  if (sensor.kind == SensorKind::GeomDistance) return out.put(sensor, 0, s.distance);
  if (sensor.kind == SensorKind::GeomNormal) return out.put(sensor, direction_of(s.to - s.from, zero3<T>()).e);
  for (int k = 0; k < 3; k++) out.put(sensor, k, s.from(k)), out.put(sensor, 3 + k, s.to(k));
}

}  // namespace featherstorm
