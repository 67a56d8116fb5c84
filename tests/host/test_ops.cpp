// Every operation of the table, on every instruction set and path, against the same text in double, instance by instance.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "core/trace/expr.h"
#include "host/assemble/assemble.h"
#include "host/evaluator.h"
#include "host/load.h"
#include "host/ops.h"
#include "tests/support/linkages.h"
#include "tests/support/op_reference.h"
#include "tests/support/op_conditioning.h"
#include "tests/support/random_robot.h"

namespace featherstorm {
namespace {

// One operation's arrays for a batch in double: [array][instance][component].
struct Case {
  std::vector<std::vector<std::vector<double>>> in, out;
  std::vector<double> uniforms;
};

std::vector<double> random_q(const Model<double>& m, std::mt19937& g) {
  std::uniform_real_distribution<double> U(-1, 1);
  std::vector<double> q(m.nq);
  for (double& x : q) x = U(g);
  for (int i = 1; i <= m.nb; i++) {
    const Body<double>& b = m.body[i];
    const int k = b.type == JointType::Ball ? b.q : b.type == JointType::Free ? b.q + 3 : -1;
    if (k < 0) continue;
    double s = 0;
    for (int e = 0; e < 4; e++) s += q[k + e] * q[k + e];
    for (int e = 0; e < 4; e++) q[k + e] /= std::sqrt(s);
  }
  return q;
}

// Inputs that make sense by name, and the reference outputs by the core text in double.
template <class Op> Case make_case(int op, const Model<double>& m, long instances, int frame, long repeat) {
  Case c;
  std::mt19937 g(7);
  std::uniform_real_distribution<double> U(-1, 1);
  const auto& info = Op::info;
  for (const OpArray& a : info.uniform)
    for (int k = 0; k < size_of(m, a.size); k++)
      c.uniforms.push_back(a.name == "dt"                  ? 0.002
                           : a.name == "friction_velocity" ? 0.05
                           : a.name == "prescribed"        ? k % 2
                           : a.name == "tolerance"         ? 1e-6
                           : a.name == "rate"              ? 10
                           : a.name == "actuated"          ? (k + 1) % 2
                           : a.name == "independent"       ? k + 2 < m.nv
                           : a.name == "slop"              ? 1e-3
                           : a.name == "compliance"        ? 1e-2
                                                           : 1.0 + 0.5 * U(g));
  for (const OpArray& a : info.in) {
    auto& array = c.in.emplace_back();
    for (long i = 0; i < instances; i++) {
      std::vector<double> x(size_of(m, a.size));
      for (double& y : x) y = U(g);
      if (a.name == "remaining") x[0] = 0.01;
      if (a.name == "step") x[0] = 0.002;
      if (a.name == "error") x[0] = 1;
      if (a.size == Size::q) x = random_q(m, g);
      if (a.size == Size::h) {
        crba(m, random_q(m, g).data(), x.data());
        if (a.name == "L") ltdl(m, x.data());
        if (a.name == "L_ltl") ltl(m, x.data());
      }
      array.push_back(x);
    }
  }
  std::vector<std::vector<double>> u;
  std::size_t at = 0;
  for (const OpArray& a : info.uniform) {
    u.emplace_back(c.uniforms.begin() + at, c.uniforms.begin() + at + size_of(m, a.size));
    at += size_of(m, a.size);
  }
  std::vector<const double*> vu;
  for (auto& x : u) vu.push_back(x.data());
  vu.push_back(nullptr);
  for (const OpArray& a : info.out)
    c.out.emplace_back(instances, std::vector<double>(size_of(m, a.size)));
  for (long i = 0; i < instances; i++) {
    std::vector<std::vector<double>> state;
    for (auto& a : c.in) state.push_back(a[i]);
    for (long r = 0; r < repeat; r++) {
      std::vector<const double*> vi;
      std::vector<double*> vo;
      for (auto& a : state) vi.push_back(a.data());
      for (auto& a : c.out) vo.push_back(a[i].data());
      testing::run_row(op, m, frame, vi.data(), vu.data(), vo.data());
      if (Op::info.carried)
        for (std::size_t k = 0; k < c.out.size(); k++) state[k] = c.out[k][i];
    }
  }
  return c;
}

template <class Real> constexpr Precision precision_of() {
  return sizeof(Real) == 4 ? Precision::float32 : Precision::float64;
}

// Runs the operation on buffers poisoned with NaN and returns the worst error relative to each instance's largest number.
template <class Real> double worst_error(Evaluator& e, std::string_view op, const Case& c, int frame, long repeat) {
  const OpRow& row = e.op(op);
  const long n = c.in[0].size();
  std::vector<Buffer> in, out;
  std::vector<ArrayRef> vi, vo;
  for (std::size_t k = 0; k < c.in.size(); k++) {
    Buffer b(precision_of<Real>(), n, row.in[k].components);
    for (long i = 0; i < n; i++)
      for (int d = 0; d < row.in[k].components; d++) b.component<Real>(d)[i] = static_cast<Real>(c.in[k][i][d]);
    in.push_back(b), vi.push_back(b.ref());
  }
  for (const auto& a : row.out) {
    Buffer b(precision_of<Real>(), n, a.components);
    for (int d = 0; d < a.components; d++)
      for (long i = 0; i < n; i++) b.component<Real>(d)[i] = std::numeric_limits<Real>::quiet_NaN();
    out.push_back(b), vo.push_back(b.ref());
  }
  e.run(op, vi, vo, {c.uniforms, frame, repeat});
  double worst = 0;
  for (std::size_t k = 0; k < out.size(); k++)
    for (long i = 0; i < n; i++) {
      double scale = 1e-3;
      const bool remains = row.out[k].name == "violation" || row.out[k].name == "missing";  // of the other outputs
      for (std::size_t other = 0; other < out.size(); other++)
        for (double x : c.out[other][i])
          if (remains || other == k) scale = std::max(scale, std::abs(x));
      for (int d = 0; d < row.out[k].components; d++) {
        const double x = out[k].component<Real>(d)[i];
        if (!std::isfinite(x)) return std::numeric_limits<double>::infinity();
        worst = std::max(worst, std::abs(x - c.out[k][i][d]) / scale);
      }
    }
  return worst;
}

// Errors are those of the inputs' rounding times the conditioning of the map: forward dynamics of light limbs is the worst.
template <class Real> double tolerance(std::string_view op) {
  const bool inverse = testing::solves(op);
  if (sizeof(Real) == 8) return inverse ? 1e-8 : 1e-11;
  return testing::solves_squares(op) ? 1e-1
         : testing::solves_twice(op) ? 5e-2
         : inverse                   ? 5e-3
         : testing::cancels(op)      ? 5e-4
                                     : 5e-5;
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
  SCOPED_TRACE(op + " " + e.robot().name + " " + e.isa() + " " + name_of(made) + ", instances: " + std::to_string(instances));
  if (made == Made::Compiled) {
    ASSERT_TRUE(e.specialise(op, precision_of<Real>(), frame));
  }
  const Case c = make_case<Op>(index, m, instances, frame, repeat);
  EXPECT_LT(worst_error<Real>(e, op, c, frame, repeat), tolerance<Real>(op));
  if (made != Made::Compiled) {
    EXPECT_EQ(e.specialised(op, precision_of<Real>(), frame), made == Made::Assembled);
  }
}

// The rows of the engine, those of the books that the robot has, or those of loops, couplings and contacts alone.
enum class Rows { Engine, Books, Closures, Contacts };
constexpr bool among(Rows rows, int index, Needs needs) {
  if (rows == Rows::Contacts) return needs == Needs::contacts;
  if (rows == Rows::Closures) return needs == Needs::loops || needs == Needs::coupling;
  return (rows == Rows::Books) == (index >= engine_ops);
}
template <class Real, int i = 0> void check_rows(Evaluator& e, Made made, long instances, Rows rows) {
  if constexpr (i < op_count) {
    using Op = std::tuple_element_t<i, Ops>;
    if (among(rows, i, needs_of<Op>()) && available<Op>(e.robot().model)) check<Op, Real>(e, i, made, instances);
    check_rows<Real, i + 1>(e, made, instances, rows);
  }
}
// f(Op{}, index) for every row of loops or couplings.
template <class F, int i = 0> void for_every_closure(F&& f) {
  if constexpr (i < op_count) {
    using Op = std::tuple_element_t<i, Ops>;
    if constexpr (among(Rows::Closures, i, needs_of<Op>())) f(Op{}, i);
    for_every_closure<F, i + 1>(std::forward<F>(f));
  }
}
template <class Real>
void check_all(const Robot& robot, const std::string& isa, Made made, long instances, Rows rows = Rows::Engine) {
  Evaluator e(robot, options_for(made, isa));
  check_rows<Real>(e, made, instances, rows);
}

// Robots whose books' rows are small enough to be unrolled: an arm, and a floating tree over some joint types.
Robot small_tree() {
  testing::RandomOptions o;
  o.bodies = 4, o.floating = true, o.types = {JointType::Revolute, JointType::Prismatic, JointType::Universal};
  return testing::random_robot(3, o);
}

// Robots with loops or coupled joints, small enough to be unrolled.
std::vector<Robot> closed_robots() {
  return {testing::closed_robot(testing::four_bar()), testing::closed_robot(testing::parallel_leg()), testing::gripper()};
}
// With contacts: feet on the ground; bodies of a tree on all surfaces, each other's and the world's.
Robot on_feet() {
  std::vector<ContactSpec> feet;
  for (const char* foot : {"FL_foot", "FR_foot", "RL_foot", "RR_foot"})
    feet.push_back(on_ground(foot, {0, 0, 0}, 0.022, 0.6, 0.1));
  return load("go2", {.contacts = feet});
}
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
  check_all<double>(testing::random_robot(3), GetParam(), Made::AnyRobot, 19);
}
// The books' rows, whose kernels every instruction set takes from the base library.
TEST_P(EveryIsa, RunTimeModelAgreesForTheRowsOfTheBooks) {
  check_all<double>(load("go2"), GetParam(), Made::AnyRobot, 17, Rows::Books);
  check_all<double>(testing::random_robot(3), GetParam(), Made::AnyRobot, 3, Rows::Books);
  check_all<float>(load("iiwa14"), GetParam(), Made::AnyRobot, 131, Rows::Books);
  check_all<float>(small_tree(), GetParam(), Made::AnyRobot, 5, Rows::Books);
}
TEST_P(EveryIsa, RunTimeModelAgreesOnClosedRobots) {
  for (const Robot& r : closed_robots())
    for (long n : {1L, 17L, 131L}) {
      check_all<double>(r, GetParam(), Made::AnyRobot, n, Rows::Closures);
      check_all<float>(r, GetParam(), Made::AnyRobot, n, Rows::Closures);
    }
  check_all<double>(testing::closed_robot(testing::stewart_platform()), GetParam(), Made::AnyRobot, 5, Rows::Closures);
}
TEST_P(EveryIsa, RunTimeModelAgreesForTheRowsOfContacts) {
  check_all<double>(on_feet(), GetParam(), Made::AnyRobot, 17, Rows::Contacts);
  check_all<double>(touching_tree(), GetParam(), Made::AnyRobot, 19, Rows::Contacts);
  check_all<float>(on_feet(), GetParam(), Made::AnyRobot, 5, Rows::Contacts);
  check_all<float>(touching_tree(), GetParam(), Made::AnyRobot, 3, Rows::Contacts);
}
INSTANTIATE_TEST_SUITE_P(Ops, EveryIsa, ::testing::ValuesIn(available_isas()),
                         [](const auto& info) { return info.param; });

TEST(Ops, CompiledKernelsAgreeWithTheReference) {
  check_all<float>(load("iiwa14"), "", Made::Compiled, 131);
  check_all<double>(load("panda"), "", Made::Compiled, 19);
  check_all<float>(load("go2"), "", Made::Compiled, 19);
  check_all<double>(load("double_pendulum"), "", Made::Compiled, 19, Rows::Books);
  check_all<double>(touching_tree(), "", Made::Compiled, 19, Rows::Contacts);
}

TEST(Ops, CompiledKernelsAgreeOnClosedRobots) {
  check_all<double>(testing::closed_robot(testing::four_bar()), "", Made::Compiled, 19, Rows::Closures);
  check_all<float>(testing::gripper(), "", Made::Compiled, 19, Rows::Closures);
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
  check_all<double>(on_feet(), GetParam(), Made::Assembled, 19, Rows::Contacts);
  check_all<double>(touching_tree(), GetParam(), Made::Assembled, 131, Rows::Contacts);
  check_all<float>(on_feet(), GetParam(), Made::Assembled, 5, Rows::Contacts);
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

TEST(Ops, EmptyBatchDoesNothing) {
  Evaluator e(load("iiwa14"));
  Buffer q(Precision::float32, 0, 7), M(Precision::float32, 0, 28);
  e.run("crba", {q.ref()}, {M.ref()});
}

// The same bits for any batch size, place in the batch, thread count, layout and repetition.
TEST(Ops, AnInstanceDoesNotDependOnItsBatch) {
  const Robot robot = load("go2");
  const Model<double>& m = robot.model;
  const long n = 400;
  const Case c = make_case<OpAba>(Evaluator(robot).op("aba").index, m, n, 0, 1);
  std::vector<float> q(n * m.nq), v(n * m.nv), tau(n * m.nv), a(n * m.nv), alone(m.nv), again(n * m.nv);
  for (long i = 0; i < n; i++) {
    for (int k = 0; k < m.nq; k++) q[i * m.nq + k] = static_cast<float>(c.in[0][i][k]);
    for (int k = 0; k < m.nv; k++) v[i * m.nv + k] = c.in[1][i][k], tau[i * m.nv + k] = c.in[2][i][k];
  }
  auto ref = [](float* p, long instances, long components) {
    return ArrayRef{p, Precision::float32, instances, components, components, 1, false};
  };
  Evaluator one(robot, {.threads = 1}), two(robot, {.threads = 2});
  one.run("aba", {ref(q.data(), n, m.nq), ref(v.data(), n, m.nv), ref(tau.data(), n, m.nv)}, {ref(a.data(), n, m.nv)});
  two.run("aba", {ref(q.data(), n, m.nq), ref(v.data(), n, m.nv), ref(tau.data(), n, m.nv)}, {ref(again.data(), n, m.nv)});
  EXPECT_EQ(std::memcmp(a.data(), again.data(), a.size() * sizeof(float)), 0);
  for (long i = 0; i < n; i += 37) {
    two.run("aba", {ref(&q[i * m.nq], 1, m.nq), ref(&v[i * m.nv], 1, m.nv), ref(&tau[i * m.nv], 1, m.nv)},
            {ref(alone.data(), 1, m.nv)});
    EXPECT_EQ(std::memcmp(alone.data(), &a[i * m.nv], m.nv * sizeof(float)), 0) << i;
  }
}

// Every row of robots with loops or coupled joints: the same bits alone, in a batch, and on two threads.
template <class Real> void expect_same_bits(const Robot& robot, bool assemble) {
  const long n = 261;
  for_every_closure([&](auto op, int index) {
    using Op = decltype(op);
    const Model<double>& m = robot.model;
    if (!available<Op>(m)) return;
    SCOPED_TRACE(std::string(Op::info.name) + " " + robot.name);
    const Case c = make_case<Op>(index, m, n, 0, 1);
    const auto results = [&](int threads, long first, long count) {
      Evaluator e(robot, {.threads = threads, .assemble = assemble});
      const OpRow& row = e.op(Op::info.name);
      std::vector<Buffer> in, out;
      std::vector<ArrayRef> vi, vo;
      for (std::size_t k = 0; k < c.in.size(); k++) {
        Buffer b(precision_of<Real>(), count, row.in[k].components);
        for (long i = 0; i < count; i++)
          for (int d = 0; d < row.in[k].components; d++)
            b.component<Real>(d)[i] = static_cast<Real>(c.in[k][first + i][d]);
        in.push_back(b), vi.push_back(b.ref());
      }
      for (const auto& a : row.out) out.emplace_back(precision_of<Real>(), count, a.components), vo.push_back(out.back().ref());
      e.run(Op::info.name, vi, vo, {c.uniforms, 0, 1});
      std::vector<std::vector<Real>> numbers(count);
      for (auto& b : out)
        for (int d = 0; d < static_cast<int>(b.ref().components); d++)
          for (long i = 0; i < count; i++) numbers[i].push_back(b.component<Real>(d)[i]);
      return numbers;
    };
    const auto all = results(1, 0, n), again = results(2, 0, n);
    for (long i = 0; i < n; i++) ASSERT_EQ(std::memcmp(all[i].data(), again[i].data(), all[i].size() * sizeof(Real)), 0);
    for (long first : {0L, 37L, 260L}) {
      const auto alone = results(2, first, 1);
      ASSERT_EQ(std::memcmp(all[first].data(), alone[0].data(), alone[0].size() * sizeof(Real)), 0) << first;
    }
  });
}
TEST(Ops, AnInstanceOfAClosedRobotDoesNotDependOnItsBatch) {
  for (const Robot& r : closed_robots()) {
    expect_same_bits<float>(r, false);
    expect_same_bits<double>(r, true);
  }
}

TEST(Ops, NaNStaysInItsInstance) {
  const Robot robot = load("iiwa14");
  Evaluator e(robot);
  Buffer q(Precision::float32, 33, 7), v(Precision::float32, 33, 7), t(Precision::float32, 33, 7), a(Precision::float32, 33, 7);
  t.component<float>(3)[5] = std::numeric_limits<float>::quiet_NaN();
  e.run("aba", {q.ref(), v.ref(), t.ref()}, {a.ref()});
  for (long i = 0; i < 33; i++)
    for (int k = 0; k < 7; k++)
      if (i != 5) {
        EXPECT_TRUE(std::isfinite(a.component<float>(k)[i])) << i;
      }
  EXPECT_TRUE(std::isnan(a.component<float>(3)[5]));
}

TEST(Ops, WrongArgumentsAreNamed) {
  Evaluator e(load("iiwa14"));
  Buffer q(Precision::float32, 4, 7), v(Precision::float32, 4, 6), tau(Precision::float32, 4, 7), d(Precision::float64, 4, 7);
  auto message = [&](auto&& f) -> std::string {
    try {
      f();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([&] { e.run("rnea", {q.ref(), v.ref(), q.ref()}, {tau.ref()}); }),
            "rnea: v has shape (4, 6), expected (4, 7)");
  EXPECT_EQ(message([&] { e.run("bias", {q.ref(), d.ref()}, {tau.ref()}); }),
            "bias: v is float64, expected float32 as q is");
  EXPECT_EQ(message([&] { e.run("rnea", {q.ref()}, {tau.ref()}); }), "rnea: got 1 inputs, expected 3");
  EXPECT_EQ(message([&] { e.run("nothing", {}, {}); }), "there is no operation 'nothing'");
  EXPECT_EQ(message([&] { e.run("gravity", {q.ref()}, {q.ref()}); }), "gravity: output tau overlaps input q");
  const std::string refused =
      "floating_inertia: the robot has no floating base, expected one whose body 1 has a free joint and carries all others";
  EXPECT_EQ(message([&] { e.run("floating_inertia", {q.ref()}, {tau.ref(), tau.ref()}); }), refused);
  EXPECT_EQ(message([&] { e.kernel("floating_inertia", Precision::float32); }), refused);
  EXPECT_EQ(message([&] { e.specialise("floating_inertia", Precision::float32); }), refused);
}

}  // namespace
}  // namespace featherstorm
