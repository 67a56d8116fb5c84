// Rollouts on a device: allocations, streams, threads and graphs; refused calls.
#include <thread>

#include "host/memory/device_graph.h"
#include "tests/device/sequence_cases.h"

namespace featherstorm::test_cuda_rollout_use {
namespace {

using namespace testing;

TEST(CudaRollout, WarmRunsAllocateNothingAndStreamsHaveTheirOwnMemory) {
  const DeviceStream stream(device), other(device);
  Rolling r("cartpole", Precision::float32, 1);
  const long B = 33;
  const SequenceArrays a(r, B);
  const Controls c = noise(r.nv, true);
  const auto run = [&](void* on) { r.s.run(horizon, B, a.in(true, false), r.uniforms, a.out(true), &c, on); };
  run(stream.get());
  unsigned long free[2], all;
  const auto free_memory = [&](int k) {
    synchronise(device, stream.get());
    EXPECT_TRUE(cuda_for("test", device).memory_info(device, &free[k], &all));
  };
  free_memory(0);
  for (int k = 0; k < 20; k++) run(stream.get());
  free_memory(1);
  EXPECT_EQ(free[0], free[1]);
  const StandInCounts before = counts();
  for (int k = 0; k < 3; k++) run(stream.get());
  StandInCounts after = counts();
  EXPECT_EQ(after.pool_allocations, before.pool_allocations);
  EXPECT_EQ(after.driver_allocations, before.driver_allocations);
  EXPECT_EQ(after.waits, before.waits);
  EXPECT_EQ(after.stream, stream.get());
  const int texts = compiled();
  run(other.get());
  EXPECT_EQ(counts().pool_allocations, before.pool_allocations + 1);
  EXPECT_EQ(compiled(), texts);
  synchronise(device, stream.get()), synchronise(device, other.get());
}

TEST(CudaRollout, ThreadsMayShareAStream) {
  Rolling r("cartpole", Precision::float32, 1);
  const long B = 16;
  std::vector<std::unique_ptr<SequenceArrays>> arrays;
  std::vector<Controls> controls;
  for (int k = 0; k < 4; k++)
    arrays.push_back(std::make_unique<SequenceArrays>(r, B)), controls.push_back(noise(r.nv, false));
  for (int k = 0; k < 4; k++) controls[k].mean.assign(horizon * r.nv, k);
  for (int round = 0; round < 5; round++) {
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; k++)
      threads.emplace_back(
          [&, k] { r.s.run(horizon, B, arrays[k]->in(true, false), r.uniforms, arrays[k]->out(true), &controls[k]); });
    for (auto& t : threads) t.join();
    for (int k = 0; k < 4; k++) {
      r.s.run(horizon, B, arrays[k]->in(false, false), r.uniforms, arrays[k]->out(false), &controls[k]);
      EXPECT_LT(arrays[k]->used.difference(), 1e-6) << k;
    }
  }
}

TEST(CudaRollout, GivesBackItsMemoryAndItsKernels) {
  const int blocks = counts().live_blocks, programs = counts().live_programs;
  {
    Rolling r("cartpole", Precision::float32, 1);
    const SequenceArrays a(r, 5);
    EXPECT_LT(both(r, a, 5), tolerance(r.precision));
    EXPECT_EQ(counts().live_programs, programs + 1);
  }
  EXPECT_EQ(counts().live_programs, programs);
  EXPECT_EQ(counts().live_blocks, blocks);
}

TEST(CudaRollout, IsCapturedIntoAGraph) {
  const DeviceStream stream(device), other_stream(device);
  Rolling r("cartpole", Precision::float32, 1);
  const long B = 33;
  SequenceArrays a(r, B);
  const Controls c = noise(r.nv, false);
  const auto run = [&] { r.s.run(horizon, B, a.in(true, false), r.uniforms, a.out(true), &c, stream.get()); };
  EXPECT_EQ(
      message([&] { DeviceGraph(device, stream.get(), run); }),
      "a rollout that is captured into a graph must have run before, with the same choice of arrays, as many steps "
      "and on the same stream");
  run();
  synchronise(device, stream.get());
  EXPECT_EQ(message([&] {
              DeviceGraph(device, other_stream.get(), [&] {
                r.s.run(horizon, B, a.in(true, false), r.uniforms, a.out(true), &c, other_stream.get());
              });
            }).find("a rollout that is captured into a graph must have run before"),
            0u)
      << "it has no memory of its own yet";
  const int launches = counts_before().launches;
  const DeviceGraph graph(device, stream.get(), run);
  if (!real_gpu) EXPECT_EQ(counts().launches, launches + 2) << "an upload and the kernel";
  // another run with other numbers and states, and then the graph
  Controls other = c;
  other.mean.assign(horizon * r.nv, 9.0);
  r.s.run(horizon, B, a.in(true, false), r.uniforms, a.out(true), &other, stream.get());
  a.v.fill([](long i, long k) { return 0.1 * std::sin(i - k); });
  for (Twin* x : {&a.states, &a.total}) copy(Buffer(r.precision, B, x->components * x->steps).ref(), x->there.ref());
  graph.launch(stream.get());
  r.s.run(horizon, B, a.in(false, false), r.uniforms, a.out(false), &c);
  for (const Twin* x : {&a.states, &a.total}) EXPECT_LT(x->difference(stream.get()), tolerance(r.precision));
}

TEST(CudaRollout, NamesWhatDoesNotFit) {
  needs_fake_cuda();
  Rolling r("cartpole", Precision::float32, 1);
  const long B = 8;
  const SequenceArrays a(r, B);
  const auto words =
      [&](const std::function<void(std::vector<SequenceMemory>&, std::vector<SequenceMemory>&)>& change) {
        auto in = a.in(true, true), out = a.out(true);
        change(in, out);
        return message([&] { r.s.run(horizon, B, in, r.uniforms, out); });
      };
  EXPECT_EQ(words([](auto&, auto&) {}), "no error");
  EXPECT_EQ(words([&](auto& in, auto&) { in[1] = a.v.memory("v", false, false); }),
            "v is on the host, expected CUDA device 1 as q is");
  EXPECT_EQ(words([&](auto&, auto& out) { out[3].array.device = 0; }),
            "total is on CUDA device 0, expected CUDA device 1 as q is");
  EXPECT_EQ(words([&](auto&, auto& out) { out[0] = a.total.memory("q", true, false); }),
            "q has shape (8, 1), expected (8, 2)");
  EXPECT_EQ(words([&](auto& in, auto&) { in[0].array.precision = Precision::float64; }),
            "q is float64, expected float32");
  EXPECT_EQ(words([&](auto& in, auto& out) { out[2].array.data = in[3].array.data; }), "output u overlaps input u");
  EXPECT_EQ(words([&](auto&, auto& out) { out[0].array.instance_stride = 0; }),
            "output q has a stride of 0, expected separate memory for each number");
  EXPECT_EQ(words([&](auto& in, auto& out) {
              for (auto* side : {&in, &out})
                for (auto& m : *side) m.array.device = 5;
            }),
            "rollout: CUDA device 5 does not exist, expected 0 to 1");
  Sequence bare(Precision::float32, 1);
  bare.array("x", 1), bare.array("y", 1);
  bare.stage({{}, {"x"}, {"y"}, {}, 1, false});
  EXPECT_EQ(message([&] { bare.run(1, B, {a.p.memory("x", true, false)}, {}, {}); }),
            "a stage has no program for arrays on a device");
  EXPECT_EQ(message([&] { bare.run(1, B, {a.p.memory("x", false, false)}, {}, {}); }),
            "a stage has no kernel for arrays on the host");
  // a function whose arrays are not those of the sequence
  const auto stage_of = [&](long components, bool uniform) {
    Sequence s(Precision::float32, 1);
    uniform ? s.uniform("v", components) : s.array("v", components);
    s.array("u", 2), s.uniform("t", 1), s.array("tau", 2);
    s.stage({{}, {"v", "u", "t"}, {"tau"}, {}, 1, false, [] { return control(2); }});
    return message([&] {
      std::vector<UniformValues> numbers = {{"t", {0}}};
      if (uniform) numbers.push_back({"v", {0, 0}});
      s.run(1, B, {a.v.memory("u", true, false)}, numbers, {});
    });
  };
  EXPECT_EQ(stage_of(2, false), "no error");
  EXPECT_EQ(stage_of(3, false), "rollout: array 'v' of a stage has 2 components, that of the rollout 3");
  EXPECT_EQ(stage_of(2, true),
            "rollout: array 'v' of a stage is not the same for all instances, that of the rollout is");
}

TEST(CudaRollout, FailuresHaveTheWordsOfTheirCause) {
  Rolling r("cartpole", Precision::float32, 1);
  const SequenceArrays a(r, 8);
  const auto run = [&] { r.s.run(horizon, 8, a.in(true, true), r.uniforms, a.out(true)); };
  {
    const test::Environment elsewhere("FEATHERSTORM_CACHE", (sequence_scratch / "failures").string());
    const test::Environment none("FEATHERSTORM_NVRTC", "/nowhere/libnvrtc.so");
    EXPECT_EQ(message(run).find("a rollout on a device needs a kernel of its own: FEATHERSTORM_NVRTC: /nowhere/"), 0u);
  }
  fail_next("cudaLibraryLoadData", invalid_image);
  EXPECT_EQ(message(run).find("rollout: CUDA device 1: cudaErrorInvalidKernelImage: "), 0u);
  fail_next("cudaMallocFromPoolAsync", out_of_memory);
  EXPECT_EQ(message(run).find("rollout: CUDA device 1: cudaErrorMemoryAllocation: "), 0u);
  fail_next("launch", out_of_resources);
  EXPECT_EQ(message(run).find("rollout: CUDA device 1: cudaErrorLaunchOutOfResources: "), 0u);
  EXPECT_LT(both(r, a, 8), tolerance(r.precision));
}

TEST(CudaRollout, AnEmptyBatchDoesNothing) {
  Rolling r("cartpole", Precision::float32, 1);
  const SequenceArrays a(r, 0);
  const int launches = counts_before().launches;
  r.s.run(horizon, 0, a.in(true, true), r.uniforms, a.out(true));
  EXPECT_EQ(counts().launches, launches);
}

}  // namespace
}  // namespace featherstorm::test_cuda_rollout_use
