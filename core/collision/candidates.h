// The candidates of all pairs of geoms: each pair by the closed form of its two shapes, with the frame of the contact.
//
// Geoms that are fixed to the world are constants. A slot whose distance is not below the pair's `detection` is no
// contact.
#pragma once
#include <cassert>

#include "core/collision/box_box.h"
#include "core/collision/capsule_box.h"
#include "core/collision/capsule_capsule.h"
#include "core/collision/contact_frame.h"
#include "core/collision/plane_box.h"
#include "core/collision/plane_mesh.h"
#include "core/collision/plane_round.h"
#include "core/world/world.h"

namespace featherstorm {

// A slot of a pair; without a contact its distance is `no_contact`.
template <class T> struct Candidate {
  ContactPoint<T> contact;
  ContactFrame<T> frame;  // e[0] is the contact's normal
};

// As many slots as any pair has.
inline constexpr int most_slots = 8;

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
// How many slots a pair of shapes has, the first not after the second in MuJoCo's order; none: it has no closed form.
constexpr int slots_of(GeomType a, GeomType b) {
  const bool to_box = b == GeomType::Box;
  switch (a) {
    case GeomType::Plane: return slots_on_plane(b);
    case GeomType::Sphere:
      return b == GeomType::Sphere || b == GeomType::Capsule || b == GeomType::Cylinder || to_box ? 1 : 0;
    case GeomType::Capsule: return b == GeomType::Capsule || to_box ? 2 : 0;
    case GeomType::Box: return to_box ? 8 : 0;
    case GeomType::HeightField:
    case GeomType::Ellipsoid:
    case GeomType::Cylinder:
    case GeomType::Mesh:
    case GeomType::SignedDistance: return 0;
  }
  return 0;
}

// Placements A, B in one frame.
// out  out (slots_of(a.type, b.type))
template <class T, class P>
FS_HD void contact_points(const GeomContacts<P>& c, const ContactPair<P>& pair, const Placement<T>& A,
                          const Placement<T>& B, ContactPoint<T>* out) {
  const Geom<P>&a = c.geom[pair.geom[0]], &b = c.geom[pair.geom[1]];
  switch (a.type) {
    case GeomType::Plane:
      switch (b.type) {
        case GeomType::Sphere: return plane_sphere(A, B, b.size, out);
        case GeomType::Capsule: return plane_capsule(A, B, b.size, out);
        case GeomType::Ellipsoid: return plane_ellipsoid(A, B, b.size, out);
        case GeomType::Cylinder: return plane_cylinder(A, B, b.size, out);
        case GeomType::Box: return plane_box(A, B, b.size, out);
        case GeomType::Mesh: return plane_mesh(A, B, c.hull[b.hull], out);
        case GeomType::Plane:
        case GeomType::HeightField:
        case GeomType::SignedDistance: break;
      }
      break;
    case GeomType::Sphere:
      if (b.type == GeomType::Sphere) return sphere_sphere(A, a.size, B, b.size, out);
      if (b.type == GeomType::Capsule) return sphere_capsule(A, a.size, B, b.size, out);
      if (b.type == GeomType::Cylinder) return sphere_cylinder(A, a.size, B, b.size, out);
      if (b.type == GeomType::Box) return sphere_box(A, a.size, B, b.size, out);
      break;
    case GeomType::Capsule:
      if (b.type == GeomType::Capsule) return capsule_capsule(A, a.size, B, b.size, out);
      if (b.type == GeomType::Box) return capsule_box(A, a.size, B, b.size, out);
      break;
    case GeomType::Box:
      if (b.type == GeomType::Box) return box_box(A, a.size, B, b.size, T(pair.detection), out);
      break;
    case GeomType::HeightField:
    case GeomType::Ellipsoid:
    case GeomType::Cylinder:
    case GeomType::Mesh:
    case GeomType::SignedDistance: break;
  }
  assert(!"a pair without a closed form");
}

// Where a geom is in the world.
template <class T, class P> FS_HD Placement<T> geom_placement(const auto& X, const Geom<P>& g) {
  const Placement<T> in_body = cast<T>(g.place.X);
  return g.place.body == 0 ? in_body : X[g.place.body] * in_body;
}

// The axes of a contact of geom b, at B, with a.
template <class T, class P>
FS_HD ContactFrame<T> candidate_frame(const Geom<P>& a, const Geom<P>& b, const Placement<T>& B, const Vec3<T>& n) {
  const bool along_capsule = a.type == GeomType::Plane && b.type == GeomType::Capsule;
  return along_capsule ? contact_frame(n, axis_of(B, 2)) : contact_frame(n);
}

// in   X (nb + 1)              placements of the bodies
// out  out (slots_of(contacts))  pair by pair, slot by slot
template <class T> FS_HD void contact_candidates(const auto&, const auto& w, const auto& X, Candidate<T>* out) {
  for (const auto& pair : w.contacts.pair) {
    const auto &a = w.contacts.geom[pair.geom[0]], &b = w.contacts.geom[pair.geom[1]];
    const Placement<T> A = geom_placement<T>(X, a), B = geom_placement<T>(X, b);
    ContactPoint<T> point[most_slots];
    contact_points(w.contacts, pair, A, B, point);
    for (int k = 0; k < pair.slots; k++, out++) {
      const auto near = point[k].distance < T(pair.detection);
      point[k].distance = select(near, point[k].distance, T(no_contact));
      *out = {point[k], candidate_frame(a, b, B, point[k].normal)};
    }
  }
}

}  // namespace featherstorm
