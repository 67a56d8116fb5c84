// The rigid law's forces: against the law itself, against the dense reference where there is no friction of contacts, on stacks.
#include "core/rigid/rigid_solve.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "core/reference/constraint/dense_newton.h"
#include "core/rigid/rigid_rows.h"
#include "core/scalar/pack.h"

namespace featherstorm::test_rigid_solve {
namespace {

struct Rows {
  std::vector<RowBlock> block;
  Eigen::MatrixXd J, M, A;
  std::vector<double> packed, r0, scale, friction;
  int n() const { return static_cast<int>(r0.size()); }
  RowBlock& add(RowKind kind, int rows) { return block.emplace_back(RowBlock{kind, n(), rows}); }
  void finish() {
    A = J * M.inverse() * J.transpose();
    packed.clear();
    for (int i = 0; i < n(); i++)
      for (int j = 0; j <= i; j++) packed.push_back(A(i, j));
  }
  auto problem() const { return RigidProblem{block, n(), packed.data(), r0.data(), scale.data(), friction.data()}; }
  std::vector<double> solved(int sweeps, int polishes, double* residual = nullptr) const {
    std::vector<double> f(r0.size());
    const double left = rigid_solve(problem(), r0.data(), sweeps, polishes, 0.0, f.data());
    if (residual) *residual = left;
    return f;
  }
  // J a - aref
  double row(const std::vector<double>& f, int i) const {
    double u = r0[static_cast<std::size_t>(i)];
    for (int j = 0; j < n(); j++) u += A(i, j) * f[static_cast<std::size_t>(j)];
    return u;
  }
  // with what the row's own force gives way
  double violation(const std::vector<double>& f, int i) const {
    const auto k = static_cast<std::size_t>(i);
    return row(f, i) + (scale[k] - 1) * A(i, i) * f[k];
  }
};

// Blocks of kinds by turns between bodies of mass 1 and 3 in six dimensions, one of them fixed.
Rows random_rows(unsigned seed, const std::vector<RowKind>& kinds, int blocks, int bodies = 3) {
  std::mt19937 engine(seed);
  std::normal_distribution<> normal;
  const auto below = [&](int k) { return static_cast<int>(engine() % static_cast<unsigned>(k)); };
  Rows p;
  std::vector<std::array<int, 2>> between;
  for (int i = 0; i < blocks; i++) {
    const RowKind kind = kinds[static_cast<std::size_t>(i) % kinds.size()];
    const bool contact = kind == RowKind::Pyramid || kind == RowKind::Cone;
    const int rows = contact ? std::array{3, 4, 6}[engine() % 3] : 1;
    p.add(kind, rows);
    between.push_back({below(bodies), below(bodies + 1)});
    for (int k = 0; k < rows; k++) {
      p.scale.push_back(k > 0 || kind == RowKind::Friction ? 1.001 : 1.3);
      p.friction.push_back(kind == RowKind::Friction ? 0.5 : k < 3 ? 0.7 : 0.02);
      p.r0.push_back((k == 0 ? 5 : 0.5) * normal(engine));
    }
  }
  p.J = Eigen::MatrixXd::Zero(p.n(), 6 * bodies);
  p.M = Eigen::MatrixXd::Identity(6 * bodies, 6 * bodies);
  for (int b = 1; b < bodies; b += 2) p.M.block(6 * b, 6 * b, 6, 6) *= 3;
  for (int i = 0; i < blocks; i++) {
    const RowBlock& b = p.block[static_cast<std::size_t>(i)];
    for (const int body : between[static_cast<std::size_t>(i)])
      for (int k = 0; k < b.rows && body < bodies; k++)
        for (int j = 0; j < 6; j++) p.J(b.first + k, 6 * body + j) = normal(engine);
  }
  p.finish();
  return p;
}

constexpr int many = 1500;

TEST(RigidSolve, ManySweepsFulfilTheLaw) {
  int slipping = 0, holding = 0, open = 0;
  for (unsigned seed = 0; seed < 40; seed++) {
    const Rows p = random_rows(
        seed, {RowKind::Cone, RowKind::Pyramid, RowKind::Friction, RowKind::Unilateral, RowKind::Equality}, 8);
    const std::vector<double> f = p.solved(many, 0);
    for (const RowBlock& b : p.block) {
      const double u = p.violation(f, b.first), force = f[static_cast<std::size_t>(b.first)];
      const double most = p.friction[static_cast<std::size_t>(b.first)];
      if (b.kind == RowKind::Equality) { EXPECT_NEAR(u, 0, 1e-9); }
      if (b.kind == RowKind::Friction) {
        EXPECT_LE(std::abs(force), most);
        EXPECT_LE(std::abs(force) < most ? std::abs(u) : u * force, 1e-9) << "seed " << seed;
      }
      if (b.kind == RowKind::Equality || b.kind == RowKind::Friction) continue;
      EXPECT_GE(force, 0);
      EXPECT_GE(u, -1e-9) << "seed " << seed;
      EXPECT_NEAR(force * u, 0, 1e-9) << "seed " << seed;
      if (b.rows == 1) continue;
      // x = f / mu in the ball; u = 0 inside, mu u = -s x on its edge
      Eigen::VectorXd x(b.rows - 1), slip(b.rows - 1);
      for (int k = 1; k < b.rows; k++) {
        const double mu = p.friction[static_cast<std::size_t>(b.first + k)];
        x(k - 1) = f[static_cast<std::size_t>(b.first + k)] / mu, slip(k - 1) = mu * p.violation(f, b.first + k);
      }
      EXPECT_LE(x.norm(), force * (1 + 1e-9) + 1e-12) << "seed " << seed;
      if (x.norm() < force * (1 - 1e-6)) {
        EXPECT_LT(slip.norm(), 1e-8) << "seed " << seed;
        holding++;
      } else if (force > 1e-9) {
        EXPECT_NEAR(slip.normalized().dot(x.normalized()), -1, 1e-7) << "seed " << seed;
        slipping++;
      } else {
        open++;
      }
    }
  }
  EXPECT_GT(slipping, 10);
  EXPECT_GT(holding, 5);
  EXPECT_GT(open, 10);
}

TEST(RigidSolve, WithoutFrictionOfContactsIsTheLeastCostOfTheDenseReference) {
  for (unsigned seed = 0; seed < 30; seed++) {
    const Rows p = random_rows(seed, {RowKind::Unilateral, RowKind::Friction, RowKind::Equality}, 9);
    ConstraintProblem c{p.M, Eigen::VectorXd::Zero(p.M.rows()), p.J, {}, {}, {}, p.block};
    c.D.resize(p.n()), c.aref.resize(p.n()), c.friction.resize(p.n());
    for (int i = 0; i < p.n(); i++) {
      const auto k = static_cast<std::size_t>(i);
      c.D(i) = 1 / ((p.scale[k] - 1) * p.A(i, i)), c.aref(i) = -p.r0[k], c.friction(i) = p.friction[k];
    }
    const ConstrainedAcceleration exact = dense_newton(c, c.a0, 100, 1e-15);
    const std::vector<double> swept = p.solved(many, 0), polished = p.solved(8, 4);
    for (int i = 0; i < p.n(); i++) {
      EXPECT_NEAR(swept[static_cast<std::size_t>(i)], exact.force(i), 1e-8 * (1 + exact.force.norm()));
      EXPECT_NEAR(polished[static_cast<std::size_t>(i)], exact.force(i), 1e-8 * (1 + exact.force.norm()))
          << "seed " << seed;
    }
  }
}

TEST(RigidSolve, AFewSweepsAndPolishesAreNear) {
  std::vector<double> left;
  for (unsigned seed = 0; seed < 60; seed++) {
    const Rows p = random_rows(seed, {RowKind::Cone, RowKind::Cone, RowKind::Unilateral}, 6);
    double residual, coarse;
    p.solved(8, 2, &residual), p.solved(8, 0, &coarse);
    EXPECT_LE(residual, coarse * (1 + 1e-9)) << "a polish is kept where it is better alone";
    left.push_back(residual);
  }
  std::sort(left.begin(), left.end());
  EXPECT_LT(left[30], 2e-3);  // of accelerations of 5
  EXPECT_LT(left[55], 0.5);
}

// Boxes on each other, of these masses, each on four points of the one below: heights, and turns about x and y.
Rows stack(const std::vector<double>& masses) {
  Rows p;
  const int bodies = static_cast<int>(masses.size()), nv = 3 * bodies;
  p.M = Eigen::MatrixXd::Zero(nv, nv), p.J = Eigen::MatrixXd::Zero(4 * bodies, nv);
  for (int b = 0; b < bodies; b++) {
    const double m = masses[static_cast<std::size_t>(b)];
    p.M.diagonal().segment(3 * b, 3) << m, m * 0.01, m * 0.01;
    for (int k = 0; k < 4; k++) {
      p.add(RowKind::Unilateral, 1);
      for (const auto& [body, sign] : {std::pair{b, 1.0}, {b - 1, -1.0}})
        if (body >= 0)
          p.J.block(4 * b + k, 3 * body, 1, 3) << sign, sign * (k % 2 ? 0.1 : -0.1), sign * (k / 2 ? 0.1 : -0.1);
      p.r0.push_back(b == 0 ? -9.81 : 0), p.scale.push_back(1 + 1e-6), p.friction.push_back(0);
    }
  }
  p.finish();
  return p;
}

TEST(RigidSolve, AHundredOnOneIsCarriedByADirectSolutionAndNotBySweeps) {
  for (const std::vector<double>& masses : {std::vector<double>{1, 100}, {1, 10, 100}, {1, 1, 1, 1, 1}}) {
    const Rows p = stack(masses);
    double residual;
    const std::vector<double> f = p.solved(4, 1, &residual);
    double weight = 0, mass = 0;
    for (int k = 0; k < 4; k++) weight += f[static_cast<std::size_t>(k)];
    for (const double m : masses) mass += m;
    EXPECT_LT(residual, 1e-9);
    EXPECT_NEAR(weight, 9.81 * mass, 1e-3 * 9.81 * mass);
  }
  const Rows p = stack({1, 100});
  std::vector<double> f(8, 0.0), diagonal(8);
  rigid_diagonal(p.problem(), diagonal.data());
  for (int k = 0; k < 8; k++) rigid_sweep(p.problem(), diagonal.data(), f.data());
  EXPECT_GT(rigid_residual(p.problem(), diagonal.data(), f.data()), 1e-2);
}

TEST(RigidSolve, SlidingForcesAreAgainstTheSlipInEveryDirection) {
  for (const double angle : {0.0, 0.3, 0.785, 1.2, 2.5}) {
    Rows p;
    p.add(RowKind::Pyramid, 3);
    p.J = p.M = Eigen::MatrixXd::Identity(3, 3);
    p.r0 = {-10, 20 * std::cos(angle), 20 * std::sin(angle)};
    p.scale = {1, 1, 1}, p.friction = {0.5, 0.5, 0.5};
    p.finish();
    const std::vector<double> f = p.solved(1, 0);
    EXPECT_NEAR(f[0], 10, 1e-12);
    EXPECT_NEAR(f[1], -5 * std::cos(angle), 1e-9);
    EXPECT_NEAR(f[2], -5 * std::sin(angle), 1e-9);
  }
}

TEST(RigidSolve, PacksHaveTheNumbersOfTheirLanes) {
  using T = Pack<double, 2>;
  const Rows a = random_rows(3, {RowKind::Cone, RowKind::Friction}, 5), b = [&] {
    Rows p = a;
    for (double& r : p.r0) r = -0.7 * r + 1;
    return p;
  }();
  const int n = a.n();
  std::vector<T, Eigen::aligned_allocator<T>> A(a.packed.size()), r0(a.r0.size()), scale(a.r0.size()),
      friction(a.r0.size()), f(a.r0.size());
  const auto put = [&](T& to, double x, double y) { set_lane(to, 0, x), set_lane(to, 1, y); };
  for (std::size_t i = 0; i < A.size(); i++) put(A[i], a.packed[i], b.packed[i]);
  for (std::size_t i = 0; i < r0.size(); i++) {
    put(r0[i], a.r0[i], b.r0[i]);
    scale[i] = T(a.scale[i]), friction[i] = T(a.friction[i]);
  }
  const RigidProblem p{a.block, n, A.data(), r0.data(), scale.data(), friction.data()};
  rigid_solve(p, r0.data(), 6, 2, 0.0, f.data());
  const std::vector<double> of_a = a.solved(6, 2), of_b = b.solved(6, 2);
  for (std::size_t i = 0; i < r0.size(); i++) {
    EXPECT_NEAR(lane(f[i], 0), of_a[i], 1e-9) << i;
    EXPECT_NEAR(lane(f[i], 1), of_b[i], 1e-9) << i;
  }
}

TEST(RigidSolve, WhatIsWithinToleranceIsLeftAlone) {
  const Rows p = random_rows(3, {RowKind::Cone, RowKind::Friction}, 5);
  const std::size_t n = p.r0.size();
  std::vector<double> exact(n), none(n), loose(n), begin(n);
  rigid_solve(p.problem(), p.r0.data(), many, 0, 0.0, exact.data());
  const double first = rigid_solve(p.problem(), p.r0.data(), 0, 0, 0.0, begin.data());
  EXPECT_EQ(rigid_solve(p.problem(), p.r0.data(), 8, 2, 2 * first, loose.data()), first);
  EXPECT_EQ(loose, begin);
  EXPECT_LT(rigid_solve(p.problem(), p.r0.data(), 8, 2, 0.0, none.data()), first);
}

TEST(RigidSolve, RowsThatAreNotThereChangeNoBit) {
  const Rows p = random_rows(7, {RowKind::Cone, RowKind::Unilateral, RowKind::Friction}, 4);
  Rows q = random_rows(7, {RowKind::Cone, RowKind::Unilateral, RowKind::Friction}, 7);
  // the first rows are those of p
  const int n = p.n(), nv = static_cast<int>(p.J.cols());
  q.M = p.M, q.J = Eigen::MatrixXd::Random(q.n(), nv);
  q.J.topRows(n) = p.J;
  q.finish();
  for (int i = 0; i < q.n(); i++) {
    const auto k = static_cast<std::size_t>(i);
    q.r0[k] = i < n ? p.r0[k] : -3, q.scale[k] = i < n ? p.scale[k] : 0, q.friction[k] = i < n ? p.friction[k] : 0.3;
  }
  for (int i = 0; i < n; i++) ASSERT_EQ(q.block[0].rows, p.block[0].rows);
  const std::vector<double> few = p.solved(5, 2), more = q.solved(5, 2);
  for (int i = 0; i < q.n(); i++) {
    const auto k = static_cast<std::size_t>(i);
    EXPECT_EQ(more[k], i < n ? few[k] : 0) << i;
  }
}

TEST(DiscStep, FindsTheLeastOfAnIllConditionedQuadratic) {
  std::mt19937 engine(5);
  std::normal_distribution<> normal;
  for (int k = 0; k < 200; k++) {
    Eigen::Matrix<double, 5, 5> B;
    for (int i = 0; i < 25; i++) B(i) = normal(engine);
    // as sliding, torsion and rolling are
    const Eigen::Matrix<double, 5, 1> scale(1, 1, 0.02, 1e-3, 1e-3);
    const Eigen::Matrix<double, 5, 5, Eigen::RowMajor> S =
        scale.asDiagonal() * (B * B.transpose() + 0.1 * Eigen::Matrix<double, 5, 5>::Identity()) * scale.asDiagonal();
    Eigen::Matrix<double, 5, 1> g;
    for (int i = 0; i < 5; i++) g(i) = normal(engine) * scale(i);
    const double radius = std::pow(10.0, normal(engine));
    double x[5];
    disc_step<5>(S.data(), g.data(), radius, x);
    const Eigen::Map<Eigen::Matrix<double, 5, 1>> at(x);
    const Eigen::Matrix<double, 5, 1> slope = S * at + g;
    EXPECT_LE(at.norm(), radius * (1 + 1e-12));
    if (at.norm() < radius * (1 - 1e-9)) EXPECT_LT(slope.norm(), 1e-9 * g.norm());
    else EXPECT_LT((slope + at * (slope.norm() / radius)).norm(), 1e-3 * g.norm());
  }
}

// A pack of an instance that holds, one that slips, one whose quadratic is singular, and one without force.
TEST(DiscStep, GivesAnInstanceTheSameBitsBesideAnyOthers) {
  using T = Pack<double, 4>;
  const double S[4][4] = {{2, 0.3, 0.3, 1}, {2, 0.3, 0.3, 1}, {1, 1, 1, 1}, {0.5, -0.4, -0.4, 3}};
  const double g[4][2] = {{0.1, -0.2}, {5, -7}, {2, 1}, {1e3, 1}}, radius[4] = {1, 0.3, 0.5, 0};
  T packed_S[4], packed_g[2], packed_radius, x[2];
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 4; k++) set_lane(packed_S[k], i, S[i][k]);
    for (int k = 0; k < 2; k++) set_lane(packed_g[k], i, g[i][k]);
    set_lane(packed_radius, i, radius[i]);
  }
  disc_step<2>(packed_S, packed_g, packed_radius, x);
  for (int i = 0; i < 4; i++) {
    T same_S[4], same_g[2], alone[2];
    for (int k = 0; k < 4; k++) same_S[k] = T(S[i][k]);
    for (int k = 0; k < 2; k++) same_g[k] = T(g[i][k]);
    disc_step<2>(same_S, same_g, T(radius[i]), alone);
    for (int k = 0; k < 2; k++) EXPECT_EQ(lane(x[k], i), lane(alone[k], 0)) << i;
    const Eigen::Vector2d at(lane(x[0], i), lane(x[1], i));
    const Eigen::Vector2d slope(S[i][0] * at[0] + S[i][1] * at[1] + g[i][0],
                                S[i][2] * at[0] + S[i][3] * at[1] + g[i][1]);
    EXPECT_LE(at.norm(), radius[i] * (1 + 1e-12));
    if (at.norm() < radius[i] * (1 - 1e-9)) EXPECT_LT(slope.norm(), 1e-12);
    else if (radius[i] > 0) EXPECT_LT((slope + at * (slope.norm() / radius[i])).norm(), 1e-9 * slope.norm()) << i;
  }
}

