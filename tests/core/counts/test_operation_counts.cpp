// Operations of the algorithms on chains of n revolute joints with general parameters, GU(n), against RBDA Table 10.1.
//
// Counted are traced programs, as kernels are made from them: with regrouped inertia where the host does so (RBDA
// section 9.7), sine and cosine left out. Where a count is a polynomial in n it is stated and checked exactly.
#include <gtest/gtest.h>

#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/forward_dynamics.h"
#include "core/dynamics/rnea.h"
#include "core/form/regroup.h"
#include "core/form/slide.h"
#include "core/model/joint_axes.h"
#include "core/program/count.h"
#include "core/program/order.h"
#include "core/reference/dynamics/planar_rnea.h"
#include "tests/support/robots/screw_chain.h"
#include "tests/support/tools/counting.h"
#include "tests/support/tools/traced_counts.h"

namespace featherstorm::test_operation_counts {
namespace {

using namespace testing;

constexpr Zeros<Expr> none;

Model<double> chain(int n) { return regrouped(slid(turned(screw_chain(n, 5).robot.model))); }

struct Cost {
  int mul, add;
  bool operator==(const Cost&) const = default;
};
std::ostream& operator<<(std::ostream& s, Cost c) { return s << c.mul << "m + " << c.add << "a"; }
Cost cost(const Counts& c) { return {c.mul, c.add}; }
void print(const char* what, int n, Cost own, Cost book) {
  std::printf("%-34s n = %2d: %5dm + %5da, against %5dm + %5da, %3.0f %%\n", what, n, own.mul, own.add, book.mul,
              book.add, 100.0 * (own.mul + own.add) / (book.mul + book.add));
}
int sum(Cost c) { return c.mul + c.add; }

Cost of_newton_euler(const Model<double>& m) {
  const int n = m.nv;
  return cost(traced({n, n, n}, n, [&](auto& in, Expr* y) { newton_euler(m, in[0], in[1], in[2], none, y); }));
}
Cost of_rnea(const Model<double>& m) {
  const int n = m.nv;
  return cost(traced({n, n, n}, n, [&](auto& in, Expr* y) { rnea(m, in[0], in[1], in[2], none, y); }));
}
Cost of_crba(const Model<double>& m) {
  return cost(traced({m.nv}, m.nh, [&](auto& in, Expr* y) { crba(m, in[0], y); }));
}
Cost of_aba(const Model<double>& m) {
  const int n = m.nv;
  return cost(traced({n, n, n}, n, [&](auto& in, Expr* y) { articulated_bodies(m, in[0], in[1], in[2], none, y); }));
}
Cost of_fd_crba(const Model<double>& m) {
  const int n = m.nv;
  return cost(traced({n, n, n}, n, [&](auto& in, Expr* y) { fd_crba(m, in[0], in[1], in[2], none, y); }));
}

// Below the cheapest of Table 10.1, (93n - 108)m + (81n - 100)a.
TEST(OperationCounts, InverseDynamicsIsBelowTheBestOfTable101) {
  for (int n = 2; n <= 20; n++) {
    const Cost own = of_newton_euler(chain(n)), best{93 * n - 108, 81 * n - 100};
    // of two joints in a row one costs an addition less
    EXPECT_EQ(own, (Cost{81 * n - 105, 69 * n - 95 - (n - 2) / 2})) << n;
    EXPECT_LT(sum(own), sum(best));
    if (n % 6 == 0) print("inverse dynamics, newton_euler.h", n, own, best);
    // the spatial text, against Featherstone's spatial one of 1987
    const Cost spatial = of_rnea(chain(n));
    EXPECT_EQ(spatial, (Cost{114 * n - 154, 86 * n - 125})) << n;
    EXPECT_LT(sum(spatial), sum({130 * n - 68, 101 * n - 56}));
  }
}

// Fewer operations than (10.3): what does not matter is not computed (RBDA section 10.3.1, end), and inertia is regrouped.
TEST(OperationCounts, InertiaMatrix) {
  for (int n = 2; n <= 20; n++) {
    const Cost own = of_crba(chain(n)), best{10 * n * n + 22 * n - 32, 6 * n * n + 37 * n - 43};
    EXPECT_LE(sum(own), sum(best) * 0.9) << n << ": " << own;
    if (n % 6 == 0) print("inertia matrix", n, own, best);
  }
}

TEST(OperationCounts, ForwardDynamics) {
  for (int n = 2; n <= 20; n++) {
    const Model<double> m = chain(n);
    const Cost own = of_aba(m), best{224 * n - 259, 205 * n - 248};
    if (n % 6 == 0) print("articulated bodies", n, own, best);
    EXPECT_LE(sum(own), 0.87 * sum(best)) << "McMillan, Orin and McGhee: " << own;
    // the O(n^3) algorithm, against the sum of its parts and the subtraction of the bias, which the book leaves out
    const Cost cubic = of_fd_crba(m);
    const int F = n * (n * n + 9 * n - 4) / 6, f = n * (n * n + 6 * n - 7) / 6;
    const Cost parts{93 * n - 108 + 10 * n * n + 22 * n - 32 + F, 81 * n - 100 + 6 * n * n + 37 * n - 43 + f + n};
    if (n % 6 == 0) print("bias, inertia matrix, factor, solve", n, cubic, parts);
    EXPECT_LE(sum(cubic), 0.92 * sum(parts)) << cubic;
  }
}

// n^3/6 + 3 n^2/2 - 2n/3 and n^3/6 + n^2 - 7n/6, a reciprocal times an entry counted as the division it stands for.
TEST(OperationCounts, FactorAndSolutionAreThoseOfTable101) {
  for (int n = 1; n <= 12; n++) {
    const ScrewChain t = screw_chain(n);
    const Model<double>& m = t.robot.model;
    std::vector<double> q(n, 0.3), H(m.nh);
    crba(m, q.data(), H.data());
    std::vector<Counting> L(H.begin(), H.end()), x(q.begin(), q.end());
    const Operations c = operations([&] {
      ltdl(m, L.data());
      solve<Factor::LTDL>(m, L, x.data());
    });
    EXPECT_EQ(6 * c.mul, n * n * n + 9 * n * n - 4 * n);
    EXPECT_EQ(6 * c.add, n * n * n + 6 * n * n - 7 * n);
    EXPECT_EQ(c.rcp, n);
  }
}

// In the plane the traced program of the spatial text loses what a planar text would never compute (RBDA section 2.16,
// and the footnote of section 10.3.1): it has no more operations than the planar text.
TEST(OperationCounts, PlanarChainsCostWhatPlanarVectorsCost) {
  for (int n : {2, 3, 6}) {
    Random random(3);
    ModelBuilder b;
    for (int i = 0; i < n; i++) {
      b.add_link(random_link(random, "l" + std::to_string(i)));
      JointSpec j;
      j.name = "j" + std::to_string(i), j.child = "l" + std::to_string(i);
      if (i > 0) j.parent = "l" + std::to_string(i - 1);
      j.X.r = {random.uniform(0.3, 1), random.uniform(0.3, 1), 0};
      b.add_joint(j);
    }
    b.set_gravity({0, -9.81, 0});
    const Robot robot = b.build();
    const Model<double> m = regrouped(turned(robot.model));
    const PlanarModel p = planar_model(robot);
    const Counts spatial =
        traced({n, n, n}, n, [&](auto& in, Expr* y) { newton_euler(m, in[0], in[1], in[2], none, y); });
    const Counts planar = traced(
        {n, n, n}, n, [&](auto& in, Expr* y) { planar_rnea<Expr>(p, in[0].data(), in[1].data(), in[2].data(), y); });
    print("planar inverse dynamics", n, cost(spatial), cost(planar));
    EXPECT_LE(spatial.flops(), planar.flops());
    // of the 21 numbers of an articulated inertia 6 matter: forward dynamics of the plane takes at most two fifths
    EXPECT_LT(sum(of_aba(m)), 0.4 * sum(of_aba(chain(n))));
  }
}

}  // namespace
}  // namespace featherstorm::test_operation_counts
