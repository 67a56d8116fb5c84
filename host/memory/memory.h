// Memory of a caller for an array of a sequence: one (instances, components) in all, or one for each step.
#pragma once
#include <string>

#include "host/memory/buffer.h"

namespace featherstorm {

struct SequenceMemory {
  std::string name;
  ArrayRef array;  // of the first step
  bool every_step = false;
  long step_stride = 0;  // elements from one step to the next

  ArrayRef at(long step) const {
    ArrayRef a = array;
    a.data = static_cast<char*>(a.data) + step * step_stride * static_cast<long>(bytes_of(a.precision));
    return a;
  }
};

}  // namespace featherstorm
