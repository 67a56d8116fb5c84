// Reductions over the instances of a batch for planners: the least cost, weights, weighted means. Sums are taken over a
// tree that depends on the number of instances alone, so results do not depend on threads, and their rounding error
// grows with its logarithm.
#pragma once
#include "host/memory/blocks.h"
#include "host/memory/memory.h"

namespace featherstorm {

// The least finite number and where it is first; index -1 where there is none.
struct Least {
  double value;
  long index;
};
Least least(const double* x, long n);

// w[i] = exp((least - cost[i]) / temperature) / sum of these, in [0, 1]; 0 where a cost is not finite or the exponent
// is below -700. Returns the least cost. Throws Error where no cost is finite or the temperature is not positive.
Least softmax_weights(const double* costs, long n, double temperature, double* w);

// mean (T n) = sum over i of w[i] x[i] for samples x (B, T, n) of any strides; the accuracy is that of the samples'
// precision. Components are shared out to threads.
void weighted_mean(const SequenceMemory& x, long steps, const double* w, const BlockThreads& threads, double* mean);

}  // namespace featherstorm
