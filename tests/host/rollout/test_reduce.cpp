// Reductions against sums in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "host/rollout/reduce.h"
#include "host/system/error.h"

namespace featherstorm::test_reduce {
namespace {

TEST(Reduce, LeastIsTheFirstLeastFiniteNumber) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> x = {NAN, inf, 3, 2, -inf, 2, 5};
  EXPECT_EQ(least(x.data(), 7).index, 3);
  EXPECT_EQ(least(x.data(), 7).value, 2);
  EXPECT_EQ(least(x.data(), 2).index, -1);
}

TEST(Reduce, SoftmaxWeightsAreExponentialsThatSumToOne) {
  for (long n : {1L, 15L, 256L, 257L, 5000L}) {
    std::vector<double> costs(n), w(n);
    for (long i = 0; i < n; i++) costs[i] = 40 + 30 * std::sin(0.7 * static_cast<double>(i));
    if (n > 10) costs[2] = NAN, costs[3] = HUGE_VAL, costs[4] = -HUGE_VAL, costs[5] = 1e6;
    const Least best = softmax_weights(costs.data(), n, 2.5, w.data());
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
  double w[2], bad[2] = {NAN, HUGE_VAL}, good[2] = {1, 2};
  EXPECT_THROW(softmax_weights(bad, 2, 1, w), Error);
  EXPECT_THROW(softmax_weights(good, 2, 0, w), Error);
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
    std::vector<double> one(T * n), three(T * n);
    weighted_mean(m, T, w.data(), BlockThreads(1), one.data());
    weighted_mean(m, T, w.data(), BlockThreads(3), three.data());
    EXPECT_EQ(one, three);
    for (long k = 0; k < T * n; k++) {
      long double sum = 0;
      for (long i = 0; i < B; i++)
        if (w[i] > 0) sum += static_cast<long double>(static_cast<Real>(w[i])) * x[i * instance + k * component];
      // the bound of a tree of log2(B / 16) + 16 + 4 sums, of about 1.5 in all
      ASSERT_NEAR(one[k], static_cast<double>(sum), 40 * std::numeric_limits<Real>::epsilon()) << B << " " << k;
    }
  }
}

TEST(Reduce, WeightedMeanIsTheSumForAnyLayoutAndThreads) {
  check_mean<float>(Precision::float32, false), check_mean<float>(Precision::float32, true);
  check_mean<double>(Precision::float64, false), check_mean<double>(Precision::float64, true);
}

}  // namespace
}  // namespace featherstorm::test_reduce
