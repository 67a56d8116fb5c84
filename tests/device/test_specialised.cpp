// Evaluator::specialise for a device. Through the fake CUDA library, emitted sources are chosen, compiled, cached,
// loaded and launched as on a GPU, and their own index arithmetic runs, on the host (fake_cuda/program.cpp).
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "host/compile/device_kernel.h"
#include "host/load/load.h"
#include "tests/device/control.h"
#include "tests/device/special.h"
#include "tests/support/robots/linkages.h"

namespace featherstorm::test_specialised {
namespace {

using namespace testing;

namespace fs = std::filesystem;
// Results on the device of the specialised kernel and of the kernel that takes the model as data. The components of
// the arrays are `gap` numbers further apart than necessary. Arrays are poisoned first, with guards between the
// components.
template <class Op, class Real>
void agrees(const Robot& robot, Evaluator& special, long n, int repeat = 1, long gap = 0) {
  const Model<double>& m = robot.model;
  SCOPED_TRACE(std::string(Op::info.name) + "/" + robot.name + "/" + std::to_string(n) + "/" + std::to_string(repeat));
  RunOptions o;
  o.frame = Op::info.uses_frame ? m.nf - 1 : 0, o.repeat = repeat, o.uniforms = flat_uniforms<Op>(m);
  const long stride = (n + 15) / 16 * 16 + gap;
  DeviceArrays<Real> arrays(n, stride);
  const auto in = arrays.template add_inputs<Op>(m);
  const auto expected = arrays.template add_outputs<Op>(m), found = arrays.template add_outputs<Op>(m);
  ASSERT_TRUE(special.specialised(Op::info.name, precision_of<Real>(), o.frame, device));
  Evaluator(robot).run(Op::info.name, in, expected, o);
  special.run(Op::info.name, in, found, o);
  for (std::size_t k = 0; k < Op::info.out.size(); k++) {
    const std::vector<Real> e = arrays.numbers(in.size() + k), f = arrays.numbers(in.size() + expected.size() + k);
    const long components = size_of(m, Op::info.out[k].shape);
    for (long i = 0; i < stride; i++) {
      double scale = 1e-3;
      for (long c = 0; c < components; c++) scale = std::max(scale, std::abs(double(e[c * stride + i])));
      for (long c = 0; c < components; c++) {
        const double x = f[c * stride + i];
        if (i < n) ASSERT_NEAR(x, e[c * stride + i], scale * (sizeof(Real) == 8 ? 1e-8 : 5e-3)) << c << ", " << i;
        else ASSERT_EQ(x, arrays.nothing) << "written behind the last instance";
      }
    }
  }
}
Robot all_joints(unsigned seed, int bodies) {
  RandomOptions o;
  o.bodies = bodies, o.floating = true;
  o.types.pop_back();  // no user-defined joints
  return random_robot(seed, o);
}

// NVRTC takes up to minutes for an operation of the books.
template <class Op> bool made_here(int op) { return !real_gpu || info_of(op).common || Op::info.carried; }

const char* const one_form = "*,*,*,*,0,specialised,64,trace,0,1,count\n";  // not the best of three

TEST(DeviceSpecialised, EveryOperationAgreesWithTheRunTimeKernel) {
  // the second derivatives of larger robots than the first are too long to be unrolled
  for (const Robot& robot : {all_joints(5, 3), closed_robot(four_bar()), gripper()}) {
    Special s(robot, one_form);
    const bool closed = available<table::OpFdLoops>(robot.model) || available<table::OpFdCoupled>(robot.model);
    for_every_op([&](auto op, int number) {
      using Op = decltype(op);
      constexpr bool closure = Op::info.needs == Needs::loops || Op::info.needs == Needs::coupling;
      if (closed && !closure) return;  // singular: a planar mechanism in space
      if (!available<Op>(robot.model) || !made_here<Op>(number)) return;
      const int frame = Op::info.uses_frame ? robot.model.nf - 1 : 0;
      ASSERT_TRUE(s.e.specialise(Op::info.name, Precision::float64, frame, device)) << Op::info.name << s.told;
      if (!Op::info.cuda) return;  // no kernel that takes the model as data exists for comparison
      agrees<Op, double>(robot, s.e, 67, 1, 5);
      if (Op::info.carried) agrees<Op, double>(robot, s.e, 3, 4);
    });
  }
}

TEST(DeviceSpecialised, AFaultyKernelIsNotUsed) {
  const Robot robot = load("iiwa14");
  Special s(robot, "", [](Program& p) { p.results[0][0] = -p.results[0][0]; });
  const StandInCounts before = counts_before();
  EXPECT_FALSE(s.e.specialise("rnea", Precision::float32, 0, device));
  EXPECT_EQ(s.told.find("rnea is not specialised for CUDA device " + std::to_string(device) +
                        ": the kernel of 1 warps is not used: tau differs by "),
            0u)
      << s.told;
  EXPECT_FALSE(s.e.specialised("rnea", Precision::float32, 0, device));
  if (!real_gpu) {
    EXPECT_EQ(counts().live_programs, before.live_programs);
    EXPECT_EQ(counts().live_blocks, before.live_blocks);
  }
  Special sound(robot);
  EXPECT_TRUE(sound.e.specialise("rnea", Precision::float32, 0, device));
  ASSERT_EQ(sound.e.checks().size(), 1u);
  EXPECT_EQ(sound.e.checks()[0].device, device);
  EXPECT_TRUE(sound.e.checks()[0].result.passed);
}

// A derivative is compared with the host's, which interprets the same program.
TEST(DeviceSpecialised, ReverseDerivativesAreTheHosts) {
  const Robot robot = load("iiwa14");
  Special s(robot, one_form);
  for (const char* op : {"rnea_vjp", "fd_vjp"}) {
    const OpRow& row = s.e.op(op);
    ASSERT_TRUE(s.e.specialise(op, Precision::float64, 0, device)) << s.told;
    constexpr long n = 67;
    std::vector<Buffer> memory;
    std::vector<ArrayRef> in[2], out[2];
    const auto add = [&](std::vector<ArrayRef>* side, int components, double phase) {
      const Buffer& here = memory.emplace_back(Precision::float64, n, components);
      for (int c = 0; c < components; c++)
        for (long i = 0; i < n; i++) here.component<double>(c)[i] = std::sin(0.7 * static_cast<double>(i) + c + phase);
      side[0].push_back(here.ref());
      side[1].push_back(memory.emplace_back(Precision::float64, n, components, device).ref());
      copy(side[0].back(), side[1].back());
    };
    for (std::size_t k = 0; k < row.in.size(); k++) add(in, row.in[k].components, static_cast<double>(k));
    for (const auto& a : row.out) add(out, a.components, 0);
    for (const int where : {0, 1}) s.e.run(op, in[where], out[where]);
    for (std::size_t k = 0; k < row.out.size(); k++) {
      Buffer found(Precision::float64, n, row.out[k].components);
      copy(out[1][k], found.ref());
      const double* expected = static_cast<const double*>(out[0][k].data);
      for (int c = 0; c < row.out[k].components; c++)
        for (long i = 0; i < n; i++) {
          const double x = expected[c * out[0][k].component_stride + i];
          ASSERT_NEAR(found.component<double>(c)[i], x, 1e-8 * (1 + std::abs(x))) << op << " " << k;
        }
    }
  }
}

TEST(DeviceSpecialised, EveryBatchSizeInFloat) {
  const Robot robot = load("go2");
  Special s(robot);
  for (const char* op : {"rnea", "step"}) ASSERT_TRUE(s.e.specialise(op, Precision::float32, 0, device)) << s.told;
  for (long n : {1, 17, 63, 64, 65, 4096 + 3}) agrees<OpRnea, float>(robot, s.e, n);
  agrees<OpStep, float>(robot, s.e, 35, 3);
}

TEST(DeviceSpecialised, SmallBatchesRunInBlocksOfOneWarp) {
  const Robot robot = load("double_pendulum");
  Special s(robot);
  ASSERT_TRUE(s.e.specialise("rnea", Precision::float32, 0, device)) << s.told;
  agrees<OpRnea, float>(robot, s.e, 63);  // the fake CUDA library has one multiprocessor
  EXPECT_EQ(program_threads(), 32);
  agrees<OpRnea, float>(robot, s.e, 64);
  EXPECT_EQ(program_threads(), 64);
}

TEST(DeviceSpecialised, TheUsersDispatchRowsHold) {
  const Robot robot = load("double_pendulum");
  Special s(robot,
            "double_pendulum,rnea,float32,80,0,specialised,64,greedy,8,1,measured\n"
            "double_pendulum,rnea,float32,80,20,run-time,64,greedy,8,1,measured\n");
  const int before = compiled();
  ASSERT_TRUE(s.e.specialise("rnea", Precision::float32, 0, device)) << s.told;
  EXPECT_EQ(compiled(), before + 1) << "the form is given";
  EXPECT_NE(s.text_of_kernels().find("__launch_bounds__(64, 8)"), std::string::npos);
  const auto launched = [&](long n) {
    const int launches = program_launches();
    agrees<OpRnea, float>(robot, s.e, n);
    return program_launches() - launches;
  };
  EXPECT_EQ(launched(19), 1);
  EXPECT_EQ(program_threads(), 64);
  EXPECT_EQ(launched(20), 0) << "the kernel for any robot";

  test::write_file(s.scratch / "rows.csv", "nonsense\n");
  EXPECT_TRUE(s.e.specialise("rnea", Precision::float64, 0, device)) << "an evaluator reads the table once";
  std::string told;
  EvaluatorOptions options;
  options.notice = [&](const std::string& w) { told += w; };
  Evaluator fresh(robot, options);
  EXPECT_FALSE(fresh.specialise("rnea", Precision::float64, 0, device));
  EXPECT_NE(told.find("dispatch rows, line 1: expected eleven cells"), std::string::npos) << told;
}

TEST(DeviceSpecialised, WhatWasNotAskedForIsLeftToTheRunTimeKernels) {
  const Robot robot = load("double_pendulum");
  Special s(robot);
  ASSERT_TRUE(s.e.specialise("rnea", Precision::float32, 0, device));
  EXPECT_TRUE(s.e.specialised("rnea", Precision::float32, 0, device));
  EXPECT_FALSE(s.e.specialised("rnea", Precision::float64, 0, device));
  EXPECT_FALSE(s.e.specialised("rnea", Precision::float32, 0, 1 - device)) << "another device";
  EXPECT_FALSE(s.e.specialised("rnea", Precision::float32)) << "the host";
  EXPECT_FALSE(s.e.specialised("crba", Precision::float32, 0, device));
  EXPECT_EQ(s.told, "");
}

TEST(DeviceSpecialised, EveryFrameHasItsKernel) {
  const Robot robot = load("iiwa14");
  Special s(robot);
  const int last = robot.model.nf - 1;
  ASSERT_TRUE(s.e.specialise("jacobian", Precision::float32, last, device)) << s.told;
  EXPECT_FALSE(s.e.specialised("jacobian", Precision::float32, last - 1, device));
  agrees<OpJacobian, float>(robot, s.e, 5);
  EXPECT_FALSE(s.e.specialise("jacobian", Precision::float32, last + 1, device));
  EXPECT_NE(s.told.find("expected 0 to " + std::to_string(last)), std::string::npos) << s.told;
}

TEST(DeviceSpecialised, KernelsComeFromTheCache) {
  const Robot robot = load("double_pendulum");
  Special s(robot);
  const int before = compiled();
  ASSERT_TRUE(s.e.specialise("rnea", Precision::float32, 0, device)) << s.told;
  EXPECT_EQ(compiled(), before + 3) << "three orders; 40 registers need no limit";
  std::vector<fs::path> files;
  for (const auto& f : fs::directory_iterator(s.scratch / "cache")) files.push_back(f.path());
  ASSERT_EQ(files.size(), 2u);
  const fs::path entry = files[0].extension() == ".cubin" ? files[0] : files[1];
  EXPECT_EQ(entry.extension(), ".cubin");
  EXPECT_TRUE(fs::exists(fs::path(entry).replace_extension(".cu")));
  {
    Evaluator again(robot);
    ASSERT_TRUE(again.specialise("rnea", Precision::float32, 0, device));
    EXPECT_TRUE(again.specialise("rnea", Precision::float32, 0, 0)) << "a second device of the same kind";
    EXPECT_EQ(compiled(), before + 3);
    agrees<OpRnea, float>(robot, again, 9);
    ASSERT_TRUE(again.specialise("rnea", Precision::float64, 0, device));
    EXPECT_EQ(compiled(), before + 6) << "another precision is another kernel";
  }
  // one changed byte
  std::string bytes = test::read_file(entry);
  bytes[bytes.size() / 2] ^= 1;
  test::write_file(entry, bytes);
  Evaluator third(robot);
  ASSERT_TRUE(third.specialise("rnea", Precision::float32, 0, device));
  EXPECT_EQ(compiled(), before + 9) << "a damaged entry is compiled anew";
  Evaluator fourth(robot);
  ASSERT_TRUE(fourth.specialise("rnea", Precision::float32, 0, device));
  EXPECT_EQ(compiled(), before + 9) << "and mended";
}

TEST(DeviceSpecialised, ManyThreadsMayAsk) {
  const Robot robot = load("double_pendulum");
  Special s(robot);
  const int programs = counts_before().live_programs;
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  for (int k = 0; k < 4; k++)
    threads.emplace_back([&] { done += s.e.specialise("rnea", Precision::float32, 0, device); });
  for (auto& t : threads) t.join();
  EXPECT_EQ(done, 4);
  agrees<OpRnea, float>(robot, s.e, 9);
  EXPECT_EQ(counts().live_programs, programs + 1);
}

TEST(DeviceSpecialised, ProgramsGoWithTheEvaluator) {
  const int before = counts().live_programs;
  {
    Special s(load("double_pendulum"));
    ASSERT_TRUE(s.e.specialise("rnea", Precision::float32, 0, device));
    ASSERT_TRUE(s.e.specialise("rnea", Precision::float32, 0, 0));
    EXPECT_EQ(counts().live_programs, before + 2);
    Evaluator moved = std::move(s.e);
    EXPECT_TRUE(moved.specialised("rnea", Precision::float32, 0, device));
  }
  EXPECT_EQ(counts().live_programs, before);
}

TEST(DeviceSpecialised, FailuresAreToldAndLeaveTheRunTimeKernels) {
  const Robot robot = load("double_pendulum");
  const auto words_of = [&](const std::function<void()>& spoil) {
    Special s(robot);
    spoil();
    EXPECT_FALSE(s.e.specialise("rnea", Precision::float32, 0, device));
    EXPECT_FALSE(s.e.specialised("rnea", Precision::float32, 0, device));
    Buffer q(Precision::float32, 3, 2, device), tau(Precision::float32, 3, 2, device);
    s.e.run("rnea", {q.ref(), q.ref(), q.ref()}, {tau.ref()});
    EXPECT_TRUE(s.e.specialise("rnea", Precision::float32, 0, device)) << "it is tried again";
    return s.told;
  };
  EXPECT_EQ(
      words_of(refuse_next_text),
      "rnea is not specialised for CUDA device 1: NVRTC: NVRTC_ERROR_COMPILATION\nthe fake CUDA library refuses this text\n");
  const std::string loading = words_of([] { fail_next("cudaLibraryLoadData", invalid_image); });
  EXPECT_EQ(loading.find("rnea is not specialised for CUDA device 1: rnea: CUDA device 1: cudaErrorInvalidKernelImage: "
                         "device kernel image is invalid ("),
            0u)
      << loading;
  Special s(robot);
  EXPECT_FALSE(s.e.specialise("rnea", Precision::float32, 0, 7));
  EXPECT_EQ(s.told, "rnea is not specialised for CUDA device 7: rnea: CUDA device 7 does not exist, expected 0 to 1\n");
}

TEST(DeviceSpecialised, WithoutTheCompilerTheRunTimeKernelsServe) {
  needs_fake_cuda();
  Special s(load("double_pendulum"));
  {
    const test::Environment none("FEATHERSTORM_NVRTC", "/nowhere/libnvrtc.so");
    EXPECT_FALSE(s.e.specialise("rnea", Precision::float32, 0, device));
    EXPECT_EQ(s.told.find("rnea is not specialised for CUDA device 1: FEATHERSTORM_NVRTC: /nowhere/libnvrtc.so: "), 0u)
        << s.told;
  }
  EXPECT_TRUE(s.e.specialise("rnea", Precision::float32, 0, device)) << "installed meanwhile";
}

TEST(DeviceSpecialised, LaunchErrorsHaveTheWordsOfCuda) {
  Special s(load("double_pendulum"));
  ASSERT_TRUE(s.e.specialise("rnea", Precision::float32, 0, device));
  Buffer q(Precision::float32, 3, 2, device), tau(Precision::float32, 3, 2, device);
  fail_next("launch", out_of_resources);
  const std::string words = message([&] { s.e.run("rnea", {q.ref(), q.ref(), q.ref()}, {tau.ref()}); });
  EXPECT_EQ(words.find("rnea: CUDA device 1: cudaErrorLaunchOutOfResources: too many resources requested for launch ("),
            0u)
      << words;
  const int waits = counts().waits, blocks = counts().driver_allocations;
  s.e.run("rnea", {q.ref(), q.ref(), q.ref()}, {tau.ref()});
  EXPECT_EQ(counts().waits, waits);
  EXPECT_EQ(counts().driver_allocations, blocks);
}

// Robots of more than 64 coordinates have no device kernel that takes the model as data, but may have one of their
// own.
TEST(DeviceSpecialised, LargeRobotsRunByTheirOwnKernel) {
  const Robot robot = random_robot(1, {.bodies = 70, .types = {JointType::Revolute}, .branching = 0.9, .roots = 0});
  Special s(robot);
  ASSERT_TRUE(s.e.specialise("gravity", Precision::float64, 0, device)) << s.told;
  Buffer q(Precision::float64, 2, robot.model.nq, device), tau(Precision::float64, 2, robot.model.nv, device);
  s.e.run("gravity", {q.ref()}, {tau.ref()});
  Buffer back(Precision::float64, 2, robot.model.nv), host_q(Precision::float64, 2, robot.model.nq), expected = back;
  copy(tau.ref(), back.ref());
  Buffer host_tau(Precision::float64, 2, robot.model.nv);
  Evaluator(robot).run("gravity", {host_q.ref()}, {host_tau.ref()});
  for (int c = 0; c < robot.model.nv; c++)
    EXPECT_NEAR(back.component<double>(c)[0], host_tau.component<double>(c)[0], 1e-9);
  EXPECT_NE(host_tau.component<double>(3)[0], 0);
}

TEST(DeviceForms, TheBetterSpillsLessThenHoldsMoreWarpsThenIsShorter) {
  const auto cost = [](int registers, int spills, int instructions) {
    return DeviceCost{registers, spills, 0, 0, instructions};
  };
  EXPECT_TRUE(is_better(cost(255, 0, 900), cost(64, 4, 100)));
  EXPECT_TRUE(is_better(cost(168, 0, 900), cost(176, 0, 100))) << "12 warps against 11";
  EXPECT_TRUE(is_better(cost(128, 0, 99), cost(32, 0, 100))) << "more than 16 warps are of no use";
  EXPECT_FALSE(is_better(cost(40, 0, 100), cost(33, 0, 100)));
  EXPECT_EQ(resident_warps(255), 8);
  EXPECT_EQ(resident_warps(168), 12);
  EXPECT_EQ(resident_warps(128), 16);
}

}  // namespace
}  // namespace featherstorm::test_specialised
