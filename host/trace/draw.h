// Random numbers for the arrays of an operation in self-checks, tests and benchmarks. The operation selects the
// distribution (Sample, host/table/row/operation.h).
#pragma once
#include <random>
#include <vector>

#include "core/model/model.h"
#include "host/table/row/operation.h"

namespace featherstorm {

// sample_q or starting_q (host/load/sample_q.h)
enum class Positions : bool { anywhere, where_robots_start };

class Draw {
 public:
  Draw(const Model<double>& model, unsigned seed, Positions positions = Positions::anywhere);
  // The numbers of one instance of an input or a uniform array.
  std::vector<double> operator()(const Sample& sample, int components);

 private:
  double uniform(double low, double high) { return std::uniform_real_distribution<>(low, high)(engine_); }
  std::vector<double> position();
  const Model<double>& model_;
  Positions positions_;
  std::mt19937_64 engine_;
  std::vector<double> inertia_;  // inertia of each joint
};

}  // namespace featherstorm
