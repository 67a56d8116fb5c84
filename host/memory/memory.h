// The caller's memory for an array of a sequence: one array (instances, components) in total, or one for each step.
#pragma once
#include <string>

#include "host/memory/buffer.h"

namespace featherstorm {

struct SequenceMemory {
  std::string name;
  ArrayRef array;  // the array of the first step
  bool every_step = false;
  long step_stride = 0;  // elements between consecutive steps

  ArrayRef at(long step) const {
    ArrayRef a = array;
    a.data = static_cast<char*>(a.data) + step * step_stride * static_cast<long>(bytes_of(a.precision));
    return a;
  }
};

}  // namespace featherstorm
