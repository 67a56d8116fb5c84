#include "cuda/runtime/model.h"

#include <cstring>
#include <memory>

#include "cuda/kernels/device_model.h"
#include "cuda/runtime/error.h"

namespace featherstorm {
namespace {

template <class Device> using ModelOf = Model<typename Device::Number>;

// Copy the arrays of a model to device memory; null and success if it has none.
template <class Device> bool upload(const ModelOf<Device>& m, void** memory) {
  PlacedArrays arrays(0);
  device_model<Device>(m, arrays);
  return arrays.bytes.empty() ||
         (FEATHERSTORM_CUDA(cudaMalloc(memory, arrays.bytes.size())) &&
          FEATHERSTORM_CUDA(cudaMemcpy(*memory, arrays.bytes.data(), arrays.bytes.size(), cudaMemcpyHostToDevice)));
}

template <class Device> std::vector<unsigned char> image(const ModelOf<Device>& m, void* arrays) {
  const Device d = device_model<Device>(m, PlacedArrays(reinterpret_cast<std::uintptr_t>(arrays)));
  std::vector<unsigned char> bytes(sizeof(Device));
  std::memcpy(bytes.data(), static_cast<const void*>(&d), sizeof(Device));
  return bytes;
}

}  // namespace

CudaModel::~CudaModel() {
  // pending kernels may read the arrays; cudaFree is not guaranteed to wait for them
  if (OnDevice on(device); on) cudaDeviceSynchronize(), cudaFree(float_arrays), cudaFree(double_arrays);
}

CudaModel* make_cuda_model(int device, const Model<double>& m) {
  if (!m.user.empty())
    return cuda_failed("user-defined joints have no CUDA kernels: run the model on the CPU"), nullptr;
  if (m.loops.nl > max_device_loops || m.contacts.nc > max_device_contacts)
    return cuda_failed("the model has " + std::to_string(m.loops.nl) + " loops and " + std::to_string(m.contacts.nc) +
                       " contacts, the CUDA kernels take at most " + std::to_string(max_device_loops) + " and " +
                       std::to_string(max_device_contacts) + ": run it on the CPU"),
           nullptr;
  if (!fits<DeviceModel<double, 64>>(m))
    return cuda_failed("the model has " + std::to_string(m.nv) +
                       " degrees of freedom, the CUDA kernels take at most 64: run it on the CPU"),
           nullptr;
  OnDevice on(device);
  if (!on) return nullptr;
  auto model = std::make_unique<CudaModel>();
  model->device = device;
  const Model<float> f = cast<float>(m);
  using FloatDevice = DeviceModel<float, 64>;
  using DoubleDevice = DeviceModel<double, 64>;
  if (!upload<FloatDevice>(f, &model->float_arrays) || !upload<DoubleDevice>(m, &model->double_arrays)) return nullptr;
  model->largest_float_image = image<FloatDevice>(f, model->float_arrays);
  if (fits<DeviceModel<float, 16>>(m))
    model->float_class = 0, model->float_image = image<DeviceModel<float, 16>>(f, model->float_arrays);
  else if (fits<DeviceModel<float, 32>>(m))
    model->float_class = 1, model->float_image = image<DeviceModel<float, 32>>(f, model->float_arrays);
  else model->float_class = largest_float_class, model->float_image = model->largest_float_image;
  model->double_class = 3, model->double_image = image<DoubleDevice>(m, model->double_arrays);
  return model.release();
}

}  // namespace featherstorm
