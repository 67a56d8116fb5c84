// One operation on a batch in device memory, through the table of the CUDA library.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/memory/cuda_backend.h"
#include "tests/gpu/answers/robots.h"
#include "tests/support/oracles/op_cases.h"

namespace featherstorm::testing {

inline const CudaTable& gpu() {
  std::string why;
  const CudaTable* table = cuda_backend(&why);
  if (!table) throw std::runtime_error(why);
  return *table;
}
inline void require(bool ok) {
  if (!ok) throw std::runtime_error(gpu().last_error());
}

// The model on device 0.
class GpuModel {
 public:
  explicit GpuModel(const Model<double>& m) { require(gpu().create_model(0, &m, &model_)); }
  ~GpuModel() { gpu().destroy_model(model_); }
  GpuModel(const GpuModel&) = delete;
  GpuModel& operator=(const GpuModel&) = delete;
  const CudaModel* get() const { return model_; }

 private:
  CudaModel* model_ = nullptr;
};

// A BatchArray's twin in device memory.
template <class Real> class GpuArray {
 public:
  explicit GpuArray(const BatchArray<Real>& host) : bytes_(host.data.size() * sizeof(Real)), stride_(host.stride) {
    require(gpu().allocate(0, nullptr, bytes_, &memory_));
    upload(host);
  }
  ~GpuArray() { gpu().release(0, nullptr, memory_); }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;
  void upload(const BatchArray<Real>& host) {
    require(gpu().copy(CopyKind::to_device, nullptr, memory_, bytes_, host.data.data(), bytes_, bytes_, 1));
  }
  void download(BatchArray<Real>& host) const {
    require(gpu().copy(CopyKind::to_host, nullptr, host.data.data(), bytes_, memory_, bytes_, bytes_, 1));
    require(gpu().synchronise(0, nullptr));
  }
  Array array() const { return {memory_, stride_}; }

 private:
  unsigned long bytes_;
  long stride_;
  void* memory_ = nullptr;
};

// The arrays of one operation: inputs of `count` different instances, outputs and all padding NaN.
template <class Real> struct Batch {
  std::vector<BatchArray<Real>> in, out;
  std::vector<std::unique_ptr<GpuArray<Real>>> device_in, device_out;
  std::vector<std::vector<Real>> uniform;

  // inputs[i % inputs.size()]: op_inputs of instance i
  Batch(const RowText& row, const Model<double>& m, int count,
        const std::vector<std::vector<std::vector<double>>>& inputs) {
    const Real guard = std::numeric_limits<Real>::quiet_NaN();
    for (const OpArray& a : row.in) in.emplace_back(size_of(m, a.shape), count, guard);
    for (const OpArray& a : row.out) out.emplace_back(size_of(m, a.shape), count, guard);
    for (int i = 0; i < count; i++)
      for (std::size_t k = 0; k < in.size(); k++)
        for (int c = 0; c < in[k].components; c++) in[k].at(c, i) = static_cast<Real>(inputs[i % inputs.size()][k][c]);
    for (const auto& a : in) device_in.push_back(std::make_unique<GpuArray<Real>>(a));
    for (const auto& a : out) device_out.push_back(std::make_unique<GpuArray<Real>>(a));
    for (const auto& u : op_uniforms(row, m)) uniform.emplace_back(u.begin(), u.end());
  }
  void launch(const GpuModel& model, int op, int frame, int repeat, int count) {
    std::vector<Array> i, o;
    for (const auto& a : device_in) i.push_back(a->array());
    for (auto& u : uniform) i.push_back({u.data(), 0});
    for (const auto& a : device_out) o.push_back(a->array());
    const LaunchOptions options{frame, repeat, count};
    require(gpu().launch(model.get(), op, sizeof(Real) == 8, i.data(), o.data(), &options, nullptr));
  }
  void download() {
    for (std::size_t k = 0; k < out.size(); k++) device_out[k]->download(out[k]);
  }
};

}  // namespace featherstorm::testing
