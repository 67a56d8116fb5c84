// The dispatch table, and a test that an evaluator follows it.
#include <gtest/gtest.h>

#include "host/compile/device_kernel.h"
#include "host/compile/dispatch.h"
#include "host/robots/robots.h"
#include "tests/device/control.h"

namespace featherstorm::test_dispatch {
namespace {

using namespace testing;

constexpr int unmeasured = 70;  // a capability without measured rows

DispatchCall call(std::string_view robot, std::string_view op, double per_multiprocessor, int capability = 90,
                  Precision p = Precision::float32) {
  return {robot, op, p, capability, per_multiprocessor};
}

TEST(Dispatch, TheLastRowThatFitsDecides) {
  const Dispatch d(
      "go2,fd,float32,90,0,run-time,64,,0,1,measured\n"
      "go2,fd,float32,90,256,specialised,64,greedy,6,1,measured\n"
      "*,crba,*,*,0,run-time,64,,0,1,count\n");
  EXPECT_FALSE(d.choose(call("go2", "fd", 10)).specialised);
  EXPECT_TRUE(d.choose(call("go2", "fd", 256)).specialised);
  EXPECT_EQ(d.choose(call("go2", "fd", 1e9)).order, "greedy");
  EXPECT_EQ(d.choose(call("go2", "fd", 1e9)).blocks, 6);
  EXPECT_TRUE(d.choose(call("go2", "fd", 10, 80)).specialised) << "another device";
  EXPECT_TRUE(d.choose(call("go2", "fd", 10, 90, Precision::float64)).specialised) << "another precision";
  EXPECT_TRUE(d.choose(call("atlas", "fd", 10)).specialised) << "another robot";
  EXPECT_FALSE(d.choose(call("atlas", "crba", 10)).specialised);
}

TEST(Dispatch, MeasuredEntriesNameTheirDevice) {
  const Dispatch d("");
  ASSERT_FALSE(d.rows().empty());
  for (const DispatchRow& r : d.rows()) EXPECT_EQ(r.basis == "measured", r.capability != "*") << r.robot << " " << r.op;
}

// For a device without measurements.
TEST(Dispatch, EntriesByCountFollowFromRegistersAndSpills) {
  const Dispatch d("");
  for (const BuiltinRobot& r : builtin_robots())
    for (const char* op : {"rnea", "crba", "fd", "step"}) {
      EXPECT_EQ(d.choose(call(r.name, op, 63.9, unmeasured)).threads, 32)
          << "blocks of two warps would leave multiprocessors idle";
      const DispatchRow &small = d.choose(call(r.name, op, 1, unmeasured)),
                        &large = d.choose(call(r.name, op, 129, unmeasured));
      EXPECT_TRUE(large.specialised);
      const bool humanoid = r.name == "atlas" || r.name == "g1" || r.name == "humanoid";
      const std::string_view name = op;
      EXPECT_EQ(small.warps, humanoid && name != "crba" ? 4 : 1);
      EXPECT_EQ(large.warps, humanoid && (name == "step" || name == "fd") ? 4 : 1)
          << "one warp wins unless it spills or leaves room for two warps on a scheduler";
      EXPECT_EQ(large.threads, large.warps == 1 ? device_block_threads : 32);
    }
}

TEST(Dispatch, EveryNumberOfWarpsThatIsChosenIsMade) {
  const auto warps = [](const Dispatch& d, const DispatchCall& c) {
    std::vector<int> all;
    for (const DispatchRow* r : d.forms(c)) all.push_back(r->warps);
    return all;
  };
  const Dispatch own("");
  EXPECT_EQ(warps(own, call("go2", "fd", 1, unmeasured)), std::vector<int>{1});
  EXPECT_EQ(warps(own, call("atlas", "fd", 1, unmeasured)), std::vector<int>{4});
  EXPECT_EQ(warps(own, call("atlas", "rnea", 1, unmeasured)), (std::vector<int>{1, 4}));
  EXPECT_EQ(warps(own, call("atlas", "rnea", 1, unmeasured, Precision::float64)), std::vector<int>{1});
  EXPECT_EQ(own.choose(call("atlas", "rnea", 96, unmeasured)).warps, 4);
  EXPECT_EQ(own.choose(call("atlas", "rnea", 97, unmeasured)).warps, 1);
  const Dispatch mine(
      "go2,fd,*,*,0,specialised,32,trace,0,2,measured\n"
      "go2,fd,*,*,64,specialised,32,greedy,0,2,measured\n"
      "go2,fd,*,*,256,run-time,64,,0,1,measured\n");
  EXPECT_EQ(warps(mine, call("go2", "fd", 1)), std::vector<int>{2}) << "one warp is of the kernel for any robot";
  EXPECT_EQ(mine.forms(call("go2", "fd", 1))[0]->order, "greedy") << "of the row for the largest batch";
}

TEST(Dispatch, WrongRowsAreNamed) {
  const auto words = [](const std::string& rows) { return message([&] { Dispatch d(rows); }); };
  EXPECT_EQ(words("# a remark\n\ngo2,fd\n").find("dispatch rows, line 3: expected eleven cells, "), 0u);
  EXPECT_EQ(
      words("a,b,float,*,0,specialised,32,,0,1,count").find("dispatch rows, line 1: expected float32, float64 or *"),
      0u);
  EXPECT_EQ(words("a,b,*,sm_90,0,specialised,32,,0,1,count").find("dispatch rows, line 1: expected a number in cell 4"),
            0u);
  EXPECT_EQ(words("a,b,*,*,-1,specialised,32,,0,1,count").find("dispatch rows, line 1: expected a number in cell 5"),
            0u);
  EXPECT_EQ(words("a,b,*,*,0,fast,32,,0,1,count").find("dispatch rows, line 1: expected specialised or run-time"), 0u);
  EXPECT_EQ(words("a,b,*,*,0,specialised,48,,0,1,count").find("dispatch rows, line 1: expected 32 or 64 threads"), 0u);
  EXPECT_EQ(words("a,b,*,*,0,specialised,32,random,0,1,count").find("dispatch rows, line 1: expected trace, greedy"),
            0u);
  EXPECT_EQ(words("a,b,*,*,0,specialised,32,,33,1,count").find("dispatch rows, line 1: expected at most 32 blocks"),
            0u);
  EXPECT_EQ(words("a,b,*,*,0,specialised,32,,0,1,guess").find("dispatch rows, line 1: expected count or measured"), 0u);
  EXPECT_EQ(words("a,b,*,*,0,specialised,32,,0,9,count").find("dispatch rows, line 1: expected 1 to 8 warps"), 0u);
  EXPECT_EQ(words("a,b,*,*,0,specialised,64,,0,4,count").find("dispatch rows, line 1: expected 32 threads where"), 0u);
  EXPECT_EQ(words("robot,op,precision,capability,per_multiprocessor,kernel,threads,order,blocks,warps,basis\r\n"
                  "a,b,*,*,0,specialised,32,,0,1,count\r\n"),
            "no error");
}

}  // namespace
}  // namespace featherstorm::test_dispatch
