// Rollouts on a device, and the same sequence on the host, for tests of both.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "core/trace/program.h"
#include "host/engine/evaluator.h"
#include "host/load/load.h"
#include "host/memory/device.h"
#include "host/rollout/sequence.h"
#include "tests/device/control.h"
#include "tests/host/rollout/renewal.h"
#include "tests/support/tools/scratch.h"

namespace featherstorm::testing {

constexpr long horizon = 6;
constexpr double inf = std::numeric_limits<double>::infinity();

// Sources compiled for a test go to a separate folder.
inline const test::Scratch sequence_scratch;
inline const test::Environment sequence_cache{"FEATHERSTORM_CACHE", (sequence_scratch / "cache").string()};

// total_next = total + (q - p) . (q - p) + 0.1 u . u + t, with nq and nv numbers; p is the same for all instances
inline Program cost(int nq, int nu) {
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
// tau = u - 0.2 v + 0.1 sin(t), with nv numbers; a controller
inline Program control(int nv) {
  Program p;
  const auto v = p.input("v", nv), u = p.input("u", nv), t = p.input("t", 1, true);
  Tracing scope(p.graph);
  std::vector<Expr> tau;
  for (int k = 0; k < nv; k++) tau.push_back(u[k] - 0.2 * v[k] + 0.1 * sin(t[0]));
  p.output("tau", tau);
  return p;
}
// total_next = total + 100 q_0
inline Program terminal(int nq) {
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
  // The largest difference between host and device, relative to the largest number; infinite where one alone is not finite.
  double difference(void* stream = nullptr) const {
    Buffer back(host.ref().precision, host.ref().instances, components * steps);
    copy(there.ref(), back.ref(), stream);
    double worst = 0, scale = 1e-3;
    for (long k = 0; k < components * steps; k++)
      for (long i = 0; i < host.ref().instances; i++) {
        const double x = get(host, i, k), y = get(back, i, k);
        if ((std::isnan(x) && std::isnan(y)) || (x == y && std::isinf(x))) continue;
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
    for (long t = 0; t < horizon; t++)
      uniforms[uniforms.size() - 2].values.push_back(0.3 * t), uniforms.back().values.push_back(0.3 * (t + 1));
    traced(control(nv), {}, false);
    Stage step;
    step.kernel = [this, p] { return e.kernel("step", p); }, step.program = [this] { return e.program("step"); };
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
    Stage stage = interpreted(p, precision);
    stage.swaps = std::move(swaps), stage.last = last;
    s.stage(std::move(stage));
  }
};

// All arrays of a batch, on host and device.
struct SequenceArrays {
  Twin q, v, u, p, states, velocities, used, total;
  SequenceArrays(const Rolling& r, long B)
      : q(r.precision, B, r.nq, 1),
        v(r.precision, B, r.nv, 1),
        u(r.precision, B, r.nv, horizon),
        p(r.precision, B, 1, 1),
        states(r.precision, B, r.nq, horizon),
        velocities(r.precision, B, r.nv, horizon),
        used(r.precision, B, r.nv, horizon),
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

// Runs the rollout on host and device; returns the largest difference of all outputs.
inline double both(Rolling& r, const SequenceArrays& a, long B, const Controls* host = nullptr,
                   const Controls* there = nullptr, void* stream = nullptr) {
  r.s.run(horizon, B, a.in(false, !host), r.uniforms, a.out(false), host);
  r.s.run(horizon, B, a.in(true, !there), r.uniforms, a.out(true), there, stream);
  if (!real_gpu) EXPECT_EQ(counts().device, device);
  double worst = 0;
  for (const Twin* x : {&a.states, &a.velocities, &a.used, &a.total}) worst = std::max(worst, x->difference(stream));
  return worst;
}

// The effect of rounding in a few steps. The kernels on the host are assembled, with fused products.
inline double tolerance(Precision p) { return p == Precision::float32 ? 2e-4 : bound(1e-10, 1e-9); }

inline Controls noise(long n, bool knots) {
  Controls c;
  c.name = "u", c.key = {0x123456789abcdefull, 7}, c.first_instance = 0, c.keep_mean = true;
  for (long k = 0; k < horizon * n; k++) c.mean.push_back(std::sin(k));
  for (long k = 0; k < n; k++) c.sigma.push_back(0.2 + k), c.lower.push_back(-1.5), c.upper.push_back(1.2);
  for (long t = 0; knots && t < horizon; t++)
    for (long k = 0; k < 3; k++) c.weights.push_back(std::max(0.0, 1 - std::abs(t / 2.5 - k)));
  return c;
}

}  // namespace featherstorm::testing
