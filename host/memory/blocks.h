// Batches in blocks of instances. A thread works on one block at a time: gathers arrays of other layouts, runs the
// kernels, and scatters the results. The arrays of a block fit the caches.
#pragma once
#include <functional>
#include <memory>
#include <type_traits>

#include "host/memory/buffer.h"
#include "host/memory/kernel.h"

namespace featherstorm {

inline constexpr long block_size = 128;  // instances; a multiple of every pack width

// A kernel and the data for calling it.
struct BoundKernel {
  Kernel kernel = nullptr;
  const void* model = nullptr;  // its first argument
  int width = 0;                // instances in a pack
  std::shared_ptr<void> keep;   // owns the code and the model
};

// Calls copy(c, count) for groups of `count` adjacent components of an array, beginning at c.
void for_components(const ArrayRef& a, auto&& copy) {
  long c = 0;
  const auto groups = [&](auto count) {
    for (; c + count <= a.components; c += count) copy(c, count);
  };
  if (a.component_stride == 1) groups(std::integral_constant<long, 8>{}), groups(std::integral_constant<long, 4>{});
  groups(std::integral_constant<long, 1>{});
}

// Copies instances of an array into a block [component][width]. Lane i gets instance first + order[i] (null: first +
// i); lanes from n on repeat the last instance. If the components of an instance are adjacent, several are copied at a
// time, so that each cache line is loaded once.
template <class Real>
void gather(const ArrayRef& a, long first, long n, long width, Real* block, const int* order = nullptr) {
  if (a.components == 0) return;  // the address of an empty array may be null
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

// Threads that run blocks.
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
