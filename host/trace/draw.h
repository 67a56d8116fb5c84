// Numbers for the arrays of a row, where it is tried: in self-checks, tests and benches. What they are is said by the row
// (Sample, host/table/row/operation.h).
#pragma once
#include <random>
#include <vector>

#include "core/model/model.h"
#include "host/table/row/operation.h"

namespace featherstorm {

class Draw {
 public:
  Draw(const Model<double>& model, unsigned seed);
  // One instance's numbers of an input or a uniform array.
  std::vector<double> operator()(const Sample& sample, int components);

 private:
  double uniform(double low, double high) { return std::uniform_real_distribution<>(low, high)(engine_); }
  const Model<double>& model_;
  std::mt19937_64 engine_;
  std::vector<double> inertia_;  // of each joint
};

}  // namespace featherstorm
