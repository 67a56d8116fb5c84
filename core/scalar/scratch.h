// Working memory of one algorithm call: arrays of known element type whose length depends on the model,
//
//   auto x = scratch<T>(m.nx);
//
// With a Model (counts are ints) the memory is a stack of blocks that belongs to the thread and is kept between calls,
// so a warm call never allocates. With a device model (cuda/kernels/device_model.h; counts are Bounded) it is a local
// array. A source file that defines FEATHERSTORM_LAUNCHED_SCRATCH at its beginning is compiled for launches that
// provide the memory (launched_scratch.h): kernels whose counts are not known at compile time.
#pragma once
#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <vector>

#include "core/scalar/scalar.h"
#ifdef FEATHERSTORM_LAUNCHED_SCRATCH
#include "core/scalar/launched_scratch.h"
#endif

namespace featherstorm {

// An int that is at most `limit`.
template <int limit> struct Bounded {
  int value = 0;
  FS_HD constexpr operator int() const { return value; }
};
// Room for one element more.
template <int limit> FS_HD constexpr Bounded<limit + 1> operator+(Bounded<limit> n, int one) { return {n.value + one}; }

// a * b; Bounded where both factors are.
FS_HD constexpr int product(int a, int b) { return a * b; }
template <int a, int b> FS_HD constexpr Bounded<a * b> product(Bounded<a> x, Bounded<b> y) {
  return {x.value * y.value};
}
FS_HD constexpr int sixfold(int a) { return 6 * a; }
template <int a> FS_HD constexpr Bounded<6 * a> sixfold(Bounded<a> x) { return {6 * x.value}; }

// The thread's stack of blocks; memory is released in last-in-first-out order. Plain data, so that access costs one
// instruction; ScratchBlocks owns the blocks.
struct ScratchStack {
  static constexpr std::size_t alignment = 64;
  struct Mark { std::size_t block, used; };
  unsigned char* base;
  std::size_t size, used, block;

  Mark mark() const { return {block, used}; }
  void* take(std::size_t bytes) {
    bytes = (bytes + alignment - 1) / alignment * alignment;
    if (used + bytes > size) next_block(bytes);
    void* p = base + used;
    used += bytes;
    return p;
  }
  void give_back(Mark m) {
    if (m.block != block) select_block(m.block);
    used = m.used;
  }
  __attribute__((noinline, cold)) void next_block(std::size_t bytes);
  __attribute__((noinline, cold)) void select_block(std::size_t i);
};
inline constinit thread_local ScratchStack scratch_stack{};

// The blocks of a thread, freed when it ends.
struct ScratchBlocks {
  struct Block {
    unsigned char* base;
    std::size_t size;
  };
  std::vector<Block> blocks;
  ~ScratchBlocks() {
    for (const Block& b : blocks) std::free(b.base);
    scratch_stack = {};
  }
};
inline ScratchBlocks& scratch_blocks() {
  static thread_local ScratchBlocks blocks;
  return blocks;
}

// inline for the linker; the compiler keeps them out of line, also where every call of a kernel is inlined
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"
inline void ScratchStack::next_block(std::size_t bytes) {
  auto& blocks = scratch_blocks().blocks;
  std::size_t i = blocks.empty() ? 0 : block + 1;
  while (i < blocks.size() && blocks[i].size < bytes) i++;
  if (i == blocks.size()) {
    const std::size_t least = std::size_t(1) << 20, wanted = bytes > least ? bytes : least;
    void* p = std::aligned_alloc(4096, (wanted + 4095) / 4096 * 4096);
    if (!p) throw std::bad_alloc();
    blocks.push_back({static_cast<unsigned char*>(p), wanted});
  }
  select_block(i);
  used = 0;
}
inline void ScratchStack::select_block(std::size_t i) {
  const auto& blocks = scratch_blocks().blocks;
  block = i;
  base = blocks.empty() ? nullptr : blocks[i].base;
  size = blocks.empty() ? 0 : blocks[i].size;
}
#pragma GCC diagnostic pop

// `count` elements of working memory, uninitialised, released at the end of the scope.
template <class Element> class BlockScratch {
 public:
  explicit BlockScratch(int count) : mark_(scratch_stack.mark()) {
    static_assert(std::is_trivially_destructible_v<Element>);
    data_ = static_cast<Element*>(scratch_stack.take(sizeof(Element) * static_cast<std::size_t>(count)));
  }
  ~BlockScratch() { scratch_stack.give_back(mark_); }
  BlockScratch(const BlockScratch&) = delete;
  BlockScratch& operator=(const BlockScratch&) = delete;
  Element& operator[](int i) { return data_[i]; }
  const Element& operator[](int i) const { return data_[i]; }
  Element* data() { return data_; }

 private:
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

#ifdef FEATHERSTORM_LAUNCHED_SCRATCH
template <class Element> using Scratch = LaunchedScratch<Element>;
template <class Element> FS_HD Scratch<Element> scratch(int count) { return Scratch<Element>(count); }
#else
template <class Element> using Scratch = BlockScratch<Element>;
template <class Element> Scratch<Element> scratch(int count) { return Scratch<Element>(count); }
#endif
// The type of its data(): a pointer, or a pointer-like type.
template <class Element> using ScratchArray = decltype(std::declval<Scratch<Element>&>().data());

template <class Element, int limit>
FS_HD LocalScratch<Element, limit> scratch([[maybe_unused]] Bounded<limit> count) {
  assert(count.value <= limit);
  return LocalScratch<Element, limit>();
}
template <class Element, class Count> using ScratchOf = decltype(scratch<Element>(std::declval<Count>()));
// The type of m.nb + 1.
template <class M> using BodiesOf = decltype(std::declval<const M&>().nb + 1);

}  // namespace featherstorm
