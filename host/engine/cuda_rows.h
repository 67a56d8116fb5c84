// Rows on CUDA devices: by kernels made for the robot (device_kernel.h) where specialise() has made them, else by the CUDA
// library's run-time-model kernels. Rows that have none of these are specialised at their first call.
//
// A device's first call uploads the model in both precisions. Arrays whose instances do not lie side by side go through memory
// of the CUDA library's pool. A call is asynchronous on its stream, and once one was made with the same operation and strides,
// free of allocations by the driver.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "host/engine/row_backend.h"

namespace featherstorm {

struct CudaModel;
struct CudaProgram;
class DeviceCompiler;
class Dispatch;

// The most instances of a call: a thread's number is an int.
inline constexpr long max_device_instances = 1L << 30;

class CudaRows : public RowBackend {
 public:
  explicit CudaRows(EngineRobot& robot);  // which must stay
  ~CudaRows() override;
  CudaRows(const CudaRows&) = delete;
  CudaRows& operator=(const CudaRows&) = delete;

  // Throws Error with CUDA's words.
  void run(const RowCall& call) override;

  // By NVRTC or from the cache on disk; compared with the text in double there (kernel_check.h), for each number of warps. From
  // now on run() uses it for batches that the dispatch table gives it and arrays whose components are less than 2^31 bytes
  // apart.
  bool specialise(const KernelName& name) override;
  bool specialised(const KernelName& name) const override;

 private:
  using Key = std::tuple<std::string_view, int, Precision, int>;  // row, device, precision, frame
  struct Specialised {
    CudaProgram* program = nullptr;               // for the largest batches
    int warps = 1;                                // of that one, for 32 instances (DeviceForm)
    std::array<CudaProgram*, 9> with_warps = {};  // by the number of warps, that one included
    int multiprocessors = 0, capability = 0;
    std::shared_ptr<const Dispatch> dispatch;
  };
  static Key key_of(const KernelName& name);
  const CudaModel* model(const OpRow& row, int device);
  Specialised find(const Key& key) const;
  std::shared_ptr<DeviceCompiler> compiler();
  std::shared_ptr<const Dispatch> dispatch();

  EngineRobot& robot_;
  mutable std::mutex mutex_;          // of the members below
  std::map<int, CudaModel*> models_;  // by device
  std::map<Key, Specialised> specialised_;
  std::shared_ptr<DeviceCompiler> compiler_;
  std::shared_ptr<const Dispatch> dispatch_;
};

}  // namespace featherstorm
