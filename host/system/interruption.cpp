#include "host/system/interruption.h"

namespace featherstorm {
namespace {

using Clock = CheckTimes::Clock;
using std::chrono::milliseconds;

constexpr milliseconds period(50);
constexpr int most_skips = 64;
constexpr milliseconds part_time(10);
std::atomic<InterruptionCheck> interruption_check = nullptr;

}  // namespace

void set_interruption_check(InterruptionCheck check) { interruption_check = check; }

bool CheckTimes::due() {
  if (skipped_++ < skips_) return false;
  const Clock::time_point now = Clock::now();
  // calls that take long are all timed
  skips_ = now - read_ < milliseconds(1) ? std::min(2 * skips_ + 1, most_skips) : skips_ / 8;
  read_ = now, skipped_ = 0;
  if (now < next_) return false;
  next_ = now + period;
  return true;
}

LongCall::LongCall() : check_(interruption_check), caller_(std::this_thread::get_id()), times_(Clock::now() + period) {}

void LongCall::ask() {
  if (failure_) return;
  try {
    check_();
  } catch (...) {
    failure_ = std::current_exception();
    ends_.store(true, std::memory_order_relaxed);
  }
}

void end_if_interrupted() {
  thread_local CheckTimes times;
  const InterruptionCheck check = interruption_check.load(std::memory_order_relaxed);
  if (!check || !times.due()) return;
  try {
    check();
  } catch (...) {
    throw Interruption{std::current_exception()};  // NOLINT(bugprone-std-exception-baseclass)
  }
}

long LoopParts::next() {
  if (part_ < left_) {
    const Clock::time_point now = Clock::now();
    if (measured_) {
      const auto taken = now - begin_;
      part_ = taken > part_time ? std::max(1L, part_ / 2) : taken < part_time / 4 ? 2 * part_ : part_;
    }
    begin_ = now, measured_ = true;
  }
  part_ = std::min(part_, left_);
  left_ -= part_;
  return part_;
}

}  // namespace featherstorm
