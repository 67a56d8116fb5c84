// A model in its device forms: the smallest class of DeviceModel that it fits, in both precisions.
#pragma once
#include <vector>

#include "core/model/model.h"
#include "cuda/kernels/launcher.h"

namespace featherstorm {

struct CudaModel {
  int device = 0;
  int float_class = 0, double_class = 0;                 // index of the class in launcher.h
  std::vector<unsigned char> float_image, double_image;  // the bytes of a DeviceModel
  std::vector<unsigned char> largest_float_image;        // in the largest class
  void* float_arrays = nullptr;                          // arrays that the images point to, in device memory
  void* double_arrays = nullptr;

  CudaModel() = default;
  CudaModel(const CudaModel&) = delete;
  CudaModel& operator=(const CudaModel&) = delete;
  ~CudaModel();
};

// Limits of the classes, in the order of launcher.h.
inline constexpr int model_classes = 4;
inline constexpr int model_limits[model_classes] = {16, 32, 64, 64};
inline constexpr int largest_float_class = 2;

// Return null, with the reason in cuda_error_message, if the model is not supported or memory is short.
CudaModel* make_cuda_model(int device, const Model<double>& m);

}  // namespace featherstorm
