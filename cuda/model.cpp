#include "cuda/model.h"

#include <cstring>
#include <memory>

#include "cuda/device_model.h"
#include "cuda/error.h"

namespace featherstorm {
namespace {

// The frames in device memory; null and success where there are none.
template <class P> bool upload_frames(const Model<double>& m, void** memory) {
  const std::vector<Frame<P>> frames = cast<P>(m).frame;
  if (frames.empty()) return true;
  const std::size_t bytes = frames.size() * sizeof(Frame<P>);
  return FEATHERSTORM_CUDA(cudaMalloc(memory, bytes)) &&
         FEATHERSTORM_CUDA(cudaMemcpy(*memory, frames.data(), bytes, cudaMemcpyHostToDevice));
}

template <class Device> std::vector<unsigned char> image(const Model<double>& m, void* frames) {
  Device d = device_model<Device>(m);
  d.frame = static_cast<const Frame<typename Device::Number>*>(frames);
  std::vector<unsigned char> bytes(sizeof(Device));
  std::memcpy(bytes.data(), static_cast<const void*>(&d), sizeof(Device));
  return bytes;
}

}  // namespace

CudaModel::~CudaModel() {
  if (OnDevice on(device); on) cudaFree(float_frames), cudaFree(double_frames);
}

CudaModel* make_cuda_model(int device, const Model<double>& m) {
  if (!m.user.empty()) return cuda_failed("user-defined joints have no CUDA kernels: run the model on the CPU"), nullptr;
  if (!fits<DeviceModel<double, 64>>(m))
    return cuda_failed("the model has " + std::to_string(m.nv) +
                       " degrees of freedom, the CUDA kernels take at most 64: run it on the CPU"),
           nullptr;
  OnDevice on(device);
  if (!on) return nullptr;
  auto model = std::make_unique<CudaModel>();
  model->device = device;
  if (!upload_frames<float>(m, &model->float_frames) || !upload_frames<double>(m, &model->double_frames)) return nullptr;
  model->largest_float_image = image<DeviceModel<float, 64>>(m, model->float_frames);
  if (fits<DeviceModel<float, 16>>(m))
    model->float_class = 0, model->float_image = image<DeviceModel<float, 16>>(m, model->float_frames);
  else if (fits<DeviceModel<float, 32>>(m))
    model->float_class = 1, model->float_image = image<DeviceModel<float, 32>>(m, model->float_frames);
  else
    model->float_class = largest_float_class, model->float_image = model->largest_float_image;
  model->double_class = 3, model->double_image = image<DeviceModel<double, 64>>(m, model->double_frames);
  return model.release();
}

}  // namespace featherstorm
