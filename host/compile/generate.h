// Writes the kernels of one robot as source files for other programs. The files are self-contained and compile without
// featherstorm. `featherstorm generate` and CMake's featherstorm_add_robot use this.
//
//   go2.h          declarations: sizes, names of coordinates, a function for each operation, in namespace go2
//   go2_fd.cpp     one operation, packs of `width` instances; compile with host_compile_options() (core/emit/emit.h)
//   go2.cuh, go2_fd.cu   the same for CUDA, in namespace go2_cuda, one thread for each instance
#pragma once
#include <string>
#include <vector>

#include "core/model/builder.h"
#include "host/memory/buffer.h"

namespace featherstorm {

struct GenerateOptions {
  std::string name{};  // name of files and namespace; empty: the robot's name, made an identifier
  // operations of ops.h and their derivatives; operations with a frame as "jacobian:panda_hand"
  std::vector<std::string> ops = {"rnea", "crba", "fd", "step"};
  Precision precision = Precision::float32;
  bool cuda = false;
  int width = 16;  // instances per pack, a power of two from 1 to 64
};

struct GeneratedFile { std::string name, text; };

// The files, the header first. Throws Error for an unknown operation or frame, a name that is not an identifier, and a
// robot that is too large to unroll.
std::vector<GeneratedFile> generate(const Robot& robot, const GenerateOptions& options);

}  // namespace featherstorm
