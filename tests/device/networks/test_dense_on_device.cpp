// Networks of dense layers on a device compared with sums of products and with the
// host.
#include <gtest/gtest.h>

#include <climits>
#include <limits>

#include "host/memory/device_graph.h"
#include "host/network/networks_inside.h"
#include "tests/device/sequence_cases.h"
#include "tests/host/network/dense_case.h"

namespace featherstorm::test_dense_on_device {
namespace {

using namespace testing;

// Inputs of B instances and memory for outputs of T steps, on host and device.
struct Networking {
  Precision p;
  long B, T;
  DenseCase c;
  Twin x, y;
  Networking(Precision p, long B, long T, DenseCase one)
      : p(p), B(B), T(T), c(std::move(one)), x(p, B, c.network.inputs(), 1), y(p, B, c.network.outputs(), T) {
    x.fill([](long i, long k) { return DenseCase::input(i, k); });
    y.fill([](long, long) { return -7; });
  }
  Sequence sequence() const {
    Sequence s(p, 1);
    s.array("x", c.network.inputs()), s.array("y", c.network.outputs()), s.uniform("w", dense_numbers(c.network));
    s.stage(dense_stage(p, "", c.network, "x", "w", "y"));
    return s;
  }
  void run(const Sequence& s, bool there, const std::vector<double>& numbers, void* stream = nullptr) const {
    s.run(T, B, {x.memory("x", there, false)}, {{"w", numbers}}, {y.memory("y", there, true)}, nullptr, stream);
  }
  std::vector<double> numbers() const { return packed(c.network, c.weights); }
};

TEST(DenseOnDevice, IsSumsOfProducts) {
  for (const Precision p : {Precision::float32, Precision::float64})
    for (const auto& sizes : dense_sizes())
      for (const DenseActivation a : dense_activations)
        for (const long B : {1L, 128L, 129L, 300L}) {
          const Networking n(p, B, 1, {sizes, a, B != 128, 0.8, 3});
          n.run(n.sequence(), true, n.numbers());
          Buffer back(p, B, n.c.network.outputs());
          copy(n.y.there.ref(), back.ref());
          for (long i = 0; i < B; i++) {
            const std::vector<double> expected = n.c.outputs(i);
            for (long k = 0; k < n.c.network.outputs(); k++) {
              const double y = expected[static_cast<std::size_t>(k)];
              ASSERT_NEAR(n.y.get(back, i, k), y, dense_tolerance(p) * std::max(1.0, std::abs(y)))
                  << sizes[0] << " inputs, activation " << static_cast<int>(a) << ": " << i << " " << k;
            }
          }
        }
}

TEST(DenseOnDevice, KeepsNanToItsInstance) {
  const DenseCase c({6, 20, 11, 3}, DenseActivation::relu, true, 5, 8);
  Networking n(Precision::float32, 200, 1, c), plain(Precision::float32, 200, 1, c);
  n.x.fill([](long i, long k) {
    return i % 50 == 3 && k == 2 ? std::numeric_limits<double>::quiet_NaN() : DenseCase::input(i, k);
  });
  const Sequence s = n.sequence();
  n.run(s, true, n.numbers()), plain.run(s, true, n.numbers());
  Buffer strange(n.p, n.B, 3), usual(n.p, n.B, 3);
  copy(n.y.there.ref(), strange.ref()), copy(plain.y.there.ref(), usual.ref());
  for (long i = 0; i < n.B; i++)
    for (long k = 0; k < 3; k++) {
      if (i % 50 == 3) ASSERT_TRUE(std::isnan(n.y.get(strange, i, k)));
      else ASSERT_EQ(n.y.get(strange, i, k), n.y.get(usual, i, k));
    }
}

TEST(DenseOnDevice, TakesNoMemoryWhenWarmAndIsCaptured) {
  const DeviceStream stream(device);
  const Networking n(Precision::float32, 50, 3, {{17, 13, 6}, DenseActivation::tanh, true, 1, 1});
  const Sequence s = n.sequence();
  n.run(s, true, n.numbers(), stream.get());
  synchronise(device, stream.get());
  const StandInCounts before = counts_before();
  n.run(s, true, n.numbers(), stream.get());
  if (!real_gpu) {
    EXPECT_EQ(counts().launches - before.launches, 3 * 2 + 1) << "a launch a layer and step, and the weights in one";
    EXPECT_EQ(counts().pool_allocations, before.pool_allocations);
    EXPECT_EQ(counts().waits, before.waits);
  }
  const DeviceGraph graph(device, stream.get(), [&] { n.run(s, true, n.numbers(), stream.get()); });
  graph.launch(stream.get());
  n.run(s, false, n.numbers());
  EXPECT_LT(n.y.difference(stream.get()), 1e-5);
}

// Traced stages around two networks, with weights for each step; more numbers than one launch sends.
TEST(DenseOnDevice, NetworksInsideAProgramAreTheHosts) {
  constexpr long B = 70, T = 3;
  for (const Precision p : {Precision::float32, Precision::float64}) {
    const DenseCase a({3, 60, 40, 1}, DenseActivation::silu, true, 2, 1),
        other({3, 60, 40, 1}, DenseActivation::silu, true, 2, 7), b({2, 9, 2}, DenseActivation::elu, false, 1, 2);
    Program program;
    {
      const auto x = program.input("x", 3), g = program.input("g", 1, true);
      Tracing scope(program.graph);
      program.output("a_in", {x[0], x[1], g[0] * x[2]});
      const auto first = program.input("a_out", 1);
      program.output("b_in", {first[0], x[1]});
      const auto second = program.input("b_out", 2);
      program.output("x_next", {x[0] + 0.1 * second[0], x[1] - 0.1 * second[1], first[0]});
    }
    Evaluator e(load("cartpole"), {.threads = 1});
    Sequence s(p, 1);
    for (const auto* arrays : {&program.inputs, &program.outputs})
      for (const Program::Array& array : *arrays)
        array.uniform ? s.uniform(array.name, array.size) : s.array(array.name, array.size);
    s.uniform("a", dense_numbers(a.network)), s.uniform("b", dense_numbers(b.network));
    std::vector<Stage> stages =
        stages_with(e, p, program, {{"a_in", "a_out", "a", a.network}, {"b_in", "b_out", "b", b.network}});
    stages.back().swaps = {{"x", "x_next"}};
    for (const Stage& stage : stages) s.stage(stage);
    std::vector<double> of_steps;
    for (const DenseCase* c : {&a, &other, &a}) {
      const std::vector<double> numbers = packed(c->network, c->weights);
      of_steps.insert(of_steps.end(), numbers.begin(), numbers.end());
    }
    Twin x(p, B, 3, 1);
    x.fill([](long i, long k) { return DenseCase::input(i, k); });
    const Twin states(p, B, 3, T), seen(p, B, 1, T);
    for (const bool there : {false, true})
      s.run(T, B, {x.memory("x", there, false)}, {{"g", {0.7}}, {"a", of_steps}, {"b", packed(b.network, b.weights)}},
            {states.memory("x", there, true), seen.memory("a_out", there, true)});
    for (const Twin* y : {&states, &seen})
      EXPECT_LT(y->difference(), p == Precision::float32 ? bound(1e-5, 5e-5) : bound(1e-12, 1e-11));
  }
}

TEST(DenseOnDevice, WhatIsMissingIsNamed) {
  const Networking n(Precision::float32, 5, 1, {{3, 4, 2}, DenseActivation::tanh, false, 1, 1});
  const auto words = [&] {
    const Sequence s = n.sequence();
    return message([&] { n.run(s, true, n.numbers()); });
  };
  EXPECT_EQ(words(), "no error");
  const CudaTable& table = cuda_for("test", device);
  const Array none[2] = {};
  EXPECT_FALSE(table.dense(device, nullptr, false, &n.c.network, none, none, long{INT_MAX} + 1, nullptr, 0));
  EXPECT_STREQ(table.last_error(), "2147483648 instances of a network of 2 layers, expected at most 2147483647 and 16");
  EXPECT_TRUE(table.dense(device, nullptr, false, &n.c.network, none, none, 0, nullptr, 0));
}

}  // namespace
}  // namespace featherstorm::test_dense_on_device
