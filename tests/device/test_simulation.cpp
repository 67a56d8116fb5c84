// Simulations and rollouts with their arrays on a device, compared with the host.
#include <gtest/gtest.h>

#include "host/memory/device.h"
#include "host/planning/ilqr.h"
#include "host/planning/planner.h"
#include "host/simulation/rollout.h"
#include "host/simulation/simulation.h"
#include "tests/device/control.h"
#include "tests/device/sequence_cases.h"
#include "tests/support/robots/sensor_box.h"
#include "tests/support/robots/worlds.h"

namespace featherstorm::test_device_simulation {
namespace {

using namespace testing;

constexpr long B = 37;

// Five steps on host and device.
void agrees(const Robot& robot, const StepOptions& options) {
  Evaluator e(robot, {.threads = 1});
  const Precision p = Precision::float64;
  const int nv = robot.model.nv;
  Simulation host(e, B, options, p), there(e, B, options, p, device);
  for (unsigned t = 0; t < 5; t++) {
    host.step(noise(p, B, nv, 0.5, t).ref());
    there.step(noise(p, B, nv, 0.5, t, device).ref());
  }
  EXPECT_LT(farthest(numbers_of(there.q()), numbers_of(host.q())), bound(1e-11, 1e-9)) << robot.name;
  EXPECT_LT(farthest(numbers_of(there.v()), numbers_of(host.v())), bound(1e-9, 1e-7)) << robot.name;
  std::vector<bool> mask(B, false);
  mask[3] = true;
  host.reset(mask), there.reset(mask);
  EXPECT_LT(farthest(numbers_of(there.q()), numbers_of(host.q())), bound(1e-11, 1e-9));
  EXPECT_EQ(there.finite(), std::vector<bool>(B, true));
}

TEST(DeviceSimulation, IsTheHostsWithAllThatRobotsCarry) {
  agrees(load("cartpole"), {.dt = 4e-3, .substeps = 2});
  agrees(standing_go2(), {.dt = 4e-3, .substeps = 2, .numbers = {{"kp", {30}}}});
  agrees(gripping_panda(), {.dt = 4e-3, .substeps = 2});
}

TEST(DeviceSimulation, ReadsItsWorldAsTheHosts) {
  const Robot robot = with_sensors(kAll);
  Evaluator e(robot, {.threads = 1});
  const Precision p = Precision::float64;
  Simulation host(e, B, {}, p), there(e, B, {}, p, device);
  const std::vector<double> start = {0, 0, 0.099, 1, 0, 0, 0};
  for (Simulation* s : {&host, &there}) s->reset({}, start);
  std::vector<bool> mask(B, false);
  mask[2] = true;
  for (int t = 0; t < 20; t++) host.step(), there.step();
  host.reset(mask, start), there.reset(mask, start);
  for (const char* name : {"imu", "speed", "gyro", "sole"}) {
    const std::vector<double> found = numbers_of(there.sensor(name).ref());
    EXPECT_LT(farthest(found, numbers_of(host.sensor(name).ref())), bound(1e-7, 1e-5)) << name;
  }
  EXPECT_LT(farthest(numbers_of(there.site("tip").ref()), numbers_of(host.site("tip").ref())), bound(1e-11, 1e-9));
  const std::vector<double> force = numbers_of(there.contact_force("box").ref());
  EXPECT_LT(farthest(force, numbers_of(host.contact_force("box").ref())), bound(1e-7, 1e-5));
  EXPECT_GT(force[2], 1);
  EXPECT_EQ(force[8], 0);  // instance 2 has not been stepped since its reset
}

TEST(DeviceSimulation, WrongPlacesAreNamed) {
  needs_fake_cuda();
  const Robot robot = load("cartpole");
  Evaluator e(robot, {.threads = 1});
  Simulation there(e, 3, {.dt = 1e-2}, Precision::float32, device);
  const Buffer tau(Precision::float32, 3, 2);
  EXPECT_EQ(message([&] { there.step(tau.ref()); }), "step: tau is on the host, expected CUDA device 1 as q is");
  EXPECT_EQ(message([&] { Simulation(e, 3, {.dt = 1e-2}, Precision::float32, 9); }),
            "Buffer: CUDA device 9 does not exist, expected 0 to 1");
}

TEST(DeviceRollout, IsTheHosts) {
  const Robot robot = standing_go2();
  Evaluator e(robot, {.threads = 1});
  const int nq = robot.model.nq, nv = robot.model.nv;
  const Precision p = Precision::float64;
  constexpr long T = 4;
  RolloutOptions o;
  o.stepping = {.dt = 4e-3, .substeps = 2, .numbers = {{"kp", {30}}, {"kd", {1}}}};
  o.precision = p, o.parameters = 1;
  o.cost = [](const TracedState& x, const Traced& u, Expr t, const Traced& g) {
    const Expr height = x.position("base")[2] - g[0];
    return height * height + 1e-3 * u[7] * u[7] + t;
  };
  const Rollout roll(e, o);
  std::vector<double> costs[2], final[2];
  for (int where : {on_host, device}) {
    const Buffer q0 = noise(p, B, nq, 0.1, 1, where), v0 = noise(p, B, nv, 0.1, 2, where),
                 u = noise(p, B, T * nv, 0.3, 3, where), total(p, B, 1, where), q(p, B, nq, where);
    RolloutArrays a;
    a.q = q0.ref(), a.v = v0.ref(), a.p = {0.3}, a.costs = total.ref(), a.q_final = q.ref();
    a.u = {"u", u.ref(), true, nv * u.stride()};
    a.u.array.components = nv;
    roll.run(T, B, a);
    costs[where == device] = numbers_of(total.ref()), final[where == device] = numbers_of(q.ref());
  }
  EXPECT_LT(farthest(costs[0], costs[1]), bound(1e-10, 1e-9));
  EXPECT_LT(farthest(final[0], final[1]), bound(1e-10, 1e-9));
  EXPECT_GT(costs[0][0], 0);
}

TEST(DevicePlanner, PlansAsTheHosts) {
  Evaluator e(load("cartpole"), {.threads = 1, .parameters = {"mass"}});
  const Precision p = Precision::float64;
  const Rollout roll(e, pushed_cart());
  const std::pair<PlanUpdate, long> cases[] = {
      {PlanUpdate::Best, 0}, {PlanUpdate::SoftmaxMean, 0}, {PlanUpdate::SoftmaxMean, 3}, {PlanUpdate::EliteMean, 3}};
  for (const auto& [update, knots] : cases) {
    std::vector<double> plans[2];
    double cost[2];
    for (const int where : {on_host, device}) {
      Planner planner(roll, {.horizon = 5,
                             .samples = B,
                             .update = {.kind = update, .temperature = 0.3, .standardised = true, .elites = 6},
                             .sigma = {2},
                             .iterations = 2,
                             .knots = knots,
                             .interpolation = Interpolation::Cubic,
                             .adapt = 0.5,
                             .noise_cost = 0.01,
                             .models = 2,
                             .device = where});
      const Buffer q = noise(p, 1, 2, 0.1, 1, where), v = noise(p, 1, 2, 0.1, 2, where);
      const Buffer masses(p, 2, e.robot().model.nb), there(p, 2, e.robot().model.nb, where);
      for (int b = 0; b < e.robot().model.nb; b++)
        for (int m = 0; m < 2; m++) masses.component<double>(b)[m] = 1 + m;
      if (where == device) copy(masses.ref(), there.ref());
      for (int k = 0; k < 2; k++)
        planner.command({.q = q.ref(),
                         .v = v.ref(),
                         .p = {0.5},
                         .parameters = {{"mass", where == device ? there.ref() : masses.ref()}}});
      plans[where == device] = planner.plan(), cost[where == device] = planner.cost();
    }
    EXPECT_LT(farthest(plans[0], plans[1]), bound(1e-9, 1e-8)) << "update " << static_cast<int>(update);
    EXPECT_NEAR(cost[0], cost[1], bound(1e-9, 1e-8) * cost[0]);
  }
}

TEST(DevicePlanner, PlansForSeveralRobotsAsTheHosts) {
  Evaluator e(load("cartpole"), {.threads = 1});
  const Precision p = Precision::float64;
  const Rollout roll(e, pushed_cart());
  std::vector<double> plans[2];
  for (const int where : {on_host, device}) {
    Planner planner(roll, {.horizon = 5, .samples = B, .sigma = {2}, .iterations = 2, .device = where, .robots = 3});
    const Buffer q = noise(p, 3, 2, 0.1, 1, where), v = noise(p, 3, 2, 0.1, 2, where);
    for (int k = 0; k < 2; k++) planner.command({.q = q.ref(), .v = v.ref(), .p = {0.5, -0.5, 1}});
    plans[where == device] = planner.plan();
  }
  EXPECT_EQ(plans[0].size(), 3u * 5u);
  EXPECT_LT(farthest(plans[0], plans[1]), bound(1e-9, 1e-8));
}

TEST(DeviceIlqr, PlansAsTheHosts) {
  Evaluator e(load("cartpole"), {.threads = 1});
  const Precision p = Precision::float64;
  RolloutOptions o;
  o.stepping = {.dt = 0.05}, o.parameters = 1, o.precision = p;
  o.residual = [](const TracedState& x, const Traced& u, Expr t, const Traced& goal) -> Traced {
    return {x.q[0] - goal[0] * t, 0.1 * x.v[0], 0.05 * u[0], 0.05 * u[1]};
  };
  o.terminal_residual = [](const TracedState& x, Expr, const Traced&) -> Traced { return {x.v[0], x.v[1]}; };
  const Buffer q = noise(p, 1, 2, 0.1, 1), v = noise(p, 1, 2, 0.1, 2);
  std::vector<double> plans[2], gains[2];
  for (const int where : {on_host, device}) {
    Ilqr planner(e, o, {.horizon = 6, .iterations = 3, .lower = {-3}, .upper = {3}, .step_sizes = 5, .device = where});
    for (int k = 0; k < 2; k++) planner.command({.q = q.ref(), .v = v.ref(), .p = {0.5}}, 0.1 * k);
    plans[where == device] = planner.last().u, gains[where == device] = planner.last().gains;
  }
  EXPECT_LT(farthest(plans[0], plans[1]), bound(1e-6, 1e-5));
  EXPECT_LT(farthest(gains[0], gains[1]), bound(1e-4, 1e-3));
  EXPECT_GT(farthest(plans[0], std::vector<double>(plans[0].size(), 0.0)), 0.1);
}

}  // namespace
}  // namespace featherstorm::test_device_simulation
