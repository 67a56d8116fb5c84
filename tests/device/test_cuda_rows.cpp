// Evaluator::run with arrays on a device: layouts and streams, and invalid arrays, models and devices. The numbers of
// every operation are compared in test_every_operation.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "host/engine/cuda_rows.h"
#include "host/engine/evaluator.h"
#include "host/load/load.h"
#include "host/memory/device.h"
#include "host/memory/device_graph.h"
#include "tests/device/control.h"
#include "tests/support/oracles/op_cases.h"
#include "tests/support/robots/linkages.h"

namespace featherstorm::test_device_evaluator {
namespace {

using namespace testing;

// Layout of arrays on the device.
enum class Layout { by_components, by_instances, backwards };

// An array with some layout on a device, in separate memory; outputs are NaN at first.
struct DeviceArray {
  Buffer memory;
  ArrayRef ref;
  DeviceArray(const Buffer& host, Layout layout) {
    ref = host.ref();
    ref.device = device;
    const long n = ref.instances, m = ref.components;
    memory = Buffer(ref.precision, layout == Layout::by_components ? host.stride() * m : n * m, 1, device);
    ref.data = memory.ref().data;
    if (layout != Layout::by_components) ref.instance_stride = m, ref.component_stride = 1;
    if (layout == Layout::backwards) {
      ref.data = static_cast<char*>(ref.data) + bytes_of(ref.precision) * (n * m - 1);
      ref.instance_stride = -m, ref.component_stride = -1;
    }
    copy(host.ref(), ref);
  }
};

// The forces of rnea, with all arrays in one layout.
template <class Real>
std::vector<Real> forces(Evaluator& e, long instances, Layout layout) {
  const Model<double>& m = e.robot().model;
  const DeviceStream own_stream(device);
  std::vector<DeviceArray> arrays;
  for (const int components : {m.nq, m.nv, m.nv, m.nv}) {
    const Buffer host(precision_of<Real>(), instances, components);
    for (long i = 0; i < instances; i++)
      for (int c = 0; c < components; c++) {
        const auto k = arrays.size();
        host.component<Real>(c)[i] = k < 3 ? static_cast<Real>(op_inputs<OpRnea>(m, 1000 + i)[k][c]) : Real(NAN);
      }
    arrays.emplace_back(host, layout);
  }
  void* stream = layout == Layout::by_instances ? own_stream.get() : nullptr;
  const StandInCounts before = counts_before();
  e.run("rnea", {arrays[0].ref, arrays[1].ref, arrays[2].ref}, {arrays[3].ref}, {.stream = stream});
  if (!real_gpu) EXPECT_LE(counts().waits - before.waits, 2) << "the upload of a model waits, nothing else";
  Buffer found(precision_of<Real>(), instances, m.nv);
  copy(arrays[3].ref, found.ref(), stream);
  std::vector<Real> all;
  for (int c = 0; c < m.nv; c++) all.insert(all.end(), found.component<Real>(c), found.component<Real>(c) + instances);
  return all;
}

TEST(CudaRows, TheLayoutOfArraysChangesNoBit) {
  Evaluator e(load("go2"), {.assemble = false});
  for (const long n : {1, 3, 67}) {
    const auto single = forces<float>(e, n, Layout::by_components);
    const auto in_double = forces<double>(e, n, Layout::by_components);
    ASSERT_TRUE(std::isfinite(single.back()));
    for (const Layout layout : {Layout::by_instances, Layout::backwards}) {
      EXPECT_EQ(forces<float>(e, n, layout), single) << n;
      EXPECT_EQ(forces<double>(e, n, layout), in_double) << n;
    }
  }
}

// rnea of the arm with its arrays on a device.
class DeviceRun : public ::testing::Test {
 protected:
  Evaluator e{load("iiwa14")};
  Buffer q{Precision::float32, 33, 7, device}, v = q, a = q, tau{Precision::float32, 33, 7, device};
  std::string run(const Buffer& third, const RunOptions& o = {}) {
    return message([&] { e.run("rnea", {q.ref(), v.ref(), third.ref()}, {tau.ref()}, o); });
  }
};

TEST_F(DeviceRun, DoesNothingBeforeSomebodyWaits) {
  needs_fake_cuda();
  Buffer before(Precision::float32, 33, 7), after(Precision::float32, 33, 7);
  synchronise(device);
  ASSERT_EQ(run(a), "no error");
  for (int c = 0; c < 7; c++) std::memcpy(before.component<float>(c), tau.component<float>(c), 4 * 33);
  for (int i = 0; i < 33; i++) EXPECT_EQ(before.component<float>(1)[i], 0);
  synchronise(device);
  copy(tau.ref(), after.ref());
  for (int i = 0; i < 33; i++) EXPECT_NE(after.component<float>(1)[i], 0) << "gravity";
}

TEST_F(DeviceRun, UsesTheStreamItIsGiven) {
  const DeviceStream one(device), two(device);
  for (void* stream : {one.get(), two.get(), static_cast<void*>(nullptr)}) {
    ASSERT_EQ(run(a, {{}, 0, 1, stream}), "no error");
    EXPECT_EQ(counts().stream, stream);
    synchronise(device, stream);
  }
}

TEST_F(DeviceRun, UploadsAModelOncePerDevice) {
  ASSERT_EQ(run(a), "no error");
  const int blocks = counts().live_blocks;
  ASSERT_EQ(run(a), "no error");
  Buffer M(Precision::float64, 3, e.robot().model.nh, device), x(Precision::float64, 3, 7, device);
  e.run("crba", {x.ref()}, {M.ref()});
  EXPECT_EQ(counts().live_blocks, blocks + 2) << "the two Buffers";
  {
    Buffer q0(Precision::float32, 3, 7, 0), M0(Precision::float32, 3, e.robot().model.nh, 0);
    e.run("crba", {q0.ref()}, {M0.ref()});
    EXPECT_EQ(counts().live_blocks, blocks + 6) << "two Buffers and the frames of a second device";
  }
  EXPECT_EQ(counts().live_blocks, blocks + 4);
  {
    Evaluator moved = std::move(e);
    moved.run("crba", {x.ref()}, {M.ref()});
    EXPECT_EQ(counts().live_blocks, blocks + 4);
  }
  EXPECT_EQ(counts().live_blocks, blocks) << "the frames of both devices went with the evaluator";
}

TEST_F(DeviceRun, WarmCallsNeitherAllocateNorWait) {
  Buffer rows(Precision::float32, 33 * 7, 1, device);
  ArrayRef by_instances = a.ref(), result = tau.ref();
  by_instances.data = rows.ref().data, by_instances.instance_stride = 7, by_instances.component_stride = 1;
  Buffer rows_out(Precision::float32, 33 * 7, 1, device);
  result.data = rows_out.ref().data, result.instance_stride = 7, result.component_stride = 1;
  auto once = [&] { e.run("rnea", {q.ref(), v.ref(), by_instances}, {result}); };
  once();
  synchronise(device);
  once();
  synchronise(device);
  const StandInCounts before = counts();
  once();
  EXPECT_EQ(counts().waits, before.waits);
  EXPECT_EQ(counts().driver_allocations, before.driver_allocations);
  EXPECT_EQ(counts().pool_allocations, before.pool_allocations + 2);
  EXPECT_EQ(counts().live_blocks, before.live_blocks);
}

TEST_F(DeviceRun, ErrorsHaveTheWordsOfCudaAndLeaveNothingBehind) {
  ASSERT_EQ(run(a), "no error");
  const int blocks = counts().live_blocks;
  fail_next("launch", out_of_resources);
  std::string words = run(a);
  EXPECT_EQ(words.find("rnea: CUDA device 1: cudaErrorLaunchOutOfResources: too many resources requested for launch ("),
            0u)
      << words;
  ArrayRef backwards = a.ref();
  backwards.data = static_cast<float*>(backwards.data) + 32, backwards.instance_stride = -1;
  auto run_backwards = [&] { return message([&] { e.run("rnea", {q.ref(), v.ref(), backwards}, {tau.ref()}); }); };
  fail_next("cudaMallocFromPoolAsync", out_of_memory);
  words = run_backwards();
  EXPECT_EQ(words.find("rnea: CUDA device 1: cudaErrorMemoryAllocation: out of memory ("), 0u) << words;
  fail_next("launch", out_of_resources);
  words = run_backwards();
  EXPECT_EQ(words.find("rnea: CUDA device 1: cudaErrorLaunchOutOfResources: "), 0u) << words;
  EXPECT_EQ(counts().live_blocks, blocks);
  // a failure in the kernel is reported at the next wait
  fail_next("kernel", illegal_address);
  EXPECT_EQ(run(a), "no error");
  words = message([] { synchronise(device); });
  EXPECT_EQ(words.find("synchronise: CUDA device 1: cudaErrorIllegalAddress: an illegal memory access"), 0u) << words;
  EXPECT_EQ(run(a), "no error");
  synchronise(device);
}

TEST_F(DeviceRun, KernelsWithoutRoomForTheirWorkingMemoryAreRefused) {
  Buffer result(Precision::float32, 33, 2, device);
  const auto energy = [&] { return message([&] { e.run("energy", {q.ref(), v.ref()}, {result.ref()}); }); };
  set_local_bytes(1 << 26);
  EXPECT_EQ(
      energy(),
      "energy: CUDA device 1: the kernel of energy for any robot needs 137.4 GB of working memory on the device for "
      "the rest of the process; 68.7 GB are free. A kernel specialised for the robot needs none: "
      "specialise(\"energy\", device=\"cuda\")");
  set_local_bytes(0);
  EXPECT_EQ(energy(), "no error");
}

TEST_F(DeviceRun, UploadThatFailsIsTriedAgain) {
  fail_next("cudaMalloc", out_of_memory);
  const std::string words = run(a);
  EXPECT_EQ(words.find("rnea: CUDA device 1: cudaErrorMemoryAllocation: out of memory (cudaMalloc("), 0u) << words;
  EXPECT_EQ(run(a), "no error");
}

TEST_F(DeviceRun, WrongArgumentsAreNamed) {
  needs_fake_cuda();
  Buffer host(Precision::float32, 33, 7), other(Precision::float32, 33, 7, 0), wide(Precision::float32, 33, 8, device);
  Buffer twice(Precision::float64, 33, 7, device);
  EXPECT_EQ(run(host), "rnea: a is on the host, expected CUDA device 1 as q is");
  EXPECT_EQ(run(other), "rnea: a is on CUDA device 0, expected CUDA device 1 as q is");
  EXPECT_EQ(run(wide), "rnea: a has shape (33, 8), expected (33, 7)");
  EXPECT_EQ(run(twice), "rnea: a is float64, expected float32 as q is");
  EXPECT_EQ(message([&] { e.run("rnea", {host.ref(), host.ref(), host.ref()}, {tau.ref()}); }),
            "rnea: tau is on CUDA device 1, expected the host as q is");
  ArrayRef missing = q.ref(), shared = tau.ref(), huge = q.ref();
  missing.device = 2;
  EXPECT_EQ(message([&] { e.run("gravity", {missing}, {missing}); }), "gravity: output tau overlaps input q");
  ArrayRef target = tau.ref();
  target.device = 2;
  EXPECT_EQ(message([&] { e.run("gravity", {missing}, {target}); }),
            "gravity: CUDA device 2 does not exist, expected 0 to 1");
  shared.instance_stride = 0;
  EXPECT_EQ(message([&] { e.run("gravity", {q.ref()}, {shared}); }),
            "gravity: output tau has a stride of 0, expected a nonzero stride: every number of an output needs "
            "memory of its own");
  huge.instances = max_device_instances + 1, huge.instance_stride = 0;
  target = tau.ref(), target.instances = huge.instances;
  target.data = static_cast<char*>(q.ref().data) + (1L << 40);  // never read
  EXPECT_EQ(message([&] { e.run("gravity", {huge}, {target}); }),
            "gravity: the batch has 1073741825 instances, expected at most 1073741824 on a device");
}

TEST(CudaRows, OneRowStandsForAllInstances) {
  Evaluator e(load("iiwa14"));
  Buffer one(Precision::float64, 1, 7, device), tau(Precision::float64, 40, 7, device), back(Precision::float64, 40, 7);
  ArrayRef all = one.ref();
  all.instances = 40, all.instance_stride = 0;
  e.run("gravity", {all}, {tau.ref()});
  copy(tau.ref(), back.ref());
  for (int c = 0; c < 7; c++)
    for (int i = 1; i < 40; i++) EXPECT_EQ(back.component<double>(c)[i], back.component<double>(c)[0]);
  EXPECT_NE(back.component<double>(1)[0], 0);
}

// The data that kernels read of a robot lives until they have run, even if its evaluator is destroyed first.
TEST(CudaRows, MayGoBeforeItsKernelsHaveRun) {
  const Robot robot = load("iiwa14");
  const int nf = robot.model.nf;
  Buffer q(Precision::float64, 5, 7), there(Precision::float64, 5, 7, device);
  Buffer pose(Precision::float64, 5, 12 * nf, device), found(Precision::float64, 5, 12 * nf);
  Buffer expected(Precision::float64, 5, 12 * nf);
  for (int c = 0; c < 7; c++)
    for (int i = 0; i < 5; i++) q.component<double>(c)[i] = 0.3 * c - 0.1 * i;
  copy(q.ref(), there.ref());
  {
    Evaluator e(robot);
    e.run("forward_kinematics", {there.ref()}, {pose.ref()});
  }
  copy(pose.ref(), found.ref());
  Evaluator(robot).run("forward_kinematics", {q.ref()}, {expected.ref()});
  for (int c = 0; c < 12 * nf; c++)
    for (int i = 0; i < 5; i++) EXPECT_NEAR(found.component<double>(c)[i], expected.component<double>(c)[i], 1e-12);
}

TEST(CudaRows, EmptyBatchDoesNothing) {
  Evaluator e(load("iiwa14"));
  Buffer q(Precision::float32, 0, 7, device), M(Precision::float32, 0, 28, device);
  const int launches = counts_before().launches;
  e.run("crba", {q.ref()}, {M.ref()});
  EXPECT_EQ(counts().launches, launches);
}

TEST(CudaRows, RefusesModelsWithoutKernels) {
  needs_fake_cuda();
  const Robot large = random_robot(1, {.bodies = 70, .types = {JointType::Revolute}, .roots = 0});
  const Robot user = random_robot(1, {.bodies = 3, .types = {JointType::UserDefined}, .roots = 0});
  auto gravity = [](const Robot& robot) {
    Evaluator e(robot);
    Buffer q(Precision::float32, 2, robot.model.nq, device), tau(Precision::float32, 2, robot.model.nv, device);
    return message([&] { e.run("gravity", {q.ref()}, {tau.ref()}); });
  };
  EXPECT_EQ(gravity(large),
            "gravity: CUDA device 1: the model has 70 degrees of freedom, the CUDA kernels take at most 64: run it on "
            "the CPU");
  EXPECT_EQ(gravity(user),
            "gravity: CUDA device 1: user-defined joints have no CUDA kernels: run the model on the CPU");
  const std::string most = " contacts, the CUDA kernels take at most 8 and 16: run it on the CPU";
  Robot touching = load("iiwa14"), closed = closed_robot(four_bar());
  touching.model.contacts =
      contacts_of(touching, std::vector<ContactSpec>(17, on_ground(touching.body_names[1], {0, 0, 0}, 0.1)));
  closed.model.loops =
      close_loops(closed, std::vector<LoopSpec>(9, pin("coupler", {0.8, 0, 0}, "rocker", {0.6, 0, 0})));
  EXPECT_EQ(gravity(touching), "gravity: CUDA device 1: the model has 0 loops and 17" + most);
  EXPECT_EQ(gravity(closed), "gravity: CUDA device 1: the model has 9 loops and 0" + most);
}

}  // namespace
}  // namespace featherstorm::test_device_evaluator
