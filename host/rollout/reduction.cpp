#include "host/rollout/reduction.h"

#include "host/system/error.h"

namespace featherstorm {
namespace {

void require(const ArrayRef& a, const char* name, int device, long instances) {
  if (a.device != device) throw Error(std::string(name) + " is on " + place(a.device) + ", expected " + place(device));
  if (a.instances != instances || a.components != 1)
    throw Error(std::string(name) + " has shape " + shape_words(a.instances, a.components) + ", expected " +
                shape_words(instances, 1));
}
// Require an array of this precision without gaps.
void require_dense(const ArrayRef& a, const char* name, Precision precision) {
  if (a.precision != precision)
    throw Error(std::string(name) + " is " + words(a.precision) + ", expected " + words(precision));
  if (a.instances > 1 && a.instance_stride != 1) throw Error(std::string(name) + " has gaps between its numbers");
}
void require_costs(const ArrayRef& costs, int device) {
  require(costs, "costs", device, costs.instances);
  if (costs.instances < 1) throw Error("there are no costs");
}

}  // namespace

void Reduction::least(const ArrayRef& costs, void* stream) {
  require_costs(costs, device_);
  find_least(costs, stream);
}

void Reduction::softmax_weights(const ArrayRef& costs, double temperature, const ArrayRef& weights, void* stream) {
  if (!(temperature > 0)) throw Error("temperature is " + std::to_string(temperature) + ", expected a positive number");
  require_costs(costs, device_);
  require(weights, "weights", device_, costs.instances);
  require_dense(weights, "weights", Precision::float64);
  find_weights(costs, temperature, weights, stream);
}

void Reduction::weighted_mean(const SequenceMemory& x, long steps, const ArrayRef& weights, const ArrayRef& mean,
                              void* stream, const ArrayRef* center) {
  const ArrayRef& a = x.array;
  if (a.device != device_) throw Error("samples is on " + place(a.device) + ", expected " + place(device_));
  require(weights, "weights", device_, a.instances), require_dense(weights, "weights", Precision::float64);
  require(mean, "mean", device_, steps * a.components), require_dense(mean, "mean", a.precision);
  if (center) require(*center, "center", device_, steps * a.components), require_dense(*center, "center", a.precision);
  find_mean(x, steps, weights, mean, stream, center);
}

}  // namespace featherstorm
