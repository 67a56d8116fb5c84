// Runs operations on CUDA devices: with kernels made for the robot (device_kernel.h) once specialise() has made them,
// else with the CUDA library's kernels that take the model as data. Operations without such library kernels are
// specialised at their first call.
//
// The first call on a device uploads the model in both precisions. Arrays whose instances are not adjacent are copied
// through memory of the CUDA library's pool. A call is asynchronous on its stream. After one call with the same
// operation and strides, the driver allocates nothing more.
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

// The largest batch of a call: thread indices are of type int.
inline constexpr long max_device_instances = 1L << 30;

class CudaRows : public RowBackend {
 public:
  explicit CudaRows(EngineRobot& robot);  // `robot` must outlive this object
  ~CudaRows() override;
  CudaRows(const CudaRows&) = delete;
  CudaRows& operator=(const CudaRows&) = delete;

  // Throws Error with CUDA's message.
  void run(const RowCall& call) override;

  // Compiles the kernel with NVRTC or fetches it from the cache on disk, for each number of warps, and compares it
  // with the algorithm in double (kernel_check.h). Afterwards run() uses it for the batches that the dispatch table
  // assigns to it and for arrays whose components are less than 2^31 bytes apart.
  bool specialise(const KernelName& name) override;
  bool specialised(const KernelName& name) const override;

 private:
  using Key = std::tuple<std::string_view, int, Precision, int>;  // operation, device, precision, frame
  struct Specialised {
    CudaProgram* program = nullptr;               // for the largest batches
    int warps = 1;                                // warps of `program`, for 32 instances (DeviceForm)
    std::array<CudaProgram*, 9> with_warps = {};  // by the number of warps, `program` included
    int multiprocessors = 0, capability = 0;
    std::shared_ptr<const Dispatch> dispatch;
  };
  static Key key_of(const KernelName& name);
  const CudaModel* model(const OpRow& row, int device);
  Specialised find(const Key& key) const;
  std::shared_ptr<DeviceCompiler> compiler();
  std::shared_ptr<const Dispatch> dispatch();

  EngineRobot& robot_;
  mutable std::mutex mutex_;          // guards the members below
  std::map<int, CudaModel*> models_;  // by device
  std::map<Key, Specialised> specialised_;
  std::shared_ptr<DeviceCompiler> compiler_;
  std::shared_ptr<const Dispatch> dispatch_;
};

}  // namespace featherstorm
