// Rollouts of a robot's step and a traced cost on the device (host/rollout/sequence.h), and the same walk on the host.
#pragma once
#include <memory>

#include "core/emit/rollout.h"
#include "core/trace/evaluate.h"
#include "host/compile/device_kernel.h"
#include "host/rollout/noise.h"
#include "host/rollout/sequence.h"
#include "host/trace/specialised_program.h"
#include "tests/gpu/timing/bench_report.h"
#include "tests/gpu/timing/machine.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::testing {

inline constexpr long substeps = 2;
inline constexpr double control_sigma = 0.5;

// total_next = total + |q - 0.1|^2 + 0.01 |u|^2
inline Program distance_cost(int nq, int nu) {
  Program p;
  const auto q = p.input("q", nq), u = p.input("tau", nu), total = p.input("total", 1);
  Tracing scope(p.graph);
  Expr sum = total[0];
  for (const Expr& x : q) sum = sum + (x - 0.1) * (x - 0.1);
  for (const Expr& x : u) sum = sum + 0.01 * x * x;
  p.output("total_next", {sum});
  return p;
}

// Where the controls come from: drawn in the kernel, or given, (B, T, n) with the components of an instance or the
// instances of a component side by side.
enum class From { noise, rows, components };
inline const char* name_of(From f) {
  switch (f) {
    case From::noise: return "noise in the kernel";
    case From::rows: return "U by rows";
    case From::components: return "U by components";
  }
  return "";
}

class TimedRobot {
 public:
  const Model<double>& m;
  const Program step, cost;
  std::vector<Program::Array> arrays;
  Sequence sequence{Precision::float32, 1};
  std::vector<UniformValues> uniforms;
  TimedRobot(const TimedRobot&) = delete;
  TimedRobot& operator=(const TimedRobot&) = delete;

  explicit TimedRobot(const Robot& robot)
      : m(robot.model), step(specialised_program({op_index("step")}, m)), cost(distance_cost(m.nq, m.nv)) {
    for (const auto& a : step.inputs) {
      array(a.name, a.size, a.uniform);
      if (!a.uniform) continue;
      const double x = a.name == "dt" ? 1e-3 : a.name == "kd" ? 0.2 : a.name == "friction_velocity" ? 0.01 : 0;
      uniforms.push_back({a.name, std::vector<double>(a.size, static_cast<float>(x))});
    }
    for (const auto& a : step.outputs) array(a.name, a.size, false);
    array("total", 1, false), array("total_next", 1, false);
    stage(step, {{"q", "q_next"}, {"v", "v_next"}}, substeps);
    stage(cost, {{"total", "total_next"}}, 1);
  }
  int nu() const { return m.nv; }

  // The texts of the kernel that a run makes (host/rollout/cuda_rollout.cpp), so that it can be made before.
  std::vector<std::pair<DeviceForm, std::string>> texts(From from) const {
    RolloutProgram r;
    for (const auto& a : arrays) r.arrays.push_back({a.size, a.uniform, false});
    const auto places = [&](const std::vector<Program::Array>& names) {
      std::vector<int> all;
      for (const auto& a : names) all.push_back(find(a.name));
      return all;
    };
    r.stages.push_back({std::make_shared<const Program>(step),
                        places(step.inputs),
                        places(step.outputs),
                        {{find("q"), find("q_next")}, {find("v"), find("v_next")}},
                        substeps,
                        false});
    r.stages.push_back({std::make_shared<const Program>(cost),
                        places(cost.inputs),
                        places(cost.outputs),
                        {{find("total"), find("total_next")}},
                        1,
                        false});
    r.in = {{find("q"), false}, {find("v"), false}};
    if (from == From::noise) r.controls = RolloutProgram::ControlKind::noise, r.controlled = find("tau");
    else r.in.push_back({find("tau"), true});
    r.out = {{find("q"), false}, {find("total"), false}};
    std::vector<std::pair<DeviceForm, std::string>> all;
    for (const char* order : {"trace", "greedy", "sethi_ullman"})
      all.push_back(
          {{order, 0},
           emit_rollout(
               r, [&](const Program& p) { return order_of(p, order); }, Cuda{false, device_block_threads, 0})});
    return all;
  }

