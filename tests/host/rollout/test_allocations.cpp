// A warm rollout allocates nothing: this program's operator new counts where a test says so. (The blocks of scratch.h
// come from aligned_alloc when a thread first needs them; their list is a vector, so they are counted too.) Not under the
// address sanitizer, whose own operators these would replace.
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>

#include "host/engine/evaluator.h"
#include "host/load/load.h"
#include "host/planning/receding.h"
#include "host/rollout/reduction.h"
#include "host/rollout/sequence.h"

// g++ takes the pair of operators, once inlined, for a mismatch of new and free
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace {

std::atomic<long> allocations{0};
std::atomic<bool> counting{false};

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (counting) allocations++;
  void* p = alignment ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                      : std::malloc(bytes ? bytes : 1);
  if (!p) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, 0); }
void* operator new[](std::size_t bytes) { return allocate(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t a) { return allocate(bytes, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t bytes, std::align_val_t a) { return allocate(bytes, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace featherstorm::test_allocations {
namespace {

template <class F>
long allocations_of(const F& f) {
  allocations = 0, counting = true;
  f();
  counting = false;
  return allocations;
}

TEST(Allocations, AreCounted) {
  std::vector<int>* kept = nullptr;
  EXPECT_EQ(allocations_of([&] { kept = new std::vector<int>(100); }), 2);
  delete kept;
}

TEST(Allocations, AWarmRolloutWithNoiseAndItsReductionsHasNone) {
  const Robot robot = load("panda");
  Evaluator dynamics(robot, {.threads = 1});
  const OpRow& row = dynamics.op("step");
  Sequence s(Precision::float32, 1);
  std::vector<std::string> inputs;
  std::vector<UniformValues> uniforms;
  for (const auto& a : row.in) s.array(std::string(a.name), a.components), inputs.emplace_back(a.name);
  for (const auto& a : row.uniforms) {
    s.uniform(std::string(a.name), a.components), inputs.emplace_back(a.name);
    uniforms.push_back({std::string(a.name), std::vector<double>(a.components, a.name == "dt" ? 1e-3 : 0.0)});
    if (a.name == "friction_velocity") uniforms.back().values = {0.01};
  }
  s.array("q_next", robot.model.nq), s.array("v_next", robot.model.nv);
  s.stage(stage_of(dynamics, "step", Precision::float32, inputs, {"q_next", "v_next"},
                   {{"q", "q_next"}, {"v", "v_next"}}, 2));
  constexpr long B = 300, T = 5;
  const int n = robot.model.nv;
  Controls noise;
  noise.name = std::string(row.in[2].name), noise.mean.assign(T * n, 0.1), noise.sigma.assign(n, 1.0);
  for (long t = 0; t < T; t++)
    for (long k = 0; k < 3; k++) noise.weights.push_back(std::max(0.0, 1 - std::abs(t / 2.0 - k)));
  Buffer states(Precision::float32, B, T * n), u(Precision::float32, B, T * n);
  const auto every = [&](const Buffer& b, const std::string& name) {
    ArrayRef a = b.ref();
    a.components = n;
    return SequenceMemory{name, a, true, n * b.stride()};
  };
  const std::vector<SequenceMemory> in, out = {every(states, "v"), every(u, noise.name)};
  const auto run = [&] { s.run(T, B, in, uniforms, out, &noise); };
  run();
  EXPECT_EQ(allocations_of(run), 0);
  EXPECT_NE(states.component<float>(T * n - 1)[B - 1], 0);

  Buffer costs(Precision::float32, B, 1), weights(Precision::float64, B, 1), mean(Precision::float32, T * n, 1);
  const auto reduction = Reduction::on(on_host);
  const auto reduce = [&] {
    reduction->softmax_weights(costs.ref(), 1, weights.ref());
    reduction->weighted_mean(out[1], T, weights.ref(), mean.ref());
  };
  reduce();
  EXPECT_EQ(allocations_of(reduce), 0);
}

// A robot with contacts, a parameter and a cost, and the world of a file; every update, with all that planners can do.
TEST(Allocations, AWarmPlanHasNone) {
  for (const bool world : {false, true}) {
    Robot robot =
        world ? load("cartpole", {.world = UrdfWorld{.ground = true, .motors = true, .timestep = 0.01}}) : load("go2");
    if (!world) robot.model.contacts = contacts_of(robot, {on_ground("FL_foot", {0, 0, 0}, 0.022, 0.8)});
    EvaluatorOptions threads{.threads = 1};
    if (!world) threads.parameters = {"mass"};
    Evaluator dynamics(robot, threads);
    RolloutOptions options;
    options.stepping.dt = 0.02, options.stepping.substeps = 2, options.parameters = 1;
    options.cost = [](const TracedState& x, const Traced& u, Expr, const Traced& p) {
      return x.q[0] * x.q[0] + p[0] * (u[0] - 1.0) * (u[0] - 1.0);
    };
    const Rollout roll(dynamics, options);
    const Model<double>& m = robot.model;
    const Buffer q(Precision::float32, 1, m.nq), v(Precision::float32, 1, m.nv), mass(Precision::float32, 2, m.nb);
    for (int k = 0; k < m.nq; k++) q.component<float>(k)[0] = static_cast<float>(robot.q0[k]);
    for (int k = 0; k < m.nb; k++) mass.component<float>(k)[0] = 1, mass.component<float>(k)[1] = 2;
    RolloutArrays state{.q = q.ref(), .v = v.ref(), .p = {1e-3}};
    if (!world) state.parameters["mass"] = mass.ref();
    for (const PlanUpdate update : {PlanUpdate::Best, PlanUpdate::SoftmaxMean, PlanUpdate::EliteMean}) {
      Planner planner(roll, {.horizon = 8,
                             .samples = 40,
                             .update = {.kind = update, .temperature = 0.1, .standardised = true, .elites = 8},
                             .iterations = 2,
                             .knots = world ? 0 : 4,
                             .interpolation = Interpolation::Cubic,
                             .adapt = 0.5,
                             .noise_cost = 0.01,
                             .models = world ? 1 : 2});
      Predictor predictor(dynamics, options);
      std::vector<double> u(static_cast<std::size_t>(roll.controls()));
      const std::vector<double> plan = planner.plan();
      planner.warm(state), predictor.state(planner, state, 0, 0.04);
      EXPECT_EQ(planner.plan(), plan);
      EXPECT_TRUE(std::isnan(planner.cost())) << "the plan stays as it is";
      EXPECT_EQ(allocations_of([&] {
                  for (int k = 0; k < 3; k++)
                    planner.command(predictor.state(planner, state, 0.013 * k, 0.04), 0.013 * k + 0.04);
                  planner.control(0.05, u);
                }),
                0)
          << (world ? "world" : "tree") << ", update " << static_cast<int>(update);
      EXPECT_NE(planner.plan(), plan);
    }
  }
}

TEST(Allocations, AThreadThatPlansHasNone) {
  const Robot robot = load("go2");
  Evaluator dynamics(robot, {.threads = 1});
  const RolloutOptions options{.stepping = {.dt = 0.02}};
  const Rollout roll(dynamics, options);
  Planner planner(roll, {.horizon = 8, .samples = 40, .knots = 4});
  Receding receding(planner, dynamics, options);
  std::vector<double> x(robot.q0.begin(), robot.q0.end()), u(18);
  x.resize(robot.q0.size() + 18);
  const auto wait_for = [&](long plans) {
    while (receding.plans() < plans) {
      receding.submit(x, receding.clock()), receding.control(receding.clock(), u);
      std::this_thread::yield();
    }
  };
  wait_for(2);
  EXPECT_EQ(allocations_of([&] { wait_for(12); }), 0);
}

// A control takes about 0.1 us with the engine's optimisation; the bound is for busy machines and sanitizers.
TEST(Allocations, AControlOfAPlanTakesMicroseconds) {
  const Robot robot = load("go2");
  Evaluator dynamics(robot, {.threads = 1});
  const Rollout roll(dynamics, {.stepping = {.dt = 0.02}});
  Planner planner(roll, {.horizon = 16, .samples = 2, .knots = 5, .interpolation = Interpolation::Cubic});
  const Buffer q(Precision::float32, 1, robot.model.nq), v(Precision::float32, 1, robot.model.nv);
  q.component<float>(3)[0] = 1;
  planner.command({.q = q.ref(), .v = v.ref()}, 0);
  std::vector<double> u(18);
  double least = HUGE_VAL;
  for (int k = 0; k < 20; k++) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; i++) planner.control(0.003 * i, u);
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 100);
  }
  RecordProperty("nanoseconds", static_cast<int>(1e9 * least));
  EXPECT_LT(least, 5e-6);
}

}  // namespace
}  // namespace featherstorm::test_allocations

#endif
