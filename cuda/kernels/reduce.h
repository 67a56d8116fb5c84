// The terms that a reduction over samples adds, on a device (host/reduction/cpu_reduction.h has the host's reductions).
// The same code serves the device, where CUB sums the terms (reduce.cu), and tests on the host.
#pragma once
#include <cmath>

#include "core/scalar/scalar.h"
#include "core/scalar/vector_math.h"
#include "host/memory/cuda_table.h"

namespace featherstorm {

inline constexpr int mean_threads = 256;        // threads of the block that sums one component
inline constexpr unsigned long sum_room = 256;  // bytes at the beginning of the work memory, for the sum of the weights

// A cost with its index, so that the least one is a reduction.
struct CostAt {
  CostArray costs;
  FS_HD double number(long i) const {
    return costs.double_precision ? static_cast<const double*>(costs.data)[i * costs.stride]
                                  : static_cast<const float*>(costs.data)[i * costs.stride];
  }
  FS_HD DeviceLeast operator()(long i) const {
    const double x = number(i);
    return x - x == 0 ? DeviceLeast{x, i} : DeviceLeast{HUGE_VAL, -1};  // finite
  }
};
// The smaller of two costs, or the first if they are equal; an index of -1 means none.
struct Lesser {
  FS_HD DeviceLeast operator()(const DeviceLeast& a, const DeviceLeast& b) const {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    const bool second = b.value < a.value || (b.value == a.value && b.index < a.index);
    return second ? b : a;
  }
};
struct Plus {
  FS_HD double operator()(double a, double b) const { return a + b; }
};

// exp((least - cost) / temperature), or 0 if the cost is not finite or the exponent below -700.
struct ExponentialAt {
  CostAt cost;
  const DeviceLeast* least;
  double temperature;
  FS_HD double operator()(long i) const {
    const double x = (least->value - cost.number(i)) / temperature;
    const bool counts = least->index >= 0 && x > -700 && x <= 0;  // false if x is NaN
    return counts ? vector_math::exp(counts ? x : 0.0) : 0.0;
  }
};
// Return the weight of sample i, given the sum.
FS_HD double weight_of(const ExponentialAt& e, double sum, long i) { return sum > 0 ? e(i) / sum : 0; }

// Return the share of thread `thread` in the weighted sum of component k over all samples; k is (step, component) = (k
// / n, k % n).
template <class Real>
FS_HD Real part_of_mean(const SampleArray& a, const double* weights, long k, int thread) {
  const Real* from =
      static_cast<const Real*>(a.data) + k / a.components * a.step_stride + k % a.components * a.component_stride;
  const Real center = a.center ? static_cast<const Real*>(a.center)[k] : Real(0);
  Real sum = 0;
  for (long i = thread; i < a.count; i += mean_threads) {
    const Real w = static_cast<Real>(weights[i]);
    const Real x = from[i * a.instance_stride];
    if (w > 0) sum += w * (a.center ? (x - center) * (x - center) : x);  // samples of weight 0 are ignored, even NaN
  }
  return sum;
}

}  // namespace featherstorm
