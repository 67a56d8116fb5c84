#include "core/reference/contact/event_simulation.h"

#include <stdexcept>
#include <string>

#include "core/contact/contact_system.h"
#include "core/reference/contact/dense_output.h"
#include "core/reference/contact/lcp.h"

namespace featherstorm {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Kinematics of all contacts in one state.
struct Kinematics {
  VectorXd phi, margin, zeta, bias;
  RowMatrix G;
};
Kinematics kinematics(const EventSimulation& s, const VectorXd& q, const VectorXd& v) {
  const Model<double>& m = *s.model;
  const int n = s.contacts->nc;
  Kinematics k{VectorXd(n), VectorXd(n), VectorXd(n), VectorXd(n), RowMatrix(n, m.nv)};
  contact_rows(m, *s.contacts, q.data(), 1, k.phi.data(), k.margin.data(), k.G.data());
  contact_rates(m, *s.contacts, q.data(), v.data(), k.zeta.data(), k.bias.data());
  return k;
}
MatrixXd inertia(const Model<double>& m, const VectorXd& q) {
  std::vector<double> packed(m.nh);
  crba(m, q.data(), packed.data());
  MatrixXd H = MatrixXd::Zero(m.nv, m.nv);
  for (int i = 0; i < m.nv; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j]) H(i, j) = H(j, i) = packed[m.at(i, j)];
  return H;
}
// tau - C
VectorXd free_force(const EventSimulation& s, double t, const VectorXd& q, const VectorXd& v) {
  const Model<double>& m = *s.model;
  VectorXd C(m.nv);
  newton_euler(m, q.data(), v.data(), Zeros<double>{}, Zeros<double>{}, C.data());
  return s.tau ? VectorXd(s.tau(t, q, v) - C) : VectorXd(-C);
}
std::vector<int> members(const std::vector<char>& set) {
  std::vector<int> list;
  for (int k = 0; k < static_cast<int>(set.size()); k++)
    if (set[k]) list.push_back(k);
  return list;
}

int rank_of(const RowMatrix& G, const std::vector<int>& rows) {
  if (rows.empty()) return 0;
  Eigen::ColPivHouseholderQR<MatrixXd> qr;
  qr.setThreshold(1e-9);
  return static_cast<int>(qr.compute(G(rows, Eigen::all)).rank());
}

// Acceleration and forces with the active contacts as equalities, RBDA (8.36). k belongs to the same state.
struct Accelerations {
  VectorXd qdd, lambda;  // (nv), (nc)
};
Accelerations accelerations(const EventSimulation& s, double t, const VectorXd& q, const VectorXd& v,
                            const Kinematics& k) {
  const std::vector<int> a = members(s.active);
  const auto H = inertia(*s.model, q).llt();
  Accelerations r{H.solve(free_force(s, t, q, v)), VectorXd::Zero(s.contacts->nc)};
  if (a.empty()) return r;
  const MatrixXd G = k.G(a, Eigen::all), HG = H.solve(G.transpose());
  VectorXd wanted = -k.bias(a);
  wanted -= 2 * s.stabilisation * k.zeta(a) + s.stabilisation * s.stabilisation * k.phi(a);
  const VectorXd lambda = (G * HG).ldlt().solve(wanted - G * r.qdd);
  r.qdd += HG * lambda;
  r.lambda(a) = lambda;
  return r;
}

