// Networks of dense layers as stages of a sequence, on the host: against sums of products, for every instruction set and precision; and that
// an instance's numbers are its own.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cstring>
#include <limits>

#include "host/memory/cpu_library.h"
#include "host/network/dense_kernels.h"
#include "tests/host/network/dense_case.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_dense_stage {
namespace {

using namespace testing;

template <class Real>
constexpr Precision precision = sizeof(Real) == 4 ? Precision::float32 : Precision::float64;

// y (B, outputs) of the instances that are called `who`; `change` may change x (B, inputs).
template <class Real>
struct Run {
  long B, n, m;
  std::vector<Real> x, y;
  template <class Change>
  Run(const DenseCase& c, const std::vector<long>& who, int threads, const std::string& isa, const Change& change)
      : B(static_cast<long>(who.size())), n(c.network.inputs()), m(c.network.outputs()) {
    for (const long i : who)
      for (long k = 0; k < n; k++) x.push_back(static_cast<Real>(c.input(i, k)));
    change(x);
    y.assign(static_cast<std::size_t>(B * m + 1), -7);
    Sequence s(precision<Real>, threads, isa);
    s.array("x", n), s.array("y", m), s.uniform("w", dense_numbers(c.network));
    s.stage(dense_stage(precision<Real>, isa, c.network, "x", "w", "y"));
    s.run(1, B, {{"x", {x.data(), precision<Real>, B, n, n, 1, false}, false, 0}},
          {{"w", packed(c.network, c.weights)}}, {{"y", {y.data(), precision<Real>, B, m, m, 1, false}, false, 0}});
  }
  Run(const DenseCase& c, const std::vector<long>& who, int threads = 1, const std::string& isa = "")
      : Run(c, who, threads, isa, [](auto&) {}) {}
  Real at(long i, long k) const { return y[static_cast<std::size_t>(i * m + k)]; }
};
std::vector<long> everybody(long B, long first = 0) {
  std::vector<long> who;
  for (long i = 0; i < B; i++) who.push_back(first + i);
  return who;
}

template <class Real>
void check_numbers() {
  double worst = 0;
  for (const std::string& isa : supported_isas())
    for (const auto& sizes : dense_sizes())
      for (const DenseActivation a : dense_activations)
        for (const bool normalised : {false, true}) {
          const DenseCase c(sizes, a, normalised, 0.8, 3);
          const long B = 1 + 37 * (sizes[0] % 3);
          const Run<Real> run(c, everybody(B), 1, isa);
          for (long i = 0; i < B; i++) {
            const std::vector<double> expected = c.outputs(i);
            for (long k = 0; k < run.m; k++) {
              const double y = expected[static_cast<std::size_t>(k)];
              const double error = std::abs(static_cast<double>(run.at(i, k)) - y) / std::max(1.0, std::abs(y));
              ASSERT_LT(error, dense_tolerance(precision<Real>))
                  << isa << ", " << sizes[0] << " inputs, activation " << static_cast<int>(a) << ": " << i << " " << k;
              worst = std::max(worst, error);
            }
          }
          ASSERT_EQ(run.y.back(), -7) << "the guard";
        }
  EXPECT_GT(worst, 0) << "rounding is there";
}
TEST(DenseStage, IsSumsOfProductsInBothPrecisionsForEveryInstructionSet) {
  check_numbers<float>(), check_numbers<double>();
}

template <class Real>
void check_bits() {
  const DenseCase c({31, 70, 33, 12, 17}, DenseActivation::silu, true, 2, 5);
  for (const std::string& isa : supported_isas()) {
    const Run<Real> all(c, everybody(700), 1, isa);
    for (const long B : {1L, 2L, 16L, 17L, 48L, 127L, 129L, 500L})
      for (const long first : {0L, 33L, 200L})
        for (const int threads : {1, 2}) {
          const Run<Real> some(c, everybody(B, first), threads, isa);
          ASSERT_EQ(
              std::memcmp(some.y.data(), all.y.data() + first * all.m, sizeof(Real) * some.y.size() - sizeof(Real)), 0)
              << isa << ", " << B << " instances from " << first << " on, " << threads << " threads";
        }
  }
}
TEST(DenseStage, IsTheSameBitsForAnyBatchPlaceAndThreads) { check_bits<float>(), check_bits<double>(); }

// Whatever an instance has, its neighbours have what they would have.
template <class Real>
void check_strangers() {
  constexpr long B = 150;
  const std::vector<long> strange = {0, 13, 40, 149};
  for (const DenseActivation a : dense_activations)
    for (const bool normalised : {false, true}) {
      const DenseCase c({6, 20, 11, 3}, a, normalised, 5, 8);
      const Run<Real> plain(c, everybody(B));
      for (const Real value : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity(),
                               -std::numeric_limits<Real>::infinity(), Real(-1e30)}) {
        const Run<Real> run(c, everybody(B), 1, "", [&](std::vector<Real>& x) {
          for (const long i : strange) x[static_cast<std::size_t>(i * 6 + 2)] = value;
        });
        for (long i = 0; i < B; i++)
          for (long k = 0; k < run.m; k++) {
            const bool is_strange = std::find(strange.begin(), strange.end(), i) != strange.end();
            if (!is_strange) ASSERT_EQ(run.at(i, k), plain.at(i, k)) << i << " " << k;
            else if (std::isnan(value)) ASSERT_TRUE(std::isnan(run.at(i, k))) << i << " " << k;
            else if (normalised) ASSERT_TRUE(std::isfinite(run.at(i, k))) << "it is clipped";
          }
      }
    }
}
TEST(DenseStage, KeepsNanToItsInstance) { check_strangers<float>(), check_strangers<double>(); }

