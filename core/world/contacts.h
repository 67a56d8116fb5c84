// Geoms of a model file that may touch, and the pairs of them that are tested.
//
// The pairs are known when the file loads: they are the pairs that pass MuJoCo's filters. Each has as many candidates
// (slots) as its shapes can have contacts (core/collision). Names of MuJoCo are in brackets.
#pragma once
#include <vector>

#include "core/world/constraints.h"
#include "core/world/height_field.h"
#include "core/world/hull.h"
#include "core/world/shared_list.h"

namespace featherstorm {

// Types in MuJoCo's order [mjtGeom]. In a pair, the geom whose type comes first is geom 1.
enum class GeomType : unsigned char {
  Plane,
  HeightField,
  Sphere,
  Capsule,
  Ellipsoid,
  Cylinder,
  Box,
  Mesh,
  SignedDistance,
};

template <class P> struct Geom {
  GeomType type = GeomType::Sphere;
  Frame<P> place;             // [geom_xpos, geom_xmat]
  Vec3<P> size = zero3<P>();  // [m] [geom_size]
  int hull = -1;              // index of the hull, for a mesh in a pair
  int field = -1;             // index of the field, for a height field in a pair
  // Velocity of the surface relative to the geom, about its origin, geom axes; true if it is not zero
  // [geom_surfacevel].
  Motion<P> surface = zero_motion<P>();
  bool surface_moves = false;
};

template <class P> struct ContactPair {
  int geom[2] = {};      // indices of the geoms
  int slots = 1;         // number of candidates
  int dimension = 3;     // size of the contact's force: 1 without friction, 3, 4 with torsion, 6 with rolling [condim]
  P friction[5] = {};    // two tangents, torsion [m], rolling about two axes [m]; `dimension` decides which are used
  Softness<P> softness;  // softness of the normal row
  P friction_reference[2] = {};  // for the other rows of a cone [solreffriction, or solref if absent]
  P inverse_inertia[2] = {};     // both bodies together at qpos0: translation [1/kg], rotation [1/(kg m^2)]
  P margin{};                    // the contact has forces if its distance is below this [includemargin] [m]
  P detection{};                 // the contact is found up to this distance [margin + gap] [m]
};

template <class P> struct GeomContacts {
  std::vector<Geom<P>> geom;  // all geoms of the file, in its order
  SharedList<Hull<ShapeNumber<P>>> hull;
  SharedList<HeightField<ShapeNumber<P>>> field;
  std::vector<ContactPair<P>> pair;
  bool several = true;    // several contacts for convex shapes without a closed form that lie on each other [multiccd]
  bool elliptic = false;  // true: cones, false: pyramids [cone]
  P impedance_ratio{};    // ratio of friction to normal impedance [impratio]
};

// Radius of a geom's bounding sphere about its centre, 0 for planes. It is enlarged by this factor, so that rounding,
// and with it the other instances of a pack, cannot decide if the geom touches.
inline constexpr double beyond_rounding = 1.0001;
template <class P> P reach_of(const GeomContacts<P>& c, const Geom<P>& g) {
  const P zero(0.0), more(beyond_rounding);
  const Vec3<P>& s = g.size;
  switch (g.type) {
    case GeomType::Sphere: return more * s.x();
    case GeomType::Capsule: return more * (s.x() + s.y());
    case GeomType::Cylinder: return more * sqrt(s.x() * s.x() + s.y() * s.y());
    case GeomType::Ellipsoid: return more * max(max(s.x(), s.y()), s.z());
    case GeomType::Box: return more * sqrt(dot(s, s));
    case GeomType::Mesh: return g.hull < 0 ? zero : P(more * P(c.hull[g.hull].reach));
    case GeomType::HeightField: {
      if (g.field < 0) return zero;
      const auto& f = c.field[g.field];
      const auto deep = max(f.top, f.bottom);
      return more * P(sqrt(f.x * f.x + f.y * f.y + deep * deep));
    }
    case GeomType::Plane:
    case GeomType::SignedDistance: break;  // unbounded; in no pair
  }
  return zero;
}

template <class P> int slots_of(const GeomContacts<P>& c) {
  int n = 0;
  for (const ContactPair<P>& pair : c.pair) n += pair.slots;
  return n;
}
// Number of rows: one for each dimension of each candidate (normal, tangents, torsion and rolling).
template <class P> int rows_of(const GeomContacts<P>& c) {
  int n = 0;
  for (const ContactPair<P>& pair : c.pair) n += pair.slots * pair.dimension;
  return n;
}

template <class P, class S> FS_HD Geom<P> cast(const Geom<S>& g) {
  return {g.type,         cast<P>(g.place), cast<P>(g.size),
          g.hull,         g.field,          {cast<P>(g.surface.w), cast<P>(g.surface.v)},
          g.surface_moves};
}
template <class P, class S> FS_HD ContactPair<P> cast(const ContactPair<S>& p) {
  ContactPair<P> r;
  r.slots = p.slots, r.dimension = p.dimension, r.softness = cast<P>(p.softness);
  r.margin = P(p.margin), r.detection = P(p.detection);
  for (int k = 0; k < 2; k++) {
    r.geom[k] = p.geom[k];
    r.friction_reference[k] = P(p.friction_reference[k]), r.inverse_inertia[k] = P(p.inverse_inertia[k]);
  }
  for (int k = 0; k < 5; k++) r.friction[k] = P(p.friction[k]);
  return r;
}
template <class P, class S> GeomContacts<P> cast(const GeomContacts<S>& c) {
  GeomContacts<P> r;
  for (const auto& x : c.geom) r.geom.push_back(cast<P>(x));
  const auto shape = [](const auto& x) { return cast<ShapeNumber<P>>(x); };
  r.hull = cast_list<Hull<ShapeNumber<P>>>(c.hull, shape);
  r.field = cast_list<HeightField<ShapeNumber<P>>>(c.field, shape);
  for (const auto& x : c.pair) r.pair.push_back(cast<P>(x));
  r.several = c.several, r.elliptic = c.elliptic, r.impedance_ratio = P(c.impedance_ratio);
  return r;
}

}  // namespace featherstorm
