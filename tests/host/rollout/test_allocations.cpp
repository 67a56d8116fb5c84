// A warm rollout allocates nothing: this program's operator new counts where a test says so. (The blocks of scratch.h
// come from aligned_alloc when a thread first needs them; their list is a vector, so they are counted too.) Not under the
// address sanitizer, whose own operators these would replace.
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "host/engine/evaluator.h"
#include "host/load/load.h"
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

}  // namespace
}  // namespace featherstorm::test_allocations

#endif
