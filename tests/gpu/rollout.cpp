// Rollouts and reductions on a GPU (host/device_sequence.h, host/device_reduce.h) against walks through the same
// programs in double: with arrays, with noise, whose words and numbers are computed here once more, by the robot's step
// and a traced cost; captured into a CUDA graph and launched again with other states; and how much memory warm runs
// take.
//
//   gpu_rollout
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdio>
#include <cstring>

#include "core/trace/evaluate.h"
#include "host/device.h"
#include "host/device_reduce.h"
#include "host/device_sequence.h"
#include "host/error.h"
#include "host/specialised_program.h"
#include "tests/gpu/batch.h"

namespace featherstorm::testing {
namespace {

constexpr int device = 0, substeps = 2;
constexpr long T = 20;
int failures = 0, checks = 0;

void check(bool ok, const std::string& what) {
  checks++;
  if (!ok) failures++;
  std::printf("%s%s\n", ok ? "" : "FAILED  ", what.c_str());
}
void require(cudaError_t e) {
  if (e != cudaSuccess) throw std::runtime_error(cudaGetErrorString(e));
}

// Philox4x32-10, and normal numbers of its words, as host/noise.h defines them.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> x, std::uint64_t seed) {
  std::uint32_t a = static_cast<std::uint32_t>(seed), b = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; round++, a += 0x9E3779B9u, b += 0xBB67AE85u) {
    const std::uint64_t p = std::uint64_t(0xD2511F53u) * x[0], q = std::uint64_t(0xCD9E8D57u) * x[2];
    x = {std::uint32_t(q >> 32) ^ x[1] ^ a, std::uint32_t(q), std::uint32_t(p >> 32) ^ x[3] ^ b, std::uint32_t(p)};
  }
  return x;
}
double normal(NoiseKey key, std::uint32_t instance, std::uint32_t step, int component) {
  const auto w = philox({instance, step, static_cast<std::uint32_t>(component / 4), key.draw}, key.seed);
  const int pair = component % 4 / 2 * 2;
  const double a = (std::floor(w[pair] / 2.0) + 0.5) / 2147483648.0;
  const double b = M_PI * static_cast<std::int32_t>(w[pair + 1]) / 2147483648.0;
  return std::sqrt(-2 * std::log(a)) * (component % 2 ? std::sin(b) : std::cos(b));
}

// total_next = total + |q - 0.1|^2 + 0.01 |u|^2 + t
Program cost_of(int nq, int nu) {
  Program p;
  const auto q = p.input("q", nq), u = p.input("u", nu), total = p.input("total", 1), t = p.input("t_next", 1, true);
  Tracing scope(p.graph);
  Expr sum = total[0] + t[0];
  for (const Expr& x : q) sum = sum + (x - 0.1) * (x - 0.1);
  for (const Expr& x : u) sum = sum + 0.01 * x * x;
  p.output("total_next", {sum});
  return p;
}

