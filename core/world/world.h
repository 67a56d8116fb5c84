// Elements of a model file besides the tree: springs, tendons, actuators, constraints, contacts, the medium, sensors,
// and the integrator.
//
// All elements have MuJoCo's meaning. ctrl, act, lengths, forces and sensordata have MuJoCo's order and layout.
// Algorithms take (model, world); operations use the world that the model carries. Elements that the file disables by
// flags are absent: a world without springs has an empty list of springs.
#pragma once
#include "core/world/actuators.h"
#include "core/world/constraints.h"
#include "core/world/contacts.h"
#include "core/world/histories.h"
#include "core/world/links.h"
#include "core/world/sensors.h"
#include "core/world/tendons.h"

namespace featherstorm {

enum class Integrator : unsigned char { Euler, RungeKutta, Implicit, ImplicitFast, Discrete };

// Sweeps over the friction forces after the solver (core/rigid/no_slip.h) [noslip_iterations, noslip_tolerance].
template <class P> struct NoSlip {
  int iterations = 0;
  P tolerance{};  // a sweep is the last one if its gain is below this times the trace of M
};

template <class P> struct World {
  int nu = 0;            // controls
  int na = 0;            // activations
  int n_outputs = 0;     // forces of actuators
  int n_sensordata = 0;  // numbers that sensors measure
  P timestep{};          // [s]
  Integrator integrator = Integrator::Euler;
  int iterations = 100;          // limit for the constraint solver [iterations]
  bool implicit_damping = true;  // for Euler [eulerdamp]
  bool implicit_lengths = true;  // for Discrete: also tendons and actuators [all solvers but PGS]

  std::vector<WorldLink<P>> link;  // link 0 is the world; empty if the model is just a tree
  Medium<P> medium;
  bool has_medium = false;
  std::vector<JointSpring<P>> spring;
  std::vector<Polynomial<P>> damping;  // (nv), joints and their actuators together; replaces model.damping
  std::vector<Tendon<P>> tendon;
  std::vector<Control<P>> control;  // (nu)
  std::vector<Actuator<P>> actuator;
  std::vector<int> compensated;               // (nv) 1 if gravity compensation counts as actuator force [actgravcomp]
  std::vector<int> effort_limited;            // (nv) 1 if actuator forces at a joint are limited [jnt_actfrclimited]
  std::vector<P> effort_lower, effort_upper;  // (nv)
  Constraints<P> constraints;
  GeomContacts<P> contacts;
  NoSlip<P> no_slip;
  std::vector<Sensor<P>> sensor;
  Vec3<P> magnetic = zero3<P>();  // field, world axes
  std::vector<History<P>> history;
  int n_history = 0;  // size of all histories in the state

  bool is_given() const { return !link.empty(); }
  bool is_discrete() const { return integrator == Integrator::Discrete; }
  int n_tendons() const { return static_cast<int>(tendon.size()); }
  // Returns true if tendons have inertia. M and C then differ from those of the tree.
  bool has_inert_tendons() const {
    for (const Tendon<P>& t : tendon)
      if (t.inert) return true;
    return false;
  }
  int n_links() const { return static_cast<int>(link.size()); }
};

// Numbers of all touch and contact sensors together.
template <class P> int numbers_of_touch(const World<P>& w) {
  int n = 0;
  for (const Sensor<P>& s : w.sensor)
    if (s.kind == SensorKind::Touch) n += s.count;
  return n;
}

template <class P, class S> World<P> cast(const World<S>& w) {
  World<P> r;
  r.nu = w.nu, r.na = w.na, r.n_outputs = w.n_outputs, r.n_sensordata = w.n_sensordata;
  r.timestep = P(w.timestep), r.integrator = w.integrator, r.iterations = w.iterations,
  r.implicit_damping = w.implicit_damping;
  r.implicit_lengths = w.implicit_lengths;
  for (const auto& x : w.link) r.link.push_back(cast<P>(x));
  r.medium = cast<P>(w.medium), r.has_medium = w.has_medium;
  for (const auto& x : w.spring) r.spring.push_back(cast<P>(x));
  for (const auto& x : w.damping) r.damping.push_back(cast<P>(x));
  for (const auto& x : w.tendon) r.tendon.push_back(cast<P>(x));
  for (const auto& x : w.control) r.control.push_back(cast<P>(x));
  for (const auto& x : w.actuator) r.actuator.push_back(cast<P>(x));
  r.compensated = w.compensated, r.effort_limited = w.effort_limited;
  for (const S& x : w.effort_lower) r.effort_lower.push_back(P(x));
  for (const S& x : w.effort_upper) r.effort_upper.push_back(P(x));
  r.constraints = cast<P>(w.constraints);
  r.contacts = cast<P>(w.contacts);
  r.no_slip = {w.no_slip.iterations, P(w.no_slip.tolerance)};
  for (const auto& x : w.sensor) r.sensor.push_back(cast<P>(x));
  r.magnetic = cast<P>(w.magnetic);
  for (const auto& x : w.history) r.history.push_back(cast<P>(x));
  r.n_history = w.n_history;
  return r;
}

}  // namespace featherstorm
