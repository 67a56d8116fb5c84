#include <gtest/gtest.h>

#include "core/loops/id_loops.h"

#include "core/dynamics/rnea.h"
#include "core/loops/fd_loops.h"
#include "core/loops/independent.h"
#include "core/reference/loops/null_space.h"
#include "tests/support/robots/linkages.h"

namespace featherstorm::test_id_loops {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double tolerance = 1e-11;

// An admitted motion of a linkage, its tree's inverse dynamics, and G.
struct Task {
  Linkage l;
  State s;
  ClosedLoopSystem e;
  RowMatrix G;
  int ny;
  VectorXd tau_id;
  Task(const Linkage& linkage, unsigned seed) : l(linkage), s(admissible_state(l, seed)), e(system_of(l, s)) {
    const NullSpace x = null_space(e.K, e.k);
    G = x.G, ny = static_cast<int>(G.cols());
    s.a = numbers(x.g + x.G * vector(s.a).head(ny));
    tau_id = e.H * vector(s.a) + e.C;
  }
  struct Result {
    VectorXd tau, missing;
    double rank;
  };
  // s.tau holds what acts at joints without motors
  Result solve(const std::vector<char>& actuated, const Numbers& tau) const {
    Result r{VectorXd::Constant(tau_id.size(), NAN), VectorXd::Constant(ny, NAN), NAN};
    Numbers in = tau;
    for (std::size_t k = 0; k < in.size(); k++)
      if (actuated[k]) in[k] = NAN;
    actuation(l.model(), ny, G.data(), actuated, tau_id.data(), in.data(), tolerance, r.tau.data(), &r.rank,
              r.missing.data());
    return r;
  }
  VectorXd qdd(const VectorXd& tau) const {
    VectorXd a(tau.size()), lambda(l.loops.nc);
    double rank;
    fd_loops(l.model(), l.loops, s.q.data(), s.v.data(), tau.data(), s.f_ext.data(), 0, tolerance, a.data(),
             lambda.data(), &rank);
    return a;
  }
};

TEST(IdLoops, ForcesOfMotorsReproduceTheMotion) {
  for (const Linkage& l : linkages())
    for (unsigned seed = 1; seed <= 5; seed++) {
      SCOPED_TRACE(l.name + ", seed " + std::to_string(seed));
      const Task t(l, seed);
      // the floating leg needs forces on its trunk as well
      std::vector<char> actuated = l.actuated;
      if (l.name == "parallel_leg")
        for (int k = 0; k < 6; k++) actuated[k] = 1;
      const Task::Result r = t.solve(actuated, t.s.tau);
      EXPECT_EQ(r.rank, t.ny);
      EXPECT_LT(r.missing.norm(), 1e-10 * (1 + t.tau_id.norm()));
      for (std::size_t k = 0; k < actuated.size(); k++)
        if (!actuated[k]) { EXPECT_EQ(r.tau(k), t.s.tau[k]); }
      EXPECT_LT((t.qdd(r.tau) - vector(t.s.a)).norm(), 1e-8 * (1 + vector(t.s.a).norm()));
    }
}

TEST(IdLoops, RedundantMotorsShareTheLoadInTheShortestWay) {
  for (const Linkage& l : linkages()) {
    SCOPED_TRACE(l.name);
    const Task t(l, 7);
    const int n = l.model().nv;
    const std::vector<char> all(n, 1);
    const Task::Result r = t.solve(all, t.s.tau);
    EXPECT_LT((t.qdd(r.tau) - vector(t.s.a)).norm(), 1e-8 * (1 + vector(t.s.a).norm()));
    // all joints actuated: K tau = 0, and no other solution tau_ID - K^T lambda is shorter. Kim (65), (66)
    EXPECT_LT((t.e.K * r.tau).norm(), 1e-9 * (1 + r.tau.norm()) * t.e.K.norm());
    const VectorXd least = t.tau_id - t.e.K.transpose() * least_squares(t.e.K.transpose(), t.tau_id);
    EXPECT_LT((least - r.tau).norm(), 1e-9 * (1 + t.tau_id.norm()));
    EXPECT_LT(r.tau.norm(), t.tau_id.norm());
  }
  // three motors on the five-bar: Kim's minimum active torque against the least-squares solution of its rows
  const Task t(five_bar(), 3);
  const std::vector<char> three{1, 1, 1, 0};
  const Task::Result r = t.solve(three, Numbers{0, 0, 0, 0.7});
  const MatrixXd Gu = t.G.topRows(3);
  const VectorXd w = t.G.transpose() * (t.tau_id - VectorXd::Unit(4, 3) * 0.7);
  EXPECT_LT((r.tau.head(3) - least_squares(Gu.transpose(), w)).norm(), 1e-10 * (1 + w.norm()));
  EXPECT_LT((t.qdd(r.tau) - vector(t.s.a)).norm(), 1e-9 * (1 + vector(t.s.a).norm()));
}

TEST(IdLoops, SaysWhatTooFewMotorsCannotDo) {
  const Task t(five_bar(), 2);
  const Numbers zero(4, 0.0);
  const Task::Result one = t.solve({1, 0, 0, 0}, zero);
  EXPECT_EQ(one.rank, 1);
  EXPECT_GT(one.missing.norm(), 0.1);
  EXPECT_LT((one.missing - t.G.transpose() * (t.tau_id - one.tau)).norm(), 1e-12 * t.tau_id.norm());
  const Task::Result none = t.solve({0, 0, 0, 0}, zero);
  EXPECT_EQ(none.rank, 0);
  EXPECT_LT((none.missing - t.G.transpose() * t.tau_id).norm(), 1e-12 * t.tau_id.norm());
}

TEST(IdLoops, LeastConstraintForcesAreThePseudoInverseSolution) {
  for (const Linkage& l : {five_bar(), stewart_platform(), slider_crank()}) {
    SCOPED_TRACE(l.name);
    const Task t(l, 4);
    const int n = l.model().nv, nc = l.loops.nc;
    VectorXd tau = VectorXd::Constant(n, NAN), lambda = VectorXd::Constant(nc, NAN);
    actuation_least_constraint(l.model(), nc, RowMatrix(t.e.K).data(), l.actuated, t.tau_id.data(), t.s.tau.data(),
                               tolerance, tau.data(), lambda.data());
    EXPECT_LT((tau - (t.tau_id - t.e.K.transpose() * lambda)).norm(), 1e-9 * (1 + t.tau_id.norm()));
    EXPECT_LT((t.qdd(tau) - vector(t.s.a)).norm(), 1e-8 * (1 + vector(t.s.a).norm()));
    std::vector<int> passive;
    for (int k = 0; k < n; k++)
      if (!l.actuated[k]) passive.push_back(k);
    MatrixXd Kp(nc, passive.size());
    VectorXd w(passive.size());
    for (std::size_t i = 0; i < passive.size(); i++)
      Kp.col(i) = t.e.K.col(passive[i]), w(i) = t.tau_id(passive[i]) - t.s.tau[passive[i]];
    EXPECT_LT((lambda - least_squares(Kp.transpose(), w)).norm(), 1e-8 * (1 + lambda.norm()));
  }
}

}  // namespace
}  // namespace featherstorm::test_id_loops