// The step of a robot and a cost, as one rollout.
struct Rolling {
  Rollout rollout;
  std::vector<std::vector<double>> uniforms;  // of each array
  int q, v, u, total, t_next, nq, nv;
  explicit Rolling(const Robot& robot) : nq(robot.model.nq), nv(robot.model.nv) {
    const auto array = [&](int n, bool uniform = false, std::vector<double> values = {}) {
      rollout.arrays.push_back({n, uniform, static_cast<long>(values.size()) > n});
      uniforms.push_back(std::move(values));
      return static_cast<int>(rollout.arrays.size()) - 1;
    };
    int op = -1;
    for_every_op([&](auto row, int k) { op = decltype(row)::info.name == "step" ? k : op; });
    Rollout::Stage step{
        std::make_shared<const Program>(specialised_program({op}, robot.model)), {}, {}, {}, substeps, false};
    for (const auto& a : step.program->inputs) {
      const double x = a.name == "dt" ? 1e-3 : a.name == "kd" ? 0.2 : a.name == "friction_velocity" ? 0.01 : 0;
      step.in.push_back(array(a.size, a.uniform, a.uniform ? std::vector<double>(a.size, x) : std::vector<double>{}));
    }
    for (const auto& a : step.program->outputs) step.out.push_back(array(a.size));
    q = step.in[0], v = step.in[1], u = step.in[2];
    step.swaps = {{q, step.out[0]}, {v, step.out[1]}};
    total = array(1);
    const int next = array(1);
    std::vector<double> times;
    for (long t = 0; t < T; t++) times.push_back(0.01 * (t + 1));
    t_next = array(1, true, times);
    rollout.stages = {
        step,
        {std::make_shared<const Program>(cost_of(nq, nv)), {q, u, total, t_next}, {next}, {{total, next}}, 1, false}};
    rollout.checks = {{total, {q, v}}};
  }
  // One instance in double: u(t, c) gives the controls; returns the total and leaves the last state.
  template <class U>
  double walk(std::vector<double>& x_q, std::vector<double>& x_v, const U& u_of) const {
    double sum = 0;
    const auto& step = rollout.stages[0];
    for (long t = 0; t < T; t++) {
      Arrays<double> in(step.program->inputs.size());
      for (std::size_t k = 0; k < in.size(); k++) {
        const auto& a = step.program->inputs[k];
        in[k] = a.uniform ? uniforms[step.in[k]] : std::vector<double>(a.size, 0.0);
      }
      in[0] = x_q, in[1] = x_v;
      for (int c = 0; c < nv; c++) in[2][c] = u_of(t, c);
      const Arrays<double> out = evaluate(*step.program, in, substeps);
      x_q = out[0], x_v = out[1];
      sum = evaluate(*rollout.stages[1].program, Arrays<double>{x_q, in[2], {sum}, {uniforms[t_next][t]}}, 1)[0][0];
    }
    return sum;
  }
};

// All arrays of a batch on the device, and a call.
template <class Real>
struct Batch {
  static constexpr Precision p = precision_of<Real>();
  const Rolling& r;
  long B;
  Buffer q, v, u, states, total, host_q, host_v, host_u;
  Batch(const Rolling& r, long B)
      : r(r),
        B(B),
        q(p, B, r.nq, device),
        v(p, B, r.nv, device),
        u(p, B, r.nv * T, device),
        states(p, B, r.nq * T, device),
        total(p, B, 1, device),
        host_q(p, B, r.nq),
        host_v(p, B, r.nv),
        host_u(p, B, r.nv * T) {}
  void start(const Model<double>& m, unsigned seed) {
    for (long i = 0; i < B; i++) {
      const auto in = op_inputs<OpStep>(m, seed + i);
      for (int c = 0; c < r.nq; c++) host_q.template component<Real>(c)[i] = in[0][c];
      for (int c = 0; c < r.nv; c++) host_v.template component<Real>(c)[i] = 0.3 * in[1][c];
      for (long c = 0; c < r.nv * T; c++) host_u.template component<Real>(c)[i] = std::sin(0.3 * c + i);
    }
    copy(host_q.ref(), q.ref()), copy(host_v.ref(), v.ref()), copy(host_u.ref(), u.ref());
  }
  SequenceMemory memory(const char* name, const Buffer& b, int n, bool every_step) const {
    ArrayRef a = b.ref();
    a.components = n;
    return {name, a, every_step, n * b.stride()};
  }
  void run(DeviceSequence& s, const Controls* controls, void* stream) {
    std::vector<SequenceMemory> in = {memory("q", q, r.nq, false), memory("v", v, r.nv, false)};
    std::vector<int> in_at = {r.q, r.v}, out_at = {r.q, r.total, r.u};
    if (!controls) in.push_back(memory("u", u, r.nv, true)), in_at.push_back(r.u);
    std::vector<SequenceMemory> out = {memory("q", states, r.nq, true), memory("total", total, 1, false)};
    if (controls) out.push_back(memory("u", u, r.nv, true));
    std::vector<const double*> numbers;
    const auto every_step = std::make_unique<bool[]>(r.rollout.arrays.size());
    for (std::size_t k = 0; k < r.uniforms.size(); k++)
      numbers.push_back(r.uniforms[k].data()), every_step[k] = r.rollout.arrays[k].every_step;
    s.run(r.rollout, {p, device, T, B, in.data(), out.data(), in_at.data(), out_at.data(), static_cast<int>(in.size()),
                      static_cast<int>(out.size()), numbers.data(), every_step.get(), controls, r.u, stream});
  }
  // The greatest error of costs and last states, relative to their scale.
  template <class U>
  double error(const U& u_of, void* stream) const {
    Buffer back(p, B, r.nq * T), costs(p, B, 1);
    copy(states.ref(), back.ref(), stream), copy(total.ref(), costs.ref(), stream);
    double worst = 0;
    for (long i = 0; i < B; i += 1 + B / 50) {
      std::vector<double> x(r.nq), w(r.nv);
      for (int c = 0; c < r.nq; c++) x[c] = host_q.template component<Real>(c)[i];
      for (int c = 0; c < r.nv; c++) w[c] = host_v.template component<Real>(c)[i];
      const double expected = r.walk(x, w, [&](long t, int c) { return u_of(i, t, c); });
      const auto compare = [&](double found, double exact, double scale) {
        const double e = std::abs(found - exact) / scale;
        worst = e <= worst ? worst : std::isnan(e) ? HUGE_VAL : e;
      };
      compare(costs.template component<Real>(0)[i], expected, 1 + std::abs(expected));
      for (int c = 0; c < r.nq; c++)
        compare(back.template component<Real>((T - 1) * r.nq + c)[i], x[c], 1 + std::abs(x[c]));
    }
    return worst;
  }
};