// Determines the new sets from the complementarity problem of the contacts in `closed`.
void identify(EventSimulation& s, const std::vector<char>& closed) {
  const Kinematics k = kinematics(s, s.q, s.v);
  std::fill(s.current.begin(), s.current.end(), 0), std::fill(s.active.begin(), s.active.end(), 0);
  std::vector<int> rest;  // state 3
  for (int c : members(closed))
    if (std::abs(k.zeta(c)) <= s.slow) rest.push_back(c);
  if (!rest.empty()) {
    const auto H = inertia(*s.model, s.q).llt();
    const MatrixXd G = k.G(rest, Eigen::all);
    const VectorXd d = G * H.solve(free_force(s, s.t, s.q, s.v)) + k.bias(rest);
    const ContactForces x = solve_lcp(G * H.solve(G.transpose()), d);
    s.problems_solved++;
    if (!x.solved)
      throw std::runtime_error("advance: the contact equations have no solution at t = " + std::to_string(s.t));
    const double small = 1e-12 * (1 + d.cwiseAbs().maxCoeff());
    for (int i = 0; i < static_cast<int>(rest.size()); i++) {
      s.current[rest[i]] = x.zetad(i) <= small || x.lambda(i) > 0;
      s.active[rest[i]] = x.lambda(i) > 0;
    }
    // contacts with zetad = lambda = 0 join the basis if their normals are independent
    for (int c : members(s.current)) {
      if (s.active[c]) continue;
      const int before = rank_of(k.G, members(s.active));
      s.active[c] = 1;
      s.active[c] = rank_of(k.G, members(s.active)) > before;
    }
  }
  const Accelerations a = accelerations(s, s.t, s.q, s.v, k);
  s.qdd = a.qdd, s.lambda = a.lambda;
}

// Applies impulses at all closed contacts: RBDA (11.57), (11.64) as a complementarity problem.
void collide_closed(EventSimulation& s, const std::vector<char>& closed) {
  const std::vector<int> c = members(closed);
  const Kinematics k = kinematics(s, s.q, s.v);
  const auto H = inertia(*s.model, s.q).llt();
  const MatrixXd G = k.G(c, Eigen::all);
  VectorXd b = k.zeta(c);
  for (int i = 0; i < b.size(); i++) {
    const double bounce = -s.contacts->contact[c[i]].restitution * b(i);
    if (bounce > s.rebound) b(i) -= bounce;
  }
  const ContactForces x = solve_lcp(G * H.solve(G.transpose()), b);
  if (!x.solved) throw std::runtime_error("advance: no impulse closes the contacts at t = " + std::to_string(s.t));
  s.v += H.solve(G.transpose() * x.lambda);
}

// Returns contacts on their patches without a gap. Contacts of `known` count regardless of rounding.
std::vector<char> closed_contacts(const EventSimulation& s, const std::vector<char>& known) {
  const Kinematics k = kinematics(s, s.q, s.v);
  std::vector<char> closed(s.contacts->nc, 0);
  for (int c = 0; c < s.contacts->nc; c++) closed[c] = k.margin(c) >= 0 && (known[c] || std::abs(k.phi(c)) <= s.closed);
  return closed;
}

// A computed step of Heun's method, which an event may shorten.
struct Step {
  VectorXd q, v, a1, v2, a2;
  double h;
};
// A state with the quantities that detect events.
struct Sample {
  VectorXd q, v;
  Kinematics k;
  Accelerations a;
};
Sample sample(const EventSimulation& s, double t, const VectorXd& q, const VectorXd& v) {
  Sample x{q, v, kinematics(s, q, v), {}};
  x.a = accelerations(s, t, q, v, x.k);
  return x;
}
Sample sample(const EventSimulation& s, const Step& step, double delta) {
  VectorXd q(step.q.size()), v(step.v.size());
  heun_state(*s.model, step.q.data(), step.v.data(), step.a1.data(), step.v2.data(), step.a2.data(), step.h, delta,
             q.data(), v.data());
  return sample(s, s.t + delta * step.h, q, v);
}
Step heun_step(const EventSimulation& s, const Sample& start, double h) {
  const Model<double>& m = *s.model;
  Step step{s.q, s.v, start.a.qdd, {}, {}, h};
  VectorXd q(m.nq);
  integrate(m, s.q.data(), s.v.data(), h * 2 / 3, q.data());
  step.v2 = s.v + h * 2 / 3 * step.a1;
  step.a2 = sample(s, s.t + h * 2 / 3, q, step.v2).a.qdd;
  return step;
}