  // One instance on the host: positions and velocities change, the sum of costs is returned. u(t, c): the controls.
  template <class Real, class U>
  double walk(std::vector<Real>& q, std::vector<Real>& v, long steps, const U& u) const {
    Real total = 0;
    for (long t = 0; t < steps; t++) {
      Arrays<Real> in;
      for (const auto& a : step.inputs) in.emplace_back(a.size);
      in[0] = q, in[1] = v;
      for (int c = 0; c < nu(); c++) in[2][c] = static_cast<Real>(u(t, c));
      for (std::size_t k = 0; k < uniforms.size(); k++) {
        auto& to = in[step.inputs.size() - uniforms.size() + k];
        to.assign(uniforms[k].values.begin(), uniforms[k].values.end());
      }
      const std::vector<Real> tau = in[2];
      const Arrays<Real> next = evaluate(step, in, substeps);
      q = next[0], v = next[1];
      total = evaluate(cost, Arrays<Real>{q, tau, {total}}, 1)[0][0];
    }
    return total;
  }

 private:
  void array(const std::string& name, int size, bool uniform) {
    arrays.push_back({name, size, uniform});
    if (uniform) sequence.uniform(name, size);
    else sequence.array(name, size);
  }
  int find(const std::string& name) const {
    for (std::size_t k = 0; k < arrays.size(); k++)
      if (arrays[k].name == name) return static_cast<int>(k);
    throw std::runtime_error("a rollout has no array " + name);
  }
  void stage(const Program& p, std::vector<std::pair<std::string, std::string>> swaps, long repeat) {
    Stage s;
    for (const auto& a : p.inputs) s.in.push_back(a.name);
    for (const auto& a : p.outputs) s.out.push_back(a.name);
    s.swaps = std::move(swaps), s.repeat = repeat, s.program = [&p] { return p; };
    sequence.stage(std::move(s));
  }
};

// A batch of rollouts and its arrays on the device.
class TimedRollout {
 public:
  TimedRollout(const TimedRobot& robot, From from, long steps, long count, void* stream)
      : robot_(robot), from_(from), steps_(steps), count_(count), stream_(stream) {
    const int nq = robot.m.nq, nv = robot.m.nv;
    host_ = Buffer(Precision::float32, count, nq + nv);
    std::vector<State> states;
    for (int i = 0; i < std::min(count, 512L); i++) states.push_back(random_state(robot.m, 500 + i));
    for (long i = 0; i < count; i++) {
      const State& s = states[i % states.size()];
      for (int c = 0; c < nq; c++) host_.component<float>(c)[i] = static_cast<float>(s.q[c]);
      for (int c = 0; c < nv; c++) host_.component<float>(nq + c)[i] = static_cast<float>(0.3 * s.v[c]);
    }
    start_ = Buffer(Precision::float32, count, nq + nv, 0, stream);
    copy(host_.ref(), start_.ref(), stream);
    last_ = Buffer(Precision::float32, count, nq, 0, stream);
    total_ = Buffer(Precision::float32, count, 1, 0, stream);
    if (from != From::noise) {
      controls_ = Buffer(Precision::float32, count, steps * nv, 0, stream);  // by rows a little of it is not used
      RandomBits().fill(controls_, 3, stream);
      return;
    }
    noise_.name = "tau", noise_.key = {0x123456789abcdef0ull, 3}, noise_.sigma.assign(nv, control_sigma);
    for (long k = 0; k < steps * nv; k++) noise_.mean.push_back(static_cast<float>(0.1 * std::sin(k)));
  }

