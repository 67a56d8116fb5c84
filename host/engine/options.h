// Options of an Evaluator and of one of its calls.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/trace/program.h"
#include "host/engine/kernel_check.h"
#include "host/memory/buffer.h"

namespace featherstorm {

struct EvaluatorOptions {
  int threads = 0;       // 0: all cores
  std::string isa{};     // "avx512", "avx2", "base"; empty: FEATHERSTORM_ISA, or the widest of this machine
  bool assemble = true;  // false, or FEATHERSTORM_ASSEMBLE=0: kernels are not assembled
  std::vector<std::string> parameters{};  // numbers of the robot that are inputs of every operation (parameters.h)
  std::function<void(const std::string&)> notice{};  // receives each fallback and its reason once
  // may change a program before a kernel is made from it, for tests of the check
  std::function<void(Program&)> before_making{};
};

struct RunOptions {
  std::vector<double> uniforms;  // the uniform arrays of the operation, one after another
  int frame = 0;
  long repeat = 1;         // repetitions of an operation with carried arrays
  void* stream = nullptr;  // cudaStream_t for arrays on a device; null: the default stream
};

// A kernel that was made for a robot, and its check.
struct CheckedKernel {
  std::string op;
  Precision precision;
  int device = on_host;
  KernelCheck result;
};

}  // namespace featherstorm
