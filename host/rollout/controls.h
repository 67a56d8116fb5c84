// Controls that a sequence computes for each step and block, instead of reading an array (B, T, n):
//
//   u[t] = clip(mean[t] + sigma[t] * sum over k of weights[t][k] z[k], lower, upper)
//
// z are normal numbers (noise.h; k is the number's step), or knots (B, K, n) from the caller. Without weights z is
// drawn anew for every step, K = T.
#pragma once
#include <vector>

#include "core/scalar/scratch.h"
#include "host/memory/memory.h"
#include "host/rollout/noise.h"

namespace featherstorm {

struct Controls {
  std::string name;                  // name of the array that receives them, with n components
  std::vector<double> mean;          // T n; empty: 0
  std::vector<double> sigma;         // n or T n; empty: 1
  std::vector<double> lower, upper;  // n; empty: none
  std::vector<double> weights;       // T K; empty: K = T, each step has its own numbers
  NoiseKey key;
  long first_instance = 0;  // number of the batch's first instance
  bool keep_mean = false;   // instance number 0 has no noise
  bool given = false;       // z are `knots`
  SequenceMemory knots;     // its steps are the knots
  // For arrays on a device: T n numbers on the device, in the sequence's precision without gaps, that replace `mean`;
  // and a number that is added to key.draw. The kernel reads both, so a captured graph sees their changes.
  const void* device_mean = nullptr;
  const std::uint32_t* device_draw = nullptr;

  long count(long steps) const { return weights.empty() ? steps : static_cast<long>(weights.size()) / steps; }
};

// Interpolation of controls between knots. Knots are at equal distances, the first at the first step and the last at the last,
// on straight lines (Linear) or cubic Hermite splines with the slopes of Catmull and Rom, one-sided at the ends (Cubic); or
// knot floor(t K / T) for step t (Hold).
enum class Interpolation { Linear, Cubic, Hold };

// The weights (T, K) of K knots in T steps. Throws Error unless 1 <= K <= T.
std::vector<double> interpolation_weights(long steps, long knots, Interpolation by);
// The knots `first` to first + count - 1, whose weights are not zero at one time.
struct KnotWindow {
  long first, count;
  double weights[4];
};
// The knots for any time, in steps; times outside 0 to T - 1 are those of the ends.
KnotWindow knot_window(double time, long steps, long knots, Interpolation by);
// The time of a knot, in steps; of Hold the first one at which it acts.
double time_of_knot(long knot, long steps, long knots, Interpolation by);

// Check the sizes and values of controls. Throws Error with the value and the expected one.
void check(const Controls& c, long steps, long instances, long n, Precision precision);

// The numbers of Controls, in working memory of the calling thread until the end of the sequence.
template <class Real>
class PreparedControls {
 public:
  PreparedControls(const Controls& c, long steps, long n, const NoiseKernels& kernels);
  // Return how many numbers z a block of `padded` instances needs.
  long room(long padded) const { return slots_ * n_ * padded; }
  // begin: before the first step of a block. step: compute u (n) of step t, in [component][padded].
  void begin(long first, long count, long padded, Real* z) const;
  void step(long t, long first, long padded, Real* z, long& drawn, Real* u) const;

 private:
  void draw(long k, long first, long padded, Real* z) const;
  const Controls& c_;
  const NoiseKernels& kernels_;
  long n_, slots_, knots_, mean_step_, sigma_step_;
  Real *mean_, *sigma_, *lower_, *upper_, *weights_;
};

}  // namespace featherstorm
