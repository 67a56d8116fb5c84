#include <gtest/gtest.h>

#include "core/loops/fd_loops.h"
#include "core/loops/hybrid_loops.h"
#include "core/loops/id_loops.h"
#include "core/reference/loops/null_space.h"
#include "tests/support/robots/linkages.h"

namespace featherstorm::test_hybrid_loops {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double tolerance = 1e-11;

// A linkage in an admitted motion.
struct Task {
  Linkage l;
  State s;
  ClosedLoopSystem e;
  int n, nc;
  Task(const Linkage& linkage, unsigned seed)
      : l(linkage), s(admissible_state(l, seed)), e(system_of(l, s)), n(l.model().nv), nc(l.loops.nc) {
    s.a = numbers(vector(s.a) + least_squares(e.K, e.k - e.K * vector(s.a)));
  }
  bool given(const std::vector<char>& p, int k) const { return p[l.model().dof_body[k]]; }
};
// Coordinates marked by the joints of marked bodies (nb + 1).
std::vector<char> coordinates(const Model<double>& m, const std::vector<char>& p) {
  std::vector<char> marks;
  for (int k = 0; k < m.nv; k++) marks.push_back(p[m.dof_body[k]]);
  return marks;
}
struct Result {
  VectorXd qdd, tau, lambda, violation;
  double rank = NAN;
};
Result run_hybrid(const Task& t, const std::vector<char>& p, const VectorXd& qdd, const VectorXd& tau,
                  double rate = 0) {
  Result r{VectorXd::Constant(t.n, NAN), VectorXd::Constant(t.n, NAN), VectorXd::Constant(t.nc, NAN),
           VectorXd::Constant(t.nc, NAN)};
  VectorXd a = qdd, f = tau;
  for (int k = 0; k < t.n; k++) (t.given(p, k) ? f : a)(k) = NAN;  // what must not be read
  hybrid_loops(t.l.model(), t.l.loops, coordinates(t.l.model(), p), t.s.q.data(), t.s.v.data(), a.data(), f.data(),
               t.s.f_ext.data(), rate, tolerance, r.qdd.data(), r.tau.data(), r.lambda.data(), &r.rank,
               r.violation.data());
  return r;
}
// The rows of a that belong to the marked coordinates.
MatrixXd rows_of(const MatrixXd& a, const std::vector<int>& k) {
  MatrixXd r(k.size(), a.cols());
  for (std::size_t i = 0; i < k.size(); i++) r.row(i) = a.row(k[i]);
  return r;
}

TEST(HybridLoops, SolvesTheEquationsOfMotionWithTheShortestForcesOfPrescribedJoints) {
  for (const Linkage& l : linkages())
    for (unsigned seed = 1; seed <= 8; seed++) {
      SCOPED_TRACE(l.name + ", seed " + std::to_string(seed));
      const Task t(l, seed);
      Random random(seed);
      std::vector<char> p(l.model().nb + 1, 0);
      for (int i = 1; i <= l.model().nb; i++) p[i] = random.chance(0.4);
      // prescribed accelerations that agree with the loops, forces that do not know of them
      const Result r = run_hybrid(t, p, vector(t.s.a), vector(t.s.tau));
      std::vector<int> k1, k2;
      for (int k = 0; k < t.n; k++) (t.given(p, k) ? k2 : k1).push_back(k);
      for (int k : k1) EXPECT_EQ(r.tau(k), t.s.tau[k]);
      for (int k : k2) EXPECT_EQ(r.qdd(k), t.s.a[k]);
      const double scale = 1 + r.qdd.norm(), force = 1 + (t.e.H * r.qdd).norm() + t.e.C.norm() + r.tau.norm();
      EXPECT_LT((t.e.K * r.qdd - t.e.k).norm(), 1e-8 * (1 + t.e.k.norm() + t.e.K.norm() * scale));
      EXPECT_LT((r.violation - (t.e.K * r.qdd - t.e.k)).norm(), 1e-12 * (1 + t.e.k.norm() + t.e.K.norm() * scale));
      EXPECT_LT((t.e.H * r.qdd + t.e.C - r.tau - t.e.K.transpose() * r.lambda).norm(), 1e-9 * force);
      // K1 by orthogonal decomposition: its rank, and the shortest of all tau2 that solve the equations
      const MatrixXd K1 = rows_of(t.e.K.transpose(), k1).transpose(), K2 = rows_of(t.e.K.transpose(), k2).transpose();
      Eigen::FullPivHouseholderQR<MatrixXd> qr(K1.transpose());
      qr.setThreshold(1e-9);
      EXPECT_EQ(r.rank, k1.empty() ? 0 : qr.rank());
      if (k2.empty()) continue;
      const VectorXd w2 = rows_of(t.e.H * r.qdd + t.e.C, k2), w1 = rows_of(t.e.H * r.qdd + t.e.C - r.tau, k1);
      // tau2 = w2 - K2^T (lambda0 + null x) with K1^T lambda0 = w1
      const VectorXd lambda0 = k1.empty() ? VectorXd(VectorXd::Zero(t.nc)) : least_squares(K1.transpose(), w1);
      Eigen::JacobiSVD<MatrixXd> svd(k1.empty() ? MatrixXd(MatrixXd::Zero(1, t.nc)) : MatrixXd(K1.transpose()),
                                     Eigen::ComputeFullV);
      svd.setThreshold(1e-9);
      const MatrixXd null = svd.matrixV().rightCols(t.nc - svd.rank());
      VectorXd tau2 = w2 - K2.transpose() * lambda0;
      const MatrixXd shown = K2.transpose() * null;
      if (shown.norm() > 1e-9) tau2 -= shown * least_squares(shown, tau2);
      EXPECT_LT((rows_of(r.tau, k2) - tau2).norm(), 1e-7 * force);
    }
}

TEST(HybridLoops, SaysWherePrescribedAccelerationsTearALoopApart) {
  const Task t(four_bar(), 2);
  VectorXd a = vector(t.s.a);
  EXPECT_LT(run_hybrid(t, {0, 1, 1, 0}, a, vector(t.s.tau)).violation.norm(), 1e-10 * (1 + a.norm()));
  a(1) += 1;
  const Result r = run_hybrid(t, {0, 1, 1, 0}, a, vector(t.s.tau));
  EXPECT_GT(r.violation.norm(), 0.1);
  EXPECT_LT((r.violation - (t.e.K * r.qdd - t.e.k)).norm(), 1e-12 * (1 + t.e.k.norm()));
}

// Three bars joined at their ends: a structure. Kim section 3.1, n = m.
Linkage truss() {
  ModelBuilder b("truss");
  b.set_gravity({0, -9.81, 0});
  b.add_link(bar("left", 1, 2)), b.add_link(bar("right", 1, 3));
  b.add_joint(hinge("a", "", "left", {0, 0, 0})), b.add_joint(hinge("b", "", "right", {1.2, 0, 0}));
  return finish("truss", b, {pin("left", {1, 0, 0}, "right", {1, 0, 0})}, {0.9, 2.2}, {0, 0}, {0, 0}, 0);
}

TEST(Structure, HasNoFreedomNeedsNoMotorsAndBearsItsLoads) {
  const Linkage l = truss();
  const Model<double>& m = l.model();
  const Mobility mob = mobility(m, l.loops, l.q.data());
  EXPECT_EQ(mob.freedoms, 0);
  EXPECT_EQ(mob.rank, m.nv);
  // forward dynamics: it stays at rest whatever acts on it, and the rank says why
  const Numbers rest(2, 0.0);
  for (const Numbers& tau : {Numbers{0, 0}, Numbers{3, -7}}) {
    double qdd[2], lambda[5], rank;
    fd_loops(m, l.loops, l.q.data(), rest.data(), tau.data(), Zeros<double>{}, 0, tolerance, qdd, lambda, &rank);
    EXPECT_EQ(rank, m.nv);
    EXPECT_LT(std::abs(qdd[0]) + std::abs(qdd[1]), 1e-11);
    if (tau[0] != 0) continue;
    // statics: the force of the pin on the right bar, about both feet. Each bar's weight acts at its middle
    const double s = std::sin(l.q[0]), c = std::cos(l.q[0]), g = 9.81;
    EXPECT_NEAR(c, 0.6, 1e-12);
    // left bar: -2 g c/2 - (c Fy - s Fx) = 0; right bar: 3 g c/2 + (-c Fy - s Fx) = 0
    const double Fx = (3 * g * c / 2 - (-2 * g * c / 2)) / (2 * s), Fy = (-2 * g * c / 2 + s * Fx) / c;
    const ClosedLoopSystem e = closed_loop_system(m, l.loops, l.q.data(), rest.data(), nullptr, 0);
    const Eigen::Vector2d moment = e.K.transpose() * Eigen::Map<const VectorXd>(lambda, 5);
    EXPECT_NEAR(moment(1), -c * Fy - s * Fx, 1e-10);
    EXPECT_NEAR(moment(0), -(c * Fy - s * Fx), 1e-10);
  }
  // inverse dynamics: no motion to drive, so the shortest forces of motors are none
  const ClosedLoopSystem e = closed_loop_system(m, l.loops, l.q.data(), rest.data(), nullptr, 0);
  const RowMatrix G = null_space(e.K, e.k).G;
  EXPECT_EQ(G.cols(), 0);
  VectorXd tau = VectorXd::Constant(2, NAN);
  double rank = NAN, none;
  actuation(m, 0, G.data(), std::vector<char>{1, 1}, e.C.data(), rest.data(), tolerance, tau.data(), &rank, &none);
  EXPECT_EQ(rank, 0);
  EXPECT_EQ(tau.norm(), 0);
  // hybrid dynamics: all joints prescribed at rest, likewise
  double qdd[2], lambda[5], violation[5];
  hybrid_loops(m, l.loops, std::vector<char>{1, 1}, l.q.data(), rest.data(), rest.data(), rest.data(), Zeros<double>{},
               0, tolerance, qdd, tau.data(), lambda, &rank, violation);
  EXPECT_LT(tau.norm(), 1e-10);
  EXPECT_LT((e.C - e.K.transpose() * Eigen::Map<const VectorXd>(lambda, 5)).norm(), 1e-10);
}

}  // namespace
}  // namespace featherstorm::test_hybrid_loops
