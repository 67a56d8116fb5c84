// Rollouts against simulations, step by step, with costs in plain arithmetic.
#include <gtest/gtest.h>

#include <cmath>

#include "host/simulation/rollout.h"
#include "host/simulation/simulation.h"
#include "tests/support/robots/worlds.h"

namespace featherstorm::test_rollout {
namespace {

using namespace testing;

constexpr long B = 33, T = 6;

// Arrays of a rollout's results.
struct Results {
  Precision p;
  int nq, nv, nu, seen;
  Buffer costs{p, B, 1}, q{p, B, nq}, v{p, B, nv}, states{p, B, T * nq}, used{p, B, T * nu},
      observations{p, B, T * seen};

  static SequenceMemory each(const Buffer& b, int n) {
    ArrayRef a = b.ref();
    a.components = n, a.padded = false;
    return {"", a, true, n * b.stride()};
  }
  RolloutArrays arrays(const ArrayRef& q0, const ArrayRef& v0, const Buffer& u) const {
    RolloutArrays a;
    a.q = q0, a.v = v0, a.u = each(u, nu), a.costs = costs.ref(), a.q_final = q.ref(), a.v_final = v.ref();
    a.q_states = each(states, nq), a.used = each(used, nu);
    if (seen > 0) a.observations = each(observations, seen);
    return a;
  }
};

// One control step's numbers of u (B, T, n).
ArrayRef at(const Buffer& u, long t, int n) { return Results::each(u, n).at(t); }

TEST(Rollout, IsASimulationWithItsCostsAdded) {
  const Robot robot = load("cartpole");
  Evaluator e(robot, {.threads = 1});
  const Precision p = Precision::float64;
  RolloutOptions o;
  o.stepping = {.dt = 0.02, .substeps = 2, .numbers = {{"limit_stiffness", {3}}}};
  o.controls = 1, o.parameters = 2, o.precision = p;
  o.control = [](const TracedState& x, const Traced& u, Expr t, const Traced& g) -> RolloutOptions::Drive {
    return {{u[0] - g[1] * x.v[0] + sin(t), Expr(0.0)}};
  };
  o.cost = [](const TracedState& x, const Traced& u, Expr t, const Traced& g) {
    return (x.q[1] - g[0]) * (x.q[1] - g[0]) + 0.1 * u[0] * u[0] + t;
  };
  o.terminal = [](const TracedState& x, Expr, const Traced&) { return 100.0 * x.q[0]; };
  o.observe = [](const TracedState& x, const Traced&, Expr t, const Traced&) {
    return Traced{x.run("energy", {x.q, x.v})[0][0], t};
  };
  const Rollout roll(e, o);
  EXPECT_EQ(roll.observed(), 2);
  const Buffer q0 = noise(p, B, 2, 0.5, 1), v0 = noise(p, B, 2, 0.5, 2), u = noise(p, B, T, 2, 3);
  const Results r{p, 2, 2, 1, 2};
  RolloutArrays a = r.arrays(q0.ref(), v0.ref(), u);
  a.p = {0.3, 0.7};
  roll.run(T, B, a, 1.5);

  Simulation s(e, B, o.stepping, p);
  for (int c = 0; c < 2; c++)
    for (long i = 0; i < B; i++) {
      static_cast<double*>(s.q().data)[c * s.q().component_stride + i] = q0.component<double>(c)[i];
      static_cast<double*>(s.v().data)[c * s.v().component_stride + i] = v0.component<double>(c)[i];
    }
  std::vector<double> total(B);
  for (long t = 0; t < T; t++) {
    const double time = 1.5 + 0.02 * static_cast<double>(t);
    const std::vector<double> v = numbers_of(s.v()), control = numbers_of(at(u, t, 1));
    Buffer tau(p, B, 2), energy(p, B, 2);
    for (long i = 0; i < B; i++) tau.component<double>(0)[i] = control[i] - 0.7 * v[2 * i] + std::sin(time);
    s.step(tau.ref());
    const std::vector<double> q = numbers_of(s.q());
    EXPECT_LT(farthest(numbers_of(at(r.states, t, 2)), q), 1e-13);
    e.run("energy", {s.q(), s.v()}, {energy.ref()});
    const std::vector<double> seen = numbers_of(at(r.observations, t, 2));
    for (long i = 0; i < B; i++) {
      total[i] += std::pow(q[2 * i + 1] - 0.3, 2) + 0.1 * control[i] * control[i] + time + 0.02;
      if (t + 1 == T) total[i] += 100 * q[2 * i];
      EXPECT_NEAR(seen[2 * i], energy.component<double>(0)[i], 1e-12);
      EXPECT_NEAR(seen[2 * i + 1], time + 0.02, 1e-14);
    }
  }
  EXPECT_LT(farthest(numbers_of(r.costs.ref()), total), 1e-11);
  EXPECT_LT(farthest(numbers_of(r.q.ref()), numbers_of(s.q())), 1e-13);
  EXPECT_LT(farthest(numbers_of(r.v.ref()), numbers_of(s.v())), 1e-12);
  EXPECT_EQ(numbers_of(r.used.ref()), numbers_of(u.ref()));
}

// Without functions: u is tau, or the target where kp is given.
void follows(const Robot& robot, const StepOptions& stepping, double tolerance) {
  Evaluator e(robot, {.threads = 1});
  const int nq = robot.model.nq, nv = robot.model.nv;
  const Precision p = Precision::float64;
  RolloutOptions o;
  o.stepping = stepping, o.precision = p;
  const Rollout roll(e, o);
  Simulation s(e, B, stepping, p);
  const Buffer u = noise(p, B, T * nv, 0.3, 7), v0 = noise(p, 1, nv, 0, 8);
  Buffer q0(p, 1, nq);
  for (int c = 0; c < nq; c++) q0.component<double>(c)[0] = robot.q0[c];
  const Results r{p, nq, nv, nv, 0};
  roll.run(T, B, r.arrays(q0.ref(), v0.ref(), u));
  const bool drives = stepping.numbers.contains("kp");
  for (long t = 0; t < T; t++) drives ? s.step({}, at(u, t, nv)) : s.step(at(u, t, nv));
  EXPECT_LT(farthest(numbers_of(r.q.ref()), numbers_of(s.q())), tolerance) << robot.name;
  EXPECT_LT(farthest(numbers_of(r.v.ref()), numbers_of(s.v())), 100 * tolerance) << robot.name;
  EXPECT_EQ(numbers_of(r.costs.ref()), std::vector<double>(B, 0.0));
}

TEST(Rollout, GoesByWhatTheRobotCarries) {
  follows(standing_go2(), {.dt = 4e-3, .substeps = 2, .numbers = {{"kp", {40}}, {"kd", {1}}}}, 1e-13);
  follows(gripping_panda(), {.dt = 4e-3}, 1e-13);
  follows(load("go2"), {.dt = 4e-3, .substeps = 3}, 1e-13);
}

TEST(Rollout, FramesAreTheRobots) {
  const Robot robot = load("panda");
  Evaluator e(robot, {.threads = 1});
  const Precision p = Precision::float64;
  RolloutOptions o;
  o.stepping.dt = 1e-3, o.precision = p;
  o.observe = [](const TracedState& x, const Traced&, Expr, const Traced&) {
    Traced all = x.position("panda_hand");
    for (const Traced& more : {x.rotation("panda_hand"), x.velocity("panda_hand")})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Rollout roll(e, o);
  const int nq = robot.model.nq, nv = robot.model.nv, nf = robot.model.nf;
  const Buffer q0 = noise(p, B, nq, 1, 1), v0 = noise(p, B, nv, 1, 2), u = noise(p, B, T * nv, 1, 3);
  const Results r{p, nq, nv, nv, 18};
  roll.run(T, B, r.arrays(q0.ref(), v0.ref(), u));
  int frame = 0;
  while (robot.frame_names[frame] != "panda_hand") frame++;
  const Buffer poses(p, B, 12 * nf), velocity(p, B, 6);
  e.run("forward_kinematics", {r.q.ref()}, {poses.ref()});
  e.run("frame_velocity", {r.q.ref(), r.v.ref()}, {velocity.ref()}, {.uniforms = {}, .frame = frame});
  const std::vector<double> seen = numbers_of(at(r.observations, T - 1, 18)), pose = numbers_of(poses.ref()),
                            twist = numbers_of(velocity.ref());
  for (long i = 0; i < B; i++)
    for (int c = 0; c < 18; c++)
      EXPECT_NEAR(seen[18 * i + c], c < 12 ? pose[12 * (nf * i + frame) + c] : twist[6 * i + c - 12], 1e-12);
}

TEST(Rollout, AStateThatIsNotFiniteHasAnInfiniteCost) {
  const Robot robot = load("cartpole");
  Evaluator e(robot, {.threads = 1});
  RolloutOptions o;
  o.stepping.dt = 0.01;
  o.cost = [](const TracedState&, const Traced&, Expr t, const Traced&) { return t; };
  const Precision p = o.precision;
  const Buffer q0 = noise(p, B, 2, 0.1, 1), v0 = noise(p, B, 2, 0.1, 2), u = noise(p, B, 2 * T, 1, 3);
  v0.component<float>(0)[5] = INFINITY;
  const Results r{p, 2, 2, 2, 0};
  Rollout(e, o).run(T, B, r.arrays(q0.ref(), v0.ref(), u));
  const std::vector<double> costs = numbers_of(r.costs.ref());
  for (long i = 0; i < B; i++) EXPECT_EQ(std::isfinite(costs[i]), i != 5) << i;
  EXPECT_EQ(costs[5], INFINITY);
}

TEST(Rollout, NamesWhatDoesNotFit) {
  const Robot robot = load("cartpole");
  Evaluator e(robot, {.threads = 1});
  RolloutOptions o;
  o.stepping.dt = 0.01;
  const auto made = [&] { return message([&] { Rollout(e, o); }); };
  o.controls = 1;
  EXPECT_EQ(made(), "Rollout: controls is 1, expected 2 (nv), or a function `control`");
  o.control = [](const TracedState&, const Traced& u, Expr, const Traced&) -> RolloutOptions::Drive { return {u}; };
  EXPECT_EQ(made(), "Rollout: tau of control has 1 numbers, expected 2");
  o.control = nullptr, o.controls = -1;
  o.observe = [](const TracedState&, const Traced&, Expr, const Traced&) { return Traced{}; };
  EXPECT_EQ(made(), "Rollout: observe has no numbers, expected some");
  o.observe = [](const TracedState& x, const Traced&, Expr, const Traced&) { return x.position("nose"); };
  EXPECT_EQ(made(), "cartpole has no frame 'nose'");
  o.observe = nullptr, o.stepping.dt = -1;
  EXPECT_EQ(made(), "Rollout: dt is -1.000000, expected a positive number of seconds");
  o.stepping.dt = 0.01;
  const Rollout roll(e, o);
  EXPECT_EQ(message([&] { roll.run(T, B, {}); }), "Rollout: q or v is not given");
  const Precision p = o.precision;
  const Results r{p, 2, 2, 2, 0};
  const Buffer q0(p, B, 2), v0(p, B, 2), u(p, B, 2 * T), narrow(p, B, 1);
  EXPECT_EQ(message([&] { roll.run(T, B, r.arrays(narrow.ref(), v0.ref(), u)); }),
            "q has shape (33, 1), expected (33, 2)");
  EXPECT_EQ(message([&] { roll.run(0, B, r.arrays(q0.ref(), v0.ref(), u)); }), "steps is 0, expected 1 or more");
  RolloutArrays a = r.arrays(q0.ref(), v0.ref(), u);
  a.p = {1};
  EXPECT_EQ(message([&] { roll.run(T, B, a); }), "p has 1 numbers, expected 0, or as many for each step");
}

}  // namespace
}  // namespace featherstorm::test_rollout
