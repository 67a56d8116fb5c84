// Rigid contacts simulated from event to event. RBDA Table 11.1, section 11.5.
//
//   EventSimulation s = event_simulation(model, contacts, q, v);
//   for (...) for (const ContactEvent& e : advance(s, 1e-3)) ...
//
// Between events active contacts are equality constraints and the others are left out; the complementarity problem is
// solved at events only. Steps are Heun's, and events are found in its dense output:
//   Gain           a gap closes: impulse with restitution, then new sets
//   GeometricLoss  a contact runs off the edge of its patch
//   NegativeForce  an active contact would have to pull: new sets by (11.42)
//
// Current contacts are closed with zetad = 0; active ones are a basis of their normals that has every contact with a
// force. No friction. Reference only, in double.
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
  int contact;  // the first of several at once
};

struct EventSimulation {
  const Model<double>* model = nullptr;
  const Contacts<double>* contacts = nullptr;
  // joint forces (nv) at (t, q, v)
  std::function<Eigen::VectorXd(double, const Eigen::VectorXd&, const Eigen::VectorXd&)> tau;
  double stabilisation = 0;  // 1 / T_stab of Baumgarte's method for active contacts [1/s]
  double rebound = 1e-3;     // slower rebounds are none [m/s]; it ends the endless bounces of a ball that comes to rest
  double closed = 1e-8;      // gap that counts as none [m]
  double slow = 1e-7;        // separation velocity that counts as none [m/s]

  double t = 0;
  Eigen::VectorXd q, v;
  std::vector<char> current, active;  // (nc)
  int problems_solved = 0;            // complementarity problems of accelerations

  // contact forces (nc) and acceleration with the active contacts as equalities
  Eigen::VectorXd lambda, qdd;
};

// A simulation that starts at (q, v); contacts closed there and approaching get an impulse at once.
// Throws std::invalid_argument: shapes, numbers that are not finite, a contact that penetrates.
EventSimulation event_simulation(const Model<double>& m, const Contacts<double>& contacts, const Eigen::VectorXd& q,
                                 const Eigen::VectorXd& v);

// Moves on by h [s] and returns the events within. Model and contacts must still exist.
// Throws std::runtime_error where the contact equations have no solution, or after 1000 events in one call.
std::vector<ContactEvent> advance(EventSimulation& s, double h);

}  // namespace featherstorm
