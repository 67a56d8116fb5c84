// Worlds whose contacts are found on the device, one kernel per stage, compared with the same sequence on
// the host.
#include <gtest/gtest.h>

#include <optional>

#include "host/memory/device_graph.h"
#include "host/simulation/rollout.h"
#include "host/simulation/simulation.h"
#include "tests/device/contacts/contact_states.h"
#include "tests/support/robots/small_world.h"
#include "tests/support/robots/touching_world.h"
#include "tests/support/robots/worlds.h"

namespace featherstorm::test_contact_stages {
namespace {

using namespace testing;

// Sets the memory that devices report, until the end of the scope.
struct DeviceMemory {
  explicit DeviceMemory(unsigned long bytes) { set_memory(bytes); }
  ~DeviceMemory() { set_memory(1ul << 36); }
};

struct Found {
  double state = 0, force = 0;       // largest differences between host and device
  double most_rows = 0, passes = 0;  // per instance, on the host
};

Found compare(const Robot& robot, Precision p, const SolverOptions& options, long steps, long B = 45) {
  Evaluator e(robot, {.threads = 1});
  const Model<double>& m = e.robot().model;
  const Sequence s = world_sequence(e, p, options);
  const Twin q = positions_near_the_ground(robot, p, B);
  Twin v(p, B, m.nv, 1), ctrl(p, B, m.world.nu, 1), qacc(p, B, m.nv, 1);
  v.fill([](long i, long k) { return 0.3 * std::cos(0.7 * static_cast<double>(i) + static_cast<double>(k)); });
  ctrl.fill([](long i, long k) { return std::sin(static_cast<double>(i) + 0.4 * static_cast<double>(k)); });
  const Twin q_end(p, B, m.nq, 1), v_end(p, B, m.nv, 1), qacc_end(p, B, m.nv, 1), rows(p, B, 1, 1), passes(p, B, 1, 1),
      row_force(p, B, rows_of(m.world.constraints), 1), contact_force(p, B, rows_of(m.world.contacts), 1);
  for (const bool there : {false, true})
    s.run(steps, B,
          {q.memory("q", there, false), v.memory("v", there, false), ctrl.memory("ctrl", there, false),
           qacc.memory("qacc", there, false)},
          {},
          {q_end.memory("q", there, false), v_end.memory("v", there, false), qacc_end.memory("qacc", there, false),
           rows.memory("rows", there, false), passes.memory("passes", there, false),
           row_force.memory("row_force", there, false), contact_force.memory("contact_force", there, false)});
  Found f;
  for (const Twin* x : {&q_end, &v_end}) f.state = std::max(f.state, x->difference());
  for (const Twin* x : {&row_force, &contact_force, &qacc_end}) f.force = std::max(f.force, x->difference());
  for (long i = 0; i < B; i++) {
    f.most_rows = std::max(f.most_rows, rows.get(rows.host, i, 0));
    f.passes = std::max(f.passes, passes.get(passes.host, i, 0));
  }
  expect_enough_room();
  return f;
}

TEST(ContactStages, AreTheHostsStepByStep) {
  for (const bool elliptic : {false, true})
    for (const bool convex : {false, true}) {
      SCOPED_TRACE(std::string(elliptic ? "cones" : "pyramids") + (convex ? ", convex shapes" : ""));
      const Robot robot = with_touching_world(load("go2"), {.convex = convex, .elliptic = elliptic});
      const Found one = compare(robot, Precision::float64, {100, 1e-12}, 1);
      EXPECT_LT(one.state, bound(1e-12, 1e-9));
      EXPECT_LT(one.force, bound(1e-12, 1e-8));
      EXPECT_GT(one.most_rows, 20) << "much touches";
      EXPECT_LT(compare(robot, Precision::float64, {100, 1e-12}, 20).state, bound(2e-12, 1e-7));
      const Found single = compare(robot, Precision::float32, {100, 1e-6}, 3);
      EXPECT_LT(single.state, bound(2e-4, 2e-2));
    }
}

// Readings of contacts.
TEST(ContactStages, ReadingsAreTheHosts) {
  for (const bool convex : {false, true}) {
    SCOPED_TRACE(convex ? "convex shapes" : "closed forms");
    const Robot robot = with_touching_world(load("go2"), {.convex = convex, .elliptic = true, .margin = 0.05});
    Evaluator e(robot, {.threads = 1});
    const Precision p = Precision::float64;
    SolverOptions o{100, 1e-12};
    o.forces = false;
    o.readings = {"contact_count", "contact_link", "contact_on_geom3", "contact_on_body4", "contact_on_geom3_geom0"};
    const Sequence s = world_sequence(e, p, o);
    constexpr long B = 33;
    const long links = 9 * robot.model.world.n_links();
    const Twin q = positions_near_the_ground(robot, p, B), count(p, B, 4, 1), link(p, B, links, 1),
               selected(p, B, 4 * 3, 1);
    for (const bool there : {false, true})
      s.run(1, B, {q.memory("q", there, false)}, {},
            {count.memory("contact_count", there, false), link.memory("contact_link", there, false),
             selected.memory("contact_selection", there, false)});
    for (const Twin* x : {&count, &link, &selected}) EXPECT_LT(x->difference(), bound(1e-12, 1e-9));
    double most = 0;
    for (long i = 0; i < B; i++) most = std::max(most, count.get(count.host, i, 0));
    EXPECT_GT(most, 5) << "much touches";
    expect_enough_room();
  }
}

// More rows than are solved in the space of rows, so the space of coordinates is used.
TEST(ContactStages, OfManyRowsAreTheHosts) {
  const Robot robot = with_touching_world(load("go2"), {.elliptic = true, .apart = 1, .margin = 0.3});
  const Found one = compare(robot, Precision::float64, {100, 1e-12}, 1, 19);
  EXPECT_GT(one.most_rows, 72);
  EXPECT_LT(one.state, bound(1e-12, 1e-8));
}

TEST(ContactStages, OfTheRigidLawAreTheHosts) {
  const Robot robot = with_touching_world(load("go2"), {.elliptic = true});
  SolverOptions o{100, 1e-12};
  o.rigid.emplace(), o.report = true;
  const Found one = compare(robot, Precision::float64, o, 3, 19);
  EXPECT_GT(one.most_rows, 20);
  EXPECT_LT(one.state, bound(1e-12, 1e-8));
}

TEST(ContactStages, WithoutSlipAreTheHosts) {
  for (const bool elliptic : {false, true})
    for (const int apart : {4, 1}) {
      Robot robot =
          with_touching_world(load("go2"), {.elliptic = elliptic, .apart = apart, .margin = apart == 1 ? 0.3 : 0.01});
      const Found soft = compare(robot, Precision::float64, {100, 1e-12}, 1, 19);
      robot.model.world.no_slip = {5, 0.0};
      EXPECT_FALSE(few_candidates(robot.model));
      const Found one = compare(robot, Precision::float64, {100, 1e-12}, 1, 19);
      EXPECT_EQ(one.most_rows, soft.most_rows);
      // MuJoCo's search along the edge of a cone ends at 1e-10 of a squared force, so single forces show rounding
      const bool ends_early = elliptic && apart == 1;
      EXPECT_LT(one.state, ends_early ? 1e-6 : bound(1e-10, 1e-8));
      EXPECT_LT(one.force, ends_early ? 1e-4 : bound(1e-10, 1e-7));
    }
}

TEST(ContactStages, OfAnyIntegratorAreTheHosts) {
  for (const Integrator integrator : {Integrator::ImplicitFast, Integrator::RungeKutta})
    for (const Precision p : {Precision::float32, Precision::float64}) {
      const bool single = p == Precision::float32;
      const Found f = compare(with_geoms(small_world(integrator)), p, {100, single ? 1e-6 : 1e-12}, 20);
      EXPECT_LT(f.state, single ? bound(1e-5, 1e-3) : bound(1e-12, 1e-9));
      EXPECT_GT(f.most_rows, 2);
    }
}

TEST(ContactStages, TakeTheMemoryThatTheyAreGiven) {
  for (const bool convex : {false, true}) {
    SCOPED_TRACE(convex ? "convex shapes" : "closed forms");
    Robot robot = touching_everywhere(convex);
    compare(robot, Precision::float64, {5, 1e-12}, 1, 3);
    expect_memory_fits();
    robot.model.world.no_slip = {2, 0.0};
    compare(robot, Precision::float64, {5, 1e-12}, 1, 3);
    expect_memory_fits();
  }
}

// More instances than run at once: each thread continues with another.
TEST(ContactStages, OfManyInstancesAreInTurn) {
  const Robot robot = with_geoms(small_world());
  std::optional<DeviceMemory> small;
  if (!real_gpu) small.emplace(3ul << 22);
  const Found f = compare(robot, Precision::float64, {100, 1e-12}, 2, real_gpu ? 70001 : 333);
  EXPECT_LT(f.state, bound(1e-11, 1e-9));
  EXPECT_LT(last_solver().blocks, 333 / 64);
}

TEST(ContactStages, SimulationsFindContactsWhereThereAreMany) {
  const Robot robot = with_touching_world(load("go2"));
  EXPECT_FALSE(few_candidates(robot.model));
  EXPECT_TRUE(few_candidates(small_world().model));
  Evaluator e(robot, {.threads = 1});
  const Precision p = Precision::float64;
  constexpr long B = 21;
  Simulation host(e, B, {.substeps = 2}, p), there(e, B, {.substeps = 2}, p, device);
  const Twin q = positions_near_the_ground(robot, p, B);
  copy(q.there.ref(), there.q());
  for (long k = 0; k < robot.model.nq; k++)
    for (long i = 0; i < B; i++)
      static_cast<double*>(host.q().data)[k * host.q().component_stride + i] = q.get(q.host, i, k);
  const int launches = counts_before().launches;
  for (int t = 0; t < 10; t++) host.step(), there.step();
  EXPECT_LT(farthest(numbers_of(there.q()), numbers_of(host.q())), bound(1e-9, 1e-6));
  EXPECT_LT(farthest(numbers_of(there.v()), numbers_of(host.v())), bound(1e-7, 1e-4));
  // kernels of a step: twice equations, which are too long to share a kernel, solver, integration; no copies
  EXPECT_EQ(counts().launches - launches, 10 * 6);
}

// A rollout with drawn controls, numbers per step, a cost, a terminal cost, and states of each step.
struct Rolled {
  static constexpr long B = 23, T = 5;
  Precision p;
  Robot robot = with_geoms(small_world());
  Evaluator e{robot, {.threads = 1}};
  Twin q, v, states, used, costs, act;
  std::unique_ptr<Rollout> rollout;
  explicit Rolled(Precision p)
      : p(p), q(p, B, 4, 1), v(p, B, 4, 1), states(p, B, 4, T), used(p, B, 2, T), costs(p, B, 1, 1), act(p, B, 1, 1) {
    start(0);
    RolloutOptions o;
    o.stepping = {.substeps = 2}, o.precision = p, o.parameters = 1;
    o.control = [](const TracedState& x, const Traced& u, Expr t, const Traced&) {
      return RolloutOptions::Drive{{u[0] - 0.1 * x.v[0], u[1] + 0.2 * sin(t)}, {}};
    };
    o.cost = [](const TracedState& x, const Traced& u, Expr t, const Traced& g) {
      return (x.q[1] - g[0]) * (x.q[1] - g[0]) + 0.1 * u[0] * u[0] + t;
    };
    o.terminal = [](const TracedState& x, Expr t, const Traced&) { return 10.0 * x.q[2] * x.q[2] + t; };
    rollout = std::make_unique<Rollout>(e, o);
  }
  void start(double phase) {
    q.fill([&](long i, long k) { return std::sin(1.3 * static_cast<double>(i) + static_cast<double>(k) + phase); });
    v.fill([&](long i, long k) { return std::cos(static_cast<double>(i * k) + phase); });
  }
  Controls noise() const {
    Controls c;
    c.name = "u", c.key = {0x123456789abcdefull, 7}, c.sigma = {0.5, 0.3}, c.keep_mean = true;
    for (long k = 0; k < T * 2; k++) c.mean.push_back(std::sin(static_cast<double>(k)));
    return c;
  }
  void run(bool there, const Controls& c, void* stream = nullptr) const {
    const auto at = [&](const Twin& x) { return there ? x.there.ref() : x.host.ref(); };
    RolloutArrays a;
    a.q = at(q), a.v = at(v), a.p = {0.3}, a.made = &c;
    a.costs = at(costs), a.act_final = at(act);
    a.q_states = states.memory("q", there, true), a.used = used.memory("u", there, true);
    rollout->run(T, B, a, 0.5, stream);
  }
  double difference(void* stream = nullptr) const {
    double worst = 0;
    for (const Twin* x : {&states, &used, &costs, &act}) worst = std::max(worst, x->difference(stream));
    return worst;
  }
};

TEST(ContactStages, RolloutsAreTheHosts) {
  for (const Precision p : {Precision::float32, Precision::float64}) {
    const double tolerance = p == Precision::float32 ? bound(1e-3, 5e-3) : bound(1e-10, 1e-9);
    Rolled r(p);
    const Controls c = r.noise();
    r.run(false, c), r.run(true, c);
    EXPECT_LT(r.difference(), tolerance);
    EXPECT_GT(r.costs.get(r.costs.host, 0, 0), 0);
    const auto others = [&] {
      Buffer back(p, Rolled::B, r.states.components * Rolled::T);
      copy(r.states.there.ref(), back.ref());
      std::vector<double> all;
      for (long k = 0; k < back.ref().components; k++)
        for (long i = 0; i < Rolled::B; i++)
          if (i != 3) all.push_back(r.states.get(r.states.host, i, k)), all.push_back(r.states.get(back, i, k));
      return all;
    };
    const std::vector<double> before = others();
    r.q.set(3, 1, NAN);
    copy(r.q.host.ref(), r.q.there.ref());
    r.run(false, c), r.run(true, c);
    EXPECT_EQ(others(), before) << "other instances feel nothing of it";
    EXPECT_EQ(r.costs.get(r.costs.host, 3, 0), INFINITY) << "a state that is not finite";
    EXPECT_LT(r.costs.difference(), tolerance);
  }
}

TEST(ContactStages, WarmRolloutsTakeNoMemoryAndAreCaptured) {
  const DeviceStream stream(device), other(device);
  Rolled r(Precision::float64);
  const Controls c = r.noise();
  EXPECT_EQ(message([&] {
              DeviceGraph(device, stream.get(), [&] { r.run(true, c, stream.get()); });
            }).find("a rollout that is captured into a graph must have run before"),
            0u);
  r.run(true, c, stream.get());
  synchronise(device, stream.get());
  const DeviceGraph graph(device, stream.get(), [&] { r.run(true, c, stream.get()); });
  r.start(0.4);
  graph.launch(stream.get());
  r.run(false, c);
  EXPECT_LT(r.difference(stream.get()), bound(1e-10, 1e-9));
  const StandInCounts before = counts();
  for (int k = 0; k < 3; k++) r.run(true, c, stream.get());
  EXPECT_EQ(counts().pool_allocations, before.pool_allocations);
  EXPECT_EQ(counts().driver_allocations, before.driver_allocations);
  EXPECT_EQ(counts().waits, before.waits);
  EXPECT_EQ(counts().stream, stream.get());
  r.run(true, c, other.get());
  EXPECT_GT(counts().pool_allocations, before.pool_allocations) << "a stream has its own memory";
  synchronise(device, other.get());
}

TEST(ContactStages, GiveBackTheirMemoryAndTheirKernels) {
  const StandInCounts before = counts();
  {
    const Rolled r(Precision::float32);
    r.run(true, r.noise());
    EXPECT_GT(counts().live_programs, before.live_programs);
  }
  EXPECT_EQ(counts().live_programs, before.live_programs);
  EXPECT_EQ(counts().live_blocks, before.live_blocks);
}

// The state's memory may be both input and output, and outputs may have any order of numbers.
TEST(ContactStages, StatesMayBeOverwritten) {
  const Robot robot = with_geoms(small_world());
  Evaluator e(robot, {.threads = 1});
  const Precision p = Precision::float64;
  constexpr long B = 19;
  const Sequence s = world_sequence(e, p, solver_options(e.robot().model, p));
  const Twin q = positions_near_the_ground(robot, p, B), v(p, B, 4, 1), act(p, B, 1, 1), qacc(p, B, 4, 1),
             rows(p, 4, B, 1);
  const auto transposed = [&](bool there) {  // (B, 4), one row per instance
    ArrayRef a = there ? rows.there.ref() : rows.host.ref();
    std::swap(a.instances, a.components), std::swap(a.instance_stride, a.component_stride);
    return SequenceMemory{"qfrc_constraint", a};
  };
  for (const bool there : {false, true}) {
    const auto state = [&]() -> std::vector<SequenceMemory> {
      return {q.memory("q", there, false), v.memory("v", there, false), act.memory("act", there, false),
              qacc.memory("qacc", there, false)};
    };
    for (int k = 0; k < 3; k++) {
      auto out = state();
      out.push_back(transposed(there));
      s.run(2, B, state(), {}, out);
    }
  }
  for (const Twin* x : {&q, &v, &act, &qacc, &rows}) EXPECT_LT(x->difference(), bound(1e-10, 1e-8));
}

TEST(ContactStages, StagesAreCheckedWhenTheyAreDeclared) {
  Sequence s(Precision::float32, 1);
  s.array("x", 1), s.array("y", 1), s.uniform("t", 1);
  Stage stage;
  stage.on_device = [](int) { return nullptr; };
  stage.in = {"x"}, stage.out = {"y"}, stage.repeat = 2;
  EXPECT_EQ(message([&] { s.stage(stage); }), "a stage with a kernel for devices is repeated, expected one pass");
  stage.repeat = 1, stage.in = {"x", "t"};
  EXPECT_EQ(message([&] { s.stage(stage); }),
            "array 't' is uniform, a stage with a kernel for devices expects numbers for each instance");
}

TEST(ContactStages, WhatIsMissingIsNamed) {
  const Robot robot = with_touching_world(load("go2"));
  Evaluator e(robot, {.threads = 1});
  const Precision p = Precision::float64;
  const Twin q = positions_near_the_ground(robot, p, 5), q_end(p, 5, robot.model.nq, 1);
  const auto words = [&] {
    const Sequence s = world_sequence(e, p, {100, 1e-12});
    return message([&] { s.run(1, 5, {q.memory("q", true, false)}, {}, {q_end.memory("q", true, false)}); });
  };
  {
    const DeviceMemory small(1ul << 20);
    EXPECT_EQ(words().find("contacts: CUDA device 1: 64 instances side by side need "), 0u) << words();
  }
  fail_next("cudaMalloc", out_of_memory);
  EXPECT_EQ(words().find("contacts: CUDA device 1: cudaErrorMemoryAllocation: out of memory (cudaMalloc"), 0u);
  set_local_bytes(1ul << 40);
  EXPECT_EQ(words().find("contacts: CUDA device 1: the kernel of the contact solver needs "), 0u) << words();
  set_local_bytes(0);
  set_devices(0);
  EXPECT_EQ(words().find("rollout: CUDA device 1 cannot be used"), 0u) << words();
  set_devices(2);
  EXPECT_EQ(words(), "no error");
}

}  // namespace
}  // namespace featherstorm::test_contact_stages
