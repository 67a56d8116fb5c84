// The update of a planner: the next plan from samples of control sequences and their costs.
//
//   Best          U = U_b, b the sample with the least cost                 Howell et al. 2022, "Predictive Sampling"
//   SoftmaxMean   U = sum w_i U_i,  w_i ~ exp(-c_i / temperature)           Williams et al. 2017 (MPPI), no noise term
//   EliteMean     U, sigma: mean and standard deviation of the elites      Rubinstein and Kroese 2004 (CEM)
//
// Samples U_i (B, T, n) and costs c_i (B, 1) are on the host or on a CUDA device. A cost that is not finite does not count.
#pragma once
#include <memory>
#include <vector>

#include "host/rollout/reduction.h"

namespace featherstorm {

enum class PlanUpdate { Best, SoftmaxMean, EliteMean };

struct PlanUpdateOptions {
  PlanUpdate kind = PlanUpdate::SoftmaxMean;
  double temperature = 1;  // of SoftmaxMean, in the unit of the cost
  long elites = 64;        // of EliteMean
};

// mean (T n); deviation (T n) of EliteMean, else empty. Both are empty if no cost is finite; best.index is then -1.
struct NextPlan {
  Least best;
  std::vector<double> mean, deviation;
};

class PlanUpdater {
 public:
  // Throws Error unless there is a sample, the temperature is positive and elites are 1 to `samples`.
  PlanUpdater(const PlanUpdateOptions& options, long samples, long steps, long n, Precision precision,
              int device = on_host, int threads = 1, void* stream = nullptr);
  // Waits for the stream. in  costs (B, 1) of either precision;  samples (B, n) for each step, of the precision
  NextPlan update(const ArrayRef& costs, const SequenceMemory& samples, void* stream = nullptr);

 private:
  void choose(const std::vector<long>& samples, void* stream);
  std::vector<double> weighted_mean(const SequenceMemory& samples, bool spread, void* stream);

  PlanUpdateOptions options_;
  long count_, steps_;
  std::unique_ptr<Reduction> reduction_;
  Buffer weights_, mean_, spread_;
};

}  // namespace featherstorm
