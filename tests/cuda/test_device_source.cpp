// The text of the CUDA kernels, compiled for the host: index arithmetic, the device form of the model and local working
// memory. Results must have the same bits as those of the host's form of the model, which other tests compare with oracles.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "cuda/kernels/kernels.cuh"
#include "tests/support/oracles/op_cases.h"
#include "tests/support/robots/linkages.h"

namespace featherstorm::test_device_source {
namespace {

using namespace testing;

// Runs all blocks of a launch, with one block too many as a grid may have, in reverse order.
template <class Op, class Real, class M> void launch_on_host(const M& m, const Arguments<Op, Real>& a) {
  const int blocks = (a.count + threads_per_block - 1) / threads_per_block + 1;
  for (int block = blocks - 1; block >= 0; block--)
    for (int thread = threads_per_block - 1; thread >= 0; thread--) kernel_body(m, a, block, thread);
}

template <class Op, class Real, int limit> void expect_same_bits(const Robot& robot, int count, int repeat = 1) {
  using Device = DeviceModel<Real, limit>;
  SCOPED_TRACE(std::string(Op::info.name) + ", limit " + std::to_string(limit) + ", " + std::to_string(count));
  const Model<double>& m = robot.model;
  ASSERT_TRUE(fits<Device>(m));
  const Model<Real> host = cast<Real>(m);
  const Device device = device_model<Device>(host);
  const int frame = m.nf - 1;

  const Real guard = std::numeric_limits<Real>::quiet_NaN();
  std::vector<BatchArray<Real>> in, out;
  for (const OpArray& a : Op::info.in) in.emplace_back(size_of(m, a.shape), count, guard);
  for (const OpArray& a : Op::info.out) out.emplace_back(size_of(m, a.shape), count, guard);
  const auto u = op_uniforms<Op>(m);
  std::vector<std::vector<std::vector<Real>>> expected;
  for (int i = 0; i < count; i++) {
    const auto inputs = op_inputs<Op>(m, 1000 + i);
    for (std::size_t k = 0; k < in.size(); k++)
      for (int c = 0; c < in[k].components; c++) in[k].at(c, i) = static_cast<Real>(inputs[k][c]);
    expected.push_back(run_on_host<Op, Real>(host, inputs, u, frame, repeat));
  }
  Arguments<Op, Real> a;
  int array = 0;
  for (auto* side : {&in, &out})
    for (auto& b : *side) a.data[array] = b.data.data(), a.stride[array++] = b.stride;
  for (std::size_t k = 0; k < u.size(); k++)
    for (std::size_t c = 0; c < u[k].size(); c++) a.uniform[k][c] = static_cast<Real>(u[k][c]);
  a.frame = frame, a.repeat = repeat, a.count = count;
  launch_on_host<Op, Real>(device, a);

  for (std::size_t k = 0; k < out.size(); k++) {
    for (int c = 0; c < out[k].components; c++) {
      for (int i = 0; i < count; i++) ASSERT_EQ(out[k].at(c, i), expected[i][k][c]) << "output " << k << ", " << c;
      for (int i = count; i < out[k].stride; i++) ASSERT_NE(out[k].at(c, i), out[k].at(c, i)) << "guard overwritten";
    }
  }
}

template <class Real, int limit> void every_op(const Robot& robot, int count) {
  for_every_op([&](auto op, int) {
    using Op = decltype(op);
    // the rows of the books have kernels for the largest models alone
    if constexpr ((Op::info.common || limit == 64) && Op::info.cuda) {
      if (!on_device<Op>(robot.model)) return;
      expect_same_bits<Op, Real, limit>(robot, count);
      if (Op::info.carried) expect_same_bits<Op, Real, limit>(robot, count, 3);
    }
  });
}

Robot robot(unsigned seed, int bodies, bool floating) {
  RandomOptions o;
  o.bodies = bodies, o.floating = floating;
  o.types.pop_back();  // no user-defined joints
  return random_robot(seed, o);
}

TEST(DeviceSource, HasTheBitsOfTheHostModel) {
  for (unsigned seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot r = robot(seed, 1 + seed, seed % 3 == 0);
    every_op<float, 64>(r, 3);
    every_op<double, 64>(r, 3);
    if (fits<DeviceModel<float, 32>>(r.model)) every_op<float, 32>(r, 3);
    if (fits<DeviceModel<float, 16>>(r.model)) every_op<float, 16>(r, 3);
  }
}

TEST(DeviceSource, HasTheBitsOfTheHostModelWithContacts) {
  for (unsigned seed : {3u, 6u}) {
    const Robot r = touching(robot(seed, 2 + seed, true));
    for_every_op([&](auto op, int) {
      using Op = decltype(op);
      if constexpr (Op::info.needs == Needs::contacts && Op::info.cuda) {
        expect_same_bits<Op, float, 64>(r, 3, Op::info.carried ? 3 : 1);
        expect_same_bits<Op, double, 64>(r, 3);
      }
    });
  }
  Robot many = touching(robot(3, 5, true));
  const ContactSpec one = on_ground(many.body_names[1], {0, 0, 0}, 0.1);
  many.model.contacts = contacts_of(many, std::vector<ContactSpec>(max_device_contacts + 1, one));
  EXPECT_FALSE((fits<DeviceModel<float, 64>>(many.model)));
}

TEST(DeviceSource, HandlesEveryBatchSize) {
  RandomOptions o;
  o.bodies = 4, o.types = {JointType::Revolute, JointType::Prismatic}, o.floating = true;
  const Robot r = random_robot(5, o);
  for (int count : {0, 1, 17, threads_per_block, 2 * threads_per_block + 3}) every_op<float, 16>(r, count);
}

TEST(DeviceSource, TakesTheLargestModels) {
  RandomOptions o;
  o.bodies = 64, o.types = {JointType::Helical}, o.branching = 0.2;
  every_op<float, 64>(random_robot(7, o), 2);
  o.bodies = 59, o.types = {JointType::Revolute}, o.floating = true;
  every_op<double, 64>(random_robot(8, o), 2);
}

// The rows of robots with loops or coupled joints, whose arrays the device form points to.
template <class Real> void every_closure_op(const Robot& robot, int count) {
  for_every_op([&](auto op, int) {
    using Op = decltype(op);
    if constexpr (Op::info.needs == Needs::loops || Op::info.needs == Needs::coupling) {
      if (!on_device<Op>(robot.model)) return;
      expect_same_bits<Op, Real, 64>(robot, count);
      if (Op::info.carried) expect_same_bits<Op, Real, 64>(robot, count, 3);
    }
  });
}
TEST(DeviceSource, HasLoopsAndCoupledJoints) {
  for (const Robot& r :
       {closed_robot(four_bar()), closed_robot(parallel_leg()), closed_robot(stewart_platform()), gripper()}) {
    SCOPED_TRACE(r.name);
    for (int count : {1, threads_per_block + 3}) every_closure_op<float>(r, count);
    every_closure_op<double>(r, 3);
  }
}
TEST(DeviceSource, RefusesMoreLoops) {
  Robot r = closed_robot(four_bar());
  EXPECT_TRUE((fits<DeviceModel<double, 64>>(r.model)));
  r.model.loops =
      close_loops(r, std::vector<LoopSpec>(max_device_loops + 1, pin("coupler", {0.8, 0, 0}, "rocker", {0.6, 0, 0})));
  EXPECT_FALSE((fits<DeviceModel<double, 64>>(r.model)));
}

TEST(DeviceSource, FitsKernelParameters) {
  // 32764 bytes of parameters; the arrays of an operation need a few hundred
  EXPECT_LT(sizeof(DeviceModel<float, 16>), 4000u);
  EXPECT_LT(sizeof(DeviceModel<float, 64>), 32000u);
  EXPECT_LT(sizeof(DeviceModel<double, 64>), 32000u);
}

TEST(DeviceSource, RefusesLargerModels) {
  RandomOptions o;
  o.bodies = 65, o.types = {JointType::Revolute};
  EXPECT_FALSE((fits<DeviceModel<float, 64>>(random_robot(9, o).model)));
  o.bodies = 2, o.types = {JointType::UserDefined};
  EXPECT_FALSE((fits<DeviceModel<float, 64>>(random_robot(10, o).model)));
}

}  // namespace
}  // namespace featherstorm::test_device_source
