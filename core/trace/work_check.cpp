#include "core/trace/work_check.h"

#include <atomic>

namespace featherstorm {
namespace {

std::atomic<WorkCheck> work_check = nullptr;

}  // namespace

void set_work_check(WorkCheck check) { work_check = check; }

void check_work() {
  if (const WorkCheck check = work_check.load(std::memory_order_relaxed)) check();
}

}  // namespace featherstorm
