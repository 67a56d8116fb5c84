// Arrays that Python passes to a call.
#pragma once
#include <nanobind/ndarray.h>

#include <string>
#include <utility>
#include <vector>

#include "host/memory/buffer.h"
#include "host/memory/memory.h"

namespace featherstorm {

struct PyMemory {
  SequenceMemory memory;
  long steps = -1;  // of an array (instances, steps, components); -1 for (instances, components)
};

// Reads the memory of a Buffer; returns false for any other object.
bool buffer_of(nanobind::handle h, ArrayRef* memory);

// Python's Buffer of the same memory.
nanobind::object python_buffer(const Buffer& buffer);

// Opens arrays and Buffers and keeps them during the call. A DLPack capsule can be opened only once, so open arrays
// are found by their objects.
class OpenArrays {
 public:
  // most: the largest number of dimensions. Throws TypeError for an object that is not an array, and for an output
  // that is not writable; throws Error for an unsupported device or number of dimensions.
  PyMemory operator()(nanobind::handle h, const std::string& name, bool output, std::size_t most = 2);
  // `count` columns starting at column `first`. steps 0: the same for all steps; otherwise each step has its own,
  // (instances, steps, columns) or (instances, steps columns). One row stands for `instances` rows, unless that is -1.
  SequenceMemory columns(nanobind::handle h, const std::string& name, bool output, long first, long count, long steps,
                         long instances = -1);

 private:
  std::vector<nanobind::object> buffers_;
  std::vector<std::pair<nanobind::object, nanobind::ndarray<nanobind::ro>>> inputs_;
  std::vector<std::pair<nanobind::object, nanobind::ndarray<>>> outputs_;
};

}  // namespace featherstorm
