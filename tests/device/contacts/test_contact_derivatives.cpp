// Derivatives of a step of worlds whose contacts are found on the device, compared with the same sequence on
// the host.
#include <gtest/gtest.h>

#include "host/gradients/gradient_sequence.h"
#include "tests/device/contacts/contact_states.h"
#include "tests/support/robots/small_world.h"
#include "tests/support/robots/touching_world.h"
#include "tests/support/robots/worlds.h"

namespace featherstorm::test_contact_derivatives {
namespace {

using namespace testing;

using Sizes = std::vector<std::pair<std::string, long>>;

// The largest difference between host and device, in cotangents or tangents of all inputs of a step.
double compare(const Robot& robot, Precision p, Derivative derivative, const SolverOptions& options, long B = 37) {
  Evaluator e(robot, {.threads = 1});
  const Model<double>& m = e.robot().model;
  const Sequence s = gradient_sequence(e, p, derivative, options);
  const Sizes state = {{"q", m.nq}, {"v", m.nv}, {"act", m.world.na}};
  const Sizes drive = {{"ctrl", m.world.nu}, {"qfrc_applied", m.nv}};
  std::vector<std::pair<std::string, Twin>> given, found;
  const auto give = [&](const std::string& name, long n, double size) {
    given.emplace_back(name, Twin(p, B, n, 1));
    const double phase = static_cast<double>(given.size());
    given.back().second.fill([&](long i, long k) {
      return size * std::sin(0.7 * static_cast<double>(i) + 1.1 * static_cast<double>(k) + phase);
    });
  };
  given.emplace_back("q", positions_near_the_ground(robot, p, B));
  give("v", m.nv, 0.3), give("act", m.world.na, 0.3), give("ctrl", m.world.nu, 1), give("qfrc_applied", m.nv, 0.1);
  const bool reverse = derivative == Derivative::vjp;
  Sizes all = state;
  all.insert(all.end(), drive.begin(), drive.end());
  Sizes after = state;
  after.emplace_back("qacc", m.nv);
  for (const auto& [name, n] : reverse ? after : all) give(name + (reverse ? "_next_bar" : "_tan"), n, 1);
  for (const auto& [name, n] : reverse ? all : after)
    found.emplace_back(name + (reverse ? "_bar" : "_next_tan"), Twin(p, B, n, 1));
  for (const bool there : {false, true}) {
    std::vector<SequenceMemory> in, out;
    for (const auto& [name, x] : given)
      if (x.components > 0) in.push_back(x.memory(name, there, false));
    for (const auto& [name, x] : found)
      if (x.components > 0) out.push_back(x.memory(name, there, false));
    s.run(1, B, in, {}, out);
  }
  double worst = 0;
  for (const auto& [name, x] : found)
    if (x.components > 0) worst = std::max(worst, x.difference());
  expect_enough_room();
  return worst;
}

constexpr Derivative both[] = {Derivative::vjp, Derivative::jvp};

TEST(ContactDerivatives, AreTheHosts) {
  for (const Derivative d : both)
    for (const bool elliptic : {false, true})
      for (const bool convex : {false, true}) {
        SCOPED_TRACE(std::string(d == Derivative::vjp ? "cotangents" : "tangents") +
                     (elliptic ? ", cones" : ", pyramids") + (convex ? ", convex shapes" : ""));
        const Robot robot = with_touching_world(load("go2"), {.convex = convex, .elliptic = elliptic});
        // shapes without a closed form are differentiated by differences, 1e-5 wide
        EXPECT_LT(compare(robot, Precision::float64, d, {100, 1e-12}), convex ? bound(1e-8, 1e-6) : bound(1e-11, 1e-8));
        EXPECT_LT(compare(robot, Precision::float32, d, {100, 1e-6}), bound(2e-2, 5e-2));
      }
}

TEST(ContactDerivatives, OfAnyIntegratorAreTheHosts) {
  for (const Derivative d : both)
    for (const Integrator integrator : {Integrator::Euler, Integrator::ImplicitFast, Integrator::RungeKutta})
      EXPECT_LT(compare(with_geoms(small_world(integrator)), Precision::float64, d, {100, 1e-12}), bound(1e-10, 1e-8));
}

TEST(ContactDerivatives, TakeTheMemoryThatTheyAreGiven) {
  for (const Derivative d : both)
    for (const bool convex : {false, true}) {
      SCOPED_TRACE(std::string(d == Derivative::vjp ? "cotangents" : "tangents") +
                   (convex ? ", convex shapes" : ", closed forms"));
      compare(touching_everywhere(convex), Precision::float64, d, {5, 1e-12}, 3);
      expect_memory_fits();
    }
}

}  // namespace
}  // namespace featherstorm::test_contact_derivatives