TEST(RigidRows, ASpringAtRestGivesWayByGravityOverOmegaSquared) {
  for (const double h : {0.001, 0.005, 0.02})
    for (const double zeta : {0.5, 1.0, 3.0}) {
      RigidLaw<double> law;
      law.damping_ratio = zeta;
      const double omega = 2 * std::numbers::pi * law.frequency, gap = -9.81 / (omega * omega);
      const RigidRow<double> row = rigid_unilateral(law, h, true, gap, 0.0);
      // f of mass 1: A = 1, r0 = -g - aref
      EXPECT_NEAR((9.81 + row.aref) / row.scale, 9.81, 1e-9);
    }
}

TEST(RigidRows, ReboundsAreOfWhatHitsFasterThanTheSlowest) {
  RigidLaw<double> law;
  law.restitution = 0.5;
  const double h = 0.01;
  const auto after = [&](double gap, double velocity) {
    const RigidRow<double> row = rigid_unilateral(law, h, true, gap, velocity);
    return velocity + h * row.aref;  // where the row acts
  };
  EXPECT_NEAR(after(1e-3, -2), 1, 1e-12);
  EXPECT_EQ(rigid_unilateral(law, h, true, 1e-3, -2.0).scale, 1);
  EXPECT_NEAR(after(1e-3, -0.15), -0.1, 1e-12);  // too slow: it may close the gap
  EXPECT_NEAR(after(0.05, -2), -5, 1e-12);       // would not hit within the step
  EXPECT_LE(after(-0.5, 0), law.push + 1e-12);
  EXPECT_NEAR(rigid_unilateral(law, h, false, 1e-3, -2.0).aref * h - 2, -0.1, 1e-12);
}

}  // namespace
}  // namespace featherstorm::test_rigid_solve
