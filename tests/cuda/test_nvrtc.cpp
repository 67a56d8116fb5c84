// The run-time compiler of kernels for CUDA devices, where libnvrtc is installed, and the cache of what it makes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/emit/rollout.h"
#include "core/program/count.h"
#include "core/program/order.h"
#include "host/compile/device_kernel.h"
#include "host/load/load.h"
#include "host/system/error.h"
#include "host/table/ops.h"
#include "host/trace/bodies.h"
#include "host/trace/specialised_program.h"
#include "host/trace/world_programs.h"
#include "tests/support/oracles/op_cases.h"
#include "tests/support/robots/linkages.h"
#include "tests/support/robots/small_world.h"
#include "tests/support/tools/message.h"
#include "tests/support/tools/scratch.h"

namespace featherstorm::test_nvrtc {
namespace {

using test::Environment;
using test::Scratch;

using testing::message, testing::OpFd, testing::OpRnea, testing::OpStep, testing::index_of;

template <class Op> Program program(const std::string& robot) {
  return specialised_program({index_of<Op>()}, load(robot).model);
}

class NvrtcCompiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!compiler.missing().empty()) GTEST_SKIP() << compiler.missing();
  }
  Nvrtc compiler;
};

TEST_F(NvrtcCompiles, TellsWhatAKernelTakes) {
  const DeviceCode code = compiler.compile(device_source(program<OpRnea>("iiwa14"), false, {}), "sm_80");
  EXPECT_EQ(code.image.substr(0, 4),
            "\x7f"
            "ELF");
  EXPECT_GT(code.cost.registers, 30);
  EXPECT_LE(code.cost.registers, 128);
  EXPECT_EQ(code.cost.spill_stores, 0);
  EXPECT_GT(code.cost.instructions, 297) << "the program has as many operations";
  EXPECT_LE(code.cost.instructions, code.cost.code / 16);
  EXPECT_GE(code.cost.instructions, code.cost.code / 16 - 16) << "padding";
}

TEST_F(NvrtcCompiles, BlocksLimitTheRegistersAndSpillsAreCounted) {
  const Program p = program<OpFd>("go2");
  const DeviceCost free = compiler.compile(device_source(p, false, {"trace", 0}), "sm_90").cost;
  const DeviceCost limited = compiler.compile(device_source(p, false, {"trace", 16}), "sm_90").cost;
  EXPECT_LE(limited.registers, 64);
  EXPECT_GT(free.registers, 64);
  EXPECT_GT(limited.spill_stores, free.spill_stores);
  EXPECT_GT(limited.instructions, free.instructions);
}

TEST_F(NvrtcCompiles, KeepsTheBestOfTheOrders) {
  const Program p = program<OpRnea>("go2");
  const DeviceKernel best = compile_for_device(p, false, compiler, "sm_90");
  for (const char* order : {"trace", "greedy", "sethi_ullman"}) {
    const DeviceCost c = compiler.compile(device_source(p, false, {order, 0}), "sm_90").cost;
    EXPECT_FALSE(is_better(c, best.cost)) << order;
    if (best.form.order == order) { EXPECT_EQ(c.instructions, best.cost.instructions); }
  }
}

// Of all kernels for humanoids the spilling ones are those of one warp (specialised.csv).
TEST_F(NvrtcCompiles, FourWarpsSpillNothing) {
  const Robot robot = load("atlas");
  const Program p = program<OpFd>("atlas");
  const Bodies bodies = bodies_of(p, robot.model);
  const DeviceCode code = compiler.compile(device_source(p, false, {"greedy", 0, 4}, &bodies), "sm_90");
  EXPECT_EQ(code.cost.spill_stores + code.cost.spill_loads, 0);
  EXPECT_LE(code.cost.registers, 168) << "three blocks of four warps on a multiprocessor";
  EXPECT_GT(compiler.compile(device_source(p, false, {"greedy", 0}), "sm_90").cost.spill_stores, 0);
}

// Rows that have no kernel with the model as data reach devices in this way alone.
TEST_F(NvrtcCompiles, RowsWithoutAKernelForAnyRobot) {
  const Robot robots[] = {load("double_pendulum"), testing::closed_robot(testing::four_bar()),
                          testing::with_geoms(testing::small_world())};
  std::vector<std::string_view> rows;
  testing::for_every_op([&](auto op, int index) {
    using Op = decltype(op);
    if constexpr (!Op::info.cuda) {
      rows.push_back(Op::info.name);
      const auto robot =
          std::find_if(std::begin(robots), std::end(robots), [](const Robot& r) { return available<Op>(r.model); });
      ASSERT_NE(robot, std::end(robots)) << Op::info.name;
      const Program p = specialised_program({index}, robot->model);
      for (const bool double_precision : {false, true}) {
        const char* target = double_precision ? "sm_80" : "sm_90";
        const DeviceCost cost = compiler.compile(device_source(p, double_precision, {"trace", 0}), target).cost;
        EXPECT_GE(cost.instructions, count(p, trace_order(p)).instructions()) << Op::info.name << " " << target;
      }
    }
  });
  EXPECT_EQ(rows.size(), 27u);
}

