#include "host/memory/task_threads.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>
#include <vector>

namespace featherstorm {
namespace {

thread_local bool in_task = false;

}  // namespace

bool shares_threads() { return in_task; }

void run_together(int threads, long tasks, const std::function<void(long)>& f) {
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(tasks));
  std::atomic<long> next = 0;  // task
  const auto take_tasks = [&](long) {
    const bool before = std::exchange(in_task, threads > 1 && tasks > 1);
    for (long k = next++; k < tasks; k = next++) {
      try {
        f(k);
      } catch (...) { failures[static_cast<std::size_t>(k)] = std::current_exception(), next = tasks; }
    }
    in_task = before;
  };
  if (threads <= 1 || tasks <= 1) {
    take_tasks(0);
  } else {
    tbb::task_arena arena(threads);
    arena.execute(
        [&] { tbb::parallel_for(0L, std::min<long>(threads, tasks), take_tasks, tbb::simple_partitioner()); });
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace featherstorm
