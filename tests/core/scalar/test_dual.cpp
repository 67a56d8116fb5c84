#include "core/scalar/dual.h"

#include <gtest/gtest.h>

#include "core/scalar/pack.h"

namespace featherstorm::test_dual {
namespace {

// f' and f'' by nested dual numbers against central differences
template <class F> void expect_derivatives(const F& f, double x) {
  using D = Dual<double>;
  const double h = 1e-4;
  const auto plain = [&](double x) { return f(D(x, 0.0)).x; };
  const double d1 = (plain(x + h) - plain(x - h)) / (2 * h),
               d2 = (plain(x + h) - 2 * plain(x) + plain(x - h)) / (h * h);
  const D once = f(D(x, 1.0));
  EXPECT_EQ(once.x, plain(x));
  EXPECT_NEAR(once.d, d1, 1e-6 * (1 + std::abs(d1)));
  const Dual<D> twice = f(Dual<D>(D(x, 1.0), D(1.0, 0.0)));
  EXPECT_NEAR(twice.d.x, once.d, 1e-14 * (1 + std::abs(d1)));
  EXPECT_NEAR(twice.x.d, once.d, 1e-14 * (1 + std::abs(d1)));
  EXPECT_NEAR(twice.d.d, d2, 1e-5 * (1 + std::abs(d2)));
}

TEST(Dual, DifferentiatesTheFunctionsOfScalarsTwice) {
  for (double x : {0.3, 0.7, 0.95}) {
    expect_derivatives([](auto x) { return x * x * x - x * 2.0 + 0.5 * x; }, x);
    expect_derivatives([](auto x) { return rcp(x); }, x);
    expect_derivatives([](auto x) { return sqrt(x); }, x);
    expect_derivatives([](auto x) { return exp(x); }, x);
    expect_derivatives([](auto x) { return log(x); }, x);
    expect_derivatives([](auto x) { return asin(x * 0.9); }, x);
    expect_derivatives([](auto x) { return atan2(x * x, x + 2.0); }, x);
    expect_derivatives([](auto x) { return atan2(-x, -x * x); }, x);
    for (bool sine : {true, false})
      expect_derivatives(
          [&](auto x) {
            decltype(x) s, c;
            sincos(x * x, s, c);
            return sine ? s : c;
          },
          x);
    expect_derivatives([](auto x) { return min(x * x, x + 1.0) + max(x * x * x, x - 1.0) + abs(-x); }, x);
    expect_derivatives([](auto x) { return select(x < decltype(x)(0.5), x * x, exp(x)); }, x);
  }
}

TEST(Dual, MixesWithNumbersOfTheModel) {
  const Dual<float> x(2.0f, 1.0f);
  const Dual<float> y = x * 3.0f + 1.5 * x - 4.0;  // float and double constants
  EXPECT_FLOAT_EQ(y.x, 5.0f);
  EXPECT_FLOAT_EQ(y.d, 4.5f);
}

TEST(Dual, OfAPackDifferentiatesEveryLane) {
  using P = Pack<double, 2>;
  Dual<P> x;
  set_lane(x, 0, Dual<double>(0.2, 1.0));
  set_lane(x, 1, Dual<double>(-0.4, 3.0));
  const Dual<P> y = abs(x * x * x);
  EXPECT_EQ(lanes<Dual<P>>, 2);
  EXPECT_DOUBLE_EQ(lane(y, 0).d, 3 * 0.2 * 0.2);
  EXPECT_DOUBLE_EQ(lane(y, 1).d, -3 * 0.4 * 0.4 * 3.0);
}

}  // namespace
}  // namespace featherstorm::test_dual
