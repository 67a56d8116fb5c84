// A robot in the world of soft contacts (core/contact/soft_contact.h), with any surfaces.
#pragma once
#include "core/contact/soft_contact.h"
#include "core/contact/soft_surface.h"
#include "core/dynamics/newton_euler.h"
#include "tests/support/robots/contact_robots.h"

namespace featherstorm::testing {

inline const SoftSurface<double> rubber{4000, 20, 3000, 15};

template <class Law>
struct SoftWorld {
  const Robot& robot;
  Contacts<double> contacts;
  std::vector<Law> soft;
  Numbers q, v, u, f, f_ext, ud;
  StepParameters<double> s{1e-4, 0, 0, 0.01};

  SoftWorld(const Robot& robot, const std::vector<ContactSpec>& specs, const Law& law)
      : robot(robot),
        contacts(contacts_of(robot, specs)),
        soft(contacts.nc, law),
        q(neutral(robot.model)),
        v(robot.model.nv, 0.0),
        u(soft_numbers(law) * contacts.nc, 0.0),
        f(contacts.nr, 0.0),
        f_ext(6 * robot.model.nb, 0.0),
        ud(u.size(), NAN) {}
  void step(int count = 1) {
    const Zeros<double> none;
    for (int k = 0; k < count; k++)
      soft_contact_step(robot.model, contacts, soft.data(), q.data(), v.data(), Drive{none, none, none, none},
                        f_ext.data(), s, u.data(), f.data(), q.data(), v.data());
  }
  // the forces in this state; f_ext receives them
  void forces() {
    f_ext.assign(f_ext.size(), 0.0);
    soft_contact_forces(robot.model, contacts, soft.data(), q.data(), v.data(), u.data(), f_ext.data(), f.data(),
                        ud.data());
  }
  void update(double dt) {
    soft_contact_update(robot.model, contacts, soft.data(), q.data(), v.data(), f.data(), dt, u.data());
  }
  // power of f_ext [W], from the equivalent joint forces
  double power() const {
    const Model<double>& m = robot.model;
    Eigen::VectorXd with(m.nv), without(m.nv), none = Eigen::VectorXd::Zero(6 * m.nb),
                                               rest = Eigen::VectorXd::Zero(m.nv);
    newton_euler(m, q.data(), v.data(), rest.data(), f_ext.data(), with.data());
    newton_euler(m, q.data(), v.data(), rest.data(), none.data(), without.data());
    return (without - with).dot(vector(v));
  }
};

inline ContactSpec at_origin(double friction = 0) { return on_ground("ball", {0, 0, 0}, 0.1, friction); }

}  // namespace featherstorm::testing
