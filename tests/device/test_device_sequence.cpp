// Rollouts on a device, through the stand-in, against the same sequence on the host; the noise of a kernel, word by
// word; what is allocated; graphs; and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <thread>

#include "core/trace/program.h"
#include "host/device.h"
#include "host/evaluator.h"
#include "host/load.h"
#include "host/sequence.h"
#include "host/traced_kernel.h"
#include "tests/device/control.h"
#include "tests/host/scratch.h"

namespace featherstorm::testing {
namespace {

constexpr int device = 1;
constexpr long T = 6;
constexpr double inf = std::numeric_limits<double>::infinity();

// Texts compiled for a test go to a folder of its own.
const test::Scratch scratch;
const test::Environment cache{"FEATHERSTORM_CACHE", (scratch / "cache").string()};

// total_next = total + (q - p) . (q - p) + 0.1 u . u + t, of nq, nv numbers; p the same for all
Program cost(int nq, int nu) {
  Program p;
  const auto q = p.input("q", nq), u = p.input("u", nu), total = p.input("total", 1), goal = p.input("p", 1);
  const auto t = p.input("t_next", 1, true);
  Tracing scope(p.graph);
  Expr sum = total[0] + t[0];
  for (const Expr& x : q) sum = sum + (x - goal[0]) * (x - goal[0]);
  for (const Expr& x : u) sum = sum + 0.1 * x * x;
  p.output("total_next", {sum});
  return p;
}
// tau = u - 0.2 v + 0.1 sin(t), of nv; a controller
Program control(int nv) {
  Program p;
  const auto v = p.input("v", nv), u = p.input("u", nv), t = p.input("t", 1, true);
  Tracing scope(p.graph);
  std::vector<Expr> tau;
  for (int k = 0; k < nv; k++) tau.push_back(u[k] - 0.2 * v[k] + 0.1 * sin(t[0]));
  p.output("tau", tau);
  return p;
}
// total_next = total + 100 q_0
Program terminal(int nq) {
  Program p;
  const auto q = p.input("q", nq), total = p.input("total", 1);
  Tracing scope(p.graph);
  p.output("total_next", {total[0] + 100.0 * q[0]});
  return p;
}

// Arrays (B, components, steps) of one precision on the host and on the device, filled with the same numbers.
struct Twin {
  Buffer host, there;
  long components, steps;
  Twin(Precision p, long B, long components, long steps)
      : host(p, B, components * steps), there(p, B, components * steps, device), components(components), steps(steps) {}
  template <class F>
  Twin& fill(const F& f) {
    for (long k = 0; k < components * steps; k++)
      for (long i = 0; i < host.ref().instances; i++) set(i, k, f(i, k));
    copy(host.ref(), there.ref());
    return *this;
  }
  void set(long i, long k, double x) {
    if (host.ref().precision == Precision::float32) host.component<float>(k)[i] = static_cast<float>(x);
    else host.component<double>(k)[i] = x;
  }
  double get(const Buffer& b, long i, long k) const {
    return b.ref().precision == Precision::float32 ? b.component<float>(k)[i] : b.component<double>(k)[i];
  }
  SequenceMemory memory(const std::string& name, bool on_device, bool every_step) const {
    const Buffer& b = on_device ? there : host;
    ArrayRef a = b.ref();
    a.components = components;
    return {name, a, every_step, components * b.stride()};
  }
  // The greatest difference between host and device, relative to the greatest number; infinite where one is no number.
  double difference(void* stream = nullptr) const {
    Buffer back(host.ref().precision, host.ref().instances, components * steps);
    copy(there.ref(), back.ref(), stream);
    double worst = 0, scale = 1e-3;
    for (long k = 0; k < components * steps; k++)
      for (long i = 0; i < host.ref().instances; i++) {
        const double x = get(host, i, k), y = get(back, i, k);
        if (std::isnan(x) && std::isnan(y)) continue;
        scale = std::max(scale, std::abs(x));
        worst = std::abs(x - y) <= HUGE_VAL ? std::max(worst, std::abs(x - y)) : HUGE_VAL;
      }
    return worst / scale;
  }
};

// A rollout of a robot: controller, step, cost, terminal cost.
struct Rolling {
  Evaluator e;
  int nq, nv;
  Precision precision;
  Sequence s;
  std::vector<UniformValues> uniforms;
  Rolling(const std::string& robot, Precision p, long substeps, std::vector<std::string> parameters = {})
      : e(load(robot), {.threads = 1, .parameters = std::move(parameters)}),
        nq(e.robot().model.nq),
        nv(e.robot().model.nv),
        precision(p),
        s(p, 1) {
    for (const auto& [name, n] : std::vector<std::pair<std::string, int>>{{"q", nq},
                                                                          {"v", nv},
                                                                          {"q_next", nq},
                                                                          {"v_next", nv},
                                                                          {"u", nv},
                                                                          {"tau", nv},
                                                                          {"q_target", nv},
                                                                          {"p", 1},
                                                                          {"total", 1},
                                                                          {"total_next", 1}})
      s.array(name, n);
    const OpRow& row = e.op("step");
    for (std::size_t k = 4; k < row.in.size(); k++) s.array(std::string(row.in[k].name), row.in[k].components);
    for (const auto& a : row.uniforms) {
      s.uniform(std::string(a.name), a.components);
      double value = a.name == "dt" ? 2e-3 : a.name == "friction_velocity" ? 0.01 : a.name == "kd" ? 0.1 : 0;
      uniforms.push_back({std::string(a.name), std::vector<double>(a.components, value)});
    }
    s.uniform("t", 1), s.uniform("t_next", 1);
    uniforms.push_back({"t", {}}), uniforms.push_back({"t_next", {}});
    for (long t = 0; t < T; t++)
      uniforms[uniforms.size() - 2].values.push_back(0.3 * t), uniforms.back().values.push_back(0.3 * (t + 1));
    traced(control(nv), {}, false);
    Stage step;
    step.kernel = e.kernel("step", p), step.program = [this] { return e.program("step"); };
    step.in = {"q", "v", "tau", "q_target"}, step.out = {"q_next", "v_next"}, step.repeat = substeps;
    for (std::size_t k = 4; k < row.in.size(); k++) step.in.push_back(std::string(row.in[k].name));
    for (const auto& a : row.uniforms) step.in.push_back(std::string(a.name));
    step.swaps = {{"q", "q_next"}, {"v", "v_next"}};
    s.stage(step);
    traced(cost(nq, nv), {{"total", "total_next"}}, false);
    traced(terminal(nq), {{"total", "total_next"}}, true);
    s.finite("total", {"q", "v"});
  }
  void traced(const Program& p, std::vector<std::pair<std::string, std::string>> swaps, bool last) {
    Stage s_;
    s_.kernel = interpret_program(p, precision), s_.program = [p] { return p; };
    for (const auto& a : p.inputs) s_.in.push_back(a.name);
    for (const auto& a : p.outputs) s_.out.push_back(a.name);
    s_.swaps = std::move(swaps), s_.last = last;
    s.stage(std::move(s_));
  }
};

// All arrays of a batch, on both sides.
struct Arrays {
  Twin q, v, u, p, states, velocities, used, total;
  Arrays(const Rolling& r, long B)
      : q(r.precision, B, r.nq, 1),
        v(r.precision, B, r.nv, 1),
        u(r.precision, B, r.nv, T),
        p(r.precision, B, 1, 1),
        states(r.precision, B, r.nq, T),
        velocities(r.precision, B, r.nv, T),
        used(r.precision, B, r.nv, T),
        total(r.precision, B, 1, 1) {
    const std::vector<double> q0 = neutral(r.e.robot().model);
    q.fill([&](long i, long k) { return q0[k] + (r.nq == r.nv ? 0.3 * std::sin(i + 2.0 * k) : 0); });
    v.fill([](long i, long k) { return 0.2 * std::cos(3.0 * i + k); });
    u.fill([](long i, long k) { return std::sin(0.7 * i + k); });
    p.fill([](long i, long) { return 0.01 * i; });
    for (Twin* x : {&states, &velocities, &used, &total}) x->fill([](long, long) { return NAN; });
  }
  std::vector<SequenceMemory> in(bool on_device, bool controls) const {
    std::vector<SequenceMemory> all = {q.memory("q", on_device, false), v.memory("v", on_device, false),
                                       p.memory("p", on_device, false)};
    if (controls) all.push_back(u.memory("u", on_device, true));
    return all;
  }
  std::vector<SequenceMemory> out(bool on_device) const {
    return {states.memory("q", on_device, true), velocities.memory("v", on_device, true),
            used.memory("u", on_device, true), total.memory("total", on_device, false)};
  }
  static std::vector<double> neutral(const Model<double>& m) {
    std::vector<double> q(m.nq);
    for (int k = 0; k < m.nq; k++) q[k] = m.nq > m.nv && k == 3 ? 1 : m.nq > m.nv && k == 2 ? 0.3 : 0.1;
    if (m.nq > m.nv)
      for (int k : {4, 5, 6}) q[k] = 0;
    return q;
  }
};

// On both sides; returns how far apart they are, over all that is written.
double both(Rolling& r, const Arrays& a, long B, const Controls* host = nullptr, const Controls* there = nullptr,
            void* stream = nullptr) {
  r.s.run(T, B, a.in(false, !host), r.uniforms, a.out(false), host);
  r.s.run(T, B, a.in(true, !there), r.uniforms, a.out(true), there, stream);
  EXPECT_EQ(counts().device, device);
  double worst = 0;
  for (const Twin* x : {&a.states, &a.velocities, &a.used, &a.total}) worst = std::max(worst, x->difference(stream));
  return worst;
}

// What rounding makes of a few steps: the kernels on the host are assembled, with fused products.
double tolerance(Precision p) { return p == Precision::float32 ? 2e-4 : 1e-10; }

TEST(DeviceSequence, IsTheHostsForEveryBatchRobotAndPrecision) {
  for (Precision p : {Precision::float32, Precision::float64})
    for (const auto& [robot, substeps] : {std::pair{"cartpole", 1L}, {"iiwa14", 3L}}) {
      Rolling r(robot, p, substeps);
      for (long B : {1L, 31L, 33L, 1000L}) {
        SCOPED_TRACE(std::string(robot) + " " + std::to_string(B));
        const Arrays a(r, B);
        EXPECT_LT(both(r, a, B), tolerance(p));
      }
    }
}

TEST(DeviceSequence, FloatingBasesParametersAndOneLaunch) {
  Rolling r("go2", Precision::float32, 2, {"armature"});
  const Arrays a(r, 37);
  Twin armature(r.precision, 37, r.nv, 1);
  armature.fill([](long i, long k) { return k < 6 ? 0 : 0.01 * (1 + i % 3); });
  const auto with = [&](bool on_device) {
    auto in = a.in(on_device, true);
    in.push_back(armature.memory("armature", on_device, false));
    return in;
  };
  r.s.run(T, 37, with(false), r.uniforms, a.out(false));
  r.s.run(T, 37, with(true), r.uniforms, a.out(true));
  const int before = counts().launches, waits = counts().waits;
  r.s.run(T, 37, with(true), r.uniforms, a.out(true));
  EXPECT_EQ(counts().launches, before + 2) << "the numbers of the steps, and the rollout";
  EXPECT_EQ(counts().waits, waits);
  for (const Twin* x : {&a.states, &a.velocities, &a.used, &a.total}) EXPECT_LT(x->difference(), 5e-4);
}

TEST(DeviceSequence, ArraysOfAnyStrides) {
  Rolling r("cartpole", Precision::float64, 1);
  const long B = 33, n = r.nv;
  const Arrays a(r, B);
  ASSERT_LT(both(r, a, B), tolerance(r.precision));
  // (B, T, n) by rows, as a tensor lies; one row of states for all instances
  Buffer rows(r.precision, B * T * n, 1), rows_there(r.precision, B * T * n, 1, device);
  for (long i = 0; i < B; i++)
    for (long k = 0; k < T * n; k++) rows.component<double>(0)[i * T * n + k] = a.u.get(a.u.host, i, k);
  copy(rows.ref(), rows_there.ref());
  const auto by_rows = [&](const char* name, const Buffer& b) {
    ArrayRef x = b.ref();
    x.instances = B, x.components = n, x.instance_stride = T * n, x.component_stride = 1, x.padded = false;
    return SequenceMemory{name, x, true, n};
  };
  Buffer used(r.precision, B * T * n, 1, device), back(r.precision, B * T * n, 1);
  auto in = a.in(true, false), out = a.out(true);
  in.push_back(by_rows("u", rows_there)), out[2] = by_rows("u", used);
  a.total.there.ref();
  r.s.run(T, B, in, r.uniforms, out);
  EXPECT_EQ(a.total.difference() < tolerance(r.precision), true);
  copy(used.ref(), back.ref());
  EXPECT_EQ(std::memcmp(back.ref().data, rows.ref().data, sizeof(double) * B * T * n), 0);
  for (bool on_device : {false, true}) {
    auto one = a.in(on_device, true);
    one[0].array.instance_stride = 0;
    r.s.run(T, B, one, r.uniforms, a.out(on_device));
  }
  EXPECT_LT(a.states.difference(), tolerance(r.precision));
}

TEST(DeviceSequence, AStateThatIsNotFiniteSpoilsItsCostAlone) {
  Rolling r("cartpole", Precision::float32, 1);
  Arrays a(r, 40);
  a.v.set(7, 1, NAN), a.v.set(9, 0, inf);
  copy(a.v.host.ref(), a.v.there.ref());
  r.s.run(T, 40, a.in(true, true), r.uniforms, a.out(true));
  Buffer back(r.precision, 40, 1);
  copy(a.total.there.ref(), back.ref());
  r.s.run(T, 40, a.in(false, true), r.uniforms, a.out(false));
  for (int i = 0; i < 40; i++) {
    EXPECT_EQ(std::isnan(back.component<float>(0)[i]), i == 7 || i == 9);
    EXPECT_EQ(std::isnan(a.total.host.component<float>(0)[i]), i == 7 || i == 9);
  }
}

Controls noise(long n, bool knots) {
  Controls c;
  c.name = "u", c.key = {0x123456789abcdefull, 7}, c.first_instance = 0, c.keep_mean = true;
  for (long k = 0; k < T * n; k++) c.mean.push_back(std::sin(k));
  for (long k = 0; k < n; k++) c.sigma.push_back(0.2 + k), c.lower.push_back(-1.5), c.upper.push_back(1.2);
  for (long t = 0; knots && t < T; t++)
    for (long k = 0; k < 3; k++) c.weights.push_back(std::max(0.0, 1 - std::abs(t / 2.5 - k)));
  return c;
}

TEST(DeviceSequence, DrawsTheHostsNoise) {
  for (Precision p : {Precision::float32, Precision::float64})
    for (const char* robot : {"cartpole", "iiwa14"}) {
      Rolling r(robot, p, 1);
      for (bool knots : {false, true})
        for (long B : {1L, 31L, 1000L}) {
          SCOPED_TRACE(std::string(robot) + " " + std::to_string(B) + (knots ? " knots" : ""));
          const Arrays a(r, B);
          Controls c = noise(r.nv, knots);
          if (B == 31) c.first_instance = 969, c.sigma.assign(T * r.nv, 0.3), c.lower = c.upper = {};
          EXPECT_LT(both(r, a, B, &c, &c), tolerance(p));
          // the stand-in fuses no products either, so here the controls are the same to the last bits
          EXPECT_LT(a.used.difference(), p == Precision::float32 ? 5e-7 : 1e-15);
        }
    }
}

// With mean 0, sigma 1 and the numbers of noise.h inverted: the angle of a pair is its second word, so the words are
// seen.
TEST(DeviceSequence, DrawsTheHostsWords) {
  Rolling r("iiwa14", Precision::float64, 1);
  const long B = 33;
  const Arrays a(r, B);
  Controls c;
  c.name = "u", c.key = {0xfedcba9876543210ull, 0xffffffffu}, c.first_instance = (1L << 32) - B;
  r.s.run(T, B, a.in(true, false), r.uniforms, a.out(true), &c);
  Buffer z(r.precision, B, T * r.nv);
  copy(a.used.there.ref(), z.ref());
  for (long t = 0; t < T; t++)
    for (long k = 0; k + 1 < r.nv; k += 2) {
      std::vector<std::uint32_t> w(4 * B);
      noise_kernels("base").words(w.data(), B, B, c.key, static_cast<std::uint32_t>(c.first_instance), t, k / 4);
      for (long i = 0; i < B; i++) {
        const double x = z.component<double>(t * r.nv + k)[i], y = z.component<double>(t * r.nv + k + 1)[i];
        const double turn = std::atan2(y, x) / M_PI * 2147483648.0,
                     size = std::exp(-(x * x + y * y) / 2) * 2147483648.0;
        EXPECT_EQ(static_cast<std::int64_t>(std::llround(turn)), static_cast<std::int32_t>(w[(k % 4 + 1) * B + i]));
        EXPECT_EQ(static_cast<std::uint32_t>(std::floor(size)), w[k % 4 * B + i] >> 1);
      }
    }
}

TEST(DeviceSequence, InterpolatesKnotsOfTheCaller) {
  Rolling r("cartpole", Precision::float32, 2);
  const long B = 33, K = 3;
  const Arrays a(r, B);
  Twin knots(r.precision, B, r.nv, K);
  knots.fill([](long i, long k) { return std::cos(0.3 * i + k); });
  Controls host = noise(r.nv, true);
  host.given = true, host.keep_mean = false;
  Controls there = host;
  host.knots = knots.memory("knots", false, true), there.knots = knots.memory("knots", true, true);
  EXPECT_LT(both(r, a, B, &host, &there), tolerance(r.precision));
  EXPECT_EQ(message([&] { r.s.run(T, B, a.in(true, false), r.uniforms, a.out(true), &host); }),
            "knots is on the host, expected CUDA device 1 as q is");
}

TEST(DeviceSequence, AMeanAndADrawOnTheDevice) {
  Rolling r("cartpole", Precision::float32, 1);
  const long B = 31;
  const Arrays a(r, B);
  Controls c = noise(r.nv, false), there = c;
  Buffer mean(r.precision, T * r.nv, 1), mean_there(r.precision, T * r.nv, 1, device);
  for (long k = 0; k < T * r.nv; k++) mean.component<float>(0)[k] = static_cast<float>(c.mean[k]);
  copy(mean.ref(), mean_there.ref());
  Buffer draw(r.precision, 1, 1), draw_there(r.precision, 1, 1, device);
  const std::uint32_t two = 2;
  std::memcpy(draw.ref().data, &two, 4);
  copy(draw.ref(), draw_there.ref());
  there.mean.clear(), there.device_mean = mean_there.ref().data, there.key.draw -= 2;
  there.device_draw = static_cast<const std::uint32_t*>(draw_there.ref().data);
  EXPECT_LT(both(r, a, B, &c, &there), tolerance(r.precision));
  EXPECT_EQ(message([&] { r.s.run(T, B, a.in(false, false), r.uniforms, a.out(false), &there); }),
            "controls have a mean or a draw on a device, expected it where the arrays are, on the host");
}

TEST(DeviceSequence, WarmRunsAllocateNothingAndStreamsHaveTheirOwnMemory) {
  Rolling r("cartpole", Precision::float32, 1);
  const long B = 33;
  const Arrays a(r, B);
  const Controls c = noise(r.nv, true);
  int stream, other;
  const auto run = [&](void* on) { r.s.run(T, B, a.in(true, false), r.uniforms, a.out(true), &c, on); };
  run(&stream);
  const StandInCounts before = counts();
  for (int k = 0; k < 3; k++) run(&stream);
  StandInCounts after = counts();
  EXPECT_EQ(after.pool_allocations, before.pool_allocations);
  EXPECT_EQ(after.driver_allocations, before.driver_allocations);
  EXPECT_EQ(after.waits, before.waits);
  EXPECT_EQ(after.stream, &stream);
  const int texts = compiled();
  run(&other);
  EXPECT_EQ(counts().pool_allocations, before.pool_allocations + 1);
  EXPECT_EQ(compiled(), texts);
  synchronise(device, &stream), synchronise(device, &other);
}

TEST(DeviceSequence, ThreadsMayShareAStream) {
  Rolling r("cartpole", Precision::float32, 1);
  const long B = 16;
  std::vector<std::unique_ptr<Arrays>> arrays;
  std::vector<Controls> controls;
  for (int k = 0; k < 4; k++) arrays.push_back(std::make_unique<Arrays>(r, B)), controls.push_back(noise(r.nv, false));
  for (int k = 0; k < 4; k++) controls[k].mean.assign(T * r.nv, k);
  for (int round = 0; round < 5; round++) {
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; k++)
      threads.emplace_back(
          [&, k] { r.s.run(T, B, arrays[k]->in(true, false), r.uniforms, arrays[k]->out(true), &controls[k]); });
    for (auto& t : threads) t.join();
    for (int k = 0; k < 4; k++) {
      r.s.run(T, B, arrays[k]->in(false, false), r.uniforms, arrays[k]->out(false), &controls[k]);
      EXPECT_LT(arrays[k]->used.difference(), 1e-6) << k;
    }
  }
}

TEST(DeviceSequence, GivesBackItsMemoryAndItsKernels) {
  const int blocks = counts().live_blocks, programs = counts().live_programs;
  {
    Rolling r("cartpole", Precision::float32, 1);
    const Arrays a(r, 5);
    EXPECT_LT(both(r, a, 5), tolerance(r.precision));
    EXPECT_EQ(counts().live_programs, programs + 1);
  }
  EXPECT_EQ(counts().live_programs, programs);
  EXPECT_EQ(counts().live_blocks, blocks);
}

TEST(DeviceSequence, IsCapturedIntoAGraph) {
  Rolling r("cartpole", Precision::float32, 1);
  const long B = 33;
  Arrays a(r, B);
  int stream;
  const Controls c = noise(r.nv, false);
  const auto run = [&] { r.s.run(T, B, a.in(true, false), r.uniforms, a.out(true), &c, &stream); };
  const auto capture = control_of_graphs();
  capture.begin(&stream);
  EXPECT_EQ(
      message(run),
      "a rollout that is captured into a graph must have run before, with the same choice of arrays, as many steps "
      "and on the same stream");
  capture.end(&stream);
  run();
  synchronise(device, &stream);
  int other_stream;
  capture.begin(&other_stream);
  EXPECT_EQ(message([&] {
              r.s.run(T, B, a.in(true, false), r.uniforms, a.out(true), &c, &other_stream);
            }).find("a rollout that is captured into a graph must have run before"),
            0u)
      << "it has no memory of its own yet";
  capture.end(&other_stream);
  capture.begin(&stream);
  run();
  EXPECT_EQ(capture.end(&stream), 2) << "an upload and the kernel";
  // another run with other numbers in between, other states, and the graph
  Controls other = c;
  other.mean.assign(T * r.nv, 9.0);
  r.s.run(T, B, a.in(true, false), r.uniforms, a.out(true), &other, &stream);
  a.v.fill([](long i, long k) { return 0.1 * std::sin(i - k); });
  for (Twin* x : {&a.states, &a.total}) copy(Buffer(r.precision, B, x->components * x->steps).ref(), x->there.ref());
  capture.replay(&stream);
  r.s.run(T, B, a.in(false, false), r.uniforms, a.out(false), &c);
  for (const Twin* x : {&a.states, &a.total}) EXPECT_LT(x->difference(&stream), tolerance(r.precision));
}

TEST(DeviceSequence, NamesWhatDoesNotFit) {
  Rolling r("cartpole", Precision::float32, 1);
  const long B = 8;
  const Arrays a(r, B);
  const auto words =
      [&](const std::function<void(std::vector<SequenceMemory>&, std::vector<SequenceMemory>&)>& change) {
        auto in = a.in(true, true), out = a.out(true);
        change(in, out);
        return message([&] { r.s.run(T, B, in, r.uniforms, out); });
      };
  EXPECT_EQ(words([](auto&, auto&) {}), "no error");
  EXPECT_EQ(words([&](auto& in, auto&) { in[1] = a.v.memory("v", false, false); }),
            "v is on the host, expected CUDA device 1 as q is");
  EXPECT_EQ(words([&](auto&, auto& out) { out[3].array.device = 0; }),
            "total is on CUDA device 0, expected CUDA device 1 as q is");
  EXPECT_EQ(words([&](auto&, auto& out) { out[0] = a.total.memory("q", true, false); }),
            "q has shape (8, 1), expected (8, 2)");
  EXPECT_EQ(words([&](auto& in, auto&) { in[0].array.precision = Precision::float64; }),
            "q is float64, expected float32");
  EXPECT_EQ(words([&](auto& in, auto& out) { out[2].array.data = in[3].array.data; }), "output u overlaps input u");
  EXPECT_EQ(words([&](auto&, auto& out) { out[0].array.instance_stride = 0; }),
            "output q has a stride of 0, so that several numbers have one place");
  EXPECT_EQ(words([&](auto& in, auto& out) {
              for (auto* side : {&in, &out})
                for (auto& m : *side) m.array.device = 5;
            }),
            "rollout: CUDA device 5 does not exist, expected 0 to 1");
  Sequence bare(Precision::float32, 1);
  bare.array("x", 1), bare.array("y", 1);
  bare.stage({{}, {"x"}, {"y"}, {}, 1, false});
  EXPECT_EQ(message([&] { bare.run(1, B, {a.p.memory("x", true, false)}, {}, {}); }),
            "a stage has no program for arrays on a device");
  EXPECT_EQ(message([&] { bare.run(1, B, {a.p.memory("x", false, false)}, {}, {}); }),
            "a stage has no kernel for arrays on the host");
  // a function whose arrays are not those of the sequence
  const auto stage_of = [&](long components, bool uniform) {
    Sequence s(Precision::float32, 1);
    uniform ? s.uniform("v", components) : s.array("v", components);
    s.array("u", 2), s.uniform("t", 1), s.array("tau", 2);
    s.stage({{}, {"v", "u", "t"}, {"tau"}, {}, 1, false, [] { return control(2); }});
    return message([&] {
      std::vector<UniformValues> numbers = {{"t", {0}}};
      if (uniform) numbers.push_back({"v", {0, 0}});
      s.run(1, B, {a.v.memory("u", true, false)}, numbers, {});
    });
  };
  EXPECT_EQ(stage_of(2, false), "no error");
  EXPECT_EQ(stage_of(3, false), "rollout: array 'v' of a stage has 2 components, that of the rollout 3");
  EXPECT_EQ(stage_of(2, true),
            "rollout: array 'v' of a stage is not the same for all instances, that of the rollout is");
}

TEST(DeviceSequence, FailuresHaveTheWordsOfTheirCause) {
  Rolling r("cartpole", Precision::float32, 1);
  const Arrays a(r, 8);
  const auto run = [&] { r.s.run(T, 8, a.in(true, true), r.uniforms, a.out(true)); };
  {
    const test::Environment elsewhere("FEATHERSTORM_CACHE", (scratch / "failures").string());
    const test::Environment none("FEATHERSTORM_NVRTC", "/nowhere/libnvrtc.so");
    EXPECT_EQ(message(run).find("a rollout on a device needs a kernel of its own: FEATHERSTORM_NVRTC: /nowhere/"), 0u);
  }
  fail_next("cudaLibraryLoadData", invalid_image);
  EXPECT_EQ(message(run).find("rollout: CUDA device 1: cudaErrorInvalidKernelImage: "), 0u);
  fail_next("cudaMallocFromPoolAsync", out_of_memory);
  EXPECT_EQ(message(run).find("rollout: CUDA device 1: cudaErrorMemoryAllocation: "), 0u);
  fail_next("launch", out_of_resources);
  EXPECT_EQ(message(run).find("rollout: CUDA device 1: cudaErrorLaunchOutOfResources: "), 0u);
  EXPECT_LT(both(r, a, 8), tolerance(r.precision));
}

TEST(DeviceSequence, AnEmptyBatchDoesNothing) {
  Rolling r("cartpole", Precision::float32, 1);
  const Arrays a(r, 0);
  const int launches = counts().launches;
  r.s.run(T, 0, a.in(true, true), r.uniforms, a.out(true));
  EXPECT_EQ(counts().launches, launches);
}

}  // namespace
}  // namespace featherstorm::testing
