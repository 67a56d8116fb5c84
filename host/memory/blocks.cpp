#include "host/memory/blocks.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "host/memory/task_threads.h"

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
  // In the arena of all tasks, whose other threads can help. Isolated: this thread waits without beginning another task.
  if (shares_threads()) return tbb::this_task_arena::isolate([&] { tbb::parallel_for(0L, blocks, block); });
  arena_->arena.execute([&] { tbb::parallel_for(0L, blocks, block); });
}

}  // namespace featherstorm
