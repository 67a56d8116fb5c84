// Every operation in batches of any size: instances do not depend on each other; what is refused.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tests/host/table/op_case.h"
#include "tests/support/robots/worlds.h"
#include "tests/support/tools/run_batch.h"

namespace featherstorm::test_op_batches {
namespace {

using namespace testing;

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
  const OpCase c = make_case<FirstForm<table::OpAba>>(Evaluator(robot).op("aba").index, m, n, 0, 1);
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
  two.run("aba", {ref(q.data(), n, m.nq), ref(v.data(), n, m.nv), ref(tau.data(), n, m.nv)},
          {ref(again.data(), n, m.nv)});
  EXPECT_EQ(std::memcmp(a.data(), again.data(), a.size() * sizeof(float)), 0);
  for (long i = 0; i < n; i += 37) {
    two.run("aba", {ref(&q[i * m.nq], 1, m.nq), ref(&v[i * m.nv], 1, m.nv), ref(&tau[i * m.nv], 1, m.nv)},
            {ref(alone.data(), 1, m.nv)});
    EXPECT_EQ(std::memcmp(alone.data(), &a[i * m.nv], m.nv * sizeof(float)), 0) << i;
  }
}

// Every row of robots with loops, coupled joints or contacts: the same bits alone, in a batch, and on two threads.
template <class Real> void expect_same_bits(const Robot& robot, bool assemble) {
  const Model<double>& m = robot.model;
  Evaluator one(robot, {.threads = 1, .assemble = assemble}), two(robot, {.threads = 2, .assemble = assemble});
  for_every_constrained_row([&](auto op, int index) {
    using Op = decltype(op);
    if (!available<Op>(m)) return;
    SCOPED_TRACE(std::string(Op::info.name) + " " + robot.name);
    const OpCase c = make_case<Op>(index, m, 261, 0, 1);
    const auto results = [&](Evaluator& e, const std::vector<Batch>& in) {
      return run_batch<Real>(e, Op::info.name, in, c.uniforms);
    };
    const auto all = results(one, c.in);
    EXPECT_EQ(results(two, c.in), all);
    for (const long k : {0L, 37L, 260L}) {
      std::vector<Batch> in;
      for (const Batch& array : c.in) in.push_back({array[k]});
      const auto alone = results(two, in);
      for (std::size_t a = 0; a < all.size(); a++) EXPECT_EQ(alone[a][0], all[a][k]) << k;
    }
  });
}
TEST(Ops, AnInstanceOfAConstrainedRobotDoesNotDependOnItsBatch) {
  std::vector<Robot> robots = closed_robots();
  robots.push_back(standing_go2());
  for (const Robot& r : robots) {
    expect_same_bits<float>(r, false);
    expect_same_bits<double>(r, true);
  }
}

TEST(Ops, NaNStaysInItsInstance) {
  const Robot robot = load("iiwa14");
  Evaluator e(robot);
  Buffer q(Precision::float32, 33, 7), v(Precision::float32, 33, 7), t(Precision::float32, 33, 7),
      a(Precision::float32, 33, 7);
  t.component<float>(3)[5] = std::numeric_limits<float>::quiet_NaN();
  e.run("aba", {q.ref(), v.ref(), t.ref()}, {a.ref()});
  for (long i = 0; i < 33; i++)
    for (int k = 0; k < 7; k++)
      if (i != 5) { EXPECT_TRUE(std::isfinite(a.component<float>(k)[i])) << i; }
  EXPECT_TRUE(std::isnan(a.component<float>(3)[5]));
}

TEST(Ops, WrongArgumentsAreNamed) {
  Evaluator e(load("iiwa14"));
  Buffer q(Precision::float32, 4, 7), v(Precision::float32, 4, 6), tau(Precision::float32, 4, 7),
      d(Precision::float64, 4, 7);
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
}  // namespace featherstorm::test_op_batches
