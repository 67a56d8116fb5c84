// What surface.patch adds: a ball on a dome, its gap and gap rate against closed forms and differences.
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/contact/contact_kinematics.h"
#include "core/kinematics/integrate.h"
#include "core/model/builder.h"
#include "core/model/contacts.h"

using namespace featherstorm;

int main() {
  ModelBuilder b("ball");
  b.add_link({"ball", 1, {0, 0, 0}, Vec3d::Constant(0.004).asDiagonal()}), b.float_root("ball");
  const Robot robot = b.build();
  ContactSpec c;
  c.name = "on the dome", c.successor = "ball", c.centre = {0.02, 0, 0}, c.radius_s = 0.1;
  c.surface = Surface::Dome, c.radius = 2, c.X_p.r = {0, 0, -1};
  const Contacts<double> contacts = contacts_of(robot, {c});
  const Model<double>& m = robot.model;

  std::vector<double> q = robot.q0, next(m.nq);
  q[0] = 0.9, q[1] = -0.4, q[2] = 0.95;
  const std::vector<double> v = {0.3, -0.2, 0.5, 0.1, 0.4, -0.6};
  double phi[1], margin[1], G[6], rate[1], bias[1], ahead[1], behind[1];
  contact_rows(m, contacts, q.data(), 1, phi, margin, G);
  contact_rates(m, contacts, q.data(), v.data(), rate, bias);
  const double h = 1e-6;
  for (double side : {h, -h}) {
    integrate(m, q.data(), v.data(), side, next.data());
    double unused[6];
    contact_rows(m, contacts, next.data(), 1, side > 0 ? ahead : behind, margin, unused);
  }
  contact_rows(m, contacts, q.data(), 1, phi, margin, G);
  double along = 0;
  for (int j = 0; j < 6; j++) along += G[j] * v[j];
  const double gap = std::hypot(0.92, 0.4, 1.95) - 2.1, difference = (ahead[0] - behind[0]) / (2 * h);
  const double error = std::max({std::abs(phi[0] - gap), std::abs(margin[0] - 1.95), std::abs(rate[0] - along),
                                 1e-5 * std::abs(difference - along)});
  std::printf("surface: %s, gap %.4f m, error %.1e\n", surface_names[static_cast<int>(Surface::Dome)], phi[0], error);
  return error < 1e-13 ? 0 : 1;
}
