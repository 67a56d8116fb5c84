// Work for the processor's cores beside that of the device: traces, references and kernels are made ahead of their use,
// in the order in which they were asked for.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace featherstorm::testing {

class Workshop {
 public:
  explicit Workshop(int threads) {
    for (int k = 0; k < threads; k++) threads_.emplace_back([this] { work(); });
  }
  ~Workshop() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
      jobs_.clear();
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  // The result of f(), or what it throws. f may wait for jobs that were given before it. A result that is asked for
  // after the workshop closed is a broken promise.
  template <class F>
  auto give(F f) {
    auto task = std::make_shared<std::packaged_task<decltype(f())()>>(std::move(f));
    auto result = task->get_future().share();
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back([task] { (*task)(); });
    }
    changed_.notify_one();
    return result;
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace featherstorm::testing
