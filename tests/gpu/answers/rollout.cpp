// Rollouts and reductions on a GPU (host/rollout/cuda_rollout.h, host/reduction/cuda_reduction.h) against walks through the
// same programs in double: with arrays, with noise, by the robot's step, with contacts where it has some, and a traced cost;
// captured into a CUDA graph and launched again with other states; and how much memory warm runs take. Worlds whose contacts
// the device finds (host/rollout/cuda_stages.h) against the same steps on the host, and stages that draw, bit for bit.
//
//   gpu_rollout           all of it
//   gpu_rollout quick     an arm, a quadruped and a block on the ground, a small world, small batches, for a test without a GPU
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>

#include "host/memory/cuda_backend.h"
#include "host/memory/device_graph.h"
#include "host/reduction/cuda_reduction.h"
#include "host/rollout/draw_stage.h"
#include "tests/gpu/answers/batch.h"
#include "tests/gpu/answers/rolling.h"
#include "tests/gpu/timing/world_steps.h"
#include "tests/support/robots/small_world.h"

namespace featherstorm::testing {
namespace {

constexpr int device = 0;
bool quick = false;

void check(double error, double tolerance, const std::string& what) {
  tally().cases++;
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "error %.2e, tolerance %.0e", error, tolerance);
  if (error <= tolerance) line("%s  %s", what.c_str(), numbers);
  else failed(what, numbers);
}
void check(bool right, const std::string& what) {
  tally().cases++;
  if (right) line("%s", what.c_str());
  else failed(what, "is not so");
}
unsigned long free_memory() {
  unsigned long free = 0, all = 0;
  require(gpu().memory_info(device, &free, &all));
  return free;
}

// A robot, and what of it is compared: NVRTC takes most of the time.
struct Plan {
  NamedRobot robot;
  bool in_double, given;  // else in float alone, with noise alone
  std::string name() const { return robot.name + (robot.robot.model.contacts.nc ? "/contacts" : ""); }
};
NamedRobot block_on_ground() {
  const Vec3d half{0.2, 0.15, 0.1};
  NamedRobot r{"block", floating({block("block", half, 3)})};
  r.robot.model.contacts = contacts_of(r.robot, corners("block", half, 0.6));
  return r;
}
std::vector<Plan> plans() {
  if (quick) return {{named("iiwa14"), true, true}, {named("go2"), false, false}, {block_on_ground(), true, false}};
  std::vector<Plan> all;
  all.push_back({{"tree", all_joints(41, 7, false)}, true, true});
  all.push_back({named("iiwa14"), true, true});
  all.push_back({named("go2"), true, true});
  all.push_back({block_on_ground(), true, true});
  all.push_back({named("go2", go2_feet), false, false});
  return all;
}

Controls noise_of(const Rolling& r) {
  Controls noise;
  noise.name = "u", noise.key = {0x123456789abcdef0ull, 3}, noise.sigma.assign(r.nv, 0.5), noise.keep_mean = true;
  for (long k = 0; k < r.steps * r.nv; k++) noise.mean.push_back(0.1 * std::sin(k));
  return noise;
}

// Runs every kernel once, on all cores, so that NVRTC puts it into the cache on disk; what fails fails again later.
template <class Real> void make_kernel(const Rolling& r, bool noise) try {
  const DeviceStream stream(device);
  CudaRollout s(r.rollout, std::make_shared<LoadedKernels>());
  RollingBatch<Real> b(r, device, 1);
  b.start(7);
  const Controls controls = noise_of(r);
  b.run(s, noise ? &controls : nullptr, stream.get());
  synchronise(device, stream.get());
} catch (const std::exception&) {}
void make_kernels(const std::vector<Plan>& plans, const std::vector<Rolling>& rollings) {
  std::vector<std::function<void()>> jobs;
  for (std::size_t k = 0; k < plans.size(); k++)
    for (bool noise : {false, true}) {
      if (!noise && !plans[k].given) continue;
      jobs.push_back([&, k, noise] { make_kernel<float>(rollings[k], noise); });
      if (plans[k].in_double) jobs.push_back([&, k, noise] { make_kernel<double>(rollings[k], noise); });
    }
  const auto begin = std::chrono::steady_clock::now();
  on_all_cores(static_cast<int>(jobs.size()), [&](int k) { jobs[k](); });
  line("%zu kernels made in %.1f s, nearly all of it NVRTC's", jobs.size(),
       std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

template <class Real> void compare(const Plan& plan, const Rolling& r) {
  // in float a foot may touch the ground a step earlier or later
  const bool feet = r.robot.robot.model.contacts.nc && r.robot.robot.model.nb > 1;
  const double tolerance = sizeof(Real) == 8 ? 1e-9 : feet ? 2e-2 : 1e-4;
  const std::string name = plan.name() + (sizeof(Real) == 4 ? "/float" : "/double");
  const DeviceStream stream(device);
  CudaRollout s(r.rollout, std::make_shared<LoadedKernels>());
  const Controls noise = noise_of(r);
  const auto drawn = [&](long i, long t, int c) {
    return noise.mean[t * r.nv + c] + 0.5 * (i == 0 ? 0 : normal(noise.key, i, t, c));
  };
  const long middle = quick ? 33 : 1000;
  for (long B : quick ? std::vector<long>{middle} : std::vector<long>{1, 31, 33, middle, 4099}) {
    const std::string size = "/B=" + std::to_string(B);
    RollingBatch<Real> b(r, device, B);
    b.start(7);
    if (plan.given) {
      b.run(s, nullptr, stream.get());
      const auto given = [&](long i, long t, int c) {
        return double(b.host_u.template component<Real>(t * r.nv + c)[i]);
      };
      check(b.error(given, stream.get()), tolerance, "rollout/" + name + size);
    }
    b.run(s, &noise, stream.get());
    check(b.error(drawn, stream.get()), tolerance, "noise/" + name + size);
    if (B != middle) continue;

    // a graph, launched again with other states
    const DeviceGraph graph(device, stream.get(), [&] { b.run(s, &noise, stream.get()); });
    for (unsigned seed : {500u, 900u}) {
      b.start(seed);
      graph.launch(stream.get());
      check(b.error(drawn, stream.get()), tolerance, "graph/" + name + "/seed=" + std::to_string(seed));
    }

    // memory, and the same bits again
    Buffer once(b.p, B, 1), again(b.p, B, 1);
    copy(b.total.ref(), once.ref(), stream.get());
    const unsigned long before = free_memory();
    for (int k = 0; k < 20; k++) b.run(s, &noise, stream.get());
    synchronise(device, stream.get());
    check(before == free_memory(), "20 warm runs take no memory/" + name);
    copy(b.total.ref(), again.ref(), stream.get());
    check(std::memcmp(once.ref().data, again.ref().data, sizeof(Real) * B) == 0, "the same bits again/" + name);
  }
}

void reductions(Precision p) {
  CudaReduction r(device);
  constexpr long n = 7, steps = 3;
  for (long B : quick ? std::vector<long>{33} : std::vector<long>{1, 31, 33, 1000, 65537}) {
    const std::string name = std::string(p == Precision::float32 ? "float/" : "double/") + std::to_string(B);
    Buffer host(p, B, 1), costs(p, B, 1, device), weights(Precision::float64, B, 1, device),
        found(Precision::float64, B, 1);
    Buffer x(p, B, n * steps), there(p, B, n * steps, device), mean(p, n * steps, 1, device), back(p, n * steps, 1),
        found_squares(p, n * steps, 1);
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
    const double tolerance = p == Precision::float32 ? 2e-5 : 1e-12;
    check(worst, 1e-13, "weights/" + name);
    check(worst_mean, tolerance, "mean/" + name);
    const ArrayRef center = mean.ref();
    Buffer squares(p, n * steps, 1, device);
    r.weighted_mean({"x", samples, true, n * there.stride()}, steps, weights.ref(), squares.ref(), nullptr, &center);
    copy(squares.ref(), found_squares.ref());
    double worst_square = 0;
    for (long k = 0; k < n * steps; k++) {
      double expected = 0;
      for (long i = 0; i < B; i++) {
        const double d = number(x, k, i) - number(back, 0, k), w = found.component<double>(0)[i];
        expected += w * d * d;
      }
      worst_square = std::max(worst_square, std::abs(number(found_squares, 0, k) - expected));
    }
    check(worst_square, tolerance, "squares/" + name);
  }
}

// Worlds: contacts of all kinds, cones and pyramids, shapes with loops, few rows and many.
struct WorldCase {
  std::string name;
  Robot robot;
  double tolerance[2];  // of float and double, after one step
};
std::vector<WorldCase> world_cases() {
  std::vector<WorldCase> cases = {{"small", with_geoms(small_world()), {1e-3, 1e-10}}};
  if (quick) return cases;
  const auto add = [&](const char* name, const TouchingWorld& o, double single, double in_double) {
    cases.push_back({name, with_touching_world(load("go2"), o), {single, in_double}});
  };
  add("go2/pyramids", {}, 5e-3, 1e-9);
  add("go2/cones/convex", {.convex = true, .elliptic = true}, 5e-3, 1e-9);
  add("go2/many rows", {.apart = 1, .margin = 0.3}, 2e-2, 1e-8);
  return cases;
}
// Runs each once, as make_kernels.
void make_world_kernels(const std::vector<WorldCase>& cases) {
  on_all_cores(static_cast<int>(2 * cases.size()), [&](int k) {
    try {
      const DeviceStream stream(device);
      const WorldSteps steps(cases[static_cast<std::size_t>(k / 2)].robot,
                             k % 2 == 0 ? Precision::float32 : Precision::float64, 1, 1, stream.get());
      steps.run(stream.get());
      synchronise(device, stream.get());
    } catch (const std::exception&) {}
  });
}
void compare_world(const WorldCase& c, Precision p) {
  const bool single = p == Precision::float32;
  const double tolerance = c.tolerance[single ? 0 : 1];
  const DeviceStream stream(device);
  for (long B : quick ? std::vector<long>{70} : std::vector<long>{1, 33, 1000, 70001}) {
    const std::string name = "world/" + c.name + (single ? "/float" : "/double") + "/B=" + std::to_string(B);
    WorldSteps steps(c.robot, p, 1, B, stream.get());
    steps.run(stream.get());
    check(steps.error(), tolerance, name);
    check(steps.mean_rows() > 1, name + " touches: " + std::to_string(steps.mean_rows()) + " rows");
    if (B != (quick ? 70 : 1000)) continue;
    const DeviceGraph graph(device, stream.get(), [&] { steps.run(stream.get()); });
    steps.start(0.5);
    graph.launch(stream.get());
    const std::vector<double> once = steps.results();
    check(steps.error(), tolerance, "graph/" + name);
    const unsigned long before = free_memory();
    for (int k = 0; k < 20; k++) steps.run(stream.get());
    synchronise(device, stream.get());
    check(before == free_memory(), "20 warm runs take no memory/" + name);
    check(steps.results() == once, "the same bits again/" + name);
  }
}

// Numbers by counter: the host's bits.
void draws(Precision p) {
  constexpr int n = 30;
  for (long B : quick ? std::vector<long>{33} : std::vector<long>{1, 33, 1000, 70001}) {
    const std::string name = std::string(p == Precision::float32 ? "float/" : "double/") + std::to_string(B);
    Sequence s(p, 1);
    s.array("key", 6), s.array("episode", 1), s.array("step", 1), s.array("u", n);
    s.stage(draw_stage(p, "", {.count = n, .function = 40000}, "u"));
    Buffer in(p, B, 8), there(p, B, 8, device), u(p, B, n), u_there(p, B, n, device), back(p, B, n);
    for (long i = 0; i < B; i++) {
      const auto key = draw_key(0xfedcba9876543210ull, 0xffff0000u + static_cast<std::uint32_t>(i));
      for (long c = 0; c < 8; c++) {
        const double x = c < 6 ? key[static_cast<std::size_t>(c)] : static_cast<double>(c == 6 ? i : 999 - i % 1000);
        if (p == Precision::float32) in.component<float>(c)[i] = static_cast<float>(x);
        else in.component<double>(c)[i] = x;
      }
    }
    copy(in.ref(), there.ref());
    const auto component = [p](const Buffer& b, long c) {
      return static_cast<char*>(b.ref().data) + c * b.stride() * static_cast<long>(bytes_of(p));
    };
    const auto draw = [&](const Buffer& from, const Buffer& to) {
      const auto part = [&](long first, long count) {
        ArrayRef a = from.ref();
        a.data = component(from, first), a.components = count;
        return a;
      };
      s.run(1, B, {{"key", part(0, 6)}, {"episode", part(6, 1)}, {"step", part(7, 1)}}, {}, {{"u", to.ref()}});
    };
    draw(in, u), draw(there, u_there);
    copy(u_there.ref(), back.ref());
    bool same = true;
    for (long c = 0; c < n; c++)
      same = same && std::memcmp(component(u, c), component(back, c), bytes_of(p) * static_cast<std::size_t>(B)) == 0;
    check(same, "draws are the host's bits/" + name);
  }
}

int run() {
  for (Precision p : {Precision::float32, Precision::float64}) attempt("draws", [&] { draws(p); });
  for (Precision p : {Precision::float32, Precision::float64}) attempt("reductions", [&] { reductions(p); });
  const std::vector<Plan> all = plans();
  std::vector<Rolling> rollings;
  for (const Plan& plan : all) rollings.emplace_back(plan.robot, quick ? 6 : 20, 2);
  make_kernels(all, rollings);
  for (std::size_t k = 0; k < all.size(); k++) {
    attempt(all[k].name() + "/float", [&] { compare<float>(all[k], rollings[k]); });
    if (all[k].in_double) attempt(all[k].name() + "/double", [&] { compare<double>(all[k], rollings[k]); });
  }
  const std::vector<WorldCase> cases = world_cases();
  make_world_kernels(cases);
  for (const WorldCase& c : cases)
    for (Precision p : {Precision::float32, Precision::float64})
      attempt("world/" + c.name, [&] { compare_world(c, p); });
  return finish("checks of rollouts");
}

}  // namespace
}  // namespace featherstorm::testing

int main(int argc, char** argv) try {
  using namespace featherstorm::testing;
  quick = argc > 1 && std::string(argv[1]) == "quick";
  return run();
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