TEST_F(NvrtcCompiles, SeveralWarpsAreCachedApart) {
  Scratch scratch;
  const Robot robot = load("go2");
  const Program p = program<OpRnea>("go2");
  const Bodies bodies = bodies_of(p, robot.model);
  DeviceCompiler compile(nullptr, scratch.path());
  for (int round : {0, 1}) {
    EXPECT_EQ(compile.kernel(p, false, 90).form.warps, 1) << round;
    const DeviceKernel k = compile.kernel(p, false, 90, {"", 0, 4}, &bodies);
    EXPECT_EQ(k.form.warps, 4);
    EXPECT_NE(k.form.order, "");
    EXPECT_EQ(compile.kernel(p, false, 90, {"trace", 0, 2}, &bodies).form.warps, 2);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path()), {}), 6);
  }
}

TEST(DeviceSource, SaysWhatCannotBeCut) {
  const Robot arm = load("iiwa14");
  const Program p = program<OpRnea>("iiwa14");
  const Bodies bodies = bodies_of(p, arm.model);
  const auto words = [&](int warps, const Bodies* b) {
    return message([&] { device_source(p, false, {"trace", 0, warps}, b); });
  };
  EXPECT_EQ(words(2, &bodies), "the program cannot be cut into 2 roles by the robot's limbs");
  EXPECT_EQ(words(9, &bodies), "9 roles: expected 2 to 8, and the robot's bodies as argument");
  EXPECT_EQ(words(2, nullptr), "2 roles: expected 2 to 8, and the robot's bodies as argument");
}

TEST_F(NvrtcCompiles, NewerDevicesGetPtx) {
  EXPECT_EQ(compiler.target(80), "sm_80");
  const std::string target = compiler.target(9990);
  EXPECT_EQ(target.substr(0, 8), "compute_");
  const DeviceKernel k = compile_for_device(program<OpRnea>("cartpole"), false, compiler, target);
  EXPECT_NE(k.image.find(".entry featherstorm_kernel"), std::string::npos);
  EXPECT_EQ(k.cost.registers, 0);
  const std::string old = message([&] { compiler.target(35); });
  EXPECT_EQ(old.find("this NVRTC compiles for compute capability "), 0u) << old;
  EXPECT_NE(old.find(" and newer, the device has 35"), std::string::npos) << old;
}

TEST_F(NvrtcCompiles, RefusedTextsComeWithTheCompilersWords) {
  const std::string words = message([&] { compiler.compile("__global__ void f() { nonsense(); }", "sm_80"); });
  EXPECT_EQ(words.find("NVRTC: NVRTC_ERROR_COMPILATION\n"), 0u) << words;
  EXPECT_NE(words.find("nonsense"), std::string::npos) << words;
}

// A rollout of steps and costs: its arrays must all become registers, the loops must stay loops.
RolloutProgram rollout_of(const std::string& robot, RolloutProgram::ControlKind kind) {
  RolloutProgram r;
  const auto array = [&](int components, bool uniform = false, bool every_step = false) {
    r.arrays.push_back({components, uniform, every_step});
    return static_cast<int>(r.arrays.size()) - 1;
  };
  RolloutProgram::Stage step{std::make_shared<const Program>(program<OpStep>(robot)), {}, {}, {}, 3, false};
  for (const auto& a : step.program->inputs) step.in.push_back(array(a.size, a.uniform));
  for (const auto& a : step.program->outputs) step.out.push_back(array(a.size));
  const int q = step.in[0], v = step.in[1], u = step.in[2], n = r.arrays[u].components;
  step.swaps = {{q, step.out[0]}, {v, step.out[1]}};
  auto cost = std::make_shared<Program>();
  {
    const auto x = cost->input("u", n), total = cost->input("total", 1), t = cost->input("t", 1, true);
    Tracing scope(cost->graph);
    Expr sum = total[0] + t[0];
    for (const Expr& e : x) sum = sum + e * e;
    cost->output("total_next", {sum});
  }
  const int total = array(1), next = array(1), t = array(1, true, true);
  r.stages = {step, {cost, {u, total, t}, {next}, {{total, next}}, 1, false}};
  r.in = {{q, false}, {v, false}}, r.out = {{q, true}, {v, false}, {total, false}};
  r.checks = {{total, {q, v}}};
  r.controls = kind, r.controlled = u;
  if (kind == RolloutProgram::ControlKind::none) r.in.push_back({u, true});
  return r;
}

TEST_F(NvrtcCompiles, RolloutsStayInRegisters) {
  using Kind = RolloutProgram::ControlKind;
  for (const auto& [robot, kind] :
       {std::pair{"cartpole", Kind::noise}, {"iiwa14", Kind::none}, {"iiwa14", Kind::knots}})
    for (bool double_precision : {false, true})
      for (const char* target : {"sm_80", "sm_90"}) {
        const std::string text = emit_rollout(rollout_of(robot, kind), trace_order, Cuda{double_precision});
        const DeviceCost c = compiler.compile(text, target).cost;
        const DeviceCost step =
            compiler.compile(device_source(program<OpStep>(robot), double_precision, {}), target).cost;
        // an array that is no register takes 28 bytes or more; at 255 registers one double or two may spill
        EXPECT_LE(c.spill_stores, step.spill_stores + 16) << robot << " " << target;
        EXPECT_LE(c.stack, step.stack + 16) << robot << " " << target;
        EXPECT_LT(c.instructions, 2 * step.instructions + 1500) << robot << " " << target << ": a loop was unrolled";
      }
}

