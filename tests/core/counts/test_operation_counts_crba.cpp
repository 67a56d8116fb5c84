// The composite-rigid-body algorithm in the form whose operations RBDA section 10.3 counts, on chains and on branched
// trees: (10.2), (10.3), (10.12) to the operation. Then the library's text on the same trees.
#include <gtest/gtest.h>

#include "core/dynamics/crba.h"
#include "core/form/regroup.h"
#include "core/form/slide.h"
#include "core/linear/ltdl.h"
#include "core/model/joint_axes.h"
#include "core/reference/spatial/axial_screw.h"
#include "tests/support/robots/screw_tree.h"
#include "tests/support/tools/counting.h"
#include "tests/support/tools/traced_counts.h"

namespace featherstorm::test_operation_counts_crba {
namespace {

using namespace testing;

using X = std::integral_constant<int, 0>;
using Z = std::integral_constant<int, 2>;

// RBDA Table 10.2: the inertia is transformed by two axial screws, by three where the transform is general; a vector by
// two, or by the Plücker transform. Counted are lines 7 and 13. `number(x)` makes a T of what is known before:
// constants, and products of masses and lengths. c, s: cosines and sines of q.
template <class T>
std::vector<T> crba_by_screws(const ScrewTree& t, const std::vector<double>& q, const std::vector<T>& c,
                              const std::vector<T>& s) {
  const int n = static_cast<int>(t.joint.size());
  const auto number = [](double x) { return T(x); };
  // the way back from the turned frame: the inverse screw
  const auto fixed = [&](auto axis, double angle, double d) -> AxialScrew<decltype(axis)::value, T> {
    const double x = std::cos(angle), y = -std::sin(angle);
    return {number(x), number(y), number(-d), number(y * y), number(x * y), number(2 * x * y), number(1 - 2 * y * y)};
  };
  std::vector<RigidBodyInertia<T>> Ic;
  std::vector<double> mass;  // of the subtree
  for (const ScrewJoint& j : t.joint) {
    Ic.push_back(cast<T>(rigid_body_inertia<double>(j.link.mass, j.link.com, upper(Mat3d(j.link.inertia)))));
    mass.push_back(j.link.mass);
  }
  std::vector<T> H(n * n, number(0));
  for (int i = n - 1; i >= 0; i--) {
    const int parent = t.joint[i].parent - 1;
    // line 7: I^c_parent += X^T I^c_i X
    if (parent >= 0) {
      const ScrewJoint& j = t.joint[i];
      RigidBodyInertia<T> J = apply_dual(axial_screw<2>(c[i], -s[i], number(-j.d)), Ic[i], number(-mass[i] * j.d));
      J = apply_dual(fixed(X{}, j.alpha, j.a), J, number(-mass[i] * j.a));
      if (j.general) J = apply_dual(fixed(Z{}, j.phi, j.b), J, number(-mass[i] * j.b));
      Ic[parent] = Ic[parent] + J;
      mass[parent] += mass[i];
    }
    // lines 9, 10: column and element 3
    Force<T> F{{Ic[i].I.xz, Ic[i].I.yz, Ic[i].I.zz}, {-Ic[i].h.y(), Ic[i].h.x(), number(0)}};
    H[i * n + i] = F.n.z();
    // lines 12 to 17
    for (int k = i; t.joint[k].parent > 0; k = t.joint[k].parent - 1) {
      const ScrewJoint& j = t.joint[k];
      if (j.general) {
        const Mat3d Rz = matrix(rotation_z(j.phi)),
                    Rx = matrix(RotationX<double>{std::cos(j.alpha), std::sin(j.alpha)});
        const Mat3d R = Rz * Rx * matrix(rotation_z(q[k]));
        const Vec3d r = Rz * Vec3d(j.a, 0, j.b) + Rz * Rx * Vec3d(0, 0, j.d);
        F = apply_transpose(cast<T>(R), cast<T>(r), F);
      } else {
        const T o = number(0);  // rotation of a vector needs c and s alone
        F = apply_dual(AxialScrew<2, T>{c[k], -s[k], number(-j.d), o, o, o, o}, F);
        F = apply_dual(fixed(X{}, j.alpha, j.a), F);
      }
      H[i * n + j.parent - 1] = F.n.z();
    }
  }
  return H;
}

// RBDA (10.4), (10.5), (10.11)
struct Branching { int D0dh = 0, D0g = 0, D1dh = 0, D1g = 0, D0 = 0, D1 = 0, depth = 0; };
Branching branching(const ScrewTree& t) {
  Branching b;
  for (const ScrewJoint& j : t.joint) {
    if (j.parent > 0) (j.general ? b.D0g : b.D0dh)++, (j.general ? b.D1g : b.D1dh) += j.subtree, b.D0++;
    b.D1 += j.ancestors - 1;
    b.depth = std::max(b.depth, j.ancestors);
  }
  return b;
}
// RBDA (10.12)
Operations formula(const Branching& b) {
  return {43 * b.D0dh + 58 * b.D0g + 12 * b.D1dh + 18 * b.D1g, 32 * b.D0dh + 47 * b.D0g + 20 * b.D1dh + 24 * b.D1g};
}

std::vector<double> positions(int n) {
  std::vector<double> q(n);
  for (int i = 0; i < n; i++) q[i] = 0.4 + 0.7 * i;
  return q;
}
template <class T>
std::vector<T> each(const std::vector<double>& q, double (*f)(double)) {
  std::vector<T> y;
  for (double x : q) y.push_back(T(f(x)));
  return y;
}
Operations cost_by_screws(const ScrewTree& t) {
  const auto q = positions(static_cast<int>(t.joint.size()));
  const auto c = each<Counting>(q, std::cos), s = each<Counting>(q, std::sin);
  return operations([&] { crba_by_screws(t, q, c, s); });
}

std::vector<std::vector<int>> trees() {
  std::vector<std::vector<int>> all{{0, 0, 0, 0, 0},                                               // a star
                                    {0, 1, 1, 2, 2, 3, 3},                                         // binary
                                    {0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7},                 // binary
                                    {0, 1, 2, 3, 4, 5, 6, 7, 8, 6, 10, 11, 6, 13, 14, 6, 16, 17},  // four legs
                                    {0, 1, 1, 0, 4, 4, 4, 7, 8}};
  Random random(9);
  for (int k = 0; k < 6; k++) {
    std::vector<int> p(9);
    for (int i = 0; i < 9; i++) p[i] = random.below(i + 1);
    all.push_back(p);
  }
  return all;
}

TEST(OperationCountsCrba, TheBooksFormComputesH) {
  for (const auto& parents : trees()) {
    const ScrewTree t = screw_tree(parents);
    const Model<double>& m = t.robot.model;
    const int n = m.nv;
    const auto q = positions(n);
    const auto H = crba_by_screws(t, q, each<double>(q, std::cos), each<double>(q, std::sin));
    // the model numbers bodies depth first
    std::vector<int> at(n);
    for (int i = 0; i < n; i++) at[i] = m.body[t.robot.joint("j" + std::to_string(i + 1))].v;
    std::vector<double> qm(n), packed(m.nh);
    for (int i = 0; i < n; i++) qm[at[i]] = q[i];
    crba(m, qm.data(), packed.data());
    for (int i = 0; i < n; i++)
      for (int k = i; k >= 0; k = t.joint[k].parent - 1) EXPECT_NEAR(H[i * n + k], packed[m.at(at[i], at[k])], 1e-12);
  }
}

TEST(OperationCountsCrba, OnChainsItCosts103) {
  for (int n = 1; n <= 12; n++) {
    const Operations c = cost_by_screws(screw_tree(chain_parents(n)));
    EXPECT_EQ(c, (Operations{6 * n * n + 37 * n - 43, 10 * n * n + 22 * n - 32})) << n;
    // (10.2): n - 1 sums and transforms of inertias, n (n - 1) / 2 of vectors
    const int inertias = n - 1, vectors = n * (n - 1) / 2;
    EXPECT_EQ(c, (Operations{43 * inertias + 12 * vectors, 32 * inertias + 20 * vectors}));
  }
}

TEST(OperationCountsCrba, OnTreesItCosts1012) {
  for (const auto& parents : trees()) {
    const ScrewTree t = screw_tree(parents);
    const int n = static_cast<int>(parents.size());
    const Branching b = branching(t);
    EXPECT_EQ(cost_by_screws(t), formula(b));
    // (10.7), (10.8), (10.9); both ways to D1 (10.5), (10.11)
    EXPECT_EQ(b.D0, b.D0dh + b.D0g);
    EXPECT_EQ(b.D1, b.D1dh + b.D1g);
    EXPECT_LE(b.D0, n - 1);
    EXPECT_LE(b.D1, std::min(n * (n - 1) / 2, n * (b.depth - 1)));
  }
  // every body on the base: H is diagonal and constant
  EXPECT_EQ(cost_by_screws(screw_tree({0, 0, 0, 0, 0})), (Operations{}));
  // computed by hand from (10.12)
  EXPECT_EQ(cost_by_screws(screw_tree({0, 1, 1, 2, 2, 3, 3})), (Operations{453, 457}));
  EXPECT_EQ(cost_by_screws(screw_tree({0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7})), (Operations{1217, 1301}));
  EXPECT_EQ(cost_by_screws(screw_tree(trees()[3])), (Operations{2018, 2605}));
}

// n^3 where nothing branches, n d^2 in general (section 10.3.2): a binary tree takes little more than n log2(n)^2.
TEST(OperationCountsCrba, BinaryTreesFactorInLogarithmicDepth) {
  for (int levels = 2; levels <= 6; levels++) {
    const int n = (1 << levels) - 1;
    std::vector<int> parents;
    for (int i = 0; i < n; i++) parents.push_back((i + 1) / 2);
    const ScrewTree t = screw_tree(parents);
    std::vector<double> H(t.robot.model.nh);
    crba(t.robot.model, positions(n).data(), H.data());
    std::vector<Counting> L(H.begin(), H.end());
    const Operations c = operations([&] { ltdl(t.robot.model, L.data()); });
    EXPECT_LE(c.add + c.mul, n * levels * levels);
  }
}

// Of the last transform on each way to the root only element 3 is needed (section 10.3.1, end): who traces need not say
// so.
TEST(OperationCountsCrba, TracingFindsTheLastIterationsShortcut) {
  for (int n : {3, 6, 9}) {
    const ScrewTree t = screw_tree(chain_parents(n));
    const Operations written = cost_by_screws(t);
    const auto q = positions(n);
    const Counts c = traced(n, [&](const std::vector<Expr>& x) {
      std::vector<Expr> cosines, sines;
      for (Expr angle : x) cosines.push_back(cos(angle)), sines.push_back(sin(angle));
      return crba_by_screws(t, q, cosines, sines);
    });
    // 8m + 5a of the last 20m + 12a of a column serve numbers that nobody reads
    EXPECT_LE(c.flops(), written.add + written.mul - 13 * (n - 1)) << n;
  }
}

// The library's text, traced with regrouped inertias, on branched trees.
TEST(OperationCountsCrba, TheLibrarysIsBelowTheFormulaOnTrees) {
  for (const auto& parents : trees()) {
    const ScrewTree t = screw_tree(parents);
    const Model<double> m = regrouped(slid(turned(t.robot.model)));
    const Counts c = traced(m.nv, [&](const std::vector<Expr>& q) {
      std::vector<Expr> H(m.nh);
      crba(m, q, H.data());
      return H;
    });
    const Operations book = formula(branching(t));
    std::printf("n = %2zu: %4dm + %4da, (10.12) %4dm + %4da\n", parents.size(), c.mul, c.add, book.mul, book.add);
    EXPECT_LE(c.flops(), book.add + book.mul);
  }
}

}  // namespace
}  // namespace featherstorm::test_operation_counts_crba
