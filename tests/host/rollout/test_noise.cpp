// The generator against the known answers of its authors, its normal numbers against the definition in double
// precision, and controls in sequences against loops over single numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "host/memory/cpu_library.h"
#include "host/rollout/sequence.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_noise {
namespace {

using Words = std::array<std::uint32_t, 4>;

Words philox(const NoiseKernels& kernels, Words counter, std::uint64_t seed) {
  // lane 5 of 8, so that vectors and what is left of them count on from `first`
  std::uint32_t w[4 * 8];
  kernels.words(w, 8, 8, {seed, counter[3]}, counter[0] - 5, counter[1], counter[2]);
  return {w[5], w[13], w[21], w[29]};
}

// Of the known answers that come with Random123 (kat_vectors, philox4x32 with 10 rounds): zeros, ones, digits of pi.
TEST(Noise, PhiloxHasTheKnownAnswers) {
  for (const std::string& isa : supported_isas()) {
    const NoiseKernels& k = noise_kernels(isa);
    EXPECT_EQ(k.isa, isa);
    EXPECT_EQ(philox(k, {0, 0, 0, 0}, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    EXPECT_EQ(philox(k, {~0u, ~0u, ~0u, ~0u}, ~0ull), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox(k, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
              (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  }
}

// The definition in noise.h, number by number, with the C library's functions.
double normal(NoiseKey key, std::uint32_t instance, std::uint32_t step, long component) {
  const Words w =
      philox(noise_kernels("base"), {instance, step, static_cast<std::uint32_t>(component / 4), key.draw}, key.seed);
  const long pair = component % 4 / 2 * 2;
  const double a = (std::floor(w[pair] / 2.0) + 0.5) / 2147483648.0;
  const double b = M_PI * static_cast<std::int32_t>(w[pair + 1]) / 2147483648.0;
  return std::sqrt(-2 * std::log(a)) * (component % 2 ? std::sin(b) : std::cos(b));
}

template <class Real>
void draw(const NoiseKernels& k, Real* z, long count, long n, NoiseKey key, std::uint32_t first) {
  if constexpr (sizeof(Real) == 4) k.normals_float(z, count, count, n, key, first, 7);
  else k.normals_double(z, count, count, n, key, first, 7);
}

template <class Real>
void check_normals(double relative, double absolute) {
  const NoiseKey key{0x123456789abcdefull, 3};
  constexpr long n = 7, count = 20003;
  std::vector<Real> reference(n * count);
  draw(noise_kernels("base"), reference.data(), count, n, key, 1000);
  for (const std::string& isa : supported_isas()) {
    std::vector<Real> z(n * count);
    draw(noise_kernels(isa), z.data(), count, n, key, 1000);
    ASSERT_EQ(std::memcmp(z.data(), reference.data(), sizeof(Real) * z.size()), 0) << isa;
  }
  for (long c = 0; c < n; c++)
    for (long i = 0; i < count; i++) {
      const double expected = normal(key, 1000 + i, 7, c);
      ASSERT_NEAR(reference[c * count + i], expected, absolute + relative * std::abs(expected)) << c << " " << i;
    }
}

TEST(Noise, NormalsAreTheDefinitionAndTheSameBitsForEveryInstructionSet) {
  check_normals<double>(1e-13, 1e-14);
  check_normals<float>(1e-5, 5e-4);
}

// (B, T, n), instance fastest
struct Drawn {
  long B, T, n;
  std::vector<double> u;
  Drawn(const Controls& c, long B, long T, long n, int threads, const std::string& isa = "")
      : B(B), T(T), n(n), u(B * T * n) {
    Sequence s(Precision::float64, threads, isa);
    s.array("u", n);
    s.run(T, B, {}, {}, {{"u", {u.data(), Precision::float64, B, n, 1, B, false}, true, n * B}}, &c);
  }
  double at(long i, long t, long c) const { return u[(t * n + c) * B + i]; }
};

Controls example(long T, long n) {
  Controls c;
  c.name = "u", c.key = {77, 5}, c.first_instance = 40;
  for (long k = 0; k < T * n; k++) c.mean.push_back(std::sin(k));
  for (long k = 0; k < n; k++) c.sigma.push_back(0.2 + k), c.lower.push_back(-1.5), c.upper.push_back(1.2);
  return c;
}

TEST(Controls, AreMeanPlusNoiseWithinBoundsForAnyBatchThreadsAndInstructionSet) {
  constexpr long B = 700, T = 5, n = 3;
  const Controls c = example(T, n);
  const Drawn all(c, B, T, n, 1);
  long at_bounds = 0;
  for (long i = 0; i < B; i++)
    for (long t = 0; t < T; t++)
      for (long k = 0; k < n; k++) {
        const double z = normal(c.key, 40 + i, t, k);
        const double expected = std::clamp(c.mean[t * n + k] + c.sigma[k] * z, -1.5, 1.2);
        ASSERT_NEAR(all.at(i, t, k), expected, 1e-12);
        at_bounds += expected == -1.5 || expected == 1.2;
      }
  EXPECT_GT(at_bounds, 100);
  EXPECT_EQ(Drawn(c, B, T, n, 3).u, all.u);
  for (const std::string& isa : supported_isas()) EXPECT_EQ(Drawn(c, B, T, n, 1, isa).u, all.u) << isa;
  // a part of the batch, by its first number
  Controls part = c;
  part.first_instance = 40 + 333;
  const Drawn some(part, 17, T, n, 1);
  for (long i = 0; i < 17; i++)
    for (long t = 0; t < T; t++)
      for (long k = 0; k < n; k++) ASSERT_EQ(some.at(i, t, k), all.at(333 + i, t, k));
}

TEST(Controls, InterpolateNoiseAndGivenKnotsByWeights) {
  constexpr long B = 150, T = 6, n = 2, K = 3;
  Controls c = example(T, n);
  c.sigma = {};
  for (long k = 0; k < T * n; k++) c.sigma.push_back(0.1 * (k + 1));  // one for each step
  c.lower = c.upper = {};
  for (long t = 0; t < T; t++)
    for (long k = 0; k < K; k++) c.weights.push_back(std::max(0.0, 1 - std::abs(t / 2.5 - k)));
  const Drawn noise(c, B, T, n, 2);
  Controls g;
  g.name = "u", g.weights = c.weights, g.given = true;
  std::vector<double> knots(B * K * n);
  for (std::size_t k = 0; k < knots.size(); k++) knots[k] = std::cos(k);
  g.knots = {"knots", {knots.data(), Precision::float64, B, n, K * n, 1, false}, true, n};
  const Drawn given(g, B, T, n, 2);
  for (long i = 0; i < B; i++)
    for (long t = 0; t < T; t++)
      for (long k = 0; k < n; k++) {
        double z = 0, x = 0;
        for (long j = 0; j < K; j++) {
          z += c.weights[t * K + j] * normal(c.key, 40 + i, j, k);
          x += c.weights[t * K + j] * knots[(i * K + j) * n + k];
        }
        ASSERT_NEAR(noise.at(i, t, k), c.mean[t * n + k] + c.sigma[t * n + k] * z, 1e-12);
        ASSERT_NEAR(given.at(i, t, k), x, 1e-14);
      }
}

TEST(Controls, KeepTheMeanInInstanceZeroAlone) {
  Controls c = example(4, 3);
  c.first_instance = 0, c.keep_mean = true, c.lower = c.upper = {};
  const Drawn all(c, 200, 4, 3, 1);
  for (long t = 0; t < 4; t++)
    for (long k = 0; k < 3; k++) {
      EXPECT_EQ(all.at(0, t, k), c.mean[t * 3 + k]);
      EXPECT_NE(all.at(1, t, k), c.mean[t * 3 + k]);
      EXPECT_NE(all.at(128, t, k), c.mean[t * 3 + k]);
    }
}

TEST(Controls, NameWhatDoesNotFit) {
  const auto message = [](auto change) {
    Controls c = example(4, 3);
    change(c);
    return testing::message([&] { Drawn(c, 10, 4, 3, 1); });
  };
  EXPECT_EQ(message([](Controls&) {}), "no error");
  EXPECT_EQ(message([](Controls& c) { c.name = "v"; }), "the sequence has no array 'v'");
  EXPECT_EQ(message([](Controls& c) { c.mean.pop_back(); }), "mean has 11 numbers, expected 12");
  EXPECT_EQ(message([](Controls& c) { c.sigma.pop_back(); }), "sigma has 2 numbers, expected 3 or 12");
  EXPECT_EQ(message([](Controls& c) { c.weights.resize(9); }),
            "weights has 9 numbers, expected a multiple of the 4 steps");
  EXPECT_EQ(message([](Controls& c) { c.mean[3] = NAN; }), "mean, sigma or weights of controls are not finite");
  EXPECT_EQ(message([](Controls& c) { c.lower[1] = 2; }),
            "lower is 2.000000 and upper is 1.200000, expected lower <= upper");
  EXPECT_EQ(message([](Controls& c) { c.first_instance = -1; }),
            "the first instance is number -1 of 10, expected numbers from 0 to 4294967295");
  EXPECT_EQ(message([](Controls& c) { c.given = true; }), "knots are given without weights, expected weights (T, K)");
}

}  // namespace
}  // namespace featherstorm::test_noise