  void run(void* stream) const {
    const int nq = robot_.m.nq, nv = robot_.m.nv;
    const auto part = [&](const char* name, const Buffer& b, long first, long n) {
      ArrayRef a = b.ref();
      a.data = b.component<float>(first), a.components = n;
      return SequenceMemory{name, a};
    };
    std::vector<SequenceMemory> in = {part("q", start_, 0, nq), part("v", start_, nq, nv)};
    if (from_ != From::noise) {
      SequenceMemory u = part("tau", controls_, 0, nv);
      u.every_step = true, u.step_stride = nv * controls_.stride();
      if (from_ == From::rows) u.array.instance_stride = steps_ * nv, u.array.component_stride = 1, u.step_stride = nv;
      in.push_back(u);
    }
    robot_.sequence.run(steps_, count_, in, robot_.uniforms, {part("q", last_, 0, nq), part("total", total_, 0, 1)},
                        from_ == From::noise ? &noise_ : nullptr, stream);
  }

  // Two instances beside the host's walk in double; how far its walk in float is off says what may be.
  double error(bool* right) const {
    const int nq = robot_.m.nq, nv = robot_.m.nv;
    const std::vector<float> found = results();
    double worst = 0;
    *right = true;
    for (long i : {count_ / 2, count_ - 1}) {
      const std::vector<double> u = controls_of(i);
      const auto given = [&](long t, int c) { return u[t * nv + c]; };
      std::vector<double> q, v;
      for (int c = 0; c < nq; c++) q.push_back(host_.component<float>(c)[i]);
      for (int c = 0; c < nv; c++) v.push_back(host_.component<float>(nq + c)[i]);
      std::vector<float> q_float(q.begin(), q.end()), v_float(v.begin(), v.end());
      const double sum = robot_.walk(q, v, steps_, given), rounded = robot_.walk(q_float, v_float, steps_, given);
      const auto compare = [&](double found, double exact, double in_float) {
        const double e = std::abs(found - exact) / (1 + std::abs(exact)),
                     tolerance = 8 * std::abs(in_float - exact) + 1e-4;
        if (!(e <= tolerance)) *right = false;
        worst = e <= worst ? worst : std::isnan(e) ? HUGE_VAL : e;
      };
      compare(found[nq * count_ + i], sum, rounded);
      for (int c = 0; c < nq; c++) compare(found[c * count_ + i], q[c], q_float[c]);
    }
    return worst;
  }
  // Last positions and totals, [component][instance].
  std::vector<float> results() const {
    const int nq = robot_.m.nq;
    std::vector<float> x((nq + 1) * count_);
    const auto fetch = [&](float* to, const Buffer& b, long rows) {
      succeed(device_table().copy(CopyKind::to_host, stream_, to, 4 * count_, b.component<float>(0), 4 * b.stride(),
                                  4 * count_, rows));
    };
    fetch(x.data(), last_, nq), fetch(x.data() + nq * count_, total_, 1);
    synchronise(0, stream_);
    return x;
  }
  // Bytes that a rollout needs of memory: controls where they are given, and what is at its ends.
  double bytes() const {
    return 4.0 * ((from_ == From::noise ? 0 : steps_ * robot_.m.nv) + 2 * robot_.m.nq + robot_.m.nv + 1);
  }

 private:
  std::vector<double> controls_of(long i) const {
    const int nv = robot_.m.nv;
    std::vector<float> x(steps_ * nv);
    if (from_ == From::noise) {
      std::vector<double> u = noise_.mean, z(nv);
      for (long t = 0; t < steps_; t++) {
        noise_kernels("base").normals_double(z.data(), 1, 1, nv, noise_.key, static_cast<std::uint32_t>(i),
                                             static_cast<std::uint32_t>(t));
        for (int c = 0; c < nv; c++) u[t * nv + c] += control_sigma * z[c];
      }
      return u;
    }
    const bool rows = from_ == From::rows;
    const float* at = controls_.component<float>(0) + (rows ? i * steps_ * nv : i);
    const unsigned long pitch = rows ? 4 : 4 * controls_.stride();
    succeed(device_table().copy(CopyKind::to_host, stream_, x.data(), 4, at, pitch, 4, x.size()));
    synchronise(0, stream_);
    return {x.begin(), x.end()};
  }
  const TimedRobot& robot_;
  From from_;
  long steps_, count_;
  void* stream_;
  Buffer host_, start_, last_, total_, controls_;
  Controls noise_;
};

}  // namespace featherstorm::testing
