// Runs operations on the CPU. Threads share a batch in blocks that fit the caches (host/memory/blocks.h).
//
// The first use of an operation assembles a kernel for this robot where that takes milliseconds (host/assemble).
// Otherwise kernels that take the model as data run until specialise() has compiled one.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "host/compile/compile.h"
#include "host/engine/row_backend.h"
#include "host/memory/blocks.h"

namespace featherstorm {

class CpuRows : public RowBackend {
 public:
  // Throws Error if there is no kernel library for the instruction set. `robot` must outlive this object.
  explicit CpuRows(EngineRobot& robot);

  void run(const RowCall& call) override;
  bool specialise(const KernelName& name) override;
  bool specialised(const KernelName& name) const override;

  // The kernel that the next run uses. It is valid as long as this object exists.
  BoundKernel kernel(const OpRow& row, Precision precision, int frame);

  const std::string& isa() const { return isa_; }
  int threads() const { return threads_; }
  bool assembles() const { return assembles_; }

 private:
  using Key = std::tuple<int, Derivative, Precision, int>;  // operation, derivative, precision, frame
  static Key key_of(const OpRow& row, Precision precision, int frame) {
    return {row.index, row.derivative, precision, row.uses_frame ? frame : 0};
  }
  // The functions below require the mutex to be held.
  bool agrees(const OpRow& row, const Key& key, const Program& program, const BoundKernel& kernel, const char* kind,
              bool nothing_else = false);
  const BoundKernel& made(const OpRow& row, const Key& key);
  BoundKernel assembled(const OpRow& row, const Key& key);
  BoundKernel made_by_any_means(const OpRow& row, const Key& key);

  template <class Real> void run_in_blocks(const RowCall& call, const BoundKernel& bound) const;

  EngineRobot& robot_;
  Model<float> model_float_;
  const KernelTable* table_;
  std::string isa_;
  int threads_;
  bool assembles_;
  std::unique_ptr<BlockThreads> blocks_;

  mutable std::mutex mutex_;  // guards the members below
  std::unique_ptr<HostCompiler> compiler_;
  std::map<Key, BoundKernel> specialised_;  // an empty kernel where none could be made
  std::map<Key, BoundKernel> any_robot_;    // kernels that take the model as data
};

// The instruction sets this machine can run and whose backend libraries are installed, widest first.
std::vector<std::string> available_isas();

}  // namespace featherstorm
