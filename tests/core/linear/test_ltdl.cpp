// Branch-sparse factorisations against dense linear algebra, and their operation counts. RBDA Tables 6.3, 6.5, 6.6.
#include "core/linear/ltdl.h"

#include <gtest/gtest.h>

#include "tests/support/oracles/cases.h"
#include "tests/support/tools/counting.h"

namespace featherstorm::test_ltdl {
namespace {

using namespace testing;

using dense::MatrixX;
using dense::VectorX;

struct Factored {
  explicit Factored(const Case& c) : m(c.model()), packed(call_crba(m, c.state.q)), H(dense::unpacked(m, packed)) {
    ltdl_factor = ltl_factor = packed;
    ltdl(m, ltdl_factor.data());
    ltl(m, ltl_factor.data());
    L1 = lower(ltdl_factor), L2 = lower(ltl_factor);
    D = VectorX(m.nv);
    for (int k = 0; k < m.nv; k++) D(k) = 1 / L1(k, k), L1(k, k) = 1;
    x = c.state.a;
  }
  MatrixX lower(const std::vector<double>& a) const {
    return MatrixX(dense::unpacked(m, a).triangularView<Eigen::Lower>());
  }
  VectorX X() const { return Eigen::Map<const VectorX>(x.data(), m.nv); }
  const Model<double>& m;
  std::vector<double> packed, ltdl_factor, ltl_factor, x;
  MatrixX H, L1, L2;
  VectorX D;
};

TEST(Ltdl, FactorsMultiplyToH) {
  for_random_robots([](const Case& c) {
    const Factored f(c);
    const MatrixX residual = f.L1.transpose() * f.D.asDiagonal() * f.L1 - f.H;
    EXPECT_LT(residual.cwiseAbs().maxCoeff(), tolerance<double>("ltdl") * f.H.cwiseAbs().maxCoeff());
    EXPECT_GT(f.D.minCoeff(), 0);
  });
}

// The inverse factor keeps the pattern, and H^-1 is full.
TEST(Ltdl, InverseFactorAndInverse) {
  for_random_robots([](const Case& c) {
    const Factored f(c);
    const int n = f.m.nv;
    std::vector<double> W = f.ltdl_factor, inverse(n * n);
    invert_l(f.m, W.data());
    inverse_of_h(f.m, W, inverse.data());
    MatrixX W1 = f.lower(W);
    for (int k = 0; k < n; k++) {
      EXPECT_EQ(W1(k, k), 1 / f.D(k));
      W1(k, k) = 1;
    }
    const double growth = W1.cwiseAbs().maxCoeff() * f.L1.cwiseAbs().maxCoeff();
    EXPECT_LT((W1 * f.L1 - MatrixX::Identity(n, n)).cwiseAbs().maxCoeff(), 1e-14 * n * growth);
    const MatrixX Hinv = Eigen::Map<const MatrixX>(inverse.data(), n, n);
    EXPECT_EQ(Hinv, Hinv.transpose());
    EXPECT_LT((Hinv * f.H - MatrixX::Identity(n, n)).cwiseAbs().maxCoeff(),
              tolerance<double>("solve_x") * condition(f.H));
  });
}

TEST(Ltl, FactorsMultiplyToH) {
  for_random_robots([](const Case& c) {
    const Factored f(c);
    const MatrixX residual = f.L2.transpose() * f.L2 - f.H;
    EXPECT_LT(residual.cwiseAbs().maxCoeff(), tolerance<double>("ltl") * f.H.cwiseAbs().maxCoeff());
  });
}

template <Factor factor> void expect_products_and_solves() {
  for_random_robots([](const Case& c) {
    const Factored f(c);
    const std::vector<double>& packed = factor == Factor::LTDL ? f.ltdl_factor : f.ltl_factor;
    const MatrixX& L = factor == Factor::LTDL ? f.L1 : f.L2;
    const double kappa = condition(f.H), bound = tolerance<double>("solve_x");
    const double scale = (1 + L.cwiseAbs().maxCoeff()) * 10;
    std::vector<double> x = f.x, y(f.m.nv, std::numeric_limits<double>::quiet_NaN());
    mul_l<factor>(f.m, packed, x.data());
    EXPECT_LT(relative_error(x, (L * f.X()).eval(), scale), bound) << "L x";
    mul_lt<factor>(f.m, packed, f.x, y.data());
    EXPECT_LT(relative_error(y, (L.transpose() * f.X()).eval(), scale), bound) << "L^T x";
    auto solved = [&](const char* what, const VectorX& expected) {
      EXPECT_LT(relative_error(x, expected, kappa * (1 + expected.cwiseAbs().maxCoeff())), bound) << what;
    };
    x = f.x, solve_l<factor>(f.m, packed, x.data());
    solved("L^-1 x", L.partialPivLu().solve(f.X()));
    x = f.x, solve_lt<factor>(f.m, packed, x.data());
    solved("L^-T x", L.transpose().partialPivLu().solve(f.X()));
    x = f.x, solve<factor>(f.m, packed, x.data());
    const VectorX expected = f.H.llt().solve(f.X());
    solved("H^-1 x", expected);
    EXPECT_LT(force_error(c, x, {expected.data(), expected.data() + f.m.nv}), tolerance<double>("solve"));
  });
}
TEST(Ltdl, ProductsAndSolvesEqualDenseOnes) { expect_products_and_solves<Factor::LTDL>(); }
TEST(Ltl, ProductsAndSolvesEqualDenseOnes) { expect_products_and_solves<Factor::LTL>(); }

TEST(Ltdl, ProductWithHEqualsDenseOne) {
  for_random_robots([](const Case& c) {
    const Factored f(c);
    std::vector<double> y(f.m.nv, std::numeric_limits<double>::quiet_NaN());
    mul_h(f.m, f.packed, f.x, y.data());
    EXPECT_LT(relative_error(y, (f.H * f.X()).eval(), 10 * (1 + f.H.cwiseAbs().maxCoeff())),
              tolerance<double>("solve_x"));
  });
}

// RBDA Table 6.6 to the operation. Divisions are products with one reciprocal per pivot.
TEST(Ltdl, OperationCountsOfTable66) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    const int n = m.nv;
    int D1 = 0, D2 = 0;
    for (int k = 0; k < n; k++) {
      int d = 0;
      for (int j = k; j >= 0; j = m.dof_parent[j]) d++;
      D1 += d - 1, D2 += d * (d - 1) / 2;
    }
    const auto packed = call_crba(m, c.state.q);
    const std::vector<Counting> H(packed.begin(), packed.end());
    std::vector<Counting> L = H, M = H, x(c.state.a.begin(), c.state.a.end()), y(n);
    EXPECT_EQ(operations([&] { ltdl(m, L.data()); }), (Operations{D2, D2 + D1, n, 0}));
    EXPECT_EQ(operations([&] { ltl(m, M.data()); }), (Operations{D2, D2 + D1, n, n}));
    EXPECT_EQ(operations([&] { solve<Factor::LTDL>(m, L, x.data()); }), (Operations{2 * D1, 2 * D1 + n, 0, 0}));
    EXPECT_EQ(operations([&] { solve<Factor::LTL>(m, M, x.data()); }), (Operations{2 * D1, 2 * D1 + 2 * n, 2 * n, 0}));
    EXPECT_EQ(operations([&] { mul_l<Factor::LTDL>(m, L, x.data()); }), (Operations{D1, D1, 0, 0}));
    std::vector<Counting> W = L;
    EXPECT_EQ(operations([&] { invert_l(m, W.data()); }), (Operations{D2 - D1, D2 - D1, 0, 0}));
    EXPECT_EQ(operations([&] { mul_l<Factor::LTL>(m, M, x.data()); }), (Operations{D1, D1 + n, 0, 0}));
    EXPECT_EQ(operations([&] { mul_lt<Factor::LTDL>(m, L, x, y.data()); }), (Operations{D1, D1, 0, 0}));
    EXPECT_EQ(operations([&] { mul_lt<Factor::LTL>(m, M, x, y.data()); }), (Operations{D1, D1 + n, 0, 0}));
    EXPECT_EQ(operations([&] { solve_l<Factor::LTDL>(m, L, x.data()); }), (Operations{D1, D1, 0, 0}));
    EXPECT_EQ(operations([&] { solve_lt<Factor::LTL>(m, M, x.data()); }), (Operations{D1, D1 + n, n, 0}));
    EXPECT_EQ(operations([&] { mul_h(m, H, x, y.data()); }), (Operations{2 * D1, 2 * D1 + n, 0, 0}));
  });
}

}  // namespace
}  // namespace featherstorm::test_ltdl
