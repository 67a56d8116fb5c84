// Arrays of a batch, as one thread sees them.
#pragma once
#include "core/scalar/scalar.h"

namespace featherstorm {

// Component c of one instance.
template <class Real> struct InstanceView {
  Real* data;
  int stride;
  FS_HD Real& operator[](int c) const { return data[static_cast<long>(c) * stride]; }
};

}  // namespace featherstorm
