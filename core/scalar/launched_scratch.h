// Working memory of a thread of a launch: two stacks in memory given to the launch, in place of the blocks of
// scratch.h.
//
// Numbers of the 32 threads of a warp are interleaved, number k of lane l at 32 k + l, so that a warp that reads arrays
// of one shape loads whole lines. Elements of other types are contiguous for each thread. A kernel has numbers of one
// precision alone: threads differ in the count of their numbers, not in the position of the k-th number.
//
// The launch's memory has the size of its kernel's maximum. A thread that needs more ends the kernel: on a device its
// stream fails, on the host std::bad_alloc is thrown.
#pragma once
#include <new>
#include <type_traits>

#include "core/scalar/scalar.h"

namespace featherstorm {

// The largest number of threads of a block whose threads have such stacks.
inline constexpr int launched_threads = 64;
inline constexpr int launched_lanes = 32;

// The stack of one thread; offsets in numbers and in bytes.
struct LaunchedStack {
  void* number;  // its first
  unsigned char* byte;
  int numbers, bytes;            // in use
  int most_numbers, most_bytes;  // available
};
// Largest use of a thread's stacks; only for the host's threads, for tests of the memory given to a launch.
struct LaunchedPeak { int numbers, bytes; };

#ifndef __CUDA_ARCH__
inline thread_local LaunchedStack stack_of_host_thread{};
inline thread_local LaunchedPeak peak_of_host_thread{};
#endif

FS_HD LaunchedStack& launched_stack() {
#ifdef __CUDA_ARCH__
  __shared__ LaunchedStack of_thread[launched_threads];
  return of_thread[threadIdx.x];
#else
  return stack_of_host_thread;
#endif
}
FS_HD void use_launched(LaunchedStack& s, int numbers, int bytes) {
  s.numbers += numbers, s.bytes += bytes;
  const bool fits = s.numbers <= s.most_numbers && s.bytes <= s.most_bytes;
#ifdef __CUDA_ARCH__
  if (!fits) __trap();
#else
  if (!fits) throw std::bad_alloc();
  LaunchedPeak& peak = peak_of_host_thread;
  peak = {s.numbers < peak.numbers ? peak.numbers : s.numbers, s.bytes < peak.bytes ? peak.bytes : s.bytes};
#endif
}

// A pointer-like type for numbers.
template <class T> struct LaunchedNumbers {
  T* first = nullptr;
  FS_HD T& operator[](int k) const { return first[launched_lanes * k]; }
  FS_HD LaunchedNumbers operator+(int k) const { return {first + launched_lanes * k}; }
};

// `count` elements, uninitialised, released at the end of the scope.
template <class Element> class LaunchedScratch {
 public:
  static constexpr bool are_numbers = std::is_floating_point_v<Element>;

  FS_HD explicit LaunchedScratch(int count) : count_(size_of(count)) {
    static_assert(std::is_trivially_destructible_v<Element>);
    LaunchedStack& s = launched_stack();
    if constexpr (are_numbers) data_ = {static_cast<Element*>(s.number) + launched_lanes * s.numbers};
    else data_ = reinterpret_cast<Element*>(s.byte + s.bytes);
    if constexpr (are_numbers) use_launched(s, count_, 0);
    else use_launched(s, 0, count_);
  }
  FS_HD ~LaunchedScratch() {
    LaunchedStack& s = launched_stack();
    (are_numbers ? s.numbers : s.bytes) -= count_;
  }
  LaunchedScratch(const LaunchedScratch&) = delete;
  LaunchedScratch& operator=(const LaunchedScratch&) = delete;
  FS_HD Element& operator[](int i) const { return data_[i]; }
  FS_HD auto data() const { return data_; }

  // The size of such an array: numbers, or bytes.
  FS_HD static constexpr int size_of(int count) {
    constexpr int size = static_cast<int>(sizeof(Element)), alignment = 16;
    return are_numbers ? count : (count * size + alignment - 1) / alignment * alignment;
  }

 private:
  std::conditional_t<are_numbers, LaunchedNumbers<Element>, Element*> data_;
  int count_;
};

}  // namespace featherstorm
