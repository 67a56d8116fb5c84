// Work of the host on all of its cores.
#pragma once
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace featherstorm::testing {

// f(k) for k = 0 to count - 1, in any order. Passes on the first exception.
template <class F> void on_all_cores(int count, const F& f) {
  std::atomic<int> next{0};
  std::exception_ptr error;
  std::mutex mutex;  // of error
  const auto work = [&] {
    try {
      for (int k = next++; k < count; k = next++) f(k);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      next = count;
    }
  };
  const int others = std::min(count, static_cast<int>(std::thread::hardware_concurrency())) - 1;
  std::vector<std::thread> threads;
  for (int k = 0; k < others; k++) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace featherstorm::testing