// A planner's samples: noise alone, without stages, as host/planning/planner.cpp draws it.
TEST_F(NvrtcCompiles, SamplesOfPlans) {
  RolloutProgram r;
  r.arrays.push_back({12, false, false});
  r.out = {{0, true}};
  r.controls = RolloutProgram::ControlKind::noise, r.controlled = 0;
  for (const bool double_precision : {false, true})
    for (const char* target : {"sm_80", "sm_90"}) {
      const DeviceCost c = compiler.compile(emit_rollout(r, trace_order, Cuda{double_precision}), target).cost;
      EXPECT_EQ(c.spill_stores, 0) << target;
      EXPECT_LE(c.stack, 128) << target;  // 0 in float32; sine and cosine in double have a path for great angles
      EXPECT_LT(c.instructions, 4000) << target << ": a loop was unrolled";
      EXPECT_GT(c.instructions, 100) << target;
    }
}

// The stages of a step with all candidates of contacts, as host/simulation/world_sequence.h has them.
RolloutProgram world_step_of(const Robot& robot) {
  const WorldPrograms all = world_programs(robot.model, Candidates::All, 1e-6, 1 << 20);
  RolloutProgram r;
  std::map<std::string, int> places;
  const auto array = [&](const Program::Array& a) {
    const auto [at, is_new] = places.try_emplace(a.name, static_cast<int>(r.arrays.size()));
    if (is_new) r.arrays.push_back({a.size, false, false});
    return at->second;
  };
  const auto stage = [&](const Program& p, const std::vector<std::string>& swapped) {
    RolloutProgram::Stage s{std::make_shared<const Program>(p), {}, {}, {}, 1, false};
    for (const auto& a : p.inputs) s.in.push_back(array(a));
    for (const auto& a : p.outputs) s.out.push_back(array(a));
    for (const std::string& name : swapped) {
      const int next = places.at(name + "_next");
      if (places.count(name) == 0)
        places[name] = static_cast<int>(r.arrays.size()), r.arrays.push_back(r.arrays[static_cast<std::size_t>(next)]);
      s.swaps.push_back({places.at(name), next});
    }
    r.stages.push_back(s);
  };
  stage(all.equations, {});
  stage(all.newton, {"qacc", "more", "passes", "row_force", "contact_force"});
  r.stages.back().repeat = 100, r.stages.back().needed = places.at("more");
  stage(all.advance, {"q", "v", "act"});
  for (const char* name : {"q", "v", "act", "qacc", "ctrl"}) r.in.push_back({places.at(name), false});
  for (const char* name : {"q", "v", "act", "qacc", "contact_force"}) r.out.push_back({places.at(name), false});
  return r;
}

TEST_F(NvrtcCompiles, AStepWithContacts) {
  for (const bool double_precision : {false, true}) {
    Robot robot = testing::with_geoms(testing::small_world());
    robot.model.world.contacts.elliptic = double_precision;  // each law once
    const DeviceCost c =
        compiler.compile(emit_rollout(world_step_of(robot), trace_order, Cuda{double_precision}), "sm_90").cost;
    EXPECT_LE(c.registers, 255);
    // matrices and rows between the stages are in local memory: four coordinates, 47 rows
    EXPECT_LE(c.stack, double_precision ? 16000 : 8000);
    EXPECT_LT(c.instructions, 60000) << "a loop was unrolled";
  }
}

TEST(NvrtcLibrary, NamesWhatIsMissing) {
  {
    const Environment set("FEATHERSTORM_NVRTC", "/nowhere/libnvrtc.so");
    EXPECT_EQ(Nvrtc().missing().find("FEATHERSTORM_NVRTC: /nowhere/libnvrtc.so: "), 0u) << Nvrtc().missing();
  }
  const Environment set("FEATHERSTORM_NVRTC", "libm.so.6");
  EXPECT_EQ(Nvrtc().missing(), "FEATHERSTORM_NVRTC: libm.so.6 is not NVRTC 12 or newer");
}

TEST(DeviceCache, OneLimitHoldsForBothKindsOfEntries) {
  Scratch scratch;
  KernelCache host(scratch.path(), 3000, nullptr), device(scratch.path(), 3000, nullptr, {".cubin", ".cu"});
  const std::string old(32, 'a'), fresh(32, 'b');
  device.store(old, std::string(2000, 'x'), "text");
  host.store(fresh, std::string(2000, 'y'), "text");
  EXPECT_FALSE(device.load(old));
  EXPECT_FALSE(std::filesystem::exists(scratch / (old + ".cu")));
  EXPECT_TRUE(host.find(fresh));
}

}  // namespace
}  // namespace featherstorm::test_nvrtc
