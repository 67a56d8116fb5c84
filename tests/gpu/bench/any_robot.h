// The kernels that serve any robot, timed with their answers compared.
#pragma once
#include "tests/gpu/timing/checked_time.h"

namespace featherstorm::testing {

class DeviceModel {
 public:
  explicit DeviceModel(const Model<double>& m) { succeed(device_table().create_model(0, &m, &model_)); }
  ~DeviceModel() { device_table().destroy_model(model_); }
  DeviceModel(const DeviceModel&) = delete;
  DeviceModel& operator=(const DeviceModel&) = delete;
  const CudaModel* get() const { return model_; }

 private:
  CudaModel* model_ = nullptr;
};

// One line: row `op` for `count` instances of `data`.
template <class Real>
void time_any_robot(ReportRow& r, const DeviceModel& model, int op, int frame, const RowData& data, long count,
                    const Repetitions& repetitions, Stopwatch& watch, void* stream) {
  const bool double_precision = sizeof(Real) == 8;
  succeed(device_table().prepare(model.get(), op, double_precision, &r.kernel));
  const DeviceBatch<Real> batch(data, count, stream);
  const LaunchOptions options{frame, 1, static_cast<int>(count)};
  check_and_time(r, batch, repetitions, watch, stream, [&](void* s) {
    succeed(
        device_table().launch(model.get(), op, double_precision, batch.in().data(), batch.out().data(), &options, s));
  });
}

}  // namespace featherstorm::testing