TEST(DenseStage, WeightsChangeFromRunToRunAndFromStepToStep) {
  const DenseCase a({4, 9, 2}, DenseActivation::tanh, false, 1, 1), b({4, 9, 2}, DenseActivation::tanh, false, 1, 2);
  constexpr long B = 20, T = 2;
  std::vector<double> x, y(static_cast<std::size_t>(B * T * 2));
  for (long i = 0; i < B; i++)
    for (long k = 0; k < 4; k++) x.push_back(a.input(i, k));
  Sequence s(Precision::float64, 1);
  s.array("x", 4), s.array("y", 2), s.uniform("w", dense_numbers(a.network));
  s.stage(dense_stage(Precision::float64, "", a.network, "x", "w", "y"));
  const std::vector<double> of_a = packed(a.network, a.weights), of_b = packed(b.network, b.weights);
  std::vector<double> both = of_a;
  both.insert(both.end(), of_b.begin(), of_b.end());
  for (const auto& [first, second, numbers] :
       {std::tuple{&a, &a, of_a}, std::tuple{&b, &b, of_b}, std::tuple{&a, &b, both}}) {
    s.run(T, B, {{"x", {x.data(), Precision::float64, B, 4, 4, 1, false}, false, 0}}, {{"w", numbers}},
          {{"y", {y.data(), Precision::float64, B, 2, 2 * T, 1, false}, true, 2}});
    for (long i = 0; i < B; i++)
      for (long t = 0; t < T; t++) {
        const std::vector<double> expected = (t == 0 ? first : second)->outputs(i);
        for (long k = 0; k < 2; k++)
          ASSERT_NEAR(y[static_cast<std::size_t>(i * 2 * T + t * 2 + k)], expected[static_cast<std::size_t>(k)], 1e-12);
      }
  }
}

TEST(DenseStage, IsCountedInReports) {
  const DenseCase c({4, 9, 2}, DenseActivation::tanh, false, 1, 1);
  Sequence s(Precision::float64, 1);
  s.array("x", 4), s.array("y", 2), s.uniform("w", dense_numbers(c.network));
  s.stage(dense_stage(Precision::float64, "", c.network, "x", "w", "y"));
  s.measure();
  s.run(3, 200, {}, {{"w", packed(c.network, c.weights)}}, {});
  const std::vector<StageCost> costs = s.costs();
  ASSERT_EQ(costs.size(), 1u);
  EXPECT_EQ(costs[0].name, "network w");
  EXPECT_EQ(costs[0].operations, 4 * 9 + 9 * 2);
  EXPECT_GT(costs[0].seconds, 0);
}

