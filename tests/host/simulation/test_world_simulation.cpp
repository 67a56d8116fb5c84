// Simulations and rollouts of a model file's world against its sequence of steps.
#include <gtest/gtest.h>

#include <cstring>

#include "host/simulation/rollout.h"
#include "host/simulation/simulation.h"
#include "tests/support/robots/small_world.h"
#include "tests/support/robots/worlds.h"

namespace featherstorm::test_world_simulation {
namespace {

using namespace testing;

constexpr long B = 19, T = 5;

// q, v, act after T control steps of two passes, by the sequence alone; u (B, 2) of each.
struct State {
  Buffer q, v, act, qacc;
  std::vector<SequenceMemory> arrays() const {
    return {{"q", q.ref()}, {"v", v.ref()}, {"act", act.ref()}, {"qacc", qacc.ref()}};
  }
};
State walk(Evaluator& e, Precision p, const std::vector<Buffer>& u) {
  const Model<double>& m = e.robot().model;
  const Sequence s = world_sequence(e, p, solver_options(m, p));
  State x{noise(p, B, m.nq, 0.4, 1), noise(p, B, m.nv, 0.4, 2), Buffer(p, B, m.world.na), Buffer(p, B, m.nv)};
  for (const Buffer& controls : u) {
    auto in = x.arrays();
    in.push_back({"ctrl", controls.ref()});
    s.run(2, B, in, {}, x.arrays());
  }
  return x;
}

std::vector<Buffer> controls(Precision p) {
  std::vector<Buffer> u;
  for (unsigned t = 0; t < T; t++) u.push_back(noise(p, B, 2, 1, 10 + t));
  return u;
}

// Buffers of one kind have the same strides.
void fill(const ArrayRef& to, const Buffer& from) {
  const std::size_t number = to.precision == Precision::float32 ? sizeof(float) : sizeof(double);
  std::memcpy(to.data, from.ref().data, number * to.component_stride * to.components);
}

TEST(WorldSimulation, IsItsSequence) {
  for (Precision p : {Precision::float32, Precision::float64})
    for (Integrator integrator : {Integrator::Euler, Integrator::RungeKutta}) {
      const Robot robot = with_geoms(small_world(integrator));
      Evaluator e(robot, {.threads = 1});
      Simulation by_count(e, B, {.substeps = 2}, p), by_dt(e, B, {.dt = 0.01}, p);
      const auto u = controls(p);
      const State exact = walk(e, p, u);
      for (Simulation* s : {&by_count, &by_dt}) {
        fill(s->q(), noise(p, B, 4, 0.4, 1)), fill(s->v(), noise(p, B, 4, 0.4, 2));
        for (const Buffer& controls : u) s->step(controls.ref());
        EXPECT_EQ(numbers_of(s->q()), numbers_of(exact.q.ref()));
        EXPECT_EQ(numbers_of(s->v()), numbers_of(exact.v.ref()));
        EXPECT_EQ(numbers_of(s->act()), numbers_of(exact.act.ref()));
        EXPECT_EQ(numbers_of(s->qacc()), numbers_of(exact.qacc.ref()));
        EXPECT_NEAR(s->time(), T * 0.01, 1e-12);
      }
      by_dt.reset();
      for (double x : numbers_of(by_dt.act())) EXPECT_EQ(x, 0);
    }
}

TEST(WorldSimulation, KeepsItsControlsAndTakesForcesAtItsJoints) {
  const Robot robot = with_geoms(small_world());
  Evaluator e(robot, {.threads = 1});
  const Precision p = Precision::float64;
  Simulation kept(e, B, {}, p), given(e, B, {}, p), written(e, B, {}, p);
  const Buffer u = noise(p, B, 2, 1, 3), one = noise(p, 1, 2, 1, 4), tau = noise(p, B, 4, 1, 5);
  fill(written.ctrl(), u);
  kept.step(u.ref()), given.step(u.ref()), written.step();
  kept.step(), given.step(u.ref()), written.step();
  EXPECT_EQ(numbers_of(kept.v()), numbers_of(given.v()));
  EXPECT_EQ(numbers_of(kept.v()), numbers_of(written.v()));
  kept.step({.ctrl = one.ref()});
  EXPECT_EQ(kept.ctrl().instances, B);
  EXPECT_EQ(numbers_of(kept.ctrl())[4], one.component<double>(0)[0]);

  // qacc of forces at the joints is that of the sequence with qfrc_applied
  EXPECT_EQ(given.applied(), nullptr);
  Sequence s = world_sequence(e, p, {.forces = false});
  const State x{Buffer(p, B, 4), Buffer(p, B, 4), Buffer(p, B, 1), Buffer(p, B, 4)};
  fill(x.q.ref(), given.buffers()[0]), fill(x.v.ref(), given.buffers()[1]), fill(x.act.ref(), given.buffers()[2]);
  fill(x.qacc.ref(), given.buffers()[3]);
  given.step({.tau = tau.ref()});
  std::vector<SequenceMemory> in = x.arrays();
  in.push_back({"ctrl", u.ref()}), in.push_back({"qfrc_applied", tau.ref()});
  s.run(1, B, in, {}, x.arrays());
  EXPECT_LT(farthest(numbers_of(given.v()), numbers_of(x.v.ref())), 1e-9);
  EXPECT_EQ(numbers_of(given.applied()->ref()), numbers_of(tau.ref()));
}

TEST(WorldSimulation, ResetsToStatesOfEachInstance) {
  Evaluator e(with_geoms(small_world()), {.threads = 1});
  const Precision p = Precision::float64;
  Simulation s(e, B, {}, p);
  const Buffer q = noise(p, B, 4, 1, 6), v = noise(Precision::float32, 1, 4, 1, 7), act = noise(p, B, 1, 1, 8),
               u = noise(p, B, 2, 1, 9);
  s.step(u.ref());
  std::vector<bool> mask(B, true);
  mask[1] = false;
  const std::vector<double> q_before = numbers_of(s.q());
  s.reset(mask, {.q = q.ref(), .v = v.ref(), .act = act.ref(), .ctrl = u.ref()});
  const std::vector<double> found = numbers_of(s.q());
  for (std::size_t k = 0; k < found.size(); k++) EXPECT_EQ(found[k], k / 4 == 1 ? q_before[k] : numbers_of(q.ref())[k]);
  EXPECT_EQ(numbers_of(s.v())[2], v.component<float>(2)[0]);
  EXPECT_EQ(numbers_of(s.act())[0], act.component<double>(0)[0]);
  EXPECT_EQ(numbers_of(s.ctrl()), numbers_of(u.ref()));
  EXPECT_EQ(message([&] { s.reset({}, {.act = q.ref()}); }), "reset: act has 4 numbers, expected 1");
}

TEST(WorldSimulation, RolloutsAreTheSame) {
  const Precision p = Precision::float64;
  const Robot robot = with_geoms(small_world());
  Evaluator e(robot, {.threads = 1});
  const auto u = controls(p);
  const State exact = walk(e, p, u);
  const Buffer all(p, B, T * 2L), costs(p, B, 1), q(p, B, 4), v(p, B, 4), act(p, B, 1);
  for (long t = 0; t < T; t++)
    for (long c = 0; c < 2; c++)
      for (long i = 0; i < B; i++)
        all.component<double>(2 * t + c)[i] = u[static_cast<std::size_t>(t)].component<double>(c)[i];
  RolloutOptions o;
  o.stepping = {.substeps = 2}, o.precision = p;
  o.cost = [](const TracedState& x, const Traced& controls, Expr, const Traced&) { return x.q[0] + controls[1]; };
  for (bool by_function : {false, true}) {
    // the same controls by a function of its own
    if (by_function)
      o.control = [](const TracedState&, const Traced& controls, Expr, const Traced&) -> RolloutOptions::Drive {
        return {controls};
      };
    const Rollout roll(e, o);
    const Buffer q0 = noise(p, B, 4, 0.4, 1), v0 = noise(p, B, 4, 0.4, 2);
    RolloutArrays a;
    ArrayRef first = all.ref();
    first.components = 2, first.padded = false;
    a.q = q0.ref(), a.v = v0.ref(), a.u = {"", first, true, 2 * all.stride()}, a.costs = costs.ref();
    a.q_final = q.ref(), a.v_final = v.ref(), a.act_final = act.ref();
    roll.run(T, B, a);
    EXPECT_EQ(numbers_of(q.ref()), numbers_of(exact.q.ref()));
    EXPECT_EQ(numbers_of(v.ref()), numbers_of(exact.v.ref()));
    EXPECT_EQ(numbers_of(act.ref()), numbers_of(exact.act.ref()));
  }
}

TEST(WorldSimulation, NamesWhatDoesNotFit) {
  const Robot robot = small_world();
  Evaluator e(robot, {.threads = 1});
  const auto made = [&](const StepOptions& o) { return message([&] { Simulation(e, 2, o); }); };
  EXPECT_EQ(
      made({.dt = 0.004}),
      "Simulation: dt is 0.004000 in 1 substeps, expected a multiple of 0.005000, the timestep of the world's file");
  EXPECT_EQ(made({.dt = 0.01, .substeps = 3}).find("Simulation: dt is 0.010000 in 3 substeps"), 0u);
  EXPECT_EQ(made({.numbers = {{"kp", {1}}}}),
            "Simulation: kp is given, but the step of a model file's world takes its numbers from the file");
  EXPECT_EQ(made({.ignore = {"world"}}), "Simulation: dt is 0.000000, expected a positive number of seconds");
  EXPECT_EQ(made({.dt = 0.001, .ignore = {"world"}}), "no error");
  Simulation s(e, 2);
  const Buffer four(Precision::float32, 2, 4);
  EXPECT_EQ(message([&] { s.step(four.ref()); }), "step: ctrl has shape (2, 4), expected (2, 2)");
  EXPECT_EQ(message([&] { s.step({}, four.ref()); }),
            "step: q_target is given, but the world of a model file has actuators of its own");
  Simulation tree(e, 2, {.dt = 0.001, .ignore = {"world"}});
  EXPECT_EQ(message([&] { tree.act(); }), "Simulation: small_world has no world, or ignores it");
  EXPECT_EQ(message([&] { s.impulse(); }), "Simulation: small_world has no contacts");
  RolloutOptions o;
  o.controls = 3;
  EXPECT_EQ(message([&] { Rollout(e, o); }), "Rollout: controls is 3, expected 2 (nu), or a function `control`");
}

// Gravity of each instance: those of the first robot and of another, in turn.
TEST(WorldSimulation, TakesParametersOfTheRobot) {
  const Precision p = Precision::float64;
  const Robot first = with_geoms(small_world(Integrator::Euler));
  Robot second = first;
  second.model.gravity = {0.5, 0, -3};
  Evaluator both(first, {.threads = 1, .parameters = {"gravity"}}), one(first, {.threads = 1}),
      other(second, {.threads = 1});
  Simulation s(both, B, {.substeps = 2}, p), a(one, B, {.substeps = 2}, p), b(other, B, {.substeps = 2}, p);
  RolloutOptions o;
  o.stepping = {.substeps = 2}, o.precision = p, o.control = nullptr;
  const Rollout roll(both, o);
  const Buffer gravity(p, B, 3);
  for (long i = 0; i < B; i++)
    for (int k = 0; k < 3; k++) gravity.component<double>(k)[i] = (i % 2 ? second : first).model.gravity(k);
  s.parameter("gravity", gravity.ref());
  const auto u = controls(p);
  for (Simulation* x : {&s, &a, &b}) {
    fill(x->q(), noise(p, B, 4, 0.4, 1)), fill(x->v(), noise(p, B, 4, 0.4, 2));
    for (const Buffer& controls : u) x->step(controls.ref());
  }
  const Buffer q0 = noise(p, B, 4, 0.4, 1), v0 = noise(p, B, 4, 0.4, 2), q(p, B, 4), used(p, B, T * 2L);
  for (int t = 0; t < T; t++)
    for (int c = 0; c < 2; c++) std::copy_n(u[t].component<double>(c), B, used.component<double>(2 * t + c));
  RolloutArrays arrays{.q = q0.ref(), .v = v0.ref(), .parameters = {{"gravity", gravity.ref()}}};
  arrays.u = {"u", used.ref(), true, 2 * used.stride()}, arrays.u.array.components = 2, arrays.q_final = q.ref();
  roll.run(T, B, arrays);
  const auto found = numbers_of(s.q()), rolled = numbers_of(q.ref()), by_first = numbers_of(a.q()),
             by_second = numbers_of(b.q());
  EXPECT_GT(farthest(by_first, by_second), 1e-3);
  for (long i = 0; i < B; i++)
    for (long k = 0; k < 4; k++) {
      const double expected = (i % 2 ? by_second : by_first)[4 * i + k];
      EXPECT_NEAR(found[4 * i + k], expected, 1e-12);
      EXPECT_NEAR(rolled[4 * i + k], expected, 1e-12);
    }
  arrays.parameters.clear();
  EXPECT_EQ(message([&] { roll.run(T, B, arrays); }), "Rollout: the parameter gravity of the robot is not given");
}

// A file's `iterations` bound the solver of every face.
TEST(WorldSimulation, EndsAfterTheIterationsOfTheFile) {
  Robot robot = with_geoms(small_world(Integrator::Euler));
  EXPECT_EQ(solver_options(robot.model, Precision::float32).iterations, 100);
  robot.model.world.iterations = 3;
  EXPECT_EQ(solver_options(robot.model, Precision::float32).iterations, 3);
}

}  // namespace
}  // namespace featherstorm::test_world_simulation
