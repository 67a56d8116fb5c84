// A network with random numbers, inputs for it, and what comes out in the book's form: sums of products, one instance at a time.
#pragma once
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "host/network/dense_stage.h"

namespace featherstorm::testing {

struct DenseCase {
  DenseNetwork network;
  DenseWeights weights{};

  DenseCase(const std::vector<int>& sizes, DenseActivation activation, bool normalised, double clip, unsigned seed)
      : network(dense_network(sizes, activation, normalised, clip)) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    // numbers that a float holds, so that all precisions see the same network
    const auto number = [&](double scale) { return static_cast<double>(static_cast<float>(scale * normal(random))); };
    for (int k = 0; normalised && k < sizes[0]; k++)
      weights.mean.push_back(number(0.5)), weights.rate.push_back(1 + std::abs(number(1)));
    for (std::size_t l = 0; l + 1 < sizes.size(); l++) {
      weights.W.emplace_back(), weights.b.emplace_back();
      for (int k = 0; k < sizes[l] * sizes[l + 1]; k++) weights.W[l].push_back(number(1.5 / std::sqrt(sizes[l])));
      for (int k = 0; k < sizes[l + 1]; k++) weights.b[l].push_back(number(0.2));
    }
  }

  // Input k of the instance that is called `who`.
  static double input(long who, long k) {
    return static_cast<double>(static_cast<float>(std::sin(
        0.7 * static_cast<double>(who) + 1.3 * static_cast<double>(k) + 0.1 * static_cast<double>(who * k % 17))));
  }
  std::vector<double> outputs(long who) const {
    std::vector<double> x;
    for (long k = 0; k < network.inputs(); k++) {
      const std::size_t at = static_cast<std::size_t>(k);
      double y = input(who, k);
      if (network.normalised) y = std::clamp((y - weights.mean[at]) * weights.rate[at], -network.clip, network.clip);
      x.push_back(y);
    }
    for (std::size_t l = 0; l < weights.W.size(); l++) {
      std::vector<double> y = weights.b[l];
      for (std::size_t o = 0; o < y.size(); o++)
        for (std::size_t k = 0; k < x.size(); k++) y[o] += weights.W[l][o * x.size() + k] * x[k];
      if (l + 1 < weights.W.size())
        for (double& value : y) value = activated(value);
      x = y;
    }
    return x;
  }

 private:
  double activated(double x) const {
    switch (network.activation) {
      case DenseActivation::identity: break;
      case DenseActivation::tanh: return std::tanh(x);
      case DenseActivation::elu: return x > 0 ? x : std::expm1(x);
      case DenseActivation::relu: return std::max(x, 0.0);
      case DenseActivation::silu: return x / (1 + std::exp(-x));
    }
    return x;
  }
};

// Sizes that are multiples of no tile, vector or register block, and some that are.
inline std::vector<std::vector<int>> dense_sizes() {
  return {{1, 1}, {3, 8}, {5, 2, 1}, {17, 13, 6}, {7, 16, 64, 9}, {31, 70, 33, 12, 17}};
}
inline constexpr DenseActivation dense_activations[] = {DenseActivation::identity, DenseActivation::tanh,
                                                        DenseActivation::elu, DenseActivation::relu,
                                                        DenseActivation::silu};
// Of outputs of some units behind a few layers; float is 1e-6 to 2e-6 away.
inline double dense_tolerance(Precision p) { return p == Precision::float32 ? 1e-5 : 1e-12; }

}  // namespace featherstorm::testing
