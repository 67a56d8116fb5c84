// The update of a planner: the next plan from samples of control sequences and their costs.
//
//   Best          U = U_b, b the sample with the least cost                 Howell et al. 2022, "Predictive Sampling"
//   SoftmaxMean   U = sum w_i U_i,  w_i ~ exp(-c_i / temperature)           Williams et al. 2017 (MPPI)
//                 standardised: c_i are divided by their standard deviation  Xue et al. 2024 (DIAL-MPC)
//   EliteMean     U = mean of the elites, the samples with the least costs   Rubinstein and Kroese 2004 (CEM)
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
  double temperature = 1;     // of SoftmaxMean, in the unit of the cost, or in standard deviations of the costs
  bool standardised = false;  // of SoftmaxMean
  long elites = 64;           // of EliteMean
  bool spread = false;        // whether the deviation of the samples, with the same weights, is computed too
};

// mean (T n); deviation (T n), empty without `spread`. Both are empty if no cost is finite; best.index is then -1.
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
  // The result is valid until the next call. The second call on the host allocates nothing.
  const NextPlan& update(const ArrayRef& costs, const SequenceMemory& samples, void* stream = nullptr);

 private:
  double temperature_for(const ArrayRef& costs, void* stream);
  void choose(void* stream);
  void weighted_mean(const SequenceMemory& samples, bool spread, std::vector<double>& result, void* stream);

  PlanUpdateOptions options_;
  long count_, steps_;
  std::unique_ptr<Reduction> reduction_;
  Buffer weights_, mean_, spread_;
  NextPlan next_;
  std::vector<double> costs_;
  std::vector<long> chosen_;  // samples, by number
};

}  // namespace featherstorm
