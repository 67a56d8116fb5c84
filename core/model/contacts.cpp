#include "core/model/contacts.h"

#include <Eigen/LU>
#include <cmath>

#include "core/model/builder.h"

namespace featherstorm {
namespace {

void check(const ContactSpec& c) {
  auto fail = [&](const std::string& reason) { throw ModelError("contact", c.name, reason); };
  if (!c.X_p.R.allFinite() || !c.X_p.r.allFinite() ||
      (c.X_p.R * c.X_p.R.transpose() - Mat3d::Identity()).norm() > 1e-6 || c.X_p.R.determinant() < 0)
    fail("placement of the surface is not a rotation and a finite origin");
  if (!c.centre.allFinite()) fail("centre is not finite");
  auto check_range = [&](const char* name, double x, double highest) {
    if (!(x >= 0 && x <= highest))
      fail(std::string(name) + " is " + std::to_string(x) + ", expected 0 to " + std::to_string(highest));
  };
  check_range("radius_s", c.radius_s, 1e6);
  check_range("radius", c.radius, 1e6);
  check_range("half_x", c.half_x, 1e6);
  check_range("half_y", c.half_y, 1e6);
  check_range("friction", c.friction, 1e6);
  check_range("restitution", c.restitution, 1);
  const bool bounded = c.half_x > 0 || c.half_y > 0;
  if (bounded && c.surface != Surface::Plane) fail("half_x and half_y are for planes only");
  if (bounded && (c.half_x == 0 || c.half_y == 0)) fail("one of half_x and half_y is 0, expected both or none");
  if (c.surface == Surface::Plane && c.radius != 0) fail("a plane has no radius");
  if (c.surface == Surface::Cavity && c.radius <= c.radius_s) fail("cavity is not larger than the sphere in it");
  if (c.surface == Surface::Sphere && c.radius + c.radius_s == 0) fail("two points cannot touch");
}

}  // namespace

ContactSpec on_ground(const std::string& link, const Vec3d& centre, double radius, double friction,
                      double restitution) {
  ContactSpec c;
  c.name = link + " on ground";
  c.successor = link, c.centre = centre, c.radius_s = radius, c.friction = friction, c.restitution = restitution;
  return c;
}

Contacts<double> contacts_of(const Robot& robot, const std::vector<ContactSpec>& specs, int sweeps, int relax) {
  auto check_count = [](const char* name, int n, int lowest) {
    if (n < lowest || n > 1000)
      throw ModelError("contacts", name,
                       "is " + std::to_string(n) + ", expected " + std::to_string(lowest) + " to 1000");
  };
  check_count("sweeps", sweeps, 1);
  check_count("relax", relax, 0);
  Contacts<double> contacts;
  contacts.sweeps = sweeps, contacts.relax = relax;
  auto frame_of = [&](const ContactSpec& spec, const std::string& link) {
    if (link.empty()) return Frame<double>{0, identity_placement<double>()};
    const int f = robot.frame(link);
    if (f < 0) throw ModelError("contact", spec.name, "link '" + link + "' does not exist");
    return robot.model.frame[f];
  };
  for (const ContactSpec& spec : specs) {
    check(spec);
    const Frame<double> p = frame_of(spec, spec.predecessor), s = frame_of(spec, spec.successor);
    if (p.body == s.body) throw ModelError("contact", spec.name, "is of a body with itself");
    contacts.contact.push_back({p.body, s.body, spec.surface, spec.half_x > 0, p.X * spec.X_p,
                                s.X.r + s.X.R * spec.centre, spec.radius_s, spec.radius, spec.half_x, spec.half_y,
                                spec.friction, spec.restitution});
    contacts.nc++;
    contacts.nr += 3;
  }
  return contacts;
}

}  // namespace featherstorm
