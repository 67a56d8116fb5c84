// Point contacts of a robot: what may touch what. RBDA chapter 11, sections 11.3, 11.6.
//
//   robot.model.contacts = contacts_of(robot, {on_ground("toe", {0, 0, -0.2}, 0.02, 0.8), ...});
//
// A contact is a sphere of radius >= 0 (a point where it is 0) fixed in its successor body s against a surface fixed
// in its predecessor body p; body 0, the world, may be either. Which contacts there are is a property of the batch,
// which of them touch is data of each instance. Algorithms take (model, contacts), rows of the table of operations
// the contacts that the model carries. The surface is, in its frame,
//
//   Plane    z = 0, solid below; where half_x is set, only the part |x| <= half_x, |y| <= half_y of it
//   Sphere   of radius `radius` about the origin, solid inside
//   Cavity   of radius `radius` about the origin, solid outside
//
// Surfaces are smooth on purpose: a polyhedron in place of a curved one gives an impact at each edge (section 11.6),
// as its normal is piecewise constant. A contact between edges of patches is not modelled; round the edge with a small
// sphere.
#pragma once
#include <string>
#include <vector>

#include "core/spatial/transform.h"

namespace featherstorm {

struct Robot;

// Its motion against a sphere: core/contact/surface.
enum class Surface { Plane, Sphere, Cavity };
inline constexpr const char* surface_names[] = {"plane", "sphere", "cavity"};

template <class P> struct Contact {
  int p = 0, s = 0;  // predecessor, successor body
  Surface surface = Surface::Plane;
  bool bounded = false;  // whether the plane ends at half_x, half_y
  Placement<P> X_p{};    // the surface's frame in body p
  Vec3<P> centre;        // of the sphere, in body s [m]
  P radius_s{};          // of the sphere [m]
  P radius{};            // of the surface, Sphere and Cavity [m]
  P half_x{}, half_y{};  // [m]
  P friction{};          // Coulomb's mu
  P restitution{};       // e, 0 to 1
};

template <class P> struct Contacts {
  using Number = P;
  int nc = 0;                       // contacts
  int nr = 0;                       // 3 nc, rows of normal and tangents
  std::vector<Contact<P>> contact;  // (nc)
  // Of projected Gauss-Seidel, for rows of the table of operations, whose loops are traced: how many, and how many of
  // contact_step.h without push.
  int sweeps = 8, relax = 2;
};

template <class P, class S> Contact<P> cast(const Contact<S>& c) {
  return {c.p,           c.s,         c.surface,   c.bounded,   cast<P>(c.X_p), cast<P>(c.centre),
          P(c.radius_s), P(c.radius), P(c.half_x), P(c.half_y), P(c.friction),  P(c.restitution)};
}
template <class P, class S> Contacts<P> cast(const Contacts<S>& contacts) {
  Contacts<P> r{contacts.nc, contacts.nr, {}, contacts.sweeps, contacts.relax};
  for (const Contact<S>& c : contacts.contact) r.contact.push_back(cast<P>(c));
  return r;
}

// A contact in the user's frames; link "" is the world.
struct ContactSpec {
  std::string name;
  std::string successor;                       // link that carries the sphere
  Vec3<double> centre = Vec3<double>::Zero();  // in the successor link [m]
  double radius_s = 0;                         // [m]
  std::string predecessor;                     // link that carries the surface
  Surface surface = Surface::Plane;
  Placement<double> X_p = identity_placement<double>();  // the surface's frame in the predecessor link
  double radius = 0;                                     // of the surface [m]
  double half_x = 0, half_y = 0;                         // of a plane's part [m]; 0, 0: the whole plane
  double friction = 0, restitution = 0;
};

// A sphere of a link on the world's plane z = 0.
ContactSpec on_ground(const std::string& link, const Vec3<double>& centre, double radius, double friction = 0,
                      double restitution = 0);

// The contacts of a robot. Throws ModelError: links that do not exist, a body against itself, placements that are no
// rotations, radii and coefficients out of range, numbers that are not finite; sweeps and relax out of range.
Contacts<double> contacts_of(const Robot& robot, const std::vector<ContactSpec>& specs, int sweeps = 8, int relax = 2);

}  // namespace featherstorm
