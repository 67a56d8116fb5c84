// Closed loops and coupled joints through the engine, by physics: loops stay closed, energy is kept, motor forces give the
// motion they were computed for, mimic joints move as one.
#include <gtest/gtest.h>

#include <cmath>

#include "host/load/load.h"
#include "tests/support/robots/linkages.h"
#include "tests/support/tools/message.h"
#include "tests/support/tools/run_batch.h"

namespace featherstorm::test_closed_robots {
namespace {

using Eigen::VectorXd;
using testing::Batch;
using testing::Linkage;
using testing::Numbers;
using testing::RowMatrix;
using testing::run_batch;

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
      q.push_back(
          testing::closed(m, l.loops, testing::moved(m, l.q, testing::admissible(m, l.loops, l.q, s.a), spread)));
      v.push_back(testing::admissible(m, l.loops, q.back(), s.v));
    }
  }
};

TEST(ClosedRobots, FourBarsStayClosedAndKeepTheirEnergy) {
  constexpr long n = 40;
  const Mechanism t(testing::four_bar(), n, 0.1);
  const Model<double>& m = t.robot.model;
  Evaluator measuring(t.robot, {.threads = 1});
  const Batch before = run_batch(measuring, "energy", {t.q, t.v})[0], none = same(n, Numbers(m.nv, 0.0));
  for (bool assemble : {false, true}) {
    Evaluator e(t.robot, {.threads = 1, .assemble = assemble});
    const auto after = [&](double rate, Batch& v) {
      Numbers uniforms = step_numbers(m, 1e-3);
      uniforms.insert(uniforms.end(), {rate, 1e-11});
      Batch q = t.q;
      v = t.v;
      for (int k = 0; k < 20; k++) {  // 1000 steps
        const std::vector<Batch> next = run_batch(e, "loop_step", {q, v, none, none}, uniforms, 50);
        q = next[0], v = next[1];
      }
      return q;
    };
    Batch v;
    const Batch q = after(50, v);
    const double error = largest(run_batch(e, "loop_constraints", {q, v}, {50})[2]);
    EXPECT_LT(error, 2e-4);
    // without Baumgarte's terms they open
    Batch unused;
    const Batch open = after(0, unused);
    EXPECT_GT(largest(run_batch(e, "loop_constraints", {open, unused}, {0})[2]), 10 * error);
    const Batch energy = run_batch(measuring, "energy", {q, v})[0];
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
      const testing::LoopRows c = testing::constraints(m, l.loops, t.q[i], t.v[i]);
      a.push_back(
          testing::numbers(testing::vector(s.a) + testing::least_squares(c.K, c.k - c.K * testing::vector(s.a))));
      tau.push_back(s.tau), f.push_back(s.f_ext);
    }
    Numbers independent, all(m.nv, 1.0), some(m.nv, 1.0);
    for (char y : l.independent) independent.push_back(y);
    some.back() = 0;
    for (const Numbers& motors : {all, some}) {
      Numbers uniforms = independent;
      uniforms.insert(uniforms.end(), motors.begin(), motors.end());
      uniforms.push_back(1e-11);
      const std::vector<Batch> id = run_batch(e, "id_loops", {t.q, t.v, a, tau, f}, uniforms);
      Numbers least = motors;
      least.push_back(1e-11);
      const std::vector<Batch> light = run_batch(e, "id_loops_least_constraint", {t.q, t.v, a, tau, f}, least);
      for (const Batch& forces : {id[0], light[0]}) {
        const std::vector<Batch> fd = run_batch(e, "fd_loops", {t.q, t.v, forces, f}, {0, 1e-11});
        for (long i = 0; i < n; i++)
          for (int k = 0; k < m.nv; k++) EXPECT_NEAR(fd[0][i][k], a[i][k], 1e-8 * (1 + largest(a)));
      }
      for (long i = 0; i < n; i++) {
        EXPECT_EQ(id[1][i][0], l.mobility);
        const testing::LoopRows c = testing::constraints(m, l.loops, t.q[i], t.v[i]);
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
    const std::vector<Batch> map = run_batch(e, "independent_map", {t.q, t.v}, uniforms);
    for (long i = 0; i < n; i++) {
      const testing::LoopRows c = testing::constraints(m, l.loops, t.q[i], t.v[i], 20);
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
  q = run_batch(e, "coupled_position", {q})[0];
  for (const Numbers& x : q) EXPECT_EQ(x[8], x[7]);
  Batch none = same(n, Numbers(m.nv, 0.0));
  const auto energy = [&] { return run_batch(e, "energy", {q, run_batch(e, "coupled_velocity", {u})[0]})[0]; };
  const Batch before = energy(), start = q;
  for (int k = 0; k < 10; k++) {
    const std::vector<Batch> next = run_batch(e, "coupled_step", {q, u, none, none}, step_numbers(m, 2e-4), 50);
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
  const std::vector<Batch> x = run_batch(e, "fd_coupled", {q, u, none, f}),
                           y = run_batch(e, "fd_coupled", {q, u, driven, f});
  for (int k = 0; k < m.nv; k++) EXPECT_NEAR(x[1][0][k], y[1][0][k], 1e-9 * largest(x[1]));
  EXPECT_EQ(x[1][0][8], x[1][0][7]);
  // and inverse dynamics gives it back
  const Batch tau_u = run_batch(e, "coupled_id", {q, u, x[0], f})[0];
  for (int j = 0; j < 8; j++) EXPECT_NEAR(tau_u[0][j], j == 7 ? 3 : 0, 1e-8);
}

// A joint follows a given acceleration: fd_loops under the forces that come out gives the same motion, and the constraint forces
// are what inverse dynamics asks for beyond them. Neither configuration nor velocity is on the constraints, so `rate` counts.
TEST(ClosedRobots, HybridDynamicsIsForwardDynamicsUnderItsForces) {
  constexpr long n = 7;
  constexpr double rate = 20, tolerance = 1e-11;
  for (const Linkage& l : {testing::five_bar(), testing::parallel_leg()}) {
    SCOPED_TRACE(l.name);
    const Mechanism t(l, n, 0.05);
    const Model<double>& m = t.robot.model;
    Evaluator e(t.robot, {.threads = 1});
    Batch q, v, a, tau, f;
    for (long i = 0; i < n; i++) {
      const testing::State s = testing::random_state(t.robot, static_cast<unsigned>(200 + i));
      q.push_back(testing::moved(m, t.q[i], s.v, 1e-3)), v.push_back(s.v);
      a.push_back(s.a), tau.push_back(s.tau), f.push_back(s.f_ext);
    }
    int driven = m.nv - 1;
    while (!l.independent[driven]) driven--;
    Numbers uniforms(m.nv, 0.0);
    uniforms[driven] = 1;
    uniforms.insert(uniforms.end(), {rate, tolerance});
    for (long i = 0; i < n; i++)  // what must not be read
      for (int k = 0; k < m.nv; k++) (k == driven ? tau : a)[i][k] = NAN;
    const std::vector<Batch> hybrid = run_batch(e, "hybrid_loops", {q, v, a, tau, f}, uniforms);
    const std::vector<Batch> fd = run_batch(e, "fd_loops", {q, v, hybrid[1], f}, {rate, tolerance});
    const Batch needed = run_batch(e, "rnea_f_ext", {q, v, hybrid[0], f})[0];
    for (long i = 0; i < n; i++) {
      const testing::LoopRows c = testing::constraints(m, l.loops, q[i], v[i], rate);
      const VectorXd lambda = testing::vector(hybrid[2][i]), violation = testing::vector(hybrid[4][i]);
      const double motion = 1e-8 * (1 + largest(fd[0])), force = 1e-8 * (1 + largest(needed));
      EXPECT_LT((testing::vector(fd[0][i]) - testing::vector(hybrid[0][i])).norm(), motion);
      EXPECT_LT((c.K.transpose() * lambda - testing::vector(needed[i]) + testing::vector(hybrid[1][i])).norm(), force);
      EXPECT_GT((c.K.transpose() * lambda).norm(), 1e3 * force);
      EXPECT_LT((c.K * testing::vector(hybrid[0][i]) - c.k - violation).norm(), motion);
      EXPECT_EQ(hybrid[3][i][0], m.nv - l.mobility);
      for (int k = 0; k < m.nv; k++) {
        const int which = k == driven ? 0 : 1;
        EXPECT_EQ(hybrid[which][i][k], (which == 0 ? a : tau)[i][k]);
      }
    }
  }
}

// go2 with two loops between links, open, their frames turned and shifted.
struct TiedQuadruped {
  Robot robot = load("go2");
  std::vector<LoopSpec> specs;
  TiedQuadruped() {
    const auto place = [](double angle, const Vec3d& axis, const Vec3d& r) {
      return Placement<double>{Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix(), r};
    };
    specs.push_back({"front", LoopType::Spherical, "FL_calf", place(0.7, {1, 2, 3}, {0.1, 0.2, -0.1}), "FR_calf",
                     place(-1.1, {3, -1, 1}, {-0.05, 0.03, 0.2})});
    specs.push_back({"cross", LoopType::Revolute, "base", place(2.1, {1, 0, -2}, {0.3, 0, 0.1}), "RR_thigh",
                     place(0.4, {0, 1, 1}, {0.02, -0.1, 0.07})});
    robot.model.loops = close_loops(robot, specs);
  }
  // The frames of a loop from the poses of all frames.
  Placement<double> relative(const LoopSpec& l, const Numbers& poses) const {
    const auto at = [&](const std::string& link) {
      const double* p = &poses[12 * robot.frame(link)];
      Placement<double> X;
      X.r = Vec3d(p);
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) X.R(i, j) = p[3 + 3 * i + j];
      return X;
    };
    const auto times = [](const Placement<double>& A, const Placement<double>& B) {
      return Placement<double>{Mat3d(A.R * B.R), Vec3d(A.r + A.R * B.r)};
    };
    const Placement<double> P = times(at(l.predecessor), l.X_P), S = times(at(l.successor), l.X_S);
    return {Mat3d(P.R.transpose() * S.R), Vec3d(P.R.transpose() * (S.r - P.r))};
  }
};

TEST(ClosedRobots, LoopPlacementsAreThoseOfTheFramesInTheWorld) {
  const TiedQuadruped t;
  Evaluator e(t.robot, {.threads = 1});
  Batch q;
  for (unsigned i = 0; i < 5; i++) q.push_back(testing::random_state(t.robot, i + 1).q);
  const Batch found = run_batch(e, "loop_placements", {q})[0], poses = run_batch(e, "forward_kinematics", {q})[0];
  for (std::size_t i = 0; i < q.size(); i++)
    for (std::size_t l = 0; l < t.specs.size(); l++) {
      const Placement<double> X = t.relative(t.specs[l], poses[i]);
      for (int k = 0; k < 3; k++) {
        EXPECT_NEAR(found[i][12 * l + k], X.r(k), 1e-12);
        for (int j = 0; j < 3; j++) EXPECT_NEAR(found[i][12 * l + 3 + 3 * k + j], X.R(k, j), 1e-12);
      }
    }
}

// tau . v = sum of f . (the successor frame's velocity beside the predecessor's), by differences of loop_placements.
TEST(ClosedRobots, LoopForcesDoTheWorkOfTheirJoints) {
  const TiedQuadruped t;
  const Model<double>& m = t.robot.model;
  Evaluator e(t.robot, {.threads = 1});
  constexpr double h = 1e-5;
  Batch q, f, v, before, after;
  for (unsigned i = 0; i < 5; i++) {
    const testing::State s = testing::random_state(t.robot, i + 1), other = testing::random_state(t.robot, i + 50);
    q.push_back(s.q), v.push_back(s.v), f.push_back(Numbers(other.a.begin(), other.a.begin() + 6 * m.loops.nl));
    before.push_back(testing::moved(m, s.q, s.v, -h)), after.push_back(testing::moved(m, s.q, s.v, h));
  }
  const Batch tau = run_batch(e, "loop_forces", {q, f})[0], X = run_batch(e, "loop_placements", {q})[0],
              Xa = run_batch(e, "loop_placements", {before})[0], Xb = run_batch(e, "loop_placements", {after})[0];
  for (std::size_t i = 0; i < q.size(); i++) {
    double power = 0;
    for (int l = 0; l < m.loops.nl; l++) {
      Mat3d R, Rd;
      Vec3d rd;
      for (int k = 0; k < 3; k++) {
        const auto rate = [&](int c) { return (Xb[i][12 * l + c] - Xa[i][12 * l + c]) / (2 * h); };
        rd(k) = rate(k);
        for (int j = 0; j < 3; j++) R(k, j) = X[i][12 * l + 3 + 3 * k + j], Rd(k, j) = rate(3 + 3 * k + j);
      }
      const Mat3d W = R.transpose() * Rd;  // of the successor, its axes
      const Vec3d n(&f[i][6 * l]), force(&f[i][6 * l + 3]), w(W(2, 1), W(0, 2), W(1, 0));
      power += n.dot(w) + force.dot(Vec3d(R.transpose() * rd));
    }
    double work = 0;
    for (int k = 0; k < m.nv; k++) work += tau[i][k] * v[i][k];
    EXPECT_GT(std::fabs(power), 1e-2);
    EXPECT_NEAR(work, power, 1e-7 * (1 + std::fabs(power)));
  }
}

// G^T tau: the same power as tau at velocities G u, and coupled_id of what rnea gives.
TEST(ClosedRobots, CoupledForcesHaveThePowerOfTheForcesTheyStandFor) {
  const Robot robot = testing::gripper();
  const Model<double>& m = robot.model;
  const int nu = m.coupling.nu;
  Evaluator e(robot, {.threads = 1});
  const testing::State s = testing::random_state(robot, 1);
  const Numbers rate(s.a.begin(), s.a.begin() + nu), speed(s.v.begin(), s.v.begin() + nu);
  const Numbers coupled = run_batch(e, "coupled_force", {{s.tau}})[0][0];
  for (int j = 0; j < nu; j++) {
    Numbers unit(nu, 0.0);
    unit[j] = 1;
    const Numbers v = run_batch(e, "coupled_velocity", {{unit}})[0][0];
    double power = 0;
    for (int k = 0; k < m.nv; k++) power += s.tau[k] * v[k];
    EXPECT_NEAR(coupled[j], power, 1e-13 * (1 + std::fabs(power)));
  }
  const Batch q = run_batch(e, "coupled_position", {{s.q}})[0], v = run_batch(e, "coupled_velocity", {{speed}})[0],
              a = run_batch(e, "coupled_velocity", {{rate}})[0];
  const Batch tau = run_batch(e, "rnea_f_ext", {q, v, a, {s.f_ext}})[0];
  const Numbers found = run_batch(e, "coupled_force", {tau})[0][0],
                expected = run_batch(e, "coupled_id", {q, {speed}, {rate}, {s.f_ext}})[0][0];
  for (int j = 0; j < nu; j++) EXPECT_NEAR(found[j], expected[j], 1e-11 * (1 + std::fabs(expected[j])));
}

TEST(ClosedRobots, RobotsWithoutLoopsAreToldSo) {
  Evaluator e(load("iiwa14"), {.threads = 1});
  const auto message = [&](const char* op) { return testing::message([&] { e.run(op, {}, {}); }); };
  EXPECT_EQ(message("fd_loops"), "fd_loops: the robot has no kinematic loops, expected some (close_loops)");
  EXPECT_EQ(message("fd_coupled"), "fd_coupled: the robot has no coupled joints, expected some (couple)");
}

}  // namespace
}  // namespace featherstorm::test_closed_robots
