// Copies between arrays of any strides on one device: how arrays that no kernel takes in place come in and go out.
//
// One thread copies one element. Neighbouring threads take neighbouring instances, so the side in the engine's layout
// is reached coalesced, and the second-level cache serves the other side's rows.
#pragma once
#include "core/scalar.h"
#include "cuda/backend.h"

namespace featherstorm {

inline constexpr int copy_threads_per_block = 256;

struct StridedCopy {
  StridedArray to, from;
  long instances, components;
  long blocks() const { return (instances * components + copy_threads_per_block - 1) / copy_threads_per_block; }
};

// What thread `thread` of block `block` does.
template <class Real>
FS_HD void strided_copy_body(const StridedCopy& a, long block, int thread) {
  const long k = block * copy_threads_per_block + thread;
  if (k >= a.instances * a.components) return;
  const long i = k % a.instances, c = k / a.instances;
  static_cast<Real*>(a.to.data)[i * a.to.instance_stride + c * a.to.component_stride] =
      static_cast<const Real*>(a.from.data)[i * a.from.instance_stride + c * a.from.component_stride];
}

}  // namespace featherstorm
