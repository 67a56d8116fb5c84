#include "host/rollout/device_reduce.h"

#include <cmath>

#include "host/memory/cuda_backend.h"
#include "host/memory/device.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

constexpr unsigned long result_room = 256;

std::string place(int device) { return device == on_host ? "the host" : "CUDA device " + std::to_string(device); }

void require_place(const ArrayRef& a, const char* name, int device) {
  if (a.device != device) throw Error(std::string(name) + " is on " + place(a.device) + ", expected " + place(device));
}
void require_shape(const ArrayRef& a, const char* name, long instances, long components) {
  if (a.instances == instances && a.components == components) return;
  throw Error(std::string(name) + " has shape (" + std::to_string(a.instances) + ", " + std::to_string(a.components) +
              "), expected (" + std::to_string(instances) + ", " + std::to_string(components) + ")");
}
// Without gaps, as the device writes it.
void require_dense(const ArrayRef& a, const char* name, Precision precision) {
  if (a.precision != precision)
    throw Error(std::string(name) + " is " +
                (precision == Precision::float32 ? "float64, expected float32" : "float32, expected float64"));
  if (a.instances > 1 && a.instance_stride != 1) throw Error(std::string(name) + " has gaps between its numbers");
}

}  // namespace

DeviceReduction::~DeviceReduction() {
  if (work_.empty()) return;
  const CudaTable& table = *cuda_backend();
  for (const auto& [stream, w] : work_) table.synchronise(device_, stream), table.release(device_, nullptr, w.memory);
  for (void* memory : outgrown_) table.release(device_, nullptr, memory);
}

CostArray DeviceReduction::costs_of(const ArrayRef& costs) const {
  require_place(costs, "costs", device_);
  require_shape(costs, "costs", costs.instances, 1);
  if (costs.instances < 1) throw Error("there are no costs");
  return {costs.data, costs.instances, costs.instance_stride, costs.precision == Precision::float64};
}

DeviceReduction::Work DeviceReduction::work(const CudaTable& table, long count, void* stream) {
  unsigned long bytes = 0;
  if (!table.reduction_work(device_, count, &bytes)) throw_cuda_error(table, "reduction", device_);
  bytes += result_room;
  Work& w = work_[stream];
  if (w.bytes < bytes) {
    bool captured = false;
    if (!table.capturing(device_, stream, &captured)) throw_cuda_error(table, "reduction", device_);
    if (captured)
      throw Error(
          "a reduction that is captured into a graph may take no memory: run it once with as many samples and on "
          "the same stream before");
    void* memory = nullptr;
    if (!table.allocate(device_, stream, bytes, &memory)) throw_cuda_error(table, "reduction", device_);
    if (w.memory) outgrown_.push_back(w.memory);
    w = {memory, bytes};
  }
  return w;
}

void DeviceReduction::least(const ArrayRef& costs, void* stream) {
  const CudaTable& table = cuda_for("reduction", device_);
  const CostArray c = costs_of(costs);
  std::lock_guard lock(mutex_);
  const Work w = work(table, c.count, stream);
  if (!table.least(device_, stream, &c, static_cast<DeviceLeast*>(w.memory), static_cast<char*>(w.memory) + result_room,
                   w.bytes - result_room))
    throw_cuda_error(table, "reduction", device_);
}

void DeviceReduction::softmax_weights(const ArrayRef& costs, double temperature, const ArrayRef& weights,
                                      void* stream) {
  if (!(temperature > 0)) throw Error("temperature is " + std::to_string(temperature) + ", expected a positive number");
  const CudaTable& table = cuda_for("reduction", device_);
  const CostArray c = costs_of(costs);
  require_place(weights, "weights", device_);
  require_shape(weights, "weights", c.count, 1);
  require_dense(weights, "weights", Precision::float64);
  std::lock_guard lock(mutex_);
  const Work w = work(table, c.count, stream);
  if (!table.softmax_weights(device_, stream, &c, temperature, static_cast<DeviceLeast*>(w.memory),
                             static_cast<double*>(weights.data), static_cast<char*>(w.memory) + result_room,
                             w.bytes - result_room))
    throw_cuda_error(table, "reduction", device_);
}

void DeviceReduction::weighted_mean(const SequenceMemory& x, long steps, const ArrayRef& weights, const ArrayRef& mean,
                                    void* stream, const ArrayRef* center) {
  const CudaTable& table = cuda_for("reduction", device_);
  const ArrayRef& a = x.array;
  if (center) {
    require_place(*center, "center", device_), require_shape(*center, "center", steps * a.components, 1);
    require_dense(*center, "center", a.precision);
  }
  require_place(a, "samples", device_), require_place(weights, "weights", device_),
      require_place(mean, "mean", device_);
  require_shape(weights, "weights", a.instances, 1), require_shape(mean, "mean", steps * a.components, 1);
  require_dense(weights, "weights", Precision::float64), require_dense(mean, "mean", a.precision);
  SampleArray samples{};
  samples.data = a.data, samples.center = center ? center->data : nullptr;
  samples.count = a.instances, samples.steps = steps, samples.components = a.components;
  samples.instance_stride = a.instance_stride, samples.step_stride = x.step_stride;
  samples.component_stride = a.component_stride, samples.double_precision = a.precision == Precision::float64;
  if (!table.weighted_mean(device_, stream, &samples, static_cast<const double*>(weights.data), mean.data))
    throw_cuda_error(table, "reduction", device_);
}

Least DeviceReduction::best(void* stream) {
  const CudaTable& table = cuda_for("reduction", device_);
  Work w;
  {
    std::lock_guard lock(mutex_);
    w = work_[stream];
  }
  if (!w.memory) throw Error("nothing was reduced on this stream");
  DeviceLeast found{HUGE_VAL, -1};
  if (!table.copy(CopyKind::to_host, stream, &found, sizeof found, w.memory, sizeof found, sizeof found, 1) ||
      !table.synchronise(device_, stream))
    throw_cuda_error(table, "reduction", device_);
  return {found.value, found.index};
}

}  // namespace featherstorm
