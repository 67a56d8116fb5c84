// A rollout of a robot's step, with contacts where it has some, and of a cost; and a walk through the same programs in
// double, one instance at a time, with noise whose words and numbers are computed here once more.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/contact/contact_kinematics.h"
#include "core/trace/evaluate.h"
#include "host/memory/device.h"
#include "host/rollout/cuda_rollout.h"
#include "host/trace/specialised_program.h"
#include "tests/gpu/answers/reference.h"
#include "tests/gpu/answers/robots.h"

namespace featherstorm::testing {

// Philox4x32-10, and normal numbers of its words, as host/rollout/noise.h defines them.
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> x, std::uint64_t seed) {
  std::uint32_t a = static_cast<std::uint32_t>(seed), b = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; round++, a += 0x9E3779B9u, b += 0xBB67AE85u) {
    const std::uint64_t p = std::uint64_t(0xD2511F53u) * x[0], q = std::uint64_t(0xCD9E8D57u) * x[2];
    x = {std::uint32_t(q >> 32) ^ x[1] ^ a, std::uint32_t(q), std::uint32_t(p >> 32) ^ x[3] ^ b, std::uint32_t(p)};
  }
  return x;
}
inline double normal(NoiseKey key, std::uint32_t instance, std::uint32_t step, int component) {
  const auto w = philox({instance, step, static_cast<std::uint32_t>(component / 4), key.draw}, key.seed);
  const int pair = component % 4 / 2 * 2;
  const double a = (std::floor(w[pair] / 2.0) + 0.5) / 2147483648.0;
  const double b = M_PI * static_cast<std::int32_t>(w[pair + 1]) / 2147483648.0;
  return std::sqrt(-2 * std::log(a)) * (component % 2 ? std::sin(b) : std::cos(b));
}

// total_next = total + |q - 0.1|^2 + 0.01 |u|^2 + t
inline Program cost_of(int nq, int nu) {
  Program p;
  const auto q = p.input("q", nq), u = p.input("u", nu), total = p.input("total", 1), t = p.input("t_next", 1, true);
  Tracing scope(p.graph);
  Expr sum = total[0] + t[0];
  for (const Expr& x : q) sum = sum + (x - 0.1) * (x - 0.1);
  for (const Expr& x : u) sum = sum + 0.01 * x * x;
  p.output("total_next", {sum});
  return p;
}

struct Rolling {
  NamedRobot robot;
  long steps;
  RolloutProgram rollout;
  std::vector<std::vector<double>> uniforms;  // of each array
  int q, v, u, total, t_next, nq, nv;

  Rolling(NamedRobot named, long steps_, int substeps)
      : robot(std::move(named)), steps(steps_), nq(robot.robot.model.nq), nv(robot.robot.model.nv) {
    const auto array = [&](int n, bool uniform = false, std::vector<double> values = {}) {
      rollout.arrays.push_back({n, uniform, static_cast<long>(values.size()) > n});
      uniforms.push_back(std::move(values));
      return static_cast<int>(rollout.arrays.size()) - 1;
    };
    const int op = op_index(robot.robot.model.contacts.nc > 0 ? "contact_step" : "step");
    RolloutProgram::Stage step{
        std::make_shared<const Program>(specialised_program({op}, robot.robot.model)), {}, {}, {}, substeps, false};
    for (const auto& a : step.program->inputs) {
      if (a.name == "q") q = static_cast<int>(rollout.arrays.size());
      if (a.name == "v") v = static_cast<int>(rollout.arrays.size());
      if (a.name == "tau") u = static_cast<int>(rollout.arrays.size());
      step.in.push_back(
          array(a.size, a.uniform, a.uniform ? std::vector<double>(a.size, number(a.name)) : std::vector<double>{}));
    }
    for (const auto& a : step.program->outputs) step.out.push_back(array(a.size));
    for (auto [from, to] : step.program->carried) step.swaps.push_back({step.in[to], step.out[from]});
    total = array(1);
    const int next = array(1);
    std::vector<double> times;
    for (long t = 0; t < steps; t++) times.push_back(0.01 * (t + 1));
    t_next = array(1, true, times);
    rollout.stages = {
        step,
        {std::make_shared<const Program>(cost_of(nq, nv)), {q, u, total, t_next}, {next}, {{total, next}}, 1, false}};
    rollout.checks = {{total, {q, v}}};
  }
  static double number(const std::string& uniform) {
    if (uniform == "dt" || uniform == "slop") return 1e-3;
    if (uniform == "kd" || uniform == "erp") return 0.2;
    if (uniform == "friction_velocity") return 0.01;
    return uniform == "max_push" ? 1 : uniform == "rebound" ? 0.1 : uniform == "compliance" ? 1e-3 : 0;
  }

  // Where instance i begins; robots with contacts with the lowest within 2 mm of the ground, moving slowly.
  State start(unsigned seed, long i) const {
    const Model<double>& m = robot.robot.model;
    State s = random_state(m, seed + static_cast<unsigned>(i));
    for (double& x : s.v) x *= 0.3;
    if (m.contacts.nc == 0) return s;
    s.q = neutral(m);
    std::vector<double> gap(m.contacts.nc), margin = gap, G(m.contacts.nc * m.nv);
    contact_rows(m, m.contacts, s.q.data(), 1, gap.data(), margin.data(), G.data());
    s.q[m.body[1].q + 2] += 0.001 * (i % 5 - 2) - *std::min_element(gap.begin(), gap.end());
    return s;
  }

