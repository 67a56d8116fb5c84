// One row of the table of operations without its types, with the sizes for one robot.
#pragma once
#include <string_view>
#include <vector>

#include "host/trace/trace_op.h"

namespace featherstorm {

struct OpRow {
  int index;  // where the row stands in ops.h
  std::string_view name, summary;
  struct Argument {
    std::string_view name;
    int components;          // for this model
    std::vector<int> shape{};  // their product
  };
  std::vector<Argument> in, uniforms, out;
  bool uses_frame, carried;
  Derivative derivative = Derivative::none;
  std::string_view refused{};  // why there is no such operation for this model; empty where there is
  bool on_device = true;       // arrays on a CUDA device are served; else only once specialise() has made the row's kernel
};

}  // namespace featherstorm
