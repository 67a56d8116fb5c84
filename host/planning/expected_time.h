// The time that something is expected to take, from the times x that it has taken: mean m and variance s^2 with a memory
// of about ten times, and some deviations more than the mean.
//
//   m <- 0.9 m + 0.1 x,   s^2 <- 0.9 s^2 + 0.1 (x - m)^2,   expected = m + deviations s        m = x at the first time
#pragma once
#include <cmath>

namespace featherstorm {

class ExpectedTime {
 public:
  void add(double x) {
    mean_ = known_ ? memory * mean_ + (1 - memory) * x : x;
    variance_ = memory * variance_ + (1 - memory) * (x - mean_) * (x - mean_);
    known_ = true;
  }
  // 0 before the first time
  double seconds(double deviations) const { return mean_ + deviations * std::sqrt(variance_); }

 private:
  static constexpr double memory = 0.9;
  double mean_ = 0, variance_ = 0;
  bool known_ = false;
};

}  // namespace featherstorm
