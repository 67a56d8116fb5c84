// Candidates of all pairs of geoms, with the frame of each contact. A pair uses the closed form of its two shapes, or
// the loops of convex_pairs.h.
//
// Geoms that are fixed to the world are constants. A slot whose distance exceeds the pair's `detection` is no contact.
#pragma once
#include <cassert>

#include "core/collision/box_box.h"
#include "core/collision/capsule_box.h"
#include "core/collision/capsule_capsule.h"
#include "core/collision/contact_frame.h"
#include "core/collision/convex_pairs.h"
#include "core/collision/plane_box.h"
#include "core/collision/plane_mesh.h"
#include "core/collision/plane_round.h"
#include "core/scalar/is_traced.h"
#include "core/world/world.h"

namespace featherstorm {

// A slot of a pair. Without a contact its distance is `no_contact`.
template <class T> struct Candidate {
  ContactPoint<T> contact;
  ContactFrame<T> frame;  // e[0] is the contact's normal
};

// Greatest number of slots of a pair.
inline constexpr int most_slots = most_prisms;

constexpr int slots_on_plane(GeomType b) {
  switch (b) {
    case GeomType::Sphere:
    case GeomType::Ellipsoid: return 1;
    case GeomType::Capsule: return 2;
    case GeomType::Cylinder:
    case GeomType::Box:
    case GeomType::Mesh: return 4;
    case GeomType::Plane:
    case GeomType::HeightField:
    case GeomType::SignedDistance: return 0;
  }
  return 0;
}
// Returns true if a pair of shapes has a closed form. a does not come after b in MuJoCo's order.
constexpr bool has_closed_form(GeomType a, GeomType b) {
  const bool to_box = b == GeomType::Box, to_capsule = b == GeomType::Capsule;
  switch (a) {
    case GeomType::Plane: return slots_on_plane(b) > 0;
    case GeomType::Sphere: return b == GeomType::Sphere || to_capsule || b == GeomType::Cylinder || to_box;
    case GeomType::Capsule: return to_capsule || to_box;
    case GeomType::Box: return to_box;
    case GeomType::HeightField:
    case GeomType::Ellipsoid:
    case GeomType::Cylinder:
    case GeomType::Mesh:
    case GeomType::SignedDistance: return false;
  }
  return false;
}
// Returns the greatest number of slots of such a pair, 0 if its contacts are not computed here. several:
// GeomContacts::several
constexpr int slots_of(GeomType a, GeomType b, bool several = true) {
  if (a == GeomType::Plane) return slots_on_plane(b);
  if (!is_convex(b)) return 0;
  if (a == GeomType::HeightField) return most_prisms;
  if (!is_convex(a)) return 0;
  if (a == GeomType::Box && b == GeomType::Box) return 8;
  const bool round_a = a == GeomType::Sphere || a == GeomType::Ellipsoid;
  if (round_a || b == GeomType::Ellipsoid) return 1;
  if (has_closed_form(a, b)) return 2;
  return several ? a == GeomType::Capsule ? 2 : most_flat_contacts : 1;
}

// Computes the points of geoms a, b by a closed form; returns true if there is one. Sizes and detection may differ
// between instances. Placements A, B are in one frame.
// out  out (pair.slots)
template <class T, class S, class D>
FS_HD bool closed_form_points(const auto& c, const Geom<S>& a, const Geom<S>& b, const ContactPair<D>& pair,
                              const Placement<T>& A, const Placement<T>& B, ContactPoint<T>* out) {
  switch (a.type) {
    case GeomType::Plane:
      switch (b.type) {
        case GeomType::Sphere: return plane_sphere(A, B, b.size, out), true;
        case GeomType::Capsule: return plane_capsule(A, B, b.size, out), true;
        case GeomType::Ellipsoid: return plane_ellipsoid(A, B, b.size, out), true;
        case GeomType::Cylinder: return plane_cylinder(A, B, b.size, out), true;
        case GeomType::Box: return plane_box(A, B, b.size, out), true;
        case GeomType::Mesh: return plane_mesh(A, B, c.hull[b.hull], out), true;
        case GeomType::Plane:
        case GeomType::HeightField:
        case GeomType::SignedDistance: break;
      }
      break;
    case GeomType::Sphere:
      if (b.type == GeomType::Sphere) return sphere_sphere(A, a.size, B, b.size, out), true;
      if (b.type == GeomType::Capsule) return sphere_capsule(A, a.size, B, b.size, out), true;
      if (b.type == GeomType::Cylinder) return sphere_cylinder(A, a.size, B, b.size, out), true;
      if (b.type == GeomType::Box) return sphere_box(A, a.size, B, b.size, out), true;
      break;
    case GeomType::Capsule:
      if (b.type == GeomType::Capsule) return capsule_capsule(A, a.size, B, b.size, out), true;
      if (b.type == GeomType::Box) return capsule_box(A, a.size, B, b.size, out), true;
      break;
    case GeomType::Box:
      if (b.type == GeomType::Box) return box_box(A, a.size, B, b.size, T(pair.detection), out), true;
      break;
    case GeomType::HeightField:
    case GeomType::Ellipsoid:
    case GeomType::Cylinder:
    case GeomType::Mesh:
    case GeomType::SignedDistance: break;
  }
  return false;
}

template <class P> bool has_closed_form(const GeomContacts<P>& c, const ContactPair<P>& pair) {
  const auto type = [&](int k) { return c.geom[static_cast<std::size_t>(pair.geom[k])].type; };
  return has_closed_form(type(0), type(1));
}

// Computes the points of any pair: by loops if there is no closed form.
template <class T, class S, class D>
FS_HD void contact_points(const auto& c, const Geom<S>& a, const Geom<S>& b, const ContactPair<D>& pair,
                          const Placement<T>& A, const Placement<T>& B, ContactPoint<T>* out) {
  if (closed_form_points(c, a, b, pair, A, B, out)) return;
  assert(slots_of(a.type, b.type) > 0 && !has_closed_form(a.type, b.type));
  if constexpr (is_traced<T>) cannot_trace<T>();
  else convex_pair(c, a, b, pair, A, B, out);
}
template <class T, class P>
FS_HD void contact_points(const auto& c, const ContactPair<P>& pair, const Placement<T>& A, const Placement<T>& B,
                          ContactPoint<T>* out) {
  contact_points(c, c.geom[pair.geom[0]], c.geom[pair.geom[1]], pair, A, B, out);
}

// Placement of a geom in the world.
template <class T, class P> FS_HD Placement<T> geom_placement(const auto& X, const Geom<P>& g) {
  const Placement<T> in_body = cast<T>(g.place.X);
  return g.place.body == 0 ? in_body : X[g.place.body] * in_body;
}

// Axes of a contact of geom a with geom b, which is placed at B.
template <class T, class P>
FS_HD ContactFrame<T> candidate_frame(const Geom<P>& a, const Geom<P>& b, const Placement<T>& B, const Vec3<T>& n) {
  const bool along_capsule = a.type == GeomType::Plane && b.type == GeomType::Capsule;
  return along_capsule ? contact_frame(n, axis_of(B, 2)) : contact_frame(n);
}

// Computes all candidates of a world.
//
// in   X (nb + 1)              placements of the bodies
// out  out (slots_of(contacts))  pair by pair, slot by slot
template <class T> FS_HD void contact_candidates(const auto&, const auto& w, const auto& X, Candidate<T>* out) {
  for (const auto& pair : w.contacts.pair) {
    const auto &a = w.contacts.geom[pair.geom[0]], &b = w.contacts.geom[pair.geom[1]];
    const Placement<T> A = geom_placement<T>(X, a), B = geom_placement<T>(X, b);
    ContactPoint<T> point[most_slots];
    contact_points(w.contacts, pair, A, B, point);
    for (int k = 0; k < pair.slots; k++, out++) {
      const auto near = point[k].distance <= T(pair.detection);
      point[k].distance = select(near, point[k].distance, T(no_contact));
      *out = {point[k], candidate_frame(a, b, B, point[k].normal)};
    }
  }
}

}  // namespace featherstorm
