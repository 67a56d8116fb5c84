// Reductions against sums in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "host/rollout/reduction.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_reduction {
namespace {

using testing::message;

constexpr double inf = std::numeric_limits<double>::infinity();

template <class Real> ArrayRef column(std::vector<Real>& x) {
  return {x.data(), precision_of<Real>(), static_cast<long>(x.size()), 1};
}

TEST(Reduction, LeastIsTheFirstLeastFiniteNumber) {
  const auto r = Reduction::on(on_host);
  std::vector<double> x = {NAN, inf, 3, 2, -inf, 2, 5};
  r->least(column(x));
  EXPECT_EQ(r->best().index, 3);
  EXPECT_EQ(r->best().value, 2);
  // every second one, in float
  std::vector<float> y = {9, 1, 4, 1, 7, 1};
  r->least({y.data(), Precision::float32, 3, 1, 2});
  EXPECT_EQ(r->best().index, 1);
  EXPECT_EQ(r->best().value, 4);
  x.resize(2);
  r->least(column(x));
  EXPECT_EQ(r->best().index, -1);
  EXPECT_EQ(r->best().value, inf);
}

TEST(Reduction, SoftmaxWeightsAreExponentialsThatSumToOne) {
  const auto r = Reduction::on(on_host);
  for (long n : {1L, 15L, 256L, 257L, 5000L}) {
    std::vector<double> costs(n), w(n);
    for (long i = 0; i < n; i++) costs[i] = 40 + 30 * std::sin(0.7 * static_cast<double>(i));
    if (n > 10) costs[2] = NAN, costs[3] = HUGE_VAL, costs[4] = -HUGE_VAL, costs[5] = 1e6;
    r->softmax_weights(column(costs), 2.5, column(w));
    const Least best = r->best();
    EXPECT_EQ(best.value, costs[best.index]);
    long double sum = 0, total = 0;
    for (double c : costs)
      if (std::isfinite(c)) sum += std::exp((static_cast<long double>(best.value) - c) / 2.5L);
    for (long i = 0; i < n; i++) {
      const long double e = std::isfinite(costs[i]) ? std::exp((best.value - costs[i]) / 2.5L) / sum : 0;
      ASSERT_NEAR(w[i], e, 4e-15 * static_cast<double>(e) + 1e-300) << n << " " << i;
      total += w[i];
    }
    EXPECT_NEAR(static_cast<double>(total), 1, 1e-14);
  }
}

TEST(Reduction, WithoutAFiniteCostThereAreNoWeights) {
  const auto r = Reduction::on(on_host);
  std::vector<double> costs = {NAN, inf, -inf}, w(3, 5.0);
  r->softmax_weights(column(costs), 1, column(w));
  EXPECT_EQ(r->best().index, -1);
  EXPECT_EQ(w, std::vector<double>(3, 0.0));
}

template <class Real>
void check_mean(Precision precision, bool rows) {
  for (long B : {1L, 100L, 257L, 4000L}) {
    constexpr long T = 7, n = 25;
    std::vector<Real> x(B * T * n);
    for (std::size_t k = 0; k < x.size(); k++) x[k] = static_cast<Real>(1 + 0.1 * std::cos(0.3 * k));
    std::vector<double> w(B);
    for (long i = 0; i < B; i++) w[i] = (1.5 + std::sin(i)) / B;
    const long instance = rows ? T * n : 1, component = rows ? 1 : B;
    if (B > 1) w[1] = 0, x[instance] = NAN;  // what does not count
    const SequenceMemory m{"x", {x.data(), precision, B, n, instance, component, false}, true, n * component};
    std::vector<Real> one(T * n), three(T * n), squares(T * n);
    const ArrayRef center = column(one);
    Reduction::on(on_host, 1)->weighted_mean(m, T, column(w), column(one));
    Reduction::on(on_host, 3)->weighted_mean(m, T, column(w), column(three));
    EXPECT_EQ(one, three);
    Reduction::on(on_host)->weighted_mean(m, T, column(w), column(squares), nullptr, &center);
    for (long k = 0; k < T * n; k++) {
      long double sum = 0;
      for (long i = 0; i < B; i++)
        if (w[i] > 0) sum += static_cast<long double>(static_cast<Real>(w[i])) * x[i * instance + k * component];
      long double square = 0;
      for (long i = 0; i < B; i++)
        if (w[i] > 0) square += w[i] * std::pow(static_cast<long double>(x[i * instance + k * component]) - one[k], 2);
      ASSERT_NEAR(squares[k], static_cast<double>(square), 40 * std::numeric_limits<Real>::epsilon()) << B << " " << k;
      // the bound of a tree of log2(B / 16) + 16 + 4 sums, of about 1.5 in all
      ASSERT_NEAR(one[k], static_cast<double>(sum), 40 * std::numeric_limits<Real>::epsilon()) << B << " " << k;
    }
  }
}

TEST(Reduction, WeightedMeanIsTheSumForAnyLayoutAndThreads) {
  check_mean<float>(Precision::float32, false), check_mean<float>(Precision::float32, true);
  check_mean<double>(Precision::float64, false), check_mean<double>(Precision::float64, true);
}

TEST(Reduction, NamesWhatDoesNotFit) {
  const auto r = Reduction::on(on_host);
  std::vector<double> three(3), two(2);
  std::vector<float> single(3);
  EXPECT_EQ(message([&] { r->best(); }), "nothing was reduced");
  EXPECT_EQ(message([&] { r->least({nullptr, Precision::float64, 0, 1}); }), "there are no costs");
  EXPECT_EQ(message([&] { r->softmax_weights(column(three), 0, column(three)); }),
            "temperature is 0.000000, expected a positive number");
  EXPECT_EQ(message([&] { r->softmax_weights(column(three), 1, column(two)); }),
            "weights has shape (2, 1), expected (3, 1)");
  EXPECT_EQ(message([&] { r->softmax_weights(column(three), 1, column(single)); }),
            "weights is float32, expected float64");
  ArrayRef elsewhere = column(three);
  elsewhere.device = 2;
  EXPECT_EQ(message([&] { r->least(elsewhere); }), "costs is on CUDA device 2, expected the host");
}

}  // namespace
}  // namespace featherstorm::test_reduction
