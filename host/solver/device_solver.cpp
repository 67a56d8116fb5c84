#include "host/solver/device_solver.h"

#include <algorithm>

#include "host/memory/device.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

class DeviceSolverStage : public DeviceStage {
 public:
  DeviceSolverStage(int device, const void* solver, bool double_precision, SolverAlgorithm text)
      : table_(cuda_for(caller, device)), device_(device) {
    CudaDevice of;
    if (!table_.device_info(device, &of) || !table_.create_solver(device, solver, double_precision, text, &solver_))
      throw_cuda_error(table_, caller, device);
    if (!table_.solver_info(solver_, &info_)) {
      table_.destroy_solver(solver_);
      throw_cuda_error(table_, caller, device);
    }
    most_bytes_ = static_cast<unsigned long>(of.memory) / 4;
  }
  ~DeviceSolverStage() override { table_.destroy_solver(solver_); }
  DeviceSolverStage(const DeviceSolverStage&) = delete;
  DeviceSolverStage& operator=(const DeviceSolverStage&) = delete;

  unsigned long work_bytes(long instances) const override {
    if (info_.block_bytes > most_bytes_)
      throw Error(
          std::string(caller) + ": " + place(device_) + ": " + std::to_string(info_.threads) +
          " instances side by side need " + megabytes(info_.block_bytes) +
          " of working memory for all candidates of contacts, expected at most a quarter of the device's memory, " +
          megabytes(most_bytes_));
    const unsigned long wanted = (static_cast<unsigned long>(instances) + info_.threads - 1) / info_.threads;
    return info_.block_bytes *
           std::min({wanted, static_cast<unsigned long>(info_.blocks), most_bytes_ / info_.block_bytes});
  }

  void launch(const Array* in, const Array* out, long instances, void* work, void* stream) const override {
    const CudaSolverLaunch l{in, out, instances, work, work_bytes(instances)};
    if (!table_.launch_solver(solver_, &l, stream)) throw_cuda_error(table_, caller, device_);
  }

 private:
  static constexpr const char* caller = "contacts";
  static std::string megabytes(unsigned long bytes) {
    const unsigned long tenths = (bytes + 99'999) / 100'000;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MB";
  }

  const CudaTable& table_;
  int device_;
  CudaSolver* solver_ = nullptr;
  CudaSolverInfo info_{};
  unsigned long most_bytes_ = 0;
};

}  // namespace

template <class P>
DeviceStageMaker device_solver_stage(const std::shared_ptr<const ContactSolver<P>>& solver, SolverAlgorithm text) {
  return [solver, text](int device) {
    return std::make_shared<const DeviceSolverStage>(device, solver.get(), std::is_same_v<P, double>, text);
  };
}
template DeviceStageMaker device_solver_stage(const std::shared_ptr<const ContactSolver<float>>&, SolverAlgorithm);
template DeviceStageMaker device_solver_stage(const std::shared_ptr<const ContactSolver<double>>&, SolverAlgorithm);

}  // namespace featherstorm
