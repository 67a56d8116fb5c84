// Steps of a world by traced programs: with contacts against its texts in double and the dense solver, instances
// against each other. tests/python/world and mujoco_batch/test_mujoco_discrete.py compare all integrators with MuJoCo.
#include <gtest/gtest.h>

#include <random>

#include "core/mujoco/constrained.h"
#include "core/reference/constraint/dense_newton.h"
#include "host/engine/evaluator.h"
#include "host/load/load.h"
#include "host/simulation/world_sequence.h"
#include "tests/support/robots/small_world.h"
#include "tests/support/robots/touching_world.h"

namespace featherstorm::test_world_sequence {
namespace {

using Numbers = std::vector<double>;

struct State { Numbers q, v, act, ctrl, qfrc, xfrc; };
State random_state_of(const Model<double>& m, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<> uniform(-1, 1);
  State s{Numbers(m.nq),       Numbers(m.nv), Numbers(m.world.na),
          Numbers(m.world.nu), Numbers(m.nv), Numbers(6 * m.world.n_links())};
  for (Numbers* x : {&s.q, &s.v, &s.act, &s.ctrl, &s.qfrc, &s.xfrc})
    for (double& e : *x) e = uniform(engine);
  return s;
}

struct Next { Numbers q, v, act; };

// The step of Euler's method by the texts, a by the dense solver.
Next reference_step(const Model<double>& m, const State& x) {
  const World<double>& w = m.world;
  Smooth<double> s(m, w);
  Equations<double> e(m, w);
  const Applied applied{x.ctrl.data(), x.qfrc.data(), x.xfrc.data()};
  equations(m, w, x.q.data(), x.v.data(), x.act.data(), applied, s, e);
  const PairColumns pairs(m, w.contacts);
  Numbers J(pairs.entries(w.contacts)), weights(static_cast<std::size_t>(weights_of(m, w)));
  Numbers turning(7 * alone_bodies(m, w).size());
  end_of_step(m, w, x.q.data(), x.v.data(), x.act.data(), x.ctrl.data(), s, e, weights.data(), turning.data());
  all_contact_rows(m, w, pairs, weights.data(), s, e, J.data());
  const int n = rows_of(w), nv = m.nv;
  ConstraintProblem c;
  c.M.resize(nv, nv), c.J.resize(n, nv), c.D.resize(n), c.aref.resize(n), c.friction.resize(n);
  const auto full = [&](const auto& packed) {
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(nv, nv);
    for (int i = 0; i < nv; i++)
      for (int j = i; j >= 0; j = m.dof_parent[j]) A(i, j) = A(j, i) = packed[m.at(i, j)];
    return A;
  };
  c.M = full(e.mass);
  c.blocks = row_blocks(w);
  c.J.setZero();
  for (int i = 0; i < n; i++) {
    for (int k = 0; i < rows_of(w.constraints) && k < nv; k++) c.J(i, k) = e.J[i * nv + k];
    c.D(i) = e.D[i], c.aref(i) = e.aref[i], c.friction(i) = e.friction[i];
  }
  for (int p = 0, row = rows_of(w.constraints), entry = 0; p < static_cast<int>(w.contacts.pair.size()); p++)
    for (int i = w.contacts.pair[p].slots * w.contacts.pair[p].dimension; i > 0; i--, row++)
      for (int k = pairs.start[p]; k < pairs.start[p + 1]; k++) c.J(row, pairs.column[k].v) = J[entry++];
  const Eigen::VectorXd b = Eigen::Map<const Eigen::VectorXd>(e.b.data(), nv);
  c.a0 = c.M.llt().solve(b);
  const ConstrainedAcceleration solved = dense_newton(c, c.a0, 100, 1e-16);
  Numbers lower(m.nh, 0.0), upper(m.nh, 0.0);
  velocity_slopes(m, w, x.q.data(), x.v.data(), x.act.data(), x.ctrl.data(), s, lower.data(), upper.data());
  const Eigen::VectorXd a = (c.M + w.timestep * full(lower)).llt().solve(b + c.J.transpose() * solved.force);
  Next r{x.q, x.v, x.act};
  for (int k = 0; k < nv; k++) r.v[k] += w.timestep * a(k);
  for (int k = 0; k < m.nq; k++) r.q[k] += w.timestep * r.v[k];
  next_activations(w, s.actuator_length, s.actuator_velocity, x.act.data(), s.act_dot, r.act.data());
  return r;
}

// The states of many instances after a step.
template <class Real>
std::vector<Next> run(const Robot& robot, const std::vector<State>& states, double tolerance,
                      bool all_candidates = false, const EvaluatorOptions& how = {}) {
  Evaluator evaluator(robot, how);
  const Precision p = precision_of<Real>();
  const Sequence sequence = world_sequence(evaluator, p, {60, tolerance, all_candidates});
  const long B = static_cast<long>(states.size());
  const auto buffer = [&](const Numbers State::* of) {
    Buffer b(p, B, static_cast<long>((states[0].*of).size()));
    for (long i = 0; i < B; i++)
      for (std::size_t c = 0; c < (states[i].*of).size(); c++)
        b.component<Real>(c)[i] = static_cast<Real>((states[i].*of)[c]);
    return b;
  };
  Buffer q = buffer(&State::q), v = buffer(&State::v), act = buffer(&State::act), ctrl = buffer(&State::ctrl),
         qfrc = buffer(&State::qfrc), xfrc = buffer(&State::xfrc);
  sequence.run(1, B,
               {{"q", q.ref()},
                {"v", v.ref()},
                {"act", act.ref()},
                {"ctrl", ctrl.ref()},
                {"qfrc_applied", qfrc.ref()},
                {"xfrc_applied", xfrc.ref()}},
               {}, {{"q", q.ref()}, {"v", v.ref()}, {"act", act.ref()}});
  std::vector<Next> all;
  for (long i = 0; i < B; i++) {
    const auto numbers = [&](const Buffer& b) {
      Numbers x;
      for (long c = 0; c < b.ref().components; c++) x.push_back(b.component<Real>(c)[i]);
      return x;
    };
    all.push_back({numbers(q), numbers(v), numbers(act)});
  }
  return all;
}

void expect_near(const Next& a, const Next& b, double tolerance) {
  for (const Numbers Next::* of : {&Next::q, &Next::v, &Next::act})
    for (std::size_t k = 0; k < (a.*of).size(); k++)
      EXPECT_NEAR((a.*of)[k], (b.*of)[k], tolerance * (1 + std::abs((b.*of)[k])));
}

std::vector<State> states_of(const Robot& robot) {
  std::vector<State> states;
  for (unsigned i = 0; i < 40; i++) states.push_back(random_state_of(robot.model, i));
  return states;
}

// Every pair several times: more contacts than there are places for.
Robot crowded(Robot robot) {
  auto& pairs = robot.model.world.contacts.pair;
  const auto once = pairs;
  for (int k = 0; k < 5; k++) pairs.insert(pairs.end(), once.begin(), once.end());
  return robot;
}

TEST(WorldSequence, OfContactsIsTheTextsAndTheDenseSolver) {
  for (const bool elliptic : {false, true})
    for (const bool many : {false, true}) {
      Robot robot = testing::with_geoms(testing::small_world());
      robot.model.world.contacts.elliptic = elliptic;
      if (many) robot = crowded(robot);
      const auto states = states_of(robot);
      std::vector<Next> exact;
      for (const State& x : states) exact.push_back(reference_step(robot.model, x));
      for (const bool all_candidates : {false, true}) {
        if (all_candidates && many) continue;  // minutes to assemble
        const auto doubles = run<double>(robot, states, 1e-13, all_candidates);
        const auto floats = run<float>(robot, states, 1e-6, all_candidates);
        for (std::size_t i = 0; i < states.size(); i++) {
          SCOPED_TRACE("state " + std::to_string(i) + (elliptic ? ", cones" : ", pyramids") +
                       (many ? ", crowded" : "") + (all_candidates ? ", all candidates" : ""));
          expect_near(doubles[i], exact[i], 1e-10), expect_near(floats[i], exact[i], 1e-3);
        }
      }
    }
}

// What an instance gets does not depend on those beside it, bit for bit: not in which places their contacts are, nor how often
// they go on.
TEST(WorldSequence, InstancesDoNotDependOnTheirNeighbours) {
  for (const bool many : {false, true}) {
    Robot robot = testing::with_geoms(testing::small_world());
    if (many) robot = crowded(robot);
    const auto states = states_of(robot);
    const auto all = run<float>(robot, states, 1e-6);
    for (std::size_t i = 0; i < states.size(); i++) {
      const Next alone = run<float>(robot, {states[i]}, 1e-6)[0];
      EXPECT_EQ(alone.q, all[i].q) << i;
      EXPECT_EQ(alone.v, all[i].v) << i;
    }
  }
}

// Whether two legs touch each other, of which neither carries the other.
bool is_coupled(const Robot& robot, const State& x) {
  const Model<double>& m = robot.model;
  const GeomContacts<double>& c = m.world.contacts;
  Numbers numbers(static_cast<std::size_t>(m.nx));
  std::vector<Placement<double>> X(static_cast<std::size_t>(m.nb) + 1);
  update_joints(m, x.q.data(), Zeros<double>{}, numbers);
  body_placements(m, numbers, X);
  for (const ContactPair<double>& pair : c.pair) {
    const Geom<double>&a = c.geom[static_cast<std::size_t>(pair.geom[0])],
          &b = c.geom[static_cast<std::size_t>(pair.geom[1])];
    const std::vector<int> over_a = support(m, a.place.body), over_b = support(m, b.place.body);
    const auto carries = [](const std::vector<int>& path, int body) {
      return std::find(path.begin(), path.end(), body) != path.end();
    };
    if (a.place.body == 0 || carries(over_a, b.place.body) || carries(over_b, a.place.body)) continue;
    ContactPoint<double> point[most_slots];
    contact_points(c, pair, geom_placement<double>(X, a), geom_placement<double>(X, b), point);
    for (int k = 0; k < pair.slots; k++)
      if (point[k].distance < pair.margin) return true;
  }
  return false;
}

template <class Real> void expect_same_bits_in_any_order(const Robot& robot, const std::string& isa) {
  constexpr std::size_t B = 1024;
  std::vector<State> states;
  std::size_t coupled = 0;
  for (unsigned i = 0; i < B; i++) {
    State x = random_state_of(robot.model, i);
    x.q[2] = 0.2 + 0.15 * x.q[2];
    for (int k = 3; k < 7; k++) x.q[static_cast<std::size_t>(k)] = k == 3 ? 1 : 0;
    // legs apart in two of three
    for (std::size_t k = 7; k < x.q.size(); k++) x.q[k] *= i % 3 == 0 ? 2.5 : 0.3;
    coupled += is_coupled(robot, x) ? 1 : 0;
    states.push_back(x);
  }
  EXPECT_GT(coupled, B / 5);
  EXPECT_LT(coupled, 2 * B / 3);
  const auto all = run<Real>(robot, states, 1e-6, false, {.threads = 1, .isa = isa});
  std::vector<std::size_t> order(B);
  for (std::size_t i = 0; i < B; i++) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  order.resize(901);  // another size, too
  std::vector<State> shuffled;
  for (const std::size_t i : order) shuffled.push_back(states[i]);
  const auto again = run<Real>(robot, shuffled, 1e-6, false, {.threads = 2, .isa = isa});
  std::size_t differ = 0;
  for (std::size_t i = 0; i < order.size(); i++)
    if (again[i].q != all[order[i]].q || again[i].v != all[order[i]].v) differ++;
  EXPECT_EQ(differ, 0u);
}

// Among which limbs are coupled in some instances and not in others.
TEST(WorldSequence, GivesTheSameBitsInAnyOrder) {
  for (const std::string& isa : available_isas())
    for (const bool elliptic : {false, true}) {
      SCOPED_TRACE(isa + (elliptic ? ", cones" : ", pyramids"));
      const Robot robot = testing::with_touching_world(load("go2"), {.elliptic = elliptic, .apart = 1, .size = 0.8});
      expect_same_bits_in_any_order<float>(robot, isa);
      expect_same_bits_in_any_order<double>(robot, isa);
    }
}

TEST(WorldSequence, RefusesWhatHasNoWorld) {
  Robot robot = testing::small_world();
  robot.model.world = {};
  Evaluator evaluator(robot, {});
  EXPECT_THROW(world_sequence(evaluator, Precision::float64), Error);
  Evaluator with(testing::small_world(), {});
  EXPECT_THROW(world_sequence(with, Precision::float64, {0, 1e-6}), Error);
}

}  // namespace
}  // namespace featherstorm::test_world_sequence