  // One instance: u(t, c) gives the controls; returns the total and leaves the last state.
  template <class U> double walk(State& state, const U& u_of) const {
    const RolloutProgram::Stage& step = rollout.stages[0];
    const Program& p = *step.program;
    Arrays<double> in(p.inputs.size());
    for (std::size_t k = 0; k < in.size(); k++)
      in[k] = p.inputs[k].uniform ? uniforms[step.in[k]] : std::vector<double>(p.inputs[k].size, 0.0);
    in[q] = state.q, in[v] = state.v;
    double sum = 0;
    for (long t = 0; t < steps; t++) {
      for (int c = 0; c < nv; c++) in[u][c] = u_of(t, c);
      const Arrays<double> out = evaluate(p, in, step.repeat);
      for (auto [from, to] : p.carried) in[to] = out[from];
      sum = evaluate(*rollout.stages[1].program, Arrays<double>{in[q], in[u], {sum}, {uniforms[t_next][t]}}, 1)[0][0];
    }
    state.q = in[q], state.v = in[v];
    return sum;
  }
};

// All arrays of a batch on the device, and a call.
template <class Real> struct RollingBatch {
  static constexpr Precision p = precision_of<Real>();
  const Rolling& r;
  long B, T = r.steps;
  unsigned seed = 0;
  Buffer q, v, u, states, total, host_u;
  RollingBatch(const Rolling& r, int device, long B)
      : r(r),
        B(B),
        q(p, B, r.nq, device),
        v(p, B, r.nv, device),
        u(p, B, r.nv * T, device),
        states(p, B, r.nq * T, device),
        total(p, B, 1, device),
        host_u(p, B, r.nv * T) {}
  void start(unsigned first) {
    seed = first;
    Buffer host_q(p, B, r.nq), host_v(p, B, r.nv);
    for (long i = 0; i < B; i++) {
      const State s = r.start(seed, i);
      for (int c = 0; c < r.nq; c++) host_q.component<Real>(c)[i] = static_cast<Real>(s.q[c]);
      for (int c = 0; c < r.nv; c++) host_v.component<Real>(c)[i] = static_cast<Real>(s.v[c]);
      for (long c = 0; c < r.nv * T; c++) host_u.component<Real>(c)[i] = static_cast<Real>(std::sin(0.3 * c + i));
    }
    copy(host_q.ref(), q.ref()), copy(host_v.ref(), v.ref()), copy(host_u.ref(), u.ref());
  }
  SequenceMemory memory(const char* name, const Buffer& b, int n, bool every_step) const {
    ArrayRef a = b.ref();
    a.components = n;
    return {name, a, every_step, n * b.stride()};
  }
  // Controls that are given, or drawn as `controls` says.
  void run(CudaRollout& s, const Controls* controls, void* stream) {
    std::vector<SequenceMemory> in = {memory("q", q, r.nq, false), memory("v", v, r.nv, false)};
    std::vector<int> in_at = {r.q, r.v}, out_at = {r.q, r.total, r.u};
    if (!controls) in.push_back(memory("u", u, r.nv, true)), in_at.push_back(r.u);
    std::vector<SequenceMemory> out = {memory("q", states, r.nq, true), memory("total", total, 1, false)};
    if (controls) out.push_back(memory("u", u, r.nv, true));
    std::vector<const double*> numbers;
    const auto every_step = std::make_unique<bool[]>(r.rollout.arrays.size());
    for (std::size_t k = 0; k < r.uniforms.size(); k++)
      numbers.push_back(r.uniforms[k].data()), every_step[k] = r.rollout.arrays[k].every_step;
    s.run({p, q.device(), T, B, in.data(), out.data(), in_at.data(), out_at.data(), static_cast<int>(in.size()),
           static_cast<int>(out.size()), numbers.data(), every_step.get(), controls, r.u, stream});
  }
  // The greatest error of costs and last states, relative to their scale; u_of(i, t, c) gives the controls.
  template <class U> double error(const U& u_of, void* stream) const {
    Buffer back(p, B, r.nq * T), costs(p, B, 1);
    copy(states.ref(), back.ref(), stream), copy(total.ref(), costs.ref(), stream);
    const long apart = 1 + B / 50;
    std::vector<double> worst((B + apart - 1) / apart);
    on_all_cores(static_cast<int>(worst.size()), [&](int k) {
      const long i = k * apart;
      State x = r.start(seed, i);
      for (double& y : x.q) y = static_cast<Real>(y);
      for (double& y : x.v) y = static_cast<Real>(y);
      const double expected = r.walk(x, [&](long t, int c) { return u_of(i, t, c); });
      const auto compare = [&](double found, double exact, double scale) {
        const double e = std::abs(found - exact) / scale;
        worst[k] = e <= worst[k] ? worst[k] : std::isnan(e) ? HUGE_VAL : e;
      };
      compare(costs.component<Real>(0)[i], expected, 1 + std::abs(expected));
      for (int c = 0; c < r.nq; c++) compare(back.component<Real>((T - 1) * r.nq + c)[i], x.q[c], 1 + std::abs(x.q[c]));
    });
    return *std::max_element(worst.begin(), worst.end());
  }
};

}  // namespace featherstorm::testing
