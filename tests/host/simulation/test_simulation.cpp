// Simulations against loops over the rows that they are made of.
#include <gtest/gtest.h>

#include <cmath>

#include "core/model/loops.h"
#include "host/simulation/simulation.h"
#include "tests/support/robots/linkages.h"
#include "tests/support/robots/worlds.h"
#include "tests/support/tools/run_batch.h"

namespace featherstorm::test_simulation {
namespace {

using namespace testing;

constexpr long B = 37;

// The numbers of each instance.
Batch instances_of(const ArrayRef& a) {
  const std::vector<double> x = numbers_of(a);
  Batch all;
  for (long i = 0; i < a.instances; i++)
    all.emplace_back(x.begin() + i * a.components, x.begin() + (i + 1) * a.components);
  return all;
}

// The row's uniforms in its order, what is not named at its default.
std::vector<double> uniforms(const OpRow& row, std::map<std::string, double> given) {
  const std::map<std::string, double> defaults = {
      {"friction_velocity", 0.01}, {"erp", 0.2}, {"slop", 1e-3}, {"max_push", 1}, {"rebound", 0.1},
      {"tolerance", 1e-5}};
  std::vector<double> all;
  for (const auto& u : row.uniforms) {
    const std::string name(u.name);
    const double x = given.contains(name) ? given[name] : defaults.contains(name) ? defaults.at(name) : 0;
    all.insert(all.end(), u.components, x);
  }
  return all;
}

// q after steps of the row `op` from q0 at rest; its outputs are its next inputs.
template <class Real>
std::vector<double> walk(Evaluator& e, const std::string& op, int steps, long repeat,
                         const std::vector<double>& numbers, const Buffer& tau, const Buffer& target) {
  const OpRow& row = e.op(op);
  std::vector<Batch> x{Batch(B, e.robot().q0)};
  for (std::size_t k = 1; k < row.out.size(); k++) x.emplace_back(B, Numbers(row.in[k].components));
  for (const Buffer* given : {&tau, &target}) x.push_back(instances_of(given->ref()));
  for (int t = 0; t < steps; t++) {
    const std::vector<Batch> next = run_batch<Real>(e, op, x, numbers, repeat);
    std::copy(next.begin(), next.end(), x.begin());
  }
  Numbers q;
  for (const Numbers& one : x[0]) q.insert(q.end(), one.begin(), one.end());
  return q;
}

void is_the_loop(const Robot& robot, const std::string& op, const StepOptions& options,
                 std::map<std::string, double> given) {
  Evaluator e(robot, {.threads = 1});
  const int nv = robot.model.nv;
  for (Precision p : {Precision::float32, Precision::float64}) {
    const Buffer tau = noise(p, B, nv, 0.5, 1), target = noise(p, B, nv, 0.3, 2);
    Simulation s(e, B, options, p);
    for (int t = 0; t < 5; t++) s.step(tau.ref(), target.ref());
    given["dt"] = options.dt / options.substeps;
    const auto steps = p == Precision::float32 ? walk<float> : walk<double>;
    const std::vector<double> expected = steps(e, op, 5, options.substeps, uniforms(e.op(op), given), tau, target);
    EXPECT_EQ(numbers_of(s.q()), expected) << robot.name;
    EXPECT_EQ(s.finite(), std::vector<bool>(B, true));
    EXPECT_NEAR(s.time(), 5 * options.dt, 1e-15);
  }
}

TEST(Simulation, IsALoopOverTheRowThatTakesWhatTheRobotCarries) {
  is_the_loop(load("cartpole"), "step", {.dt = 4e-3, .substeps = 3}, {});
  is_the_loop(load("go2"), "step", {.dt = 4e-3, .numbers = {{"kp", {30}}, {"kd", {1}}}}, {{"kp", 30}, {"kd", 1}});
  is_the_loop(standing_go2(), "contact_step", {.dt = 4e-3, .substeps = 2, .numbers = {{"kp", {30}}, {"slop", {0}}}},
              {{"kp", 30}, {"slop", 0}});
  is_the_loop(standing_go2(), "step", {.dt = 4e-3, .ignore = {"contacts"}}, {});
  Linkage bars = four_bar();
  bars.robot.model.loops = bars.loops, bars.robot.q0 = bars.q;
  is_the_loop(bars.robot, "loop_step", {.dt = 4e-3, .substeps = 2}, {{"rate", 0.1 / 2e-3}});
}

TEST(Simulation, CoupledJointsFollowTheirDrivers) {
  const Robot robot = gripping_panda();
  Evaluator e(robot, {.threads = 1});
  const Model<double>& m = robot.model;
  const int nv = m.nv, nu = m.coupling.nu;
  const Precision p = Precision::float64;
  const Buffer tau = noise(p, B, nv, 2, 3);
  Simulation s(e, B, {.dt = 2e-3, .substeps = 2}, p);
  for (int t = 0; t < 4; t++) s.step(tau.ref());
  const std::vector<double> given = uniforms(e.op("coupled_step"), {{"dt", 1e-3}});
  const Batch torque = instances_of(tau.ref()), target(B, Numbers(nv));
  std::vector<Batch> x{run_batch(e, "coupled_position", {Batch(B, robot.q0)})[0], Batch(B, Numbers(nu))};
  for (int t = 0; t < 4; t++) x = run_batch(e, "coupled_step", {x[0], x[1], torque, target}, given, 2);
  const Batch v = run_batch(e, "coupled_velocity", {x[1]})[0];
  for (long i = 0; i < B; i++) {
    EXPECT_LT(farthest(instances_of(s.q())[i], x[0][i]), 1e-14);
    EXPECT_LT(farthest(instances_of(s.v())[i], v[i]), 1e-12);
  }
  EXPECT_GT(farthest(numbers_of(s.v()), std::vector<double>(B * nv)), 0.01);
}

TEST(Simulation, ResetsTheInstancesThatItIsTold) {
  const Robot robot = standing_go2();
  Evaluator e(robot, {.threads = 1});
  Simulation s(e, 3, {.dt = 4e-3});
  s.step(noise(Precision::float32, 3, robot.model.nv, 5, 4).ref());
  static_cast<float*>(s.v().data)[1] = NAN;
  EXPECT_EQ(s.finite(), (std::vector<bool>{true, false, true}));
  const std::vector<double> before = numbers_of(s.q());
  std::vector<double> q = robot.q0;
  q[2] = 0.5;
  s.reset({false, true, false}, q);
  EXPECT_EQ(s.finite(), std::vector<bool>(3, true));
  const std::vector<double> after = numbers_of(s.q());
  const std::size_t nq = robot.q0.size();
  for (std::size_t k = 0; k < 3 * nq; k++) EXPECT_EQ(after[k], k / nq == 1 ? static_cast<float>(q[k % nq]) : before[k]);
  EXPECT_EQ(numbers_of(s.impulse())[12], 0);
}

TEST(Simulation, ParametersAreTheRobotsUntilTheyAreSet) {
  const Robot robot = load("cartpole");
  Evaluator e(robot, {.threads = 1, .parameters = {"mass"}}), plain(robot, {.threads = 1});
  const Precision p = Precision::float64;
  const Buffer tau = noise(p, B, 2, 1, 5);
  Simulation own(e, B, {.dt = 1e-2}, p), expected(plain, B, {.dt = 1e-2}, p);
  for (int t = 0; t < 3; t++) own.step(tau.ref()), expected.step(tau.ref());
  EXPECT_LT(farthest(numbers_of(own.q()), numbers_of(expected.q())), 1e-14);
  const long n = static_cast<long>(parameter_values(robot, "mass").size());
  Buffer heavy(p, 1, n);
  for (long c = 0; c < n; c++) heavy.component<double>(c)[0] = 10;
  own.parameter("mass", heavy.ref());
  own.step(tau.ref()), expected.step(tau.ref());
  EXPECT_GT(farthest(numbers_of(own.v()), numbers_of(expected.v())), 1e-4);
}

TEST(Simulation, NamesWhatDoesNotFit) {
  const Robot robot = load("cartpole");
  Evaluator e(robot, {.threads = 1});
  const auto made = [&](const StepOptions& o, long instances = 2) {
    return message([&] { Simulation(e, instances, o); });
  };
  EXPECT_EQ(made({}), "Simulation: dt is 0.000000, expected a positive number of seconds");
  EXPECT_EQ(made({.dt = 1, .substeps = 0}), "Simulation: substeps is 0, expected 1 or more");
  EXPECT_EQ(made({.dt = 1}, -1), "Simulation: instances is -1, expected 0 or more");
  EXPECT_EQ(made({.dt = 1, .ignore = {"wind"}}),
            "Simulation: ignore has 'wind', expected some of contacts, loops, couplings, world");
  EXPECT_EQ(made({.dt = 1, .numbers = {{"erp", {1}}}}).find("step: unknown number erp; there are "), 0u);
  EXPECT_EQ(made({.dt = 1, .numbers = {{"kp", {1, 2, 3}}}}), "Simulation: kp has 3 numbers, expected 1 or 2");
  EXPECT_EQ(made({.dt = 1, .numbers = {{"kp", {NAN}}}}).find("Simulation: kp is nan"), 0u);
  Simulation s(e, 2, {.dt = 1e-2});
  const std::vector<double> before = numbers_of(s.q());
  const Buffer three(Precision::float32, 3, 2), twice(Precision::float64, 2, 2);
  EXPECT_EQ(message([&] { s.step(three.ref()); }), "step: tau has shape (3, 2), expected (2, 2)");
  EXPECT_EQ(message([&] { s.step(twice.ref()); }), "step: tau is float64, expected float32 as q is");
  EXPECT_EQ(message([&] { s.impulse(); }), "Simulation: cartpole has no contacts");
  EXPECT_EQ(message([&] { s.reset({true}); }), "reset: mask has 1 instances, expected 2");
  EXPECT_EQ(message([&] { s.reset({}, {1, 2, 3}); }), "reset: q has 3 numbers, expected 2");
  EXPECT_EQ(message([&] { s.parameter("mass", three.ref()); }), "Simulation: mass is no parameter of the evaluator");
  EXPECT_EQ(numbers_of(s.q()), before);
  Robot both = gripping_panda();
  both.model.contacts = contacts_of(both, {on_ground("panda_hand", {0, 0, 0}, 0.1)});
  Evaluator two(both, {.threads = 1});
  EXPECT_EQ(message([&] { Simulation(two, 1, {.dt = 1e-3}); }),
            "Simulation: panda carries contacts and couplings, which no operation steps together; ignore all of these "
            "but one");
  EXPECT_EQ(message([&] { Simulation(two, 1, {.dt = 1e-3, .ignore = {"couplings"}}).step(); }), "no error");
  Simulation none(e, 0, {.dt = 1e-2});
  none.step();  // an empty batch does nothing
}

}  // namespace
}  // namespace featherstorm::test_simulation
