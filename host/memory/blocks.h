// Batches in blocks of instances: what a thread takes at a time, so that a block's arrays stay in the caches between
// the gathering of foreign layouts, the kernels and the scattering of results.
#pragma once
#include <functional>
#include <memory>

#include "host/memory/buffer.h"
#include "host/memory/kernel.h"

namespace featherstorm {

inline constexpr long block_size = 128;  // instances; a multiple of every pack width

// A kernel with what it needs to be called.
struct BoundKernel {
  Kernel kernel = nullptr;
  const void* model = nullptr;  // its first argument
  int width = 0;                // instances of a pack
  std::shared_ptr<void> keep;   // the code and the model
};

// Instances of an array into a block [component][width], lane i that of number first + order[i] (null: first + i); the lanes behind n
// repeat the last one.
template <class Real>
void gather(const ArrayRef& a, long first, long n, long width, Real* block, const int* order = nullptr) {
  if (a.components == 0) return;  // its address may be null
  const Real* from = static_cast<const Real*>(a.data) + first * a.instance_stride;
  for (long c = 0; c < a.components; c++) {
    Real* to = block + c * width;
    const Real* at = from + c * a.component_stride;
    if (order)
      for (long i = 0; i < n; i++) to[i] = at[order[i] * a.instance_stride];
    else
      for (long i = 0; i < n; i++) to[i] = at[i * a.instance_stride];
    for (long i = n; i < width; i++) to[i] = to[n - 1];
  }
}
template <class Real>
void scatter(const ArrayRef& a, long first, long n, long width, const Real* block, const int* order = nullptr) {
  if (a.components == 0) return;
  Real* to = static_cast<Real*>(a.data) + first * a.instance_stride;
  for (long c = 0; c < a.components; c++)
    for (long i = 0; i < n; i++)
      to[(order ? order[i] : i) * a.instance_stride + c * a.component_stride] = block[c * width + i];
}

// Threads that take blocks.
class BlockThreads {
 public:
  explicit BlockThreads(int threads);  // >= 1
  BlockThreads(BlockThreads&&) noexcept;
  ~BlockThreads();
  // f(first, n) for every block of the batch, in any order and by any thread; returns when all are done.
  void for_each(long instances, const std::function<void(long, long)>& f) const;

 private:
  struct Arena;
  std::unique_ptr<Arena> arena_;  // null for one thread
};

}  // namespace featherstorm