TEST(DenseStage, NamesWhatDoesNotFit) {
  const auto network = [](const std::vector<int>& sizes, double clip = 1) {
    return message([&] { dense_network(sizes, DenseActivation::tanh, true, clip); });
  };
  EXPECT_EQ(network({4, 2}), "no error");
  EXPECT_EQ(network({4}), "network: 0 layers, expected 1 to 16");
  EXPECT_EQ(network(std::vector<int>(18, 3)), "network: 17 layers, expected 1 to 16");
  EXPECT_EQ(network({4, 0, 2}), "network: a layer of 0 numbers, expected 1 to 65536");
  EXPECT_EQ(network({65537, 2}), "network: a layer of 65537 numbers, expected 1 to 65536");
  EXPECT_EQ(network({4, 2}, 0), "network: clip is 0.000000, expected above 0");
  EXPECT_EQ(network({4, 2}, NAN).rfind("network: clip is ", 0), 0u);
  EXPECT_EQ(message([] { activation_of("sine"); }),
            "network: activation is 'sine', expected tanh, elu, relu, silu or identity");
  EXPECT_EQ(activation_of("silu"), DenseActivation::silu);

  const DenseCase c({4, 9, 2}, DenseActivation::tanh, true, 1, 1);
  const auto pack = [&](const auto& change) {
    DenseWeights w = c.weights;
    change(w);
    return message([&] { packed(c.network, w); });
  };
  EXPECT_EQ(pack([](auto&) {}), "no error");
  EXPECT_EQ(pack([](auto& w) { w.mean.pop_back(); }), "network: mean has 3 numbers, expected 4");
  EXPECT_EQ(pack([](auto& w) { w.rate.clear(); }), "network: rate has 0 numbers, expected 4");
  EXPECT_EQ(pack([](auto& w) { w.W[1].pop_back(); }), "network: W_1 has 17 numbers, expected 18");
  EXPECT_EQ(pack([](auto& w) { w.b[0].push_back(1); }), "network: b_0 has 10 numbers, expected 9");
  EXPECT_EQ(pack([](auto& w) { w.W.pop_back(); }), "network: W has 1 numbers, expected 2");

  const auto stage = [&](long inputs, long numbers, long outputs, bool uniform_x = false, bool uniform_w = true) {
    return message([&] {
      Sequence s(Precision::float32, 1);
      uniform_x ? s.uniform("x", inputs) : s.array("x", inputs);
      uniform_w ? s.uniform("w", numbers) : s.array("w", numbers);
      s.array("y", outputs);
      s.stage(dense_stage(Precision::float32, "", c.network, "x", "w", "y"));
    });
  };
  const long n = dense_numbers(c.network);
  EXPECT_EQ(stage(4, n, 2), "no error");
  EXPECT_EQ(stage(5, n, 2), "array 'x' has 5 components, the stage expects 4");
  EXPECT_EQ(stage(4, 3, 2), "array 'w' has 3 components, the stage expects " + std::to_string(n));
  EXPECT_EQ(stage(4, n, 3), "array 'y' has 3 components, the stage expects 2");
  EXPECT_EQ(stage(4, n, 2, true), "array 'x' is uniform, the stage expects numbers for each instance");
  EXPECT_EQ(stage(4, n, 2, false, false), "array 'w' differs among instances, the stage expects a uniform array");
}

TEST(DenseKernels, MultiplyMatrices) {
  using Eigen::MatrixXd;
  std::srand(1);
  for (const std::string& isa : supported_isas())
    for (const auto& [m, n, k] :
         {std::array{1, 1, 1}, {3, 7, 5}, {12, 36, 12}, {36, 48, 36}, {48, 48, 61}, {49, 50, 2}}) {
      const MatrixXd A = MatrixXd::Random(m, k), transposed = A.transpose(), B = MatrixXd::Random(k, n),
                     C = MatrixXd::Random(m, n);
      const MatrixXd expected = C + A * B;
      std::vector<double> work(k * (m + 8));
      MatrixXd one = C, other = C, lower = C;
      const auto multiply = dense_kernels(isa).multiply;
      multiply(false, m, n, k, A.data(), 1, m, B.data(), one.data(), work.data());
      multiply(false, m, n, k, transposed.data(), k, 1, B.data(), other.data(), work.data());
      multiply(true, m, n, k, A.data(), 1, m, B.data(), lower.data(), work.data());
      EXPECT_LT((one - expected).cwiseAbs().maxCoeff(), 1e-13 * k) << isa << m;
      EXPECT_EQ(one, other) << isa << m;
      for (int j = 0; j < n; j++)
        for (int i = j; i < m; i++) EXPECT_EQ(lower(i, j), one(i, j));
    }
}

}  // namespace
}  // namespace featherstorm::test_dense_stage
