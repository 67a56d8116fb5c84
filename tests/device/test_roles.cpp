// Kernels with one warp per limb. Through the fake CUDA library their barriers, shared memory and index arithmetic run
// on the host, and give the same bits as the kernels with one thread per instance.
#include <gtest/gtest.h>

#include <cmath>

#include "host/load/load.h"
#include "tests/device/control.h"
#include "tests/device/special.h"

namespace featherstorm::test_roles {
namespace {

using namespace testing;

// The outputs of an operation for n instances. Components are `gap` numbers further apart than necessary.
template <class Op, class Real>
std::vector<Real> results(const Robot& robot, Evaluator& e, long n, int repeat, long gap = 3) {
  RunOptions o;
  o.repeat = repeat, o.uniforms = flat_uniforms<Op>(robot.model);
  const long stride = (n + 15) / 16 * 16 + gap;
  DeviceArrays<Real> arrays(n, stride);
  const auto in = arrays.template add_inputs<Op>(robot.model);
  const std::size_t first_out = arrays.count();
  e.run(Op::info.name, in, arrays.template add_outputs<Op>(robot.model), o);
  std::vector<Real> all;
  for (std::size_t k = first_out; k < arrays.count(); k++) {
    const std::vector<Real> x = arrays.numbers(k);
    for (std::size_t j = 0; j < x.size(); j++) {
      if (static_cast<long>(j) % stride >= n) EXPECT_EQ(x[j], arrays.nothing) << "written behind the last instance";
      else EXPECT_TRUE(std::isfinite(x[j]));
    }
    all.insert(all.end(), x.begin(), x.end());
  }
  return all;
}

std::string row(const Robot& robot, std::string_view op, int warps) {
  return robot.name + "," + std::string(op) + ",*,*,0,specialised,32,trace,0," + std::to_string(warps) + ",count\n";
}

template <class Op, class Real>
void gives_the_same_bits(const char* name, int warps, std::vector<long> batches, int repeat = 1) {
  const Robot robot = load(name);
  SCOPED_TRACE(std::string(name) + "/" + std::string(Op::info.name) + "/" + std::to_string(warps));
  const Precision p = precision_of<Real>();
  std::vector<std::vector<Real>> expected;
  {
    Special one(robot, row(robot, Op::info.name, 1));
    ASSERT_TRUE(one.e.specialise(Op::info.name, p, 0, device)) << one.told;
    for (long n : batches) expected.push_back(results<Op, Real>(robot, one.e, n, repeat));
  }
  Special several(robot, row(robot, Op::info.name, warps));
  ASSERT_TRUE(several.e.specialise(Op::info.name, p, 0, device)) << several.told;
  EXPECT_NE(several.text_of_kernels().find("switch (role)"), std::string::npos);
  for (std::size_t k = 0; k < batches.size(); k++) {
    const int launches = real_gpu ? 0 : program_launches();
    const std::vector<Real> found = results<Op, Real>(robot, several.e, batches[k], repeat);
    if (!real_gpu) {
      EXPECT_EQ(program_launches(), launches + 1);
      EXPECT_EQ(program_threads(), 32 * warps);
    }
    double scale = 1, worst = 0;
    for (const Real x : expected[k])
      scale = std::max(scale, x == DeviceArrays<Real>::nothing ? 0.0 : std::abs(double(x)));
    for (std::size_t j = 0; j < found.size(); j++) worst = std::max(worst, std::abs(double(found[j] - expected[k][j])));
    EXPECT_LE(worst, scale * bound(0, sizeof(Real) == 4 ? 1e-3 : 1e-9)) << batches[k];
  }
}

TEST(DeviceRoles, EveryBatchSizeGivesTheBitsOfOneThread) {
  gives_the_same_bits<OpRnea, float>("go2", 4, {1, 31, 32, 33, 1000});
}
TEST(DeviceRoles, EveryOperationOfTheTable) {
  gives_the_same_bits<OpFd, float>("atlas", 4, {33});
  gives_the_same_bits<OpAba, double>("go2", 3, {33});
  gives_the_same_bits<OpCrba, float>("humanoid", 4, {5});
}
TEST(DeviceRoles, LoopsExchangeTheStateBetweenPasses) {
  gives_the_same_bits<OpStep, float>("go2", 4, {1, 33}, 3);
  gives_the_same_bits<OpStep, double>("humanoid", 3, {2}, 2);
}

TEST(DeviceRoles, TheLibrarysTableGivesSmallBatchesOfHumanoidsFourWarps) {
  const Robot robot = load("humanoid");
  Special s(robot, "");
  for (const char* op : {"rnea", "fd"}) ASSERT_TRUE(s.e.specialise(op, Precision::float32, 0, device)) << s.told;
  results<OpRnea, float>(robot, s.e, 96, 1);  // the fake CUDA library has one multiprocessor
  EXPECT_EQ(program_threads(), 128);
  EXPECT_NE(s.text_of_kernels().find("__launch_bounds__(128)"), std::string::npos);
  results<OpRnea, float>(robot, s.e, 97, 1);
  EXPECT_EQ(program_threads(), 64);
  results<OpFd, float>(robot, s.e, 200, 1);
  EXPECT_EQ(program_threads(), 128) << "fd at all sizes";
}

TEST(DeviceRoles, WhatCannotBeCutIsToldAndServedByOneThread) {
  needs_fake_cuda();
  const Robot robot = load("iiwa14");
  Special s(robot,
            "iiwa14,rnea,*,*,0,specialised,32,trace,0,2,count\niiwa14,rnea,*,*,64,specialised,64,trace,0,1,count\n");
  ASSERT_TRUE(s.e.specialise("rnea", Precision::float32, 0, device)) << s.told;
  EXPECT_EQ(s.told,
            "rnea has no kernel of 2 warps for CUDA device 1; the kernel for large batches is used instead: "
            "the program cannot be cut into 2 roles by the robot's limbs\n");
  results<OpRnea, float>(robot, s.e, 5, 1);
  EXPECT_EQ(program_threads(), 32);
  Special alone(robot, row(robot, "rnea", 2));
  EXPECT_FALSE(alone.e.specialise("rnea", Precision::float32, 0, device));
  EXPECT_NE(alone.told.find("cannot be cut"), std::string::npos) << alone.told;
}

}  // namespace
}  // namespace featherstorm::test_roles
