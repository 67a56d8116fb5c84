// The arrays of a call from Python.
#pragma once
#include <nanobind/ndarray.h>

#include <string>
#include <utility>
#include <vector>

#include "host/memory/memory.h"

namespace featherstorm {

struct PyMemory {
  SequenceMemory memory;
  long steps = -1;  // of an array (instances, steps, components); -1 of (instances, components)
};

// The memory of a Buffer; false for all else.
bool buffer_of(nanobind::handle h, ArrayRef* memory);

// Opens arrays and Buffers and keeps them for as long as the call. A capsule of DLPack can be opened once, so what is open is
// known by its object.
class OpenArrays {
 public:
  // most: how many dimensions there may be. Throws TypeError for what is no array, and no writable one where it is an output;
  // Error for a place or dimensions that we do not know.
  PyMemory operator()(nanobind::handle h, const std::string& name, bool output, std::size_t most = 2);
  // `count` columns from number `first` on. steps 0: the same for all steps; else each has its own, (instances, steps, columns)
  // or (instances, steps columns). One row stands for `instances` where that is not -1.
  SequenceMemory columns(nanobind::handle h, const std::string& name, bool output, long first, long count, long steps,
                         long instances = -1);

 private:
  std::vector<nanobind::object> buffers_;
  std::vector<std::pair<nanobind::object, nanobind::ndarray<nanobind::ro>>> inputs_;
  std::vector<std::pair<nanobind::object, nanobind::ndarray<>>> outputs_;
};

}  // namespace featherstorm
