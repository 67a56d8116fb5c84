// Working memory of one algorithm call: arrays of known element type and a length the model gives,
//
//   auto x = scratch<T>(m.nx);
//
// With a Model (counts are ints) the memory is a stack of blocks that belongs to the thread and is kept between calls, so
// a warm call never allocates. With a device model (cuda/device_model.h; counts are Bounded) it is a local array.
#pragma once
#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <vector>

#include "core/scalar.h"

namespace featherstorm {

// An int that is at most `limit`.
template <int limit> struct Bounded {
  int value = 0;
  FS_HD constexpr operator int() const { return value; }
};
// Room for one element more.
template <int limit> FS_HD constexpr Bounded<limit + 1> operator+(Bounded<limit> n, int one) {
  assert(one == 1);
  return {n.value + one};
}

// The stack of blocks. Memory is taken and given back in strict last-in-first-out order by Scratch.
class ScratchStack {
 public:
  static constexpr std::size_t alignment = 64;
  struct Mark {
    std::size_t block, used;
  };

  Mark mark() const { return {block_, used_}; }
  void* take(std::size_t bytes) {
    bytes = (bytes + alignment - 1) / alignment * alignment;
    if (used_ + bytes > size_) next_block(bytes);
    void* p = base_ + used_;
    used_ += bytes;
    return p;
  }
  void give_back(Mark m) {
    if (m.block != block_) select_block(m.block);
    used_ = m.used;
  }
  ~ScratchStack() {
    for (const Block& b : blocks_) std::free(b.base);
  }

 private:
  struct Block {
    unsigned char* base;
    std::size_t size;
  };
  __attribute__((noinline, cold)) void next_block(std::size_t bytes) {
    std::size_t i = blocks_.empty() ? 0 : block_ + 1;
    while (i < blocks_.size() && blocks_[i].size < bytes) i++;
    if (i == blocks_.size()) {
      const std::size_t size = bytes > (std::size_t(1) << 20) ? bytes : std::size_t(1) << 20;
      void* p = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
      if (!p) throw std::bad_alloc();
      blocks_.push_back({static_cast<unsigned char*>(p), size});
    }
    select_block(i);
    used_ = 0;
  }
  void select_block(std::size_t i) {
    block_ = i;
    base_ = blocks_.empty() ? nullptr : blocks_[i].base;
    size_ = blocks_.empty() ? 0 : blocks_[i].size;
  }

  std::vector<Block> blocks_;
  unsigned char* base_ = nullptr;
  std::size_t size_ = 0, used_ = 0, block_ = 0;
};
inline thread_local ScratchStack scratch_stack;

// `count` elements of working memory, uninitialised, given back at the end of the scope.
template <class Element> class Scratch {
 public:
  explicit Scratch(int count) : stack_(scratch_stack), mark_(stack_.mark()) {
    static_assert(std::is_trivially_destructible_v<Element>);
    data_ = static_cast<Element*>(stack_.take(sizeof(Element) * static_cast<std::size_t>(count)));
  }
  ~Scratch() { stack_.give_back(mark_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Element& operator[](int i) { return data_[i]; }
  const Element& operator[](int i) const { return data_[i]; }
  Element* data() { return data_; }

 private:
  ScratchStack& stack_;
  ScratchStack::Mark mark_;
  Element* data_;
};

// `capacity` elements within the frame of the caller, uninitialised.
template <class Element, int capacity> class LocalScratch {
 public:
  FS_HD LocalScratch() {}
  LocalScratch(const LocalScratch&) = delete;
  LocalScratch& operator=(const LocalScratch&) = delete;
  FS_HD Element& operator[](int i) { return data()[i]; }
  FS_HD const Element& operator[](int i) const { return reinterpret_cast<const Element*>(memory_)[i]; }
  FS_HD Element* data() { return reinterpret_cast<Element*>(memory_); }

 private:
  alignas(Element) unsigned char memory_[capacity * sizeof(Element)];
};

template <class Element> Scratch<Element> scratch(int count) { return Scratch<Element>(count); }
template <class Element, int limit> FS_HD LocalScratch<Element, limit> scratch(Bounded<limit>) {
  return LocalScratch<Element, limit>();
}
template <class Element, class Count> using ScratchOf = decltype(scratch<Element>(std::declval<Count>()));

}  // namespace featherstorm
