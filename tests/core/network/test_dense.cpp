// Activations against their closed forms, inputs and counts. Layers are compared with sums of products in
// tests/host/network/test_dense_stage.cpp and on devices.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/network/dense.h"

namespace featherstorm::test_dense {
namespace {

double closed_form(DenseActivation a, double x) {
  switch (a) {
    case DenseActivation::identity: return x;
    case DenseActivation::tanh: return std::tanh(x);
    case DenseActivation::elu: return x > 0 ? x : std::expm1(x);
    case DenseActivation::relu: return x > 0 ? x : 0;
    case DenseActivation::silu: return x / (1 + std::exp(-x));
  }
  return NAN;
}
constexpr DenseActivation all_activations[] = {DenseActivation::identity, DenseActivation::tanh, DenseActivation::elu,
                                               DenseActivation::relu, DenseActivation::silu};

// The bounds of activation.h.
template <class Real>
void check_activations() {
  const bool single = sizeof(Real) == 4;
  for (const DenseActivation a : all_activations) {
    double worst = 0, worst_relative = 0;
    for (int k = -40000; k <= 40000; k++) {
      const Real x = static_cast<Real>(k) * Real(0.0025);
      Real y = x;
      activate(a, &y, 1);
      const double error = std::abs(static_cast<double>(y) - closed_form(a, static_cast<double>(x)));
      worst = std::max(worst, error);
      if (x != 0) worst_relative = std::max(worst_relative, error / std::abs(static_cast<double>(x)));
    }
    SCOPED_TRACE("activation " + std::to_string(static_cast<int>(a)) + (single ? ", float" : ", double"));
    if (a == DenseActivation::identity || a == DenseActivation::relu) EXPECT_EQ(worst, 0);
    else if (a == DenseActivation::silu) EXPECT_LT(worst_relative, single ? 5e-7 : 1e-15);
    else EXPECT_LT(worst, single ? 2e-7 : 1e-15);
  }
}
TEST(Dense, ActivationsAreTheirClosedForms) { check_activations<float>(), check_activations<double>(); }

template <class Real>
void check_ends() {
  constexpr Real inf = std::numeric_limits<Real>::infinity();
  for (const DenseActivation a : all_activations) {
    // a NaN with bits that the powers of two of exp would move about
    for (const Real nan : {std::numeric_limits<Real>::quiet_NaN(), -static_cast<Real>(std::nan("12345"))}) {
      Real y = nan;
      activate(a, &y, 1);
      EXPECT_TRUE(std::isnan(y)) << static_cast<int>(a);
    }
    for (const Real x : {-inf, inf, std::numeric_limits<Real>::max(), std::numeric_limits<Real>::lowest()}) {
      Real y = x;
      activate(a, &y, 1);
      const bool below = x < 0;
      const Real expected = a == DenseActivation::identity ? x
                            : a == DenseActivation::tanh   ? (below ? -1 : 1)
                            : !below                       ? x
                            : a == DenseActivation::elu    ? -1
                                                           : 0;
      EXPECT_EQ(y, expected) << static_cast<int>(a) << " of " << x;
    }
  }
}
TEST(Dense, ActivationsKeepNanAndHaveLimits) { check_ends<float>(), check_ends<double>(); }

TEST(Dense, InputsAreNormalisedAndClipped) {
  EXPECT_EQ(normalise(3.0, 1.0, 0.5, 10.0), 1.0);
  EXPECT_EQ(normalise(100.0, 1.0, 0.5, 10.0), 10.0);
  EXPECT_EQ(normalise(-100.0f, 1.0f, 0.5f, 10.0f), -10.0f);
  EXPECT_TRUE(std::isnan(normalise(NAN, 1.0, 0.5, 10.0)));
  EXPECT_EQ(normalise(1e6, 0.0, 1.0, std::numeric_limits<double>::infinity()), 1e6);
}

TEST(Dense, ColumnsAreCounted) {
  const DenseNetwork plain{2, {3, 9, 8}, DenseActivation::tanh, false, 1};
  EXPECT_EQ(first_column(plain, 0), 0);
  EXPECT_EQ(first_column(plain, 1), 2 * 4) << "two tiles of b and three columns";
  EXPECT_EQ(first_column(plain, 2), 2 * 4 + 10);
  EXPECT_EQ(multiply_adds(plain), 3 * 9 + 9 * 8);
  EXPECT_EQ(dense_room(plain), 16);
  const DenseNetwork normalised{2, {5, 9, 8}, DenseActivation::tanh, true, 1};
  EXPECT_EQ(first_column(normalised, 0), 2) << "ten numbers take two columns";
}

}  // namespace
}  // namespace featherstorm::test_dense
