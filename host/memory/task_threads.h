// Tasks of different kinds that share the threads, such as the steps of several robots.
#pragma once
#include <functional>

namespace featherstorm {

// Run f(0), ..., f(tasks - 1) and return when all have ended. A thread takes the next task in this order, so the
// longest task should be the first. A thread without a task works on the blocks of other tasks (blocks.h), so no thread
// is idle while a task has blocks that have not begun.
//
//   threads   of all tasks together, 1 or more
//
// After an exception of a task no other task begins. It is thrown when the tasks that have begun have ended.
void run_together(int threads, long tasks, const std::function<void(long)>& f);

// True while this thread runs a task of run_together, whose blocks are run by the threads of all tasks.
bool shares_threads();

}  // namespace featherstorm
