// Long calls that can be ended early, for example by Ctrl-C in Python.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

namespace featherstorm {

// The function that long calls ask, about twenty times a second and on the thread that made the call, whether to end:
// it throws to end the call. Null: calls are never ended.
using InterruptionCheck = void (*)();
void set_interruption_check(InterruptionCheck check);

// A call has been ended. It is no std::exception: code that handles errors by another way to the result must not
// handle this.
struct Interruption { std::exception_ptr cause; };  // thrown by the check

// Tells when to ask the check: every 50 ms. Reads the clock about once a millisecond, because that takes 20 ns.
class CheckTimes {
 public:
  using Clock = std::chrono::steady_clock;
  explicit CheckTimes(Clock::time_point first = {}) : read_(first), next_(first) {}
  bool due();

 private:
  Clock::time_point read_, next_;
  int skipped_ = 0, skips_ = 0;  // calls without reading the clock
};

// One long call and the threads that work on it.
class LongCall {
 public:
  LongCall();  // on the thread that makes the call
  // Return true if the call is to end. Threads ask between pieces of their work, which take milliseconds at most.
  bool ends() {
    if (check_ && std::this_thread::get_id() == caller_ && times_.due()) ask();
    return ends_.load(std::memory_order_relaxed);
  }
  // Throw Interruption if the call has been ended. Called when no thread works on the call any more.
  void rethrow() const {
    if (failure_) throw Interruption{failure_};  // NOLINT(bugprone-std-exception-baseclass)
  }

 private:
  void ask();

  const InterruptionCheck check_;
  const std::thread::id caller_;
  CheckTimes times_;  // used by the caller, as is the failure
  std::atomic<bool> ends_ = false;
  std::exception_ptr failure_;
};

// For loops on one thread, also as the check of core/trace/work_check.h: throw Interruption if the check of this thread
// throws. Cost: some nanoseconds.
void end_if_interrupted();

// Parts of a loop that take some milliseconds each.
class LoopParts {
 public:
  explicit LoopParts(long count) : left_(count), part_(std::min(count, few)) {}
  long left() const { return left_; }
  // The length of the next part. Called before each part, while any are left.
  long next();

 private:
  static constexpr long few = 16;
  long left_, part_;
  bool measured_ = false;
  CheckTimes::Clock::time_point begin_;
};

}  // namespace featherstorm
