// Programs that are run by others: they end with the process that runs them, and with an interrupted call.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "host/system/interruption.h"
#include "host/system/process.h"
#include "tests/support/tools/scratch.h"

namespace featherstorm::test_process {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using test::read_file;
using test::Scratch;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// A program that works for long and writes its process number.
std::vector<std::string> long_program(const std::filesystem::path& number) {
  return {"/bin/sh", "-c", "echo $$ > \"$1\"; exec sleep 100", "sh", number.string()};
}
int number_in(const std::filesystem::path& file) {
  for (int k = 0; k < 1000; k++) {
    if (std::filesystem::exists(file) && std::filesystem::file_size(file) > 0) return std::stoi(read_file(file));
    std::this_thread::sleep_for(milliseconds(10));
  }
  return -1;
}
// The process is gone, or has ended and waits to be collected.
bool ends(int pid) {
  for (int k = 0; k < 200; k++) {
    const std::string state = read_file("/proc/" + std::to_string(pid) + "/stat");
    if (state.empty() || state.find(") Z ") != state.npos) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

TEST(Process, EndsWithTheProcessThatRunsIt) {
  Scratch scratch;
  const pid_t child = ::fork();
  if (child == 0) {
    run_process(long_program(scratch / "number"), 100);
    ::_exit(0);
  }
  const int program = number_in(scratch / "number");
  ASSERT_GT(program, 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(ends(program));
}

TEST(Process, TimeLimitEndsAllThatItStarted) {
  Scratch scratch;
  const auto begin = Clock::now();
  const std::string text = "sleep 100 & echo $! > \"$1\"; wait";
  const ProcessResult result = run_process({"/bin/sh", "-c", text, "sh", (scratch / "number").string()}, 0.5);
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(seconds_since(begin), 5);
  EXPECT_TRUE(ends(number_in(scratch / "number")));
}

struct Interrupting {
  explicit Interrupting(InterruptionCheck check) { set_interruption_check(check); }
  ~Interrupting() { set_interruption_check(nullptr); }
};

TEST(Interruption, EndsAProgram) {
  Scratch scratch;
  const Interrupting interrupting([] { throw std::runtime_error("Ctrl-C"); });
  const auto begin = Clock::now();
  try {
    run_process(long_program(scratch / "number"), 100);
    ADD_FAILURE() << "not interrupted";
  } catch (const Interruption& i) { EXPECT_THROW(std::rethrow_exception(i.cause), std::runtime_error); }
  EXPECT_LT(seconds_since(begin), 5);  // the program sleeps 100
}

TEST(Interruption, IsAskedForOnTheCallingThreadAlone) {
  static std::atomic<int> asked = 0;
  static std::thread::id other;
  asked = 0, other = {};
  const Interrupting interrupting([] {
    asked++;
    if (std::this_thread::get_id() == other) ADD_FAILURE() << "another thread";
  });
  LongCall call;
  std::atomic<bool> done = false;
  std::thread worker([&] {
    other = std::this_thread::get_id();
    while (!done) EXPECT_FALSE(call.ends());
  });
  const auto begin = Clock::now();
  while (asked < 5 && seconds_since(begin) < 20) EXPECT_FALSE(call.ends());
  const double seconds = seconds_since(begin);
  done = true;
  worker.join();
  EXPECT_EQ(asked, 5);
  EXPECT_GE(seconds, 0.2);  // every 50 ms
  call.rethrow();
}

TEST(Interruption, PartsOfALoopAddUpAndGrowWithItsSpeed) {
  LoopParts fast(1'000'000);
  long sum = 0, parts = 0, largest = 0;
  while (fast.left() > 0) {
    const long part = fast.next();
    sum += part, parts++, largest = std::max(largest, part);
  }
  EXPECT_EQ(sum, 1'000'000);
  EXPECT_LT(parts, 100);
  EXPECT_GT(largest, 1000);
  LoopParts slow(40);
  for (long part = slow.next(); slow.left() > 0; part = slow.next())
    std::this_thread::sleep_for(milliseconds(3 * part)), largest = part;
  EXPECT_LE(largest, 16);
  EXPECT_EQ(LoopParts(7).next(), 7);
}

}  // namespace
}  // namespace featherstorm::test_process
