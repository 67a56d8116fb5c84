// Reductions over the instances of a batch, for planners: least cost, weights, weighted means. Arrays lie on the host
// or on a CUDA device. On a device, calls are asynchronous on a stream and allocate nothing once a stream has seen as
// many samples. Results have the same bits for every number of threads and every call on one kind of device. Results of
// a device agree with the host's up to rounding.
//
//   const auto reduction = Reduction::on(device, threads);
//   reduction->softmax_weights(costs, temperature, weights);
//   reduction->weighted_mean(samples, steps, weights, mean);
#pragma once
#include <memory>

#include "host/memory/memory.h"

namespace featherstorm {

// The least finite number and its first index; HUGE_VAL and -1 if no number is finite.
struct Least {
  double value;
  long index;
};

class Reduction {
 public:
  // threads: threads of the host that share the components of a mean. Streams must outlive the object.
  static std::unique_ptr<Reduction> on(int device, int threads = 1);
  virtual ~Reduction() = default;
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  // in   costs (B, 1), float32 or float64; NaN and infinite costs are ignored
  // out  the least cost, kept for best()
  void least(const ArrayRef& costs, void* stream = nullptr);
  // Find the least cost, and compute weights (B, 1) float64: exp((least - cost) / temperature), divided by their sum,
  // in [0, 1]. All weights are 0 if no cost is finite; no error is thrown, because on a device the call does not wait.
  void softmax_weights(const ArrayRef& costs, double temperature, const ArrayRef& weights, void* stream = nullptr);
  // Compute mean (T n, 1), in the precision of the samples and without gaps: the sum over i of w[i] x[i] for samples x
  // (B, T, n). Samples of weight 0 are ignored, even NaN. With a center (T n, 1) like the mean: the sum of w[i] (x[i] -
  // center)^2.
  void weighted_mean(const SequenceMemory& x, long steps, const ArrayRef& weights, const ArrayRef& mean,
                     void* stream = nullptr, const ArrayRef* center = nullptr);
  // Return the result of the last least() or softmax_weights() on this stream. Waits for the stream.
  virtual Least best(void* stream = nullptr) = 0;

 protected:
  explicit Reduction(int device) : device_(device) {}
  int device_;

 private:
  // The same functions, with checked arguments.
  virtual void find_least(const ArrayRef& costs, void* stream) = 0;
  virtual void find_weights(const ArrayRef& costs, double temperature, const ArrayRef& weights, void* stream) = 0;
  virtual void find_mean(const SequenceMemory& x, long steps, const ArrayRef& weights, const ArrayRef& mean,
                         void* stream, const ArrayRef* center) = 0;
};

}  // namespace featherstorm
