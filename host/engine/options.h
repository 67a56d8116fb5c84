// How an Evaluator works, and how one of its calls runs.
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
  std::string isa{};     // "avx512", "avx2", "base"; empty: the widest this machine has, or FEATHERSTORM_ISA
  bool assemble = true;  // false, or FEATHERSTORM_ASSEMBLE=0: kernels are not assembled
  std::vector<std::string> parameters{};  // numbers of the robot that are inputs of every operation (parameters.h)
  std::function<void(const std::string&)> notice{};  // is told once what fell back, and why
  std::function<void(Program&)> before_making{};  // may change what a kernel is made from, for tests of what is caught
};

struct RunOptions {
  std::vector<double> uniforms;  // the row's uniform arrays, one behind the other
  int frame = 0;
  long repeat = 1;         // passes of an operation with carried arrays
  void* stream = nullptr;  // cudaStream_t for arrays on a device; null: the default stream
};

// One kernel that was made for a robot.
struct CheckedKernel {
  std::string op;
  Precision precision;
  int device = on_host;
  KernelCheck result;
};

}  // namespace featherstorm
