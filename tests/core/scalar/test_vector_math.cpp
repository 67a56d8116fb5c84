#include "core/scalar/vector_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#pragma GCC diagnostic ignored "-Wpsabi"  // packs wider than the machine are fine within one translation unit

namespace featherstorm::vector_math {
namespace {

typedef float Float4 __attribute__((vector_size(16)));
typedef float Float16 __attribute__((vector_size(64)));
typedef double Double2 __attribute__((vector_size(16)));
typedef double Double8 __attribute__((vector_size(64)));

// Runs f on an array; packs are copied in and out, so that V may be a scalar too.
template <class V, class Real, class Function>
void apply(Function f, const Real* x, Real* y) {
  V in, out;
  std::memcpy(&in, x, sizeof in);
  out = f(in);
  std::memcpy(y, &out, sizeof out);
}

// Largest error of f against a long double reference; relative if asked, with `make` drawing arguments.
template <class V, class Function>
double error(Function f, long double (*reference)(long double), std::function<double(std::mt19937&)> make,
             bool relative) {
  using Real = typename Lane<V>::Real;
  const int lanes = sizeof(V) / sizeof(Real);
  std::mt19937 random(1);
  double worst = 0;
  for (int k = 0; k < 100000 / lanes; ++k) {
    Real x[lanes], y[lanes];
    for (Real& xi : x) xi = Real(make(random));
    apply<V>(f, x, y);
    for (int i = 0; i < lanes; ++i) {
      long double r = reference(x[i]);
      double e = double(std::fabs(y[i] - r) / (relative ? std::fabs(r) : 1));
      if (!(e <= worst)) worst = e;  // NaN counts as worst
    }
  }
  return worst;
}

double between(std::mt19937& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

// The unit of the tolerances: rounding of one operation.
template <class V>
double ulp() {
  return sizeof(typename Lane<V>::Real) == 4 ? 1.2e-7 : 2.3e-16;
}

// Function objects: these are templates.
const auto sine = [](auto x) { return vector_math::sin(x); };
const auto cosine = [](auto x) { return vector_math::cos(x); };

template <class V>
class VectorMath : public ::testing::Test {
 protected:
  static constexpr bool single = sizeof(typename Lane<V>::Real) == 4;
};

using Types = ::testing::Types<float, double, Float4, Float16, Double2, Double8>;
TYPED_TEST_SUITE(VectorMath, Types);

TYPED_TEST(VectorMath, SincosIsAccurateOverItsRange) {
  const double range = this->single ? 1e4 : 1e6;
  auto wide = [&](std::mt19937& r) { return between(r, -range, range); };
  EXPECT_LE(error<TypeParam>(sine, std::sin, wide, false), ulp<TypeParam>());
  EXPECT_LE(error<TypeParam>(cosine, std::cos, wide, false), ulp<TypeParam>());
}

TYPED_TEST(VectorMath, SineIsRelativelyAccurateForTinyAngles) {
  auto tiny = [](std::mt19937& r) { return between(r, -1, 1) * std::pow(10, -between(r, 0, 30)); };
  EXPECT_LE(error<TypeParam>(sine, std::sin, tiny, true), ulp<TypeParam>());
}

TYPED_TEST(VectorMath, ExpIsRelativelyAccurate) {
  const double range = this->single ? 87 : 707;
  EXPECT_LE(error<TypeParam>([](TypeParam x) { return exp(x); }, std::exp,
                             [&](std::mt19937& r) { return between(r, -range, range); }, true),
            2 * ulp<TypeParam>());
}

TYPED_TEST(VectorMath, LogIsRelativelyAccurate) {
  auto f = [](TypeParam x) { return log(x); };
  auto all = [](std::mt19937& r) { return std::pow(10, between(r, -37, 37)); };
  auto near_one = [](std::mt19937& r) { return between(r, 0.8, 1.2); };
  EXPECT_LE(error<TypeParam>(f, std::log, all, true), 2 * ulp<TypeParam>());
  EXPECT_LE(error<TypeParam>(f, std::log, near_one, true), 2 * ulp<TypeParam>());
}

// atan2 of the point at polar angle x; sine and cosine are exact enough in the wider type for the test's tolerance.
TYPED_TEST(VectorMath, Atan2IsAccurateInAllQuadrants) {
  using Real = typename Lane<TypeParam>::Real;
  const int lanes = sizeof(TypeParam) / sizeof(Real);
  std::mt19937 random(1);
  for (int k = 0; k < 20000 / lanes; ++k) {
    Real y[lanes], x[lanes], angle[lanes];
    for (int i = 0; i < lanes; ++i) {
      y[i] = Real(between(random, -2, 2) * std::pow(10, -between(random, 0, 10)));
      x[i] = Real(between(random, -2, 2) * std::pow(10, -between(random, 0, 10)));
      if (random() % 10 == 0) x[i] = 0;
      if (random() % 10 == 0) y[i] = 0;
      if (random() % 10 == 0) y[i] = x[i];
    }
    TypeParam vy, vx, v;
    std::memcpy(&vy, y, sizeof vy), std::memcpy(&vx, x, sizeof vx);
    v = atan2(vy, vx);
    std::memcpy(angle, &v, sizeof v);
    for (int i = 0; i < lanes; ++i) {
      double expected = double(std::atan2((long double)y[i], (long double)x[i]));
      ASSERT_NEAR(angle[i], expected, 2.5 * ulp<TypeParam>()) << y[i] << ", " << x[i];
    }
  }
}

TYPED_TEST(VectorMath, FloorSqrtAbsMinMaxAreExact) {
  auto wide = [](std::mt19937& r) { return between(r, -1, 1) * std::pow(10, between(r, -2, 12)); };
  auto halves = [](std::mt19937& r) { return 0.5 * std::floor(between(r, -9, 9)); };
  auto positive = [](std::mt19937& r) { return std::pow(10, between(r, -20, 20)); };
  auto floors = [](TypeParam x) { return floor(x); };
  EXPECT_EQ(error<TypeParam>(floors, std::floor, wide, false), 0);
  EXPECT_EQ(error<TypeParam>(floors, std::floor, halves, false), 0);
  EXPECT_EQ(error<TypeParam>([](TypeParam x) { return abs(x); }, std::fabs, wide, false), 0);
  EXPECT_EQ(
      error<TypeParam>([](TypeParam x) { return max(min(x, -x), x); }, [](long double x) { return x; }, wide, false),
      0);
  EXPECT_LE(error<TypeParam>([](TypeParam x) { return vector_math::sqrt(x); }, std::sqrt, positive, true),
            0.51 * ulp<TypeParam>());
}

TYPED_TEST(VectorMath, ExpSaturates) {
  using Real = typename Lane<TypeParam>::Real;
  auto high = [](std::mt19937&) { return 1e6; };
  auto low = [](std::mt19937&) { return -1e6; };
  auto f = [](TypeParam x) { return exp(x); };
  const double least = error<TypeParam>(f, [](long double) { return 0.0L; }, low, false);
  const double most = error<TypeParam>(f, [](long double) { return 0.0L; }, high, false);
  EXPECT_LE(least, this->single ? 2e-38 : 1e-307);
  EXPECT_GE(most, this->single ? 1e38 : 1e307);
  EXPECT_TRUE(std::isfinite(Real(most)));
}

}  // namespace
}  // namespace featherstorm::vector_math
