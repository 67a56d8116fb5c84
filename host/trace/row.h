// An operation of the table without its types, with the sizes for one robot.
#pragma once
#include <string_view>
#include <vector>

#include "host/table/row/operation.h"
#include "host/trace/trace_op.h"

namespace featherstorm {

struct OpRow {
  int index;  // index of the operation in ops.h
  std::string_view name, summary;
  struct Argument {
    std::string_view name;
    int components;            // for this model
    std::vector<int> shape{};  // components is the product
    Sample sample{};           // distribution of random test numbers
    bool optional = false;     // may be left out and is then zero
  };
  std::vector<Argument> in, uniforms, out;
  bool uses_frame, carried;
  Derivative derivative = Derivative::none;
  std::string_view given{};    // the operation with the optional inputs, if that has kernels of its own
  std::string_view refused{};  // the reason why this model does not have the operation; empty if it has it
  bool on_device = true;       // runs on CUDA devices; if false, only after specialise() has made a kernel
};

}  // namespace featherstorm
