// Copies between arrays of any strides on one device, for inputs and outputs that no kernel accesses in place.
//
// A block copies a tile of 64 instances x 16 components through shared memory. It accesses each array first along the
// dimension that is contiguous, instances or components, so that both sides use whole sectors: for example a row-major
// tensor and an array by components. The block's threads synchronise between the two phases.
#pragma once
#include "core/scalar/scalar.h"
#include "host/memory/cuda_table.h"

namespace featherstorm {

inline constexpr int copy_threads_per_block = 256, tile_instances = 64, tile_components = 16;

struct StridedCopy {
  StridedArray to, from;
  long instances, components;
  long component_tiles() const { return (components + tile_components - 1) / tile_components; }
  long blocks() const { return (instances + tile_instances - 1) / tile_instances * component_tiles(); }
};

// Rows are two numbers longer than a tile needs: threads that go along components then hit no bank twice.
template <class Real> struct CopyTile { Real value[tile_components][tile_instances + 2]; };

// Call f(i, c, instance, component) for each element of block `block` that belongs to thread `thread`, in the memory
// order of `side`; (i, c) is the element's position in the tile.
template <class F>
FS_HD void for_elements(const StridedCopy& a, const StridedArray& side, long block, int thread, F&& f) {
  const long tiles = (a.components + tile_components - 1) / tile_components;
  const long first = block / tiles * tile_instances, first_component = block % tiles * tile_components;
  const auto distance = [](long stride) { return stride < 0 ? -stride : stride; };
  const bool by_components = distance(side.instance_stride) <= distance(side.component_stride);
  for (int k = thread; k < tile_instances * tile_components; k += copy_threads_per_block) {
    const int i = by_components ? k % tile_instances : k / tile_components;
    const int c = by_components ? k / tile_instances : k % tile_components;
    if (first + i < a.instances && first_component + c < a.components) f(i, c, first + i, first_component + c);
  }
}

// The two phases of a thread; the threads of the block synchronise between them.
template <class Real>
FS_HD void read_tile(const StridedCopy& a, long block, int thread, CopyTile<Real>& tile) {
  for_elements(a, a.from, block, thread, [&](int i, int c, long instance, long component) {
    tile.value[c][i] =
        static_cast<const Real*>(a.from.data)[instance * a.from.instance_stride + component * a.from.component_stride];
  });
}
template <class Real>
FS_HD void write_tile(const StridedCopy& a, long block, int thread, const CopyTile<Real>& tile) {
  for_elements(a, a.to, block, thread, [&](int i, int c, long instance, long component) {
    static_cast<Real*>(a.to.data)[instance * a.to.instance_stride + component * a.to.component_stride] =
        tile.value[c][i];
  });
}

}  // namespace featherstorm