template <class Real>
void compare(const NamedRobot& robot, const Rolling& r) {
  const double tolerance = sizeof(Real) == 4 ? 5e-3 : 1e-9;
  const std::string name = robot.name + (sizeof(Real) == 4 ? "/float" : "/double");
  DeviceSequence s;
  cudaStream_t stream;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Controls noise;
  noise.name = "u", noise.key = {0x123456789abcdef0ull, 3}, noise.sigma.assign(r.nv, 0.5), noise.keep_mean = true;
  for (long k = 0; k < T * r.nv; k++) noise.mean.push_back(0.1 * std::sin(k));
  for (long B : {1L, 31L, 33L, 1000L, 4099L}) {
    Batch<Real> b(r, B);
    b.start(robot.robot.model, 7);
    b.run(s, nullptr, stream);
    const auto given = [&](long i, long t, int c) {
      return double(b.host_u.template component<Real>(t * r.nv + c)[i]);
    };
    double e = b.error(given, stream);
    check(e < tolerance, "rollout/" + name + "/" + std::to_string(B) + "  error " + std::to_string(e));
    const auto drawn = [&](long i, long t, int c) {
      return noise.mean[t * r.nv + c] + 0.5 * (i == 0 ? 0 : normal(noise.key, i, t, c));
    };
    b.run(s, &noise, stream);
    e = b.error(drawn, stream);
    check(e < tolerance, "noise/" + name + "/" + std::to_string(B) + "  error " + std::to_string(e));
    if (B != 1000) continue;

    // a graph, launched again with other states
    cudaGraph_t graph;
    cudaGraphExec_t launchable;
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    b.run(s, &noise, stream);
    require(cudaStreamEndCapture(stream, &graph));
    require(cudaGraphInstantiate(&launchable, graph, 0));
    for (unsigned seed : {500u, 900u}) {
      b.start(robot.robot.model, seed);
      require(cudaGraphLaunch(launchable, stream));
      e = b.error(drawn, stream);
      check(e < tolerance, "graph/" + name + "  error " + std::to_string(e));
    }
    require(cudaGraphExecDestroy(launchable)), require(cudaGraphDestroy(graph));

    // memory, and the same bits again
    Buffer first(b.p, B, 1), again(b.p, B, 1);
    copy(b.total.ref(), first.ref(), stream);
    std::size_t before = 0, after = 0, all = 0;
    require(cudaMemGetInfo(&before, &all));
    for (int k = 0; k < 20; k++) b.run(s, &noise, stream);
    require(cudaStreamSynchronize(stream));
    require(cudaMemGetInfo(&after, &all));
    check(before == after, "memory/" + name + "  " + std::to_string(before - after) + " bytes in 20 warm runs");
    copy(b.total.ref(), again.ref(), stream);
    check(std::memcmp(first.ref().data, again.ref().data, sizeof(Real) * B) == 0, "same bits/" + name);
  }
  require(cudaStreamDestroy(stream));
}

