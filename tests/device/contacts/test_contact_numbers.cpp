// Numbers of pairs and placements of geoms that differ between instances, in the contact solver on the device.
#include <gtest/gtest.h>

#include "host/solver/contact_solver.h"
#include "tests/device/sequence_cases.h"
#include "tests/support/robots/differing_numbers.h"
#include "tests/support/robots/touching_world.h"

namespace featherstorm::test_contact_numbers {
namespace {

using namespace testing;

TEST(ContactNumbers, OfInstancesAreTheHosts) {
  const Robot robot = with_touching_world(load("go2"), {.margin = 0.3});
  const Model<double>& m = robot.model;
  const Precision p = Precision::float64;
  constexpr long B = 23;
  WorldPrograms programs = world_programs(m, Candidates::None, 1e-12, 1 << 22);
  programs.touch = differing_numbers(m.world.contacts);
  const ContactSolverStage solver = contact_solver(m, programs, p, "base", {100, 1e-12});

  Sequence s(p, 1);
  std::vector<std::string> declared;
  const auto array = [&](const std::string& name, long n) {
    if (std::find(declared.begin(), declared.end(), name) == declared.end()) s.array(name, n), declared.push_back(name);
  };
  array("touch", 3);
  Stage equations;
  equations.kernel = [&] { return interpret_program(programs.equations, p); };
  equations.program = [&] { return programs.equations; };
  for (const Program::Array& a : programs.equations.inputs) array(a.name, a.size), equations.in.push_back(a.name);
  for (const Program::Array& a : programs.equations.outputs) {
    const std::string name = a.name == "touch" ? "no_touch" : a.name;
    array(name, a.size), equations.out.push_back(name);
  }
  s.stage(equations);
  array("qacc", m.nv), array("qacc_next", m.nv), array("row_force", rows_of(m.world.constraints));
  array("contact_force", rows_of(m.world.contacts));
  for (const char* name : {"passes", "residual", "gap", "rows", "order_key", "searches"}) array(name, 1);
  for (const char* name : {"contact_count", "contact_link", "contact_sensor", "contact_selection"}) array(name, 0);
  array("weights", programs.weights), array("touched", static_cast<long>(programs.alone.size()));
  Stage solve{[&] { return solver.kernel; }, solver.in, solver.out, {{"qacc", "qacc_next"}}};
  solve.on_device = solver.on_device;
  s.stage(solve);

  Twin q(p, B, m.nq, 1), touch(p, B, 3, 1);
  q.fill([](long i, long k) { return k == 2 ? 0.2 : k == 3 ? 1.0 : k < 7 ? 0.0 : 0.5 * std::sin(i + 2.0 * k); });
  const Twin qacc(p, B, m.nv, 1), force(p, B, rows_of(m.world.contacts), 1);
  const auto run = [&](bool there) {
    s.run(1, B, {q.memory("q", there, false), touch.memory("touch", there, false)}, {},
          {qacc.memory("qacc", there, false), force.memory("contact_force", there, false)});
  };
  const double size = m.world.contacts.geom[2].size.x();
  touch.fill([&](long, long k) { return k == 0 ? 0.6 : k == 1 ? 0.0 : size; });
  run(false);
  std::vector<double> same;
  for (long i = 0; i < B; i++) same.push_back(qacc.get(qacc.host, i, 2));
  touch.fill([&](long i, long k) {
    const double by = static_cast<double>(i);
    return k == 0 ? 0.1 + 0.05 * by : k == 1 ? 0.01 * by : size * (1 - 0.01 * by);
  });
  run(false), run(true);
  EXPECT_LT(qacc.difference(), bound(1e-12, 1e-9));
  EXPECT_LT(force.difference(), bound(1e-12, 1e-9));
  int changed = 0;
  for (long i = 0; i < B; i++)
    changed += std::abs(qacc.get(qacc.host, i, 2) - same[static_cast<std::size_t>(i)]) > 1e-6;
  EXPECT_GT(changed, B / 2) << "the numbers count";
}

}  // namespace
}  // namespace featherstorm::test_contact_numbers
