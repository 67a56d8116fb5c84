// Tasks that share the threads: a thread without a task helps the others, and errors end the rest.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "host/memory/blocks.h"
#include "host/memory/task_threads.h"

namespace featherstorm {
namespace {

// Returns whether `count` threads are here at the same time, within 30 s.
bool meet(std::atomic<int>& here, int count) {
  here++;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (here < count && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return here >= count;
}

TEST(RunTogether, AThreadWithoutATaskTakesBlocksOfAnother) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor";
  const BlockThreads threads(2);
  for (int repeat = 0; repeat < 20; repeat++) {
    std::atomic<int> here = 0, met = 0;
    run_together(2, 2, [&](long k) {
      if (k == 0) return;  // this thread is free, whether it is the caller or another
      threads.for_each(2 * block_size, [&](long, long) { met += meet(here, 2); });
    });
    EXPECT_EQ(met, 2);
  }
}

TEST(RunTogether, TasksRunAtTheSameTimeAndOnceEach) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor";
  std::atomic<int> here = 0, met = 0;
  run_together(2, 2, [&](long) { met += meet(here, 2); });
  EXPECT_EQ(met, 2);
  std::vector<std::atomic<int>> runs(100);
  const BlockThreads threads(2);
  std::atomic<long> instances = 0;
  run_together(2, 100, [&](long k) {
    runs[static_cast<std::size_t>(k)]++;
    EXPECT_TRUE(shares_threads());
    threads.for_each(300, [&](long, long n) { instances += n; });
  });
  for (const auto& count : runs) EXPECT_EQ(count, 1);
  EXPECT_EQ(instances, 100 * 300);
  EXPECT_FALSE(shares_threads());
}

TEST(RunTogether, AnErrorIsThrownAndNoOtherTaskBegins) {
  std::vector<long> begun;
  const auto failing = [&](long k) {
    begun.push_back(k);
    if (k == 1) throw std::runtime_error("task 1");
  };
  EXPECT_THROW(run_together(1, 5, failing), std::runtime_error);
  EXPECT_EQ(begun, (std::vector<long>{0, 1}));
  EXPECT_FALSE(shares_threads());
  run_together(4, 0, failing);
  EXPECT_EQ(begun.size(), 2u);
}

}  // namespace
}  // namespace featherstorm
