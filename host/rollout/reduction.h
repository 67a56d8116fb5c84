// Reductions over the instances of a batch for planners: the least cost, weights, weighted means. Arrays lie on the host, or on a
// CUDA device, where calls are asynchronous on a stream and take no memory once a stream has seen as many samples. Results are
// the same bits for every number of threads and every call on one kind of device; those of a device agree with the host's up to
// rounding.
//
//   const auto reduction = Reduction::on(device, threads);
//   reduction->softmax_weights(costs, temperature, weights);
//   reduction->weighted_mean(samples, steps, weights, mean);
#pragma once
#include <memory>

#include "host/memory/memory.h"

namespace featherstorm {

// The least finite number and where it is first; HUGE_VAL and -1 where there is none.
struct Least {
  double value;
  long index;
};

class Reduction {
 public:
  // threads: of the host, that share out the components of a mean. Streams must outlive the object.
  static std::unique_ptr<Reduction> on(int device, int threads = 1);
  virtual ~Reduction() = default;
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  // in   costs (B, 1), float32 or float64; NaN and infinite ones count for nothing
  // out  the least one, kept for best()
  void least(const ArrayRef& costs, void* stream = nullptr);
  // The same, and weights (B, 1) float64: exp((least - cost) / temperature) over the sum of these, in [0, 1]. All are 0 where no
  // cost is finite: on a device nobody waits to tell.
  void softmax_weights(const ArrayRef& costs, double temperature, const ArrayRef& weights, void* stream = nullptr);
  // mean (T n, 1), in the precision of the samples and without gaps: the sum over i of w[i] x[i] for samples x (B, T,
  // n); a number of weight 0 does not count, whatever it is. With a center (T n, 1) like the mean: the sum of w[i] (x[i] -
  // center)^2.
  void weighted_mean(const SequenceMemory& x, long steps, const ArrayRef& weights, const ArrayRef& mean,
                     void* stream = nullptr, const ArrayRef* center = nullptr);
  // What the last least() or softmax_weights() of this stream found; waits for the stream.
  virtual Least best(void* stream = nullptr) = 0;

 protected:
  explicit Reduction(int device) : device_(device) {}
  int device_;

 private:
  // The same with arguments that were checked.
  virtual void find_least(const ArrayRef& costs, void* stream) = 0;
  virtual void find_weights(const ArrayRef& costs, double temperature, const ArrayRef& weights, void* stream) = 0;
  virtual void find_mean(const SequenceMemory& x, long steps, const ArrayRef& weights, const ArrayRef& mean,
                         void* stream, const ArrayRef* center) = 0;
};

}  // namespace featherstorm
