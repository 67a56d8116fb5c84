#include "host/memory/blocks.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "host/memory/task_threads.h"

// The thread sanitizer does not see how the compiled part of TBB hands work from thread to thread: it is told.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FEATHERSTORM_TSAN 1
#endif
#endif
#if defined(FEATHERSTORM_TSAN)
#include <sanitizer/tsan_interface.h>
#define FEATHERSTORM_BEFORE(here) __tsan_release(&(here))
#define FEATHERSTORM_AFTER(here) __tsan_acquire(&(here))
#else
#define FEATHERSTORM_BEFORE(here)
#define FEATHERSTORM_AFTER(here)
#endif

namespace featherstorm {

struct BlockThreads::Arena { tbb::task_arena arena; };

BlockThreads::BlockThreads(int threads) {
  if (threads > 1) arena_ = std::make_unique<Arena>(Arena{tbb::task_arena(threads)});
}
BlockThreads::BlockThreads(BlockThreads&&) noexcept = default;
BlockThreads::~BlockThreads() = default;

void BlockThreads::for_each(long instances, const std::function<void(long, long)>& f) const {
  const auto block = [&](long b) { f(b * block_size, std::min(block_size, instances - b * block_size)); };
  const long blocks = (instances + block_size - 1) / block_size;
  if (blocks == 1 || !arena_) {
    for (long b = 0; b < blocks; b++) block(b);
    return;
  }
  [[maybe_unused]] char begun = 0, done = 0;
  FEATHERSTORM_BEFORE(begun);
  const auto run = [&] {
    tbb::parallel_for(0L, blocks, [&](long b) {
      FEATHERSTORM_AFTER(begun);
      block(b);
      FEATHERSTORM_BEFORE(done);
    });
  };
  // In the arena of all tasks, whose other threads can help. Isolated: this thread waits without beginning another task.
  if (shares_threads()) tbb::this_task_arena::isolate(run);
  else arena_->arena.execute(run);
  FEATHERSTORM_AFTER(done);
}

}  // namespace featherstorm
