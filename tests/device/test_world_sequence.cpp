// Steps of a world on a device compared with the same sequence on the host.
#include "host/simulation/world_sequence.h"
#include "tests/device/sequence_cases.h"
#include "tests/support/robots/small_world.h"

namespace featherstorm::test_device_world {
namespace {

using namespace testing;

void compare(const Robot& robot) {
  for (Precision p : {Precision::float32, Precision::float64}) {
    const bool single = p == Precision::float32;
    Evaluator evaluator(robot, {});
    const Sequence s = world_sequence(evaluator, p, {60, single ? 1e-5 : 1e-12, true});
    const World<double>& w = evaluator.robot().model.world;
    constexpr long B = 45, steps = 3;
    const auto given = [&](long n, double phase) {
      Twin t(p, B, n, 1);
      t.fill([&](long i, long k) { return std::sin(1.3 * static_cast<double>(i) + static_cast<double>(k) + phase); });
      return t;
    };
    const Twin q = given(4, 0), v = given(4, 1), act = given(w.na, 2), ctrl = given(w.nu, 3);
    const Twin q_end(p, B, 4, 1), v_end(p, B, 4, 1), act_end(p, B, w.na, 1), passes(p, B, 1, 1);
    for (bool on_device : {false, true})
      s.run(steps, B,
            {q.memory("q", on_device, false), v.memory("v", on_device, false), act.memory("act", on_device, false),
             ctrl.memory("ctrl", on_device, false)},
            {},
            {q_end.memory("q", on_device, false), v_end.memory("v", on_device, false),
             act_end.memory("act", on_device, false), passes.memory("passes", on_device, false)});
    for (const Twin* x : {&q_end, &v_end, &act_end})
      EXPECT_LT(x->difference(), single ? bound(2e-4, 1e-3) : bound(1e-10, 1e-9));
    for (long i = 0; i < B; i++) EXPECT_LT(passes.get(passes.host, i, 0), 20) << "the solver ends";
  }
}

TEST(DeviceWorldSequence, IsTheHosts) {
  for (Integrator integrator : {Integrator::Euler, Integrator::ImplicitFast, Integrator::RungeKutta})
    compare(small_world(integrator));
}
TEST(DeviceWorldSequence, OfContactsIsTheHosts) {
  Robot robot = with_geoms(small_world());
  compare(robot);
  robot.model.world.contacts.elliptic = true;
  compare(robot);
}

}  // namespace
}  // namespace featherstorm::test_device_world