bool happened(const EventSimulation& s, const Sample& before, const Sample& x, int c, EventKind& kind) {
  if (s.active[c] && x.a.lambda(c) < -1e-9 * (1 + x.a.lambda.cwiseAbs().maxCoeff()))
    return kind = EventKind::NegativeForce, true;
  if (s.current[c]) return kind = EventKind::GeometricLoss, x.k.margin(c) < 0;
  kind = EventKind::Gain;
  if (x.k.margin(c) < 0 || before.k.margin(c) < 0) return false;
  // a gap that has closed, or a bounce too low to be visible between two samples
  return x.k.phi(c) <= 0 && (before.k.phi(c) > 0 || (x.k.phi(c) < -s.closed && x.k.zeta(c) < 0));
}

}  // namespace

EventSimulation event_simulation(const Model<double>& m, const Contacts<double>& contacts, const VectorXd& q,
                                 const VectorXd& v) {
  if (q.size() != m.nq || v.size() != m.nv)
    throw std::invalid_argument("event_simulation: q has " + std::to_string(q.size()) + " numbers and v " +
                                std::to_string(v.size()) + ", expected " + std::to_string(m.nq) + " and " +
                                std::to_string(m.nv));
  if (!q.allFinite() || !v.allFinite()) throw std::invalid_argument("event_simulation: q or v is not finite");
  EventSimulation s;
  s.model = &m, s.contacts = &contacts, s.q = q, s.v = v;
  s.current.assign(contacts.nc, 0), s.active = s.current;
  const Kinematics k = kinematics(s, q, v);
  for (int c = 0; c < contacts.nc; c++)
    if (k.margin(c) >= 0 && k.phi(c) < -s.closed)
      throw std::invalid_argument("event_simulation: contact " + std::to_string(c) + " penetrates by " +
                                  std::to_string(-k.phi(c)) + " m");
  std::vector<char> closed = closed_contacts(s, s.current);
  collide_closed(s, closed);
  identify(s, closed);
  return s;
}

std::vector<ContactEvent> advance(EventSimulation& s, double h) {
  if (!(h > 0)) throw std::invalid_argument("advance: h is " + std::to_string(h) + ", expected more than 0");
  constexpr int samples = 8;  // samples of the dense output; events that start and end between two samples are missed
  std::vector<ContactEvent> events;
  const double end = s.t + h;
  while (s.t < end) {
    Sample low = sample(s, s.t, s.q, s.v);
    const Step step = heun_step(s, low, end - s.t);
    double from = 0, to = 1;
    ContactEvent event{end, EventKind::Gain, -1};
    for (int i = 1; i <= samples && event.contact < 0; i++) {
      to = i / double(samples);
      Sample high = sample(s, step, to);
      // the earliest event of all contacts between two samples, by bisection on "an event has happened"
      auto first = [&](const Sample& x) {
        EventKind kind;
        for (int c = 0; c < s.contacts->nc; c++)
          if (happened(s, low, x, c, kind)) return event.kind = kind, event.contact = c, true;
        return false;
      };
      if (first(high)) {
        for (int k = 0; k < 60 && to - from > 1e-15; k++) {
          const double middle = (from + to) / 2;
          Sample x = sample(s, step, middle);
          if (first(x)) to = middle, high = x;
          else from = middle;
        }
        first(high);
      }
      from = to, low = high;
    }
    // `low` is the sample at `to`: at the event, or at the end of the step
    s.q = low.q, s.v = low.v, s.t = event.contact < 0 ? end : s.t + to * step.h;
    if (event.contact < 0) {
      s.qdd = low.a.qdd, s.lambda = low.a.lambda;
      break;
    }
    event.t = s.t;
    events.push_back(event);
    if (events.size() > 1000) throw std::runtime_error("advance: more than 1000 events at t = " + std::to_string(s.t));
    std::vector<char> known = s.current;
    if (event.kind == EventKind::Gain) known[event.contact] = 1;
    if (event.kind == EventKind::GeometricLoss) known[event.contact] = 0;
    std::vector<char> closed = closed_contacts(s, known);
    if (event.kind == EventKind::GeometricLoss) closed[event.contact] = 0;
    if (event.kind == EventKind::Gain) collide_closed(s, closed);
    identify(s, closed);
  }
  return events;
}

}  // namespace featherstorm