void reductions(Precision p) {
  DeviceReduction r(device);
  constexpr long n = 7, steps = 3;
  for (long B : {1L, 31L, 33L, 1000L, 65537L}) {
    const std::string name = std::string(p == Precision::float32 ? "float/" : "double/") + std::to_string(B);
    Buffer host(p, B, 1), costs(p, B, 1, device), weights(Precision::float64, B, 1, device),
        found(Precision::float64, B, 1);
    Buffer x(p, B, n * steps), there(p, B, n * steps, device), mean(p, n * steps, 1, device), back(p, n * steps, 1);
    const auto number = [&](const Buffer& b, long c, long i) -> double {
      return p == Precision::float32 ? b.component<float>(c)[i] : b.component<double>(c)[i];
    };
    const auto set = [&](const Buffer& b, long c, long i, double v) {
      if (p == Precision::float32) b.component<float>(c)[i] = static_cast<float>(v);
      else b.component<double>(c)[i] = v;
    };
    for (long i = 0; i < B; i++) {
      set(host, 0, i, i % 17 == 5 ? NAN : i % 19 == 6 ? HUGE_VAL : 40 + std::round(100 * std::sin(0.7 * i)) / 4);
      for (long c = 0; c < n * steps; c++) set(x, c, i, 1 + std::cos(0.1 * c + 0.3 * i));
    }
    copy(host.ref(), costs.ref()), copy(x.ref(), there.ref());
    r.softmax_weights(costs.ref(), 2.5, weights.ref());
    ArrayRef samples = there.ref();
    samples.components = n;
    r.weighted_mean({"x", samples, true, n * there.stride()}, steps, weights.ref(), mean.ref());
    const Least best = r.best();
    long least = -1;
    for (long i = 0; i < B; i++)
      if (const double c = number(host, 0, i); std::isfinite(c) && (least < 0 || c < number(host, 0, least))) least = i;
    check(best.index == least && best.value == number(host, 0, least), "least/" + name);
    long double sum = 0;
    for (long i = 0; i < B; i++)
      if (const double c = number(host, 0, i); std::isfinite(c))
        sum += std::exp((best.value - static_cast<long double>(c)) / 2.5L);
    copy(weights.ref(), found.ref()), copy(mean.ref(), back.ref());
    double worst = 0, worst_mean = 0;
    std::vector<double> exact(n * steps);
    for (long i = 0; i < B; i++) {
      const double c = number(host, 0, i);
      const double w = std::isfinite(c) ? static_cast<double>(std::exp((best.value - c) / 2.5L) / sum) : 0;
      worst = std::max(worst, std::abs(found.component<double>(0)[i] - w) / (w + 1e-30));
      for (long k = 0; k < n * steps; k++) exact[k] += w * number(x, k, i);
    }
    for (long k = 0; k < n * steps; k++) worst_mean = std::max(worst_mean, std::abs(number(back, 0, k) - exact[k]));
    check(worst < 1e-13, "weights/" + name + "  error " + std::to_string(worst));
    check(worst_mean < (p == Precision::float32 ? 2e-5 : 1e-12),
          "mean/" + name + "  error " + std::to_string(worst_mean));
  }
}

int run() {
  reductions(Precision::float32), reductions(Precision::float64);
  for (const NamedRobot& robot : gpu_robots()) {
    if (robot.robot.model.nv > 20) continue;  // NVRTC takes minutes for the texts of larger ones
    const Rolling r(robot.robot);
    compare<float>(robot, r), compare<double>(robot, r);
  }
  std::printf("%d checks of rollouts, %d failures\n", checks, failures);
  return failures || !checks;
}

}  // namespace
}  // namespace featherstorm::testing

int main() try { return featherstorm::testing::run(); } catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
