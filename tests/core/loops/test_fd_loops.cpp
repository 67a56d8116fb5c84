#include <gtest/gtest.h>

#include "core/loops/fd_loops.h"

#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/rnea.h"
#include "core/kinematics/energy.h"
#include "core/loops/independent.h"
#include "core/reference/loops/loop_closure.h"
#include "core/reference/loops/null_space.h"
#include "core/scalar/pack.h"
#include "tests/support/robots/linkages.h"

namespace featherstorm::test_fd_loops {
namespace {

using namespace testing;
using Eigen::VectorXd;

constexpr double tolerance = 1e-11;

struct Accelerations {
  VectorXd qdd, lambda;
  double rank;
};
Accelerations run_fd(const Model<double>& m, const Loops<double>& loops, const Numbers& q, const Numbers& v,
                     const Numbers& tau, const Numbers& f_ext, double rate) {
  Accelerations r{VectorXd::Constant(m.nv, NAN), VectorXd::Constant(loops.nc, NAN), NAN};
  fd_loops(m, loops, q.data(), v.data(), tau.data(), f_ext.data(), rate, tolerance, r.qdd.data(), r.lambda.data(),
           &r.rank);
  return r;
}
Accelerations run_fd(const Linkage& l, const State& s, double rate) {
  return run_fd(l.model(), l.loops, s.q, s.v, s.tau, s.f_ext, rate);
}

TEST(FdLoops, AllMethodsAgreeAndSatisfyTheEquationsOfMotion) {
  for (const Linkage& l : linkages())
    for (unsigned seed = 1; seed <= 8; seed++) {
      SCOPED_TRACE(l.name + ", seed " + std::to_string(seed));
      const State s = admissible_state(l, seed);
      const double rate = seed % 2 ? 20 : 0;
      const ClosedLoopSystem e = system_of(l, s, rate);
      const Accelerations r = run_fd(l, s, rate);
      const double scale = 1 + r.qdd.norm(), force = 1 + (e.H * r.qdd).norm() + e.C.norm() + vector(s.tau).norm();
      EXPECT_EQ(r.rank, l.model().nv - l.mobility);
      EXPECT_LT((e.K * r.qdd - e.k).norm(), 1e-9 * (1 + e.k.norm() + e.K.norm() * scale));
      EXPECT_LT((e.H * r.qdd + e.C - vector(s.tau) - e.K.transpose() * r.lambda).norm(), 1e-10 * force);
      const KktSolution kkt = fd_loops_kkt(e, vector(s.tau));
      EXPECT_LT((kkt.qdd - r.qdd).norm(), 1e-8 * scale);
      EXPECT_LT((e.K.transpose() * (kkt.lambda - r.lambda)).norm(), 1e-8 * force);
      EXPECT_LT((fd_loops_null_space(e, vector(s.tau)) - r.qdd).norm(), 1e-8 * scale);
      VectorXd qdd = VectorXd::Constant(l.model().nv, NAN);
      double rank = NAN;
      fd_independent(l.model(), l.loops, l.independent, s.q.data(), s.v.data(), s.tau.data(), s.f_ext.data(), rate,
                     tolerance, qdd.data(), &rank);
      EXPECT_EQ(rank, l.model().nv - l.mobility);
      EXPECT_LT((qdd - r.qdd).norm(), 1e-8 * scale);
      // constraint forces do no work
      EXPECT_NEAR((e.K.transpose() * r.lambda).dot(vector(s.v)), 0, 1e-9 * force * vector(s.v).norm());
    }
}

TEST(NullSpace, SolvesTheConstraintEquationForEveryY) {
  for (const Linkage& l : linkages()) {
    SCOPED_TRACE(l.name);
    const State s = admissible_state(l, 4);
    const ClosedLoopSystem e = system_of(l, s, 0);
    const NullSpace x = null_space(e.K, e.k);
    EXPECT_EQ(x.rank, l.model().nv - l.mobility);
    EXPECT_LT((e.K * x.G).norm(), 1e-12 * x.G.norm() * e.K.norm());
    EXPECT_LT((e.K * x.g - e.k).norm(), 1e-10 * (1 + e.k.norm()));
    // y is a subset of x
    for (int j = 0; j < static_cast<int>(x.independent.size()); j++) {
      EXPECT_EQ(x.G.row(x.independent[j]), VectorXd::Unit(x.G.cols(), j).transpose());
      EXPECT_EQ(x.g(x.independent[j]), 0);
    }
    const Mobility mob = mobility(l.model(), l.loops, l.q.data());
    EXPECT_EQ(mob.freedoms, l.mobility);
    EXPECT_EQ(mob.redundant, l.loops.nc - (l.model().nv - l.mobility));
  }
  // a planar four-bar in space: n = 3, n^c = 5, r = 2 (section 8.10)
  const Mobility mob = mobility(four_bar().model(), four_bar().loops, four_bar().q.data());
  EXPECT_EQ(mob.rank, 2);
  EXPECT_EQ(mob.redundant, 3);
}

// A parallelogram: flat, its mobility is 2, otherwise 1.
Linkage parallelogram() {
  ModelBuilder b;
  b.add_link(bar("crank", 0.3, 1)), b.add_link(bar("coupler", 0.8, 2)), b.add_link(bar("rocker", 0.3, 1));
  b.add_joint(hinge("a", "", "crank", {0, 0, 0})), b.add_joint(hinge("b", "crank", "coupler", {0.3, 0, 0}));
  b.add_joint(hinge("d", "", "rocker", {0.8, 0, 0}));
  return finish("parallelogram", b, {pin("coupler", {0.8, 0, 0}, "rocker", {0.3, 0, 0})}, {0.4, -0.4, 0.4}, {1, 0, 0},
                {1, 0, 0}, 1);
}

TEST(FdLoops, FindsTheRankOfEachConfiguration) {
  const Linkage l = parallelogram();
  const Numbers rest(3, 0.0), f_ext(18, 0.0);
  for (double angle : {0.0, 0.4, 1.0}) {
    const Numbers q{angle, -angle, angle}, tau{1, 2, -1};
    const Accelerations x = run_fd(l.model(), l.loops, q, rest, tau, f_ext, 0);
    EXPECT_EQ(x.rank, angle == 0 ? 1 : 2);
    EXPECT_EQ(mobility(l.model(), l.loops, q.data()).rank, x.rank);
    const ClosedLoopSystem e = closed_loop_system(l.model(), l.loops, q.data(), rest.data(), f_ext.data(), 0);
    EXPECT_LT((fd_loops_kkt(e, vector(tau)).qdd - x.qdd).norm(), 1e-10 * (1 + x.qdd.norm()));
  }
}

TEST(FdLoops, InstancesOfDifferentRankShareAPack) {
  using T = Pack<double, 2>;
  const Linkage l = parallelogram();
  const double angle[2] = {0, 0.4};
  std::vector<T> q(3), v(3, T(0)), tau{T(1), T(2), T(-1)}, f_ext(18, T(0.5)), qdd(3), lambda(5), rank(1);
  for (int i = 0; i < 2; i++) set_lane(q[0], i, angle[i]), set_lane(q[1], i, -angle[i]), set_lane(q[2], i, angle[i]);
  fd_loops(l.model(), l.loops, q.data(), v.data(), tau.data(), f_ext.data(), 10.0, tolerance, qdd.data(), lambda.data(),
           rank.data());
  for (int i = 0; i < 2; i++) {
    const Numbers qi{angle[i], -angle[i], angle[i]};
    const Accelerations x = run_fd(l.model(), l.loops, qi, Numbers(3, 0.0), {1, 2, -1}, Numbers(18, 0.5), 10);
    EXPECT_EQ(lane(rank[0], i), i + 1);
    for (int k = 0; k < 3; k++) EXPECT_NEAR(lane(qdd[k], i), x.qdd(k), 1e-12 * x.qdd.norm());
  }
}

// The mechanism of Figure 8.3: an arm on a base hinge, moved by a linear actuator, and a forearm.
struct Triangle {
  static constexpr double l1 = 0.7, l2 = 0.5;
  int arm, cylinder, piston, forearm;  // coordinates
  template <class Y, class Yd, class Q, class Columns, class Bias>
  void operator()(const Y& y, const Yd& yd, Q q, Columns G, Bias g) const {
    using T = ScalarOf<Y>;
    T s, c;
    sincos(T(y[0]), s, c);
    const T d2 = T(l1 * l1 + l2 * l2) - c * (2 * l1 * l2), d = sqrt(d2), r = rcp(d), r2 = r * r;
    const T u1 = (T(l2 * l2) - c * (l1 * l2)) * r2, u2 = s * r * (l1 * l2), w = yd[0] * yd[0];
    q[arm] = y[0], q[cylinder] = atan2(s * l2, c * l2 - T(l1)), q[piston] = d, q[forearm] = y[1];
    for (int k = 0; k < 8; k++) G[k] = T(0.0);
    G[2 * arm] = T(1.0), G[2 * cylinder] = u1, G[2 * piston] = u2, G[2 * forearm + 1] = T(1.0);
    for (int k = 0; k < 4; k++) g[k] = T(0.0);
    g[cylinder] = s * r2 * r2 * w * ((l1 * l1 - l2 * l2) * l1 * l2), g[piston] = (c * (l1 * l2) - u2 * u2) * r * w;
  }
};
struct TriangleRobot {
  Robot robot;
  Loops<double> loops;
  Triangle gamma;
};
TriangleRobot triangle() {
  ModelBuilder b;
  b.set_gravity({0, -9.81, 0});
  b.add_link(bar("arm", 0.9, 2)), b.add_link(bar("cylinder", 0.3, 1)), b.add_link(bar("piston", 0.2, 0.4));
  b.add_link(bar("forearm", 0.5, 1));
  JointSpec slide{"piston", JointType::Prismatic, "cylinder", "piston"};
  slide.axis = {1, 0, 0};
  b.add_joint(hinge("arm", "", "arm", {0, 0, 0}));
  b.add_joint(hinge("cylinder", "", "cylinder", {Triangle::l1, 0, 0}));
  b.add_joint(slide), b.add_joint(hinge("forearm", "arm", "forearm", {0.9, 0, 0}));
  TriangleRobot t{b.build(), {}, {}};
  t.loops = close_loops(t.robot, {pin("piston", {0, 0, 0}, "arm", {Triangle::l2, 0, 0})});
  auto v = [&](const char* name) { return t.robot.model.body[t.robot.joint(name)].v; };
  t.gamma = {v("arm"), v("cylinder"), v("piston"), v("forearm")};
  return t;
}

TEST(LoopClosure, ClosesTheTriangleOfFigure83) {
  const TriangleRobot t = triangle();
  const Model<double>& m = t.robot.model;
  Random random(8);
  for (int trial = 0; trial < 20; trial++) {
    const Numbers y{random.uniform(-3, 3), random.uniform(-3, 3)}, yd{random.uniform(-2, 2), random.uniform(-2, 2)};
    Numbers tau(4), f_ext(24), ydd(2, NAN), q(4, NAN), qd(4, NAN), qdd(4, NAN);
    for (double& x : tau) x = random.uniform(-5, 5);
    for (double& x : f_ext) x = random.uniform(-5, 5);
    fd_closure(m, t.gamma, 2, y.data(), yd.data(), tau.data(), f_ext.data(), ydd.data(), q.data(), qd.data(),
               qdd.data());
    const LoopRows c = constraints(m, t.loops, q, qd);
    EXPECT_LT(c.delta.norm(), 1e-14);
    EXPECT_LT((c.K * vector(qd)).norm(), 1e-13);
    // G and g are those of gamma
    auto at = [&](double h) {
      Numbers q(4), G(8), g(4);
      t.gamma(sum(y, yd, h).data(), yd.data(), q.data(), G.data(), g.data());
      return q;
    };
    const VectorXd rate = derivative([&](double h) { return vector(at(h)); });
    EXPECT_LT((rate - vector(qd)).norm(), 1e-9 * (1 + rate.norm()));
    EXPECT_LT((c.K * vector(qdd) - c.k).norm(), 1e-11 * (1 + c.k.norm() + vector(qdd).norm()));
    EXPECT_LT((run_fd(m, t.loops, q, qd, tau, f_ext, 0).qdd - vector(qdd)).norm(), 1e-9 * (1 + vector(qdd).norm()));
  }
}

}  // namespace
}  // namespace featherstorm::test_fd_loops
