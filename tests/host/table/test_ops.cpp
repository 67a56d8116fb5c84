// Every operation of the table, on every instruction set and path, against the same text in double, instance by instance.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "core/trace/expr.h"
#include "host/assemble/assemble.h"
#include "tests/host/table/op_case.h"
#include "tests/support/robots/worlds.h"
#include "tests/support/tools/op_tolerance.h"
#include "tests/support/tools/run_batch.h"

namespace featherstorm::test_ops {
namespace {

using namespace testing;

// Return the worst error relative to each instance's largest number.
template <class Real> double worst_error(Evaluator& e, std::string_view op, const OpCase& c, int frame, long repeat) {
  const OpRow& row = e.op(op);
  const std::vector<Batch> out = run_batch<Real>(e, op, c.in, c.uniforms, repeat, frame);
  double worst = 0;
  for (std::size_t k = 0; k < out.size(); k++)
    for (std::size_t i = 0; i < out[k].size(); i++) {
      double scale = 1e-3;
      const bool remains = row.out[k].name == "violation" || row.out[k].name == "missing";  // of the other outputs
      for (std::size_t other = 0; other < out.size(); other++)
        for (double x : c.out[other][i])
          if (remains || other == k) scale = std::max(scale, std::abs(x));
      for (int d = 0; d < row.out[k].components; d++) {
        const double x = out[k][i][d];
        if (!std::isfinite(x)) return std::numeric_limits<double>::infinity();
        worst = std::max(worst, std::abs(x - c.out[k][i][d]) / scale);
      }
    }
  return worst;
}

// The three ways to a kernel.
enum class Made { AnyRobot, Assembled, Compiled };
const char* name_of(Made made) {
  return made == Made::AnyRobot ? "run-time model" : made == Made::Assembled ? "assembled" : "compiled";
}

EvaluatorOptions options_for(Made made, const std::string& isa) {
  EvaluatorOptions o;
  o.threads = 2, o.isa = isa, o.assemble = made == Made::Assembled;
  return o;
}

template <class Op, class Real> void check(Evaluator& e, int index, Made made, long instances) {
  const std::string op(Op::info.name);
  const Model<double>& m = e.robot().model;
  const int frame = m.nf - 1;
  const long repeat = Op::info.carried ? 3 : 1;
  SCOPED_TRACE(op + " " + e.robot().name + " " + e.isa() + " " + name_of(made) +
               ", instances: " + std::to_string(instances));
  if (made == Made::Compiled) { ASSERT_TRUE(e.specialise(op, precision_of<Real>(), frame)); }
  const OpCase c = make_case<Op>(index, m, instances, frame, repeat);
  EXPECT_LT(worst_error<Real>(e, op, c, frame, repeat), op_tolerance(Op::info, sizeof(Real) == 4));
  if (made != Made::Compiled) { EXPECT_EQ(e.specialised(op, precision_of<Real>(), frame), made == Made::Assembled); }
}

// The rows of the engine, those of the books that the robot has, or those of loops, couplings and contacts alone.
enum class Rows { Engine, Books, Closures, Contacts };
constexpr bool among(Rows rows, int index, Needs needs) {
  if (rows == Rows::Contacts) return needs == Needs::contacts;
  if (rows == Rows::Closures) return needs == Needs::loops || needs == Needs::coupling;
  return (rows == Rows::Books) == !info_of(index).common;
}
template <class Real, int i = 0> void check_rows(Evaluator& e, Made made, long instances, Rows rows) {
  if constexpr (i < op_count) {
    using Op = Element<i, Ops>;
    if (among(rows, i, Op::info.needs) && available<Op>(e.robot().model)) check<Op, Real>(e, i, made, instances);
    check_rows<Real, i + 1>(e, made, instances, rows);
  }
}
template <class Real>
void check_all(const Robot& robot, const std::string& isa, Made made, long instances, Rows rows = Rows::Engine) {
  Evaluator e(robot, options_for(made, isa));
  check_rows<Real>(e, made, instances, rows);
}

// Robots whose books' rows are small enough to be unrolled: an arm, and a floating tree over some joint types.
Robot small_tree() {
  RandomOptions o;
  o.bodies = 4, o.floating = true, o.types = {JointType::Revolute, JointType::Prismatic, JointType::Universal};
  return random_robot(3, o);
}

// With contacts of a tree's bodies on all surfaces, each other's and the world's.
Robot touching_tree() {
  Robot robot = small_tree();
  auto link = [&](int body) { return robot.body_names[body]; };
  std::vector<ContactSpec> c{on_ground(link(1), {0.1, 0, 0}, 0.8, 0.5, 0.2), on_ground(link(4), {0, 0.1, 0}, 1, 0.7)};
  const Placement<double> X = identity_placement<double>();
  c.push_back({"sphere", link(2), {0, 0, 0.1}, 0.4, link(3), Surface::Sphere, X, 0.5, 0, 0, 0.4, 0});
  c.push_back({"cavity", link(4), {0.1, 0, 0}, 0.2, "", Surface::Cavity, X, 0.9, 0, 0, 0.3, 0.5});
  c.push_back({"patch", link(3), {0, 0, 0.2}, 0.3, link(1), Surface::Plane, X, 0, 0.8, 0.6, 0.9, 0});
  robot.model.contacts = contacts_of(robot, c, 5, 1);
  return robot;
}

class EveryIsa : public ::testing::TestWithParam<std::string> {};
TEST_P(EveryIsa, RunTimeModelAgreesWithTheReferenceInDouble) {
  for (const char* name : {"iiwa14", "go2", "atlas"})
    for (long n : {1L, 17L, 131L}) check_all<double>(load(name), GetParam(), Made::AnyRobot, n);
}
TEST_P(EveryIsa, RunTimeModelAgreesWithTheReferenceInFloat) {
  for (const char* name : {"iiwa14", "go2", "g1"})
    for (long n : {1L, 17L, 131L}) check_all<float>(load(name), GetParam(), Made::AnyRobot, n);
}
TEST_P(EveryIsa, RunTimeModelAgreesOnEveryJointType) {
  for (unsigned seed : {3, 4, 5}) check_all<double>(random_robot(seed), GetParam(), Made::AnyRobot, 19);
}
// The books' rows, whose kernels every instruction set takes from the base library.
TEST_P(EveryIsa, RunTimeModelAgreesForTheRowsOfTheBooks) {
  check_all<double>(load("go2"), GetParam(), Made::AnyRobot, 17, Rows::Books);
  check_all<double>(random_robot(3), GetParam(), Made::AnyRobot, 3, Rows::Books);
  check_all<float>(load("iiwa14"), GetParam(), Made::AnyRobot, 131, Rows::Books);
  check_all<float>(small_tree(), GetParam(), Made::AnyRobot, 5, Rows::Books);
}
TEST_P(EveryIsa, RunTimeModelAgreesOnClosedRobots) {
  for (const Robot& r : closed_robots())
    for (long n : {1L, 17L, 131L}) {
      check_all<double>(r, GetParam(), Made::AnyRobot, n, Rows::Closures);
      check_all<float>(r, GetParam(), Made::AnyRobot, n, Rows::Closures);
    }
  check_all<double>(closed_robot(stewart_platform()), GetParam(), Made::AnyRobot, 5, Rows::Closures);
}
TEST_P(EveryIsa, RunTimeModelAgreesForTheRowsOfContacts) {
  check_all<double>(standing_go2(), GetParam(), Made::AnyRobot, 17, Rows::Contacts);
  check_all<double>(touching_tree(), GetParam(), Made::AnyRobot, 19, Rows::Contacts);
  check_all<float>(standing_go2(), GetParam(), Made::AnyRobot, 5, Rows::Contacts);
  check_all<float>(touching_tree(), GetParam(), Made::AnyRobot, 3, Rows::Contacts);
}
INSTANTIATE_TEST_SUITE_P(Ops, EveryIsa, ::testing::ValuesIn(available_isas()),
                         [](const auto& info) { return info.param; });

TEST(Ops, CompiledKernelsAgreeWithTheReference) {
  check_all<float>(load("iiwa14"), "", Made::Compiled, 131);
  check_all<double>(load("go2"), "", Made::Compiled, 19);
  check_all<double>(load("double_pendulum"), "", Made::Compiled, 19, Rows::Books);
  check_all<double>(touching_tree(), "", Made::Compiled, 19, Rows::Contacts);
}

TEST(Ops, CompiledKernelsAgreeOnClosedRobots) {
  check_all<double>(closed_robot(four_bar()), "", Made::Compiled, 19, Rows::Closures);
  check_all<float>(gripper(), "", Made::Compiled, 19, Rows::Closures);
}

class EveryAssembler : public ::testing::TestWithParam<std::string> {};
TEST_P(EveryAssembler, AgreesWithTheReferenceInDouble) {
  for (const char* name : {"iiwa14", "go2", "atlas"})
    for (long n : {1L, 17L, 131L}) check_all<double>(load(name), GetParam(), Made::Assembled, n);
}
TEST_P(EveryAssembler, AgreesWithTheReferenceInFloat) {
  for (const char* name : {"iiwa14", "go2", "g1"})
    for (long n : {1L, 17L, 131L}) check_all<float>(load(name), GetParam(), Made::Assembled, n);
}
TEST_P(EveryAssembler, AgreesForTheRowsOfTheBooks) {
  check_all<double>(load("double_pendulum"), GetParam(), Made::Assembled, 131, Rows::Books);
  check_all<float>(load("double_pendulum"), GetParam(), Made::Assembled, 17, Rows::Books);
  check_all<double>(small_tree(), GetParam(), Made::Assembled, 19, Rows::Books);
}
TEST_P(EveryAssembler, AgreesOnClosedRobots) {
  for (const Robot& r : closed_robots())
    for (long n : {1L, 131L}) {
      check_all<double>(r, GetParam(), Made::Assembled, n, Rows::Closures);
      check_all<float>(r, GetParam(), Made::Assembled, n, Rows::Closures);
    }
}
TEST_P(EveryAssembler, AgreesForTheRowsOfContacts) {
  check_all<double>(standing_go2(), GetParam(), Made::Assembled, 19, Rows::Contacts);
  check_all<double>(touching_tree(), GetParam(), Made::Assembled, 131, Rows::Contacts);
  check_all<float>(standing_go2(), GetParam(), Made::Assembled, 5, Rows::Contacts);
}
std::vector<std::string> assemblers() {
  std::vector<std::string> isas;
  for (const std::string& isa : available_isas())
    if (can_assemble(isa)) isas.push_back(isa);
  return isas;
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryAssembler);
INSTANTIATE_TEST_SUITE_P(Ops, EveryAssembler, ::testing::ValuesIn(assemblers()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace featherstorm::test_ops
