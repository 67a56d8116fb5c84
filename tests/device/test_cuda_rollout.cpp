// Rollouts on a device compared with the same sequence on the host; the noise of a
// kernel, word by word.
#include <cstring>

#include "tests/device/sequence_cases.h"
#include "tests/host/rollout/heron.h"

namespace featherstorm::test_cuda_rollout {
namespace {

using namespace testing;

TEST(CudaRollout, IsTheHostsForEveryBatchRobotAndPrecision) {
  for (Precision p : {Precision::float32, Precision::float64})
    for (const auto& [robot, substeps] : {std::pair{"cartpole", 1L}, {"iiwa14", 3L}}) {
      Rolling r(robot, p, substeps);
      for (long B : {1L, 31L, 33L, 1000L}) {
        SCOPED_TRACE(std::string(robot) + " " + std::to_string(B));
        const SequenceArrays a(r, B);
        EXPECT_LT(both(r, a, B), tolerance(p));
      }
    }
}

TEST(CudaRollout, FloatingBasesParametersAndOneLaunch) {
  Rolling r("go2", Precision::float32, 2, {"armature"});
  const SequenceArrays a(r, 37);
  Twin armature(r.precision, 37, r.nv, 1);
  armature.fill([](long i, long k) { return k < 6 ? 0 : 0.01 * (1 + i % 3); });
  const auto with = [&](bool on_device) {
    auto in = a.in(on_device, true);
    in.push_back(armature.memory("armature", on_device, false));
    return in;
  };
  r.s.run(horizon, 37, with(false), r.uniforms, a.out(false));
  r.s.run(horizon, 37, with(true), r.uniforms, a.out(true));
  for (const Twin* x : {&a.states, &a.velocities, &a.used, &a.total}) EXPECT_LT(x->difference(), 5e-4);
  const int before = counts().launches, waits = counts().waits;
  r.s.run(horizon, 37, with(true), r.uniforms, a.out(true));
  EXPECT_EQ(counts().launches, before + 2) << "the numbers of the steps, and the rollout";
  EXPECT_EQ(counts().waits, waits);
}

TEST(CudaRollout, ArraysOfAnyStrides) {
  Rolling r("cartpole", Precision::float64, 1);
  const long B = 33, n = r.nv;
  const SequenceArrays a(r, B);
  ASSERT_LT(both(r, a, B), tolerance(r.precision));
  // (B, horizon, n) by rows, as in a tensor; one row of states for all instances
  Buffer rows(r.precision, B * horizon * n, 1), rows_there(r.precision, B * horizon * n, 1, device);
  for (long i = 0; i < B; i++)
    for (long k = 0; k < horizon * n; k++) rows.component<double>(0)[i * horizon * n + k] = a.u.get(a.u.host, i, k);
  copy(rows.ref(), rows_there.ref());
  const auto by_rows = [&](const char* name, const Buffer& b) {
    ArrayRef x = b.ref();
    x.instances = B, x.components = n, x.instance_stride = horizon * n, x.component_stride = 1, x.padded = false;
    return SequenceMemory{name, x, true, n};
  };
  Buffer used(r.precision, B * horizon * n, 1, device), back(r.precision, B * horizon * n, 1);
  auto in = a.in(true, false), out = a.out(true);
  in.push_back(by_rows("u", rows_there)), out[2] = by_rows("u", used);
  a.total.there.ref();
  r.s.run(horizon, B, in, r.uniforms, out);
  EXPECT_EQ(a.total.difference() < tolerance(r.precision), true);
  copy(used.ref(), back.ref());
  EXPECT_EQ(std::memcmp(back.ref().data, rows.ref().data, sizeof(double) * B * horizon * n), 0);
  for (bool on_device : {false, true}) {
    auto one = a.in(on_device, true);
    one[0].array.instance_stride = 0;
    r.s.run(horizon, B, one, r.uniforms, a.out(on_device));
  }
  EXPECT_LT(a.states.difference(), tolerance(r.precision));
}

TEST(CudaRollout, AStageIsRepeatedForTheInstancesThatNeedIt) {
  constexpr long B = 70, most = 12;
  const Sequence s = heron_sequence({.program = [] { return heron(); }}, most);
  const auto given = [&](const auto& f) { return std::move(Twin(Precision::float64, B, 1, 1).fill(f)); };
  const Twin x = given([](long, long) { return 1; }), a = given([](long i, long) { return heron_number(i); });
  const Twin more = given([](long i, long) { return heron_number(i) > 0; });
  const Twin root(Precision::float64, B, 1, 1), passes(Precision::float64, B, 1, 1);
  s.run(1, B, {x.memory("x", true, false), a.memory("a", true, false), more.memory("more", true, false)}, {},
        {root.memory("x", true, false), passes.memory("passes", true, false)});
  copy(root.there.ref(), root.host.ref()), copy(passes.there.ref(), passes.host.ref());
  for (long i = 0; i < B; i++) {
    const HeronResult r = heron_result(i, most);
    EXPECT_NEAR(passes.get(passes.host, i, 0), r.passes, bound(0, 1)) << i;
    EXPECT_NEAR(root.get(root.host, i, 0), r.root, 1e-14 * r.root) << i;
  }
}

TEST(CudaRollout, AStateThatIsNotFiniteHasAnInfiniteCost) {
  Rolling r("cartpole", Precision::float32, 1);
  SequenceArrays a(r, 40);
  a.v.set(7, 1, NAN), a.v.set(9, 0, inf);
  copy(a.v.host.ref(), a.v.there.ref());
  r.s.run(horizon, 40, a.in(true, true), r.uniforms, a.out(true));
  Buffer back(r.precision, 40, 1);
  copy(a.total.there.ref(), back.ref());
  r.s.run(horizon, 40, a.in(false, true), r.uniforms, a.out(false));
  for (int i = 0; i < 40; i++) {
    EXPECT_EQ(back.component<float>(0)[i] == inf, i == 7 || i == 9);
    EXPECT_EQ(a.total.host.component<float>(0)[i] == inf, i == 7 || i == 9);
  }
}

TEST(CudaRollout, DrawsTheHostsNoise) {
  for (Precision p : {Precision::float32, Precision::float64})
    for (const char* robot : {"cartpole", "iiwa14"}) {
      Rolling r(robot, p, 1);
      for (bool knots : {false, true})
        for (long B : {1L, 31L, 1000L}) {
          SCOPED_TRACE(std::string(robot) + " " + std::to_string(B) + (knots ? " knots" : ""));
          const SequenceArrays a(r, B);
          Controls c = noise(r.nv, knots);
          if (B == 31)
            c.key = {0xfedcba9876543210ull, ~0u}, c.first_instance = (1L << 32) - B,
            c.sigma.assign(horizon * r.nv, 0.3), c.lower = c.upper = {};
          EXPECT_LT(both(r, a, B, &c, &c), tolerance(p));
          EXPECT_LT(a.used.difference(), p == Precision::float32 ? bound(5e-7, 2e-6) : bound(1e-15, 1e-14));
        }
    }
}

TEST(CudaRollout, InterpolatesKnotsOfTheCaller) {
  Rolling r("cartpole", Precision::float32, 2);
  const long B = 33, K = 3;
  const SequenceArrays a(r, B);
  Twin knots(r.precision, B, r.nv, K);
  knots.fill([](long i, long k) { return std::cos(0.3 * i + k); });
  Controls host = noise(r.nv, true);
  host.given = true, host.keep_mean = false;
  Controls there = host;
  host.knots = knots.memory("knots", false, true), there.knots = knots.memory("knots", true, true);
  EXPECT_LT(both(r, a, B, &host, &there), tolerance(r.precision));
  needs_fake_cuda();
  EXPECT_EQ(message([&] { r.s.run(horizon, B, a.in(true, false), r.uniforms, a.out(true), &host); }),
            "knots is on the host, expected CUDA device 1 as q is");
}

TEST(CudaRollout, AMeanAndADrawOnTheDevice) {
  Rolling r("cartpole", Precision::float32, 1);
  const long B = 31;
  const SequenceArrays a(r, B);
  Controls c = noise(r.nv, false), there = c;
  Buffer mean(r.precision, horizon * r.nv, 1), mean_there(r.precision, horizon * r.nv, 1, device);
  for (long k = 0; k < horizon * r.nv; k++) mean.component<float>(0)[k] = static_cast<float>(c.mean[k]);
  copy(mean.ref(), mean_there.ref());
  Buffer draw(r.precision, 1, 1), draw_there(r.precision, 1, 1, device);
  const std::uint32_t two = 2;
  std::memcpy(draw.ref().data, &two, 4);
  copy(draw.ref(), draw_there.ref());
  there.mean.clear(), there.device_mean = mean_there.ref().data, there.key.draw -= 2;
  there.device_draw = static_cast<const std::uint32_t*>(draw_there.ref().data);
  EXPECT_LT(both(r, a, B, &c, &there), tolerance(r.precision));
  EXPECT_EQ(message([&] { r.s.run(horizon, B, a.in(false, false), r.uniforms, a.out(false), &there); }),
            "controls: device_mean or device_draw is set for arrays on the host, expected null");
}

}  // namespace
}  // namespace featherstorm::test_cuda_rollout
