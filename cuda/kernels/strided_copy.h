// Copies between arrays of any strides on one device: how arrays that no kernel takes in place come in and go out.
//
// A block copies a tile of 64 instances x 16 components through shared memory. Of each array it reads or writes first what
// lies side by side, instances or components, so that both sides are reached in whole sectors: a row-major tensor as an
// array by components. Between the two phases the block's threads wait for each other.
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

// Rows two numbers apart more than a tile needs: threads that go along components meet no bank of memory twice.
template <class Real> struct CopyTile { Real value[tile_components][tile_instances + 2]; };

// Calls f(i, c, instance, component) for each element of block `block` that is thread `thread`'s, in the order in which they lie
// in `side`; (i, c) is the element's place in the tile.
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

// What a thread does before its block's threads have waited for each other, and after that.
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
