// Batches in blocks of instances: what a thread takes at a time, so that a block's arrays stay in the caches between
// the gathering of foreign layouts, the kernels and the scattering of results.
#pragma once
#include <functional>
#include <memory>
#include <type_traits>

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

// Calls copy(c, count) for groups of components that lie side by side in an array, c the first.
void for_components(const ArrayRef& a, auto&& copy) {
  long c = 0;
  const auto groups = [&](auto count) {
    for (; c + count <= a.components; c += count) copy(c, count);
  };
  if (a.component_stride == 1) groups(std::integral_constant<long, 8>{}), groups(std::integral_constant<long, 4>{});
  groups(std::integral_constant<long, 1>{});
}

// Copies instances of an array into a block [component][width]: lane i gets instance first + order[i] (null: first + i), lanes
// from n on the last of them. Arrays with the components of an instance side by side are copied some components at a time, so that
// each cache line is loaded once.
template <class Real>
void gather(const ArrayRef& a, long first, long n, long width, Real* block, const int* order = nullptr) {
  if (a.components == 0) return;  // its address may be null
  const Real* from = static_cast<const Real*>(a.data) + first * a.instance_stride;
  const auto copy = [&](long c, auto count) {
    for (long i = 0; i < n; i++) {
      const Real* at = from + (order ? order[i] : i) * a.instance_stride + c * a.component_stride;
      for (long k = 0; k < count; k++) block[(c + k) * width + i] = at[k * a.component_stride];
    }
  };
  for_components(a, copy);
  for (long c = 0; c < a.components; c++)
    for (long i = n; i < width; i++) block[c * width + i] = block[c * width + n - 1];
}
// Copies the lanes of a block to instances of an array.
template <class Real>
void scatter(const ArrayRef& a, long first, long n, long width, const Real* block, const int* order = nullptr) {
  if (a.components == 0) return;
  Real* to = static_cast<Real*>(a.data) + first * a.instance_stride;
  for_components(a, [&](long c, auto count) {
    for (long i = 0; i < n; i++) {
      Real* at = to + (order ? order[i] : i) * a.instance_stride + c * a.component_stride;
      for (long k = 0; k < count; k++) at[k * a.component_stride] = block[(c + k) * width + i];
    }
  });
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
