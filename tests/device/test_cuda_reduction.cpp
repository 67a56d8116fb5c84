// Reductions on a device compared with those of the host.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "host/memory/device.h"
#include "host/memory/device_graph.h"
#include "host/reduction/cpu_reduction.h"
#include "host/reduction/cuda_reduction.h"
#include "tests/device/control.h"

namespace featherstorm::test_cuda_reduction {
namespace {

using namespace testing;

constexpr double inf = std::numeric_limits<double>::infinity();

Buffer uploaded(const std::vector<double>& x, Precision p) {
  const long n = static_cast<long>(x.size());
  Buffer host(p, n, 1), there(p, n, 1, device);
  for (long i = 0; i < n; i++)
    if (p == Precision::float32) host.component<float>(0)[i] = static_cast<float>(x[i]);
    else host.component<double>(0)[i] = x[i];
  copy(host.ref(), there.ref());
  return there;
}
std::vector<double> downloaded(const Buffer& there, void* stream = nullptr) {
  const ArrayRef a = there.ref();
  Buffer host(a.precision, a.instances, 1);
  copy(a, host.ref(), stream);
  std::vector<double> x(a.instances);
  for (long i = 0; i < a.instances; i++)
    x[i] = a.precision == Precision::float32 ? host.component<float>(0)[i] : host.component<double>(0)[i];
  return x;
}

Least weights_on_host(std::vector<double>& costs, double temperature, std::vector<double>& weights) {
  const long n = static_cast<long>(costs.size());
  CpuReduction r(1);
  r.softmax_weights({costs.data(), Precision::float64, n, 1}, temperature, {weights.data(), Precision::float64, n, 1});
  return r.best();
}

std::vector<double> example(long n) {
  std::vector<double> costs(n);
  // quarters, which both precisions represent, with equal ones among them
  for (long i = 0; i < n; i++) costs[i] = 40 + std::round(100 * std::sin(0.7 * static_cast<double>(i))) / 4;
  if (n > 10) costs[2] = NAN, costs[3] = inf, costs[4] = -inf, costs[5] = 1e6;
  return costs;
}

TEST(CudaReduction, TheLeastCostAndTheWeightsAreTheHosts) {
  CudaReduction r(device);
  for (Precision p : {Precision::float32, Precision::float64})
    for (long n : {1L, 15L, 256L, 257L, 5000L, 65537L}) {
      std::vector<double> costs = example(n);
      const Buffer there = uploaded(costs, p);
      Buffer weights(Precision::float64, n, 1, device);
      std::vector<double> expected(n);
      const Least best = weights_on_host(costs, 2.5, expected);
      r.least(there.ref());
      EXPECT_EQ(r.best().index, best.index);
      r.softmax_weights(there.ref(), 2.5, weights.ref());
      EXPECT_EQ(r.best().value, best.value);
      EXPECT_EQ(r.best().index, best.index);
      const std::vector<double> found = downloaded(weights);
      for (long i = 0; i < n; i++) ASSERT_NEAR(found[i], expected[i], 1e-13 * expected[i]) << n << " " << i;
    }
}

TEST(CudaReduction, CostsOfWhichNoneIsFiniteHaveNoWeights) {
  CudaReduction r(device);
  const Buffer there = uploaded({NAN, inf, -inf, NAN}, Precision::float32);
  Buffer weights(Precision::float64, 4, 1, device);
  r.softmax_weights(there.ref(), 1, weights.ref());
  EXPECT_EQ(r.best().index, -1);
  EXPECT_EQ(r.best().value, inf);
  EXPECT_EQ(downloaded(weights), std::vector<double>(4, 0.0));
}

template <class Real>
void check_mean(Precision precision, bool rows) {
  CudaReduction r(device);
  for (long B : {1L, 100L, 257L, 1000L}) {
    constexpr long T = 7, n = 5;
    const long instance = rows ? T * n : 1, component = rows ? 1 : B;
    std::vector<double> x(B * T * n), w(B);
    std::vector<Real> expected(T * n);
    for (std::size_t k = 0; k < x.size(); k++) x[k] = static_cast<Real>(1 + 0.1 * std::cos(0.3 * k));
    for (long i = 0; i < B; i++) w[i] = (1.5 + std::sin(i)) / B;
    if (B > 1) w[1] = 0, x[instance] = NAN;  // has no weight, so it must not count
    const Buffer there = uploaded(x, precision), weights = uploaded(w, Precision::float64);
    Buffer mean(precision, T * n, 1, device);
    ArrayRef a = there.ref();
    a.instances = B, a.components = n, a.instance_stride = instance, a.component_stride = component;
    r.weighted_mean({"x", a, true, n * component}, T, weights.ref(), mean.ref());
    std::vector<Real> host(x.begin(), x.end());
    a.data = host.data(), a.device = on_host;
    CpuReduction(1).weighted_mean({"x", a, true, n * component}, T, {w.data(), Precision::float64, B, 1},
                                  {expected.data(), precision, T * n, 1});
    const std::vector<double> found = downloaded(mean);
    Buffer square(precision, T * n, 1, device);
    const ArrayRef center = mean.ref();
    a = there.ref();
    a.instances = B, a.components = n, a.instance_stride = instance, a.component_stride = component;
    r.weighted_mean({"x", a, true, n * component}, T, weights.ref(), square.ref(), nullptr, &center);
    const std::vector<double> squares = downloaded(square);
    for (long k = 0; k < T * n; k++) {
      ASSERT_NEAR(found[k], expected[k], 40 * std::numeric_limits<Real>::epsilon()) << B << " " << k;
      double sum = 0;
      for (long i = 0; i < B; i++)
        if (w[i] > 0) sum += w[i] * std::pow(x[i * instance + k * component] - found[k], 2);
      ASSERT_NEAR(squares[k], sum, 40 * std::numeric_limits<Real>::epsilon()) << B << " " << k;
    }
  }
}

TEST(CudaReduction, WeightedMeansAreTheHostsForAnyLayout) {
  check_mean<float>(Precision::float32, false), check_mean<float>(Precision::float32, true);
  check_mean<double>(Precision::float64, false), check_mean<double>(Precision::float64, true);
}

TEST(CudaReduction, WarmCallsNeitherAllocateNorWaitAndAreCaptured) {
  const DeviceStream stream(device);
  CudaReduction r(device);
  const std::vector<double> costs = example(300);
  const Buffer there = uploaded(costs, Precision::float32);
  Buffer weights(Precision::float64, 300, 1, device), samples(Precision::float32, 300, 6, device),
      mean(Precision::float32, 6, 1, device);
  ArrayRef a = samples.ref();
  a.components = 3;
  const auto all = [&] {
    r.softmax_weights(there.ref(), 1.5, weights.ref(), stream.get());
    r.weighted_mean({"x", a, true, 3 * samples.stride()}, 2, weights.ref(), mean.ref(), stream.get());
  };
  EXPECT_EQ(message([&] {
              DeviceGraph(device, stream.get(), all);
            }).find("a reduction that is captured into a graph may take no memory: run it once with as many "),
            0u);
  all();
  synchronise(device, stream.get());
  const StandInCounts before = counts_before();
  all();
  const DeviceGraph graph(device, stream.get(), all);
  if (!real_gpu) {
    EXPECT_EQ(counts().waits, before.waits);
    EXPECT_EQ(counts().pool_allocations, before.pool_allocations);
    EXPECT_EQ(counts().driver_allocations, before.driver_allocations);
    EXPECT_EQ(counts().launches, before.launches + 8) << "four pieces, twice";
  }
  std::vector<double> others = costs, expected(300);
  for (double& x : others) x = 3 - x / 2;
  copy(uploaded(others, Precision::float32).ref(), there.ref());
  synchronise(device);
  graph.launch(stream.get());
  weights_on_host(others, 1.5, expected);
  const std::vector<double> found = downloaded(weights, stream.get());
  for (long i = 0; i < 300; i++) ASSERT_NEAR(found[i], expected[i], 1e-13 * expected[i]);
}

TEST(CudaReduction, NamesWhatDoesNotFit) {
  needs_fake_cuda();
  CudaReduction r(device);
  const Buffer costs = uploaded({1, 2, 3}, Precision::float32), two = uploaded({1, 2}, Precision::float64);
  Buffer host(Precision::float64, 3, 1), weights(Precision::float64, 3, 1, device),
      wide(Precision::float32, 3, 2, device);
  EXPECT_EQ(message([&] { r.least(host.ref()); }), "costs is on the host, expected CUDA device 1");
  EXPECT_EQ(message([&] { r.least(wide.ref()); }), "costs has shape (3, 2), expected (3, 1)");
  EXPECT_EQ(message([&] { r.softmax_weights(costs.ref(), 0, weights.ref()); }),
            "temperature is 0.000000, expected a positive number");
  EXPECT_EQ(message([&] { r.softmax_weights(costs.ref(), 1, two.ref()); }),
            "weights has shape (2, 1), expected (3, 1)");
  EXPECT_EQ(message([&] { r.softmax_weights(costs.ref(), 1, costs.ref()); }), "weights is float32, expected float64");
  EXPECT_EQ(message([&] { r.weighted_mean({"x", wide.ref(), true, 0}, 1, weights.ref(), weights.ref()); }),
            "mean has shape (3, 1), expected (2, 1)");
  EXPECT_EQ(message([&] { r.best(); }), "nothing was reduced on this stream");
  ArrayRef nowhere = costs.ref();
  nowhere.device = 7;
  EXPECT_EQ(message([&] { CudaReduction(7).least(nowhere); }),
            "reduction: CUDA device 7 does not exist, expected 0 to 1");
  fail_next("launch", out_of_resources);
  EXPECT_EQ(message([&] { r.least(costs.ref()); }).find("reduction: CUDA device 1: cudaErrorLaunchOutOfResources: "),
            0u);
}

}  // namespace
}  // namespace featherstorm::test_cuda_reduction
