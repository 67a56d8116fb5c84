// One row of the table of operations without its types, with the sizes for one robot.
#pragma once
#include <string_view>
#include <vector>

#include "host/table/row/operation.h"
#include "host/trace/trace_op.h"

namespace featherstorm {

struct OpRow {
  int index;  // where the row stands in ops.h
  std::string_view name, summary;
  struct Argument {
    std::string_view name;
    int components;            // for this model
    std::vector<int> shape{};  // their product
    Sample sample{};           // how its numbers are drawn where the operation is tried
    bool optional = false;     // may be left out: zeros
  };
  std::vector<Argument> in, uniforms, out;
  bool uses_frame, carried;
  Derivative derivative = Derivative::none;
  std::string_view given{};    // the row that is given the optional inputs too, where it has kernels of its own
  std::string_view refused{};  // why there is no such operation for this model; empty where there is
  bool on_device = true;  // arrays on a CUDA device are served; else only once specialise() has made the row's kernel
};

}  // namespace featherstorm
