// Closed loops and coupled joints through the engine, by physics: loops stay closed, energy is kept, motor forces give the
// motion they were computed for, mimic joints move as one.
#include <gtest/gtest.h>

#include <cmath>

#include "host/evaluator.h"
#include "host/load.h"
#include "tests/support/linkages.h"

namespace featherstorm::test_closed_robots {
namespace {

using testing::Linkage;
using testing::Numbers;
using testing::RowMatrix;
using Eigen::VectorXd;
using Batch = std::vector<Numbers>;  // of one array, an instance each

// Runs a row in double on a batch.
std::vector<Batch> run(Evaluator& e, std::string_view op, const std::vector<Batch>& in, const Numbers& uniforms = {},
                       long repeat = 1) {
  const long n = static_cast<long>(in[0].size());
  std::vector<Buffer> memory;
  std::vector<ArrayRef> vi, vo;
  for (const Batch& a : in) {
    Buffer& b = memory.emplace_back(Precision::float64, n, a[0].size());
    for (long i = 0; i < n; i++)
      for (std::size_t c = 0; c < a[i].size(); c++) b.component<double>(static_cast<long>(c))[i] = a[i][c];
    vi.push_back(b.ref());
  }
  for (const auto& a : e.op(op).out) vo.push_back(memory.emplace_back(Precision::float64, n, a.components).ref());
  e.run(op, vi, vo, {uniforms, 0, repeat});
  std::vector<Batch> out;
  for (std::size_t k = 0; k < vo.size(); k++) {
    Batch& a = out.emplace_back(n);
    for (long i = 0; i < n; i++)
      for (long c = 0; c < vo[k].components; c++) a[i].push_back(memory[in.size() + k].component<double>(c)[i]);
  }
  return out;
}
double largest(const Batch& a) {
  double most = 0;
  for (const Numbers& x : a)
    for (double y : x) most = std::max(most, std::isfinite(y) ? std::fabs(y) : INFINITY);
  return most;
}
Batch same(long n, const Numbers& x) { return Batch(n, x); }
// The uniforms of a step without drives.
Numbers step_numbers(const Model<double>& m, double dt) {
  Numbers u(1 + 2 * m.nv + 3, 0.0);
  u[0] = dt, u.back() = 1;
  return u;
}
double sum_of(const Numbers& x) { return x[0] + x[1]; }

struct Mechanism {
  Linkage l;
  Robot robot;
  Batch q, v;  // closed, admitted by the loops
  Mechanism(const Linkage& linkage, long n, double spread) : l(linkage), robot(testing::closed_robot(linkage)) {
    const Model<double>& m = robot.model;
    for (long i = 0; i < n; i++) {
      const testing::State s = testing::random_state(robot, static_cast<unsigned>(i + 1));
      q.push_back(testing::closed(m, l.loops, testing::moved(m, l.q, testing::admissible(m, l.loops, l.q, s.a), spread)));
      v.push_back(testing::admissible(m, l.loops, q.back(), s.v));
    }
  }
};

TEST(ClosedRobots, FourBarsStayClosedAndKeepTheirEnergy) {
  constexpr long n = 40;
  const Mechanism t(testing::four_bar(), n, 0.1);
  const Model<double>& m = t.robot.model;
  Evaluator measuring(t.robot, {.threads = 1});
  const Batch before = run(measuring, "energy", {t.q, t.v})[0], none = same(n, Numbers(m.nv, 0.0));
  for (bool assemble : {false, true}) {
    Evaluator e(t.robot, {.threads = 1, .assemble = assemble});
    const auto after = [&](double rate, Batch& v) {
      Numbers uniforms = step_numbers(m, 1e-3);
      uniforms.insert(uniforms.end(), {rate, 1e-11});
      Batch q = t.q;
      v = t.v;
      for (int k = 0; k < 20; k++) {  // 1000 steps
        const std::vector<Batch> next = run(e, "loop_step", {q, v, none, none}, uniforms, 50);
        q = next[0], v = next[1];
      }
      return q;
    };
    Batch v;
    const Batch q = after(50, v);
    const double error = largest(run(e, "loop_constraints", {q, v}, {50})[2]);
    EXPECT_LT(error, 2e-4);
    // without Baumgarte's terms they open
    Batch unused;
    const Batch open = after(0, unused);
    EXPECT_GT(largest(run(e, "loop_constraints", {open, unused}, {0})[2]), 10 * error);
    const Batch energy = run(measuring, "energy", {q, v})[0];
    double turned = 0, lost = 0;  // [J] from potential to kinetic energy, and from their sum
    for (long i = 0; i < n; i++) {
      turned = std::max(turned, std::fabs(energy[i][1] - before[i][1]));
      lost = std::max(lost, std::fabs(sum_of(energy[i]) - sum_of(before[i])));
    }
    EXPECT_GT(turned, 3);
    EXPECT_LT(lost, 0.02 * turned);
  }
}

// Kim, section 3.1: with more motors than freedoms the shortest torques that give a motion; all motors: they lie in the
// space of admitted motions, K tau = 0.
TEST(ClosedRobots, RedundantMotorsShareTheMotion) {
  constexpr long n = 17;
  for (const Linkage& l : {testing::four_bar(), testing::five_bar()}) {
    SCOPED_TRACE(l.name);
    const Mechanism t(l, n, 0.1);
    const Model<double>& m = t.robot.model;
    Evaluator e(t.robot, {.threads = 1});
    Batch a, tau, f;
    for (long i = 0; i < n; i++) {
      const testing::State s = testing::random_state(t.robot, static_cast<unsigned>(100 + i));
      const testing::Constraints c = testing::constraints(m, l.loops, t.q[i], t.v[i]);
      a.push_back(testing::numbers(testing::vector(s.a) + testing::least_squares(c.K, c.k - c.K * testing::vector(s.a))));
      tau.push_back(s.tau), f.push_back(s.f_ext);
    }
    Numbers independent, all(m.nv, 1.0), some(m.nv, 1.0);
    for (char y : l.independent) independent.push_back(y);
    some.back() = 0;
    for (const Numbers& motors : {all, some}) {
      Numbers uniforms = independent;
      uniforms.insert(uniforms.end(), motors.begin(), motors.end());
      uniforms.push_back(1e-11);
      const std::vector<Batch> id = run(e, "id_loops", {t.q, t.v, a, tau, f}, uniforms);
      Numbers least = motors;
      least.push_back(1e-11);
      const std::vector<Batch> light = run(e, "id_loops_least_constraint", {t.q, t.v, a, tau, f}, least);
      for (const Batch& forces : {id[0], light[0]}) {
        const std::vector<Batch> fd = run(e, "fd_loops", {t.q, t.v, forces, f}, {0, 1e-11});
        for (long i = 0; i < n; i++)
          for (int k = 0; k < m.nv; k++) EXPECT_NEAR(fd[0][i][k], a[i][k], 1e-8 * (1 + largest(a)));
      }
      for (long i = 0; i < n; i++) {
        EXPECT_EQ(id[1][i][0], l.mobility);
        const testing::Constraints c = testing::constraints(m, l.loops, t.q[i], t.v[i]);
        if (motors == all) {
          EXPECT_LT((c.K * testing::vector(id[0][i])).norm(), 1e-8 * (1 + testing::vector(id[0][i]).norm()));
          EXPECT_LT(testing::vector(light[1][i]).norm(), 1e-8);  // motors everywhere need no constraints
        } else {
          EXPECT_EQ(id[0][i].back(), tau[i].back());
        }
        EXPECT_LE(testing::vector(id[0][i]).norm(), testing::vector(light[0][i]).norm() * (1 + 1e-9));
      }
    }
  }
}

// independent_map: K G = 0, K g = k, unit rows for the independent coordinates.
TEST(ClosedRobots, IndependentCoordinatesGiveAdmittedMotions) {
  constexpr long n = 9;
  for (const Linkage& l : {testing::four_bar(), testing::five_bar(), testing::parallel_leg()}) {
    SCOPED_TRACE(l.name);
    const Mechanism t(l, n, 0.05);
    const Model<double>& m = t.robot.model;
    Evaluator e(t.robot, {.threads = 1});
    Numbers uniforms;
    for (char y : l.independent) uniforms.push_back(y);
    uniforms.insert(uniforms.end(), {20, 1e-11});
    const std::vector<Batch> map = run(e, "independent_map", {t.q, t.v}, uniforms);
    for (long i = 0; i < n; i++) {
      const testing::Constraints c = testing::constraints(m, l.loops, t.q[i], t.v[i], 20);
      const RowMatrix G = Eigen::Map<const RowMatrix>(map[0][i].data(), m.nv, m.nv);
      EXPECT_LT((c.K * G).norm(), 1e-9);
      EXPECT_LT((c.K * testing::vector(map[1][i]) - c.k).norm(), 1e-9 * (1 + c.k.norm()));
      EXPECT_EQ(map[2][i][0], m.nv - l.mobility);
      for (int k = 0; k < m.nv; k++)
        for (int j = 0; j < m.nv; j++)
          if (l.independent[k]) EXPECT_EQ(G(k, j), k == j);
          else if (!l.independent[j]) EXPECT_EQ(G(k, j), 0);
    }
  }
}

// The fingers of a file with a mimic joint, through time: one follows the other exactly, and energy is kept.
TEST(ClosedRobots, AMimicGripperMovesAsOne) {
  Robot robot = load("panda", {.mimic = UrdfOptions::Mimic::kCouple});
  Model<double>& m = robot.model;
  for (auto* numbers : {&m.damping, &m.friction}) std::fill(numbers->begin(), numbers->end(), 0.0);
  for (auto* numbers : {&m.lower, &m.upper})
    for (double& x : *numbers) x = x < 0 ? -INFINITY : INFINITY;
  for (double& x : m.lower) x = -INFINITY;
  constexpr long n = 5;
  Evaluator e(robot, {.threads = 1});
  Batch q, u;
  for (long i = 0; i < n; i++) {
    const testing::State s = testing::random_state(robot, static_cast<unsigned>(i + 1));
    q.push_back(s.q);
    u.push_back(Numbers(s.v.begin(), s.v.begin() + 8));
    u.back()[7] = 0.05 * static_cast<double>(i);
  }
  q = run(e, "coupled_position", {q})[0];
  for (const Numbers& x : q) EXPECT_EQ(x[8], x[7]);
  Batch none = same(n, Numbers(m.nv, 0.0));
  const auto energy = [&] { return run(e, "energy", {q, run(e, "coupled_velocity", {u})[0]})[0]; };
  const Batch before = energy(), start = q;
  for (int k = 0; k < 10; k++) {
    const std::vector<Batch> next = run(e, "coupled_step", {q, u, none, none}, step_numbers(m, 2e-4), 50);
    q = next[0], u = next[1];
    for (const Numbers& x : q) ASSERT_EQ(x[8], x[7]);
  }
  const Batch after = energy();
  for (long i = 0; i < n; i++) {
    EXPECT_NEAR(sum_of(after[i]), sum_of(before[i]), 5e-3 * (1 + before[i][0] + after[i][0]));
    EXPECT_GT(std::fabs(q[i][7] - start[i][7]), 1e-4);
  }
  // a force on the follower alone drives both: G^T tau
  none[0][8] = 3;
  Batch driven = same(n, Numbers(m.nv, 0.0));
  driven[0][7] = 3;
  const Batch f = same(n, Numbers(6 * m.nb, 0.0));
  const std::vector<Batch> x = run(e, "fd_coupled", {q, u, none, f}), y = run(e, "fd_coupled", {q, u, driven, f});
  for (int k = 0; k < m.nv; k++) EXPECT_NEAR(x[1][0][k], y[1][0][k], 1e-9 * largest(x[1]));
  EXPECT_EQ(x[1][0][8], x[1][0][7]);
  // and inverse dynamics gives it back
  const Batch tau_u = run(e, "coupled_id", {q, u, x[0], f})[0];
  for (int j = 0; j < 8; j++) EXPECT_NEAR(tau_u[0][j], j == 7 ? 3 : 0, 1e-8);
}

TEST(ClosedRobots, RobotsWithoutLoopsAreToldSo) {
  Evaluator e(load("iiwa14"), {.threads = 1});
  const auto message = [&](const char* op) -> std::string {
    try {
      e.run(op, {}, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("fd_loops"), "fd_loops: the robot has no kinematic loops, expected some (close_loops)");
  EXPECT_EQ(message("fd_coupled"), "fd_coupled: the robot has no coupled joints, expected some (couple)");
}

}  // namespace
}  // namespace featherstorm::test_closed_robots
