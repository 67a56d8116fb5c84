#include "host/reduction/cuda_reduction.h"

#include <cmath>

#include "host/memory/cuda_backend.h"
#include "host/memory/device.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

constexpr unsigned long result_room = 256;

CostArray array_of(const ArrayRef& costs) {
  return {costs.data, costs.instances, costs.instance_stride, costs.precision == Precision::float64};
}

}  // namespace

CudaReduction::~CudaReduction() { memory_.synchronise(); }

StreamMemory::Memory CudaReduction::work(const CudaTable& table, long count, void* stream) {
  unsigned long bytes = 0;
  if (!table.reduction_work(device_, count, &bytes)) throw_cuda_error(table, "reduction", device_);
  return memory_.get(table, device_, stream, bytes + result_room);
}

void CudaReduction::find_least(const ArrayRef& costs, void* stream) {
  const CudaTable& table = cuda_for("reduction", device_);
  const CostArray c = array_of(costs);
  std::lock_guard lock(mutex_);
  const StreamMemory::Memory w = work(table, c.count, stream);
  if (!table.least(device_, stream, &c, static_cast<DeviceLeast*>(w.memory), static_cast<char*>(w.memory) + result_room,
                   w.bytes - result_room))
    throw_cuda_error(table, "reduction", device_);
}

void CudaReduction::find_weights(const ArrayRef& costs, double temperature, const ArrayRef& weights, void* stream) {
  const CudaTable& table = cuda_for("reduction", device_);
  const CostArray c = array_of(costs);
  std::lock_guard lock(mutex_);
  const StreamMemory::Memory w = work(table, c.count, stream);
  if (!table.softmax_weights(device_, stream, &c, temperature, static_cast<DeviceLeast*>(w.memory),
                             static_cast<double*>(weights.data), static_cast<char*>(w.memory) + result_room,
                             w.bytes - result_room))
    throw_cuda_error(table, "reduction", device_);
}

void CudaReduction::find_mean(const SequenceMemory& x, long steps, const ArrayRef& weights, const ArrayRef& mean,
                              void* stream, const ArrayRef* center) {
  const CudaTable& table = cuda_for("reduction", device_);
  const ArrayRef& a = x.array;
  SampleArray samples{};
  samples.data = a.data, samples.center = center ? center->data : nullptr;
  samples.count = a.instances, samples.steps = steps, samples.components = a.components;
  samples.instance_stride = a.instance_stride, samples.step_stride = x.step_stride;
  samples.component_stride = a.component_stride, samples.double_precision = a.precision == Precision::float64;
  if (!table.weighted_mean(device_, stream, &samples, static_cast<const double*>(weights.data), mean.data))
    throw_cuda_error(table, "reduction", device_);
}

Least CudaReduction::best(void* stream) {
  const CudaTable& table = cuda_for("reduction", device_);
  const StreamMemory::Memory w = memory_.find(device_, stream);
  if (!w.memory) throw Error("nothing was reduced on this stream");
  DeviceLeast found{HUGE_VAL, -1};
  if (!table.copy(CopyKind::to_host, stream, &found, sizeof found, w.memory, sizeof found, sizeof found, 1) ||
      !table.synchronise(device_, stream))
    throw_cuda_error(table, "reduction", device_);
  return {found.value, found.index};
}

}  // namespace featherstorm
