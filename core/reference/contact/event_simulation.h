// Simulation of rigid contacts from event to event. RBDA Table 11.1, section 11.5.
//
//   EventSimulation s = event_simulation(model, contacts, q, v);
//   for (...) for (const ContactEvent& e : advance(s, 1e-3)) ...
//
// Between events, active contacts are equality constraints and the others are ignored. The complementarity problem is
// solved only at events. Steps are Heun's, and events are found in its dense output:
//   Gain           a gap closes: impulse with restitution, then new sets
//   GeometricLoss  a contact leaves its patch over the edge
//   NegativeForce  an active contact would need a tensile force: new sets by (11.42)
//
// Current contacts are closed with zetad = 0. The normals of the active contacts are a basis of theirs, and every
// contact with a force is active. No friction. Reference only, in double.
#pragma once
#include <Eigen/Dense>
#include <functional>
#include <vector>

#include "core/model/model.h"

namespace featherstorm {

enum class EventKind { Gain, GeometricLoss, NegativeForce };
struct ContactEvent {
  double t;  // [s]
  EventKind kind;
  int contact;  // the first one of simultaneous contacts
};

struct EventSimulation {
  const Model<double>* model = nullptr;
  const Contacts<double>* contacts = nullptr;
  // joint forces (nv) at (t, q, v)
  std::function<Eigen::VectorXd(double, const Eigen::VectorXd&, const Eigen::VectorXd&)> tau;
  double stabilisation = 0;  // 1 / T_stab of Baumgarte's method for active contacts [1/s]
  double rebound = 1e-3;     // slower impacts do not rebound [m/s], so that a ball's infinite bounces end
  double closed = 1e-8;      // gaps below this count as closed [m]
  double slow = 1e-7;        // separation velocities below this count as zero [m/s]

  double t = 0;
  Eigen::VectorXd q, v;
  std::vector<char> current, active;  // (nc)
  int problems_solved = 0;            // number of complementarity problems for accelerations

  // contact forces (nc) and acceleration with the active contacts as equalities
  Eigen::VectorXd lambda, qdd;
};

// Starts a simulation at (q, v). Contacts that are closed and approaching get an impulse at once. Throws
// std::invalid_argument for wrong shapes, numbers that are not finite, or a contact that penetrates.
EventSimulation event_simulation(const Model<double>& m, const Contacts<double>& contacts, const Eigen::VectorXd& q,
                                 const Eigen::VectorXd& v);

// Advances by h [s] and returns the events in this time. Model and contacts must still exist. Throws std::runtime_error
// if the contact equations have no solution, or after 1000 events in one call.
std::vector<ContactEvent> advance(EventSimulation& s, double h);

}  // namespace featherstorm
