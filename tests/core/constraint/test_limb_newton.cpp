// Newton's method in blocks of limbs against the dense reference.
#include "core/limbs/limb_balance.h"

#include <gtest/gtest.h>

#include "tests/core/constraint/row_problems.h"

namespace featherstorm::test_limb_newton {
namespace {

using namespace row_problems;

// Chains of coordinates without a branch.
std::vector<Limb> limbs_of(const std::vector<int>& parent) {
  std::vector<Limb> limbs;
  std::vector<int> children(parent.size());
  for (const int p : parent)
    if (p >= 0) children[static_cast<std::size_t>(p)]++;
  std::vector<int> limb_of;
  for (int k = 0; k < static_cast<int>(parent.size()); k++) {
    const int p = parent[static_cast<std::size_t>(k)];
    const bool goes_on = k > 0 && p == k - 1 && children[static_cast<std::size_t>(p)] == 1 &&
                         limbs.back().count < most_limb && limb_of.back() == static_cast<int>(limbs.size()) - 1;
    if (goes_on) limbs.back().count++, limbs.back().bodies++;
    else limbs.push_back({p < 0 ? -1 : limb_of[static_cast<std::size_t>(p)], k, 1, k + 1, 1, false});
    limb_of.push_back(static_cast<int>(limbs.size()) - 1);
  }
  return limbs;
}

// Patterns of blocks, and where they are kept.
struct Blocks {
  std::vector<Limb> limb;
  std::vector<int> place;
  std::vector<std::uint64_t> row, column;
  LimbBlocks view{};
  Blocks(const std::vector<Limb>& limbs, const std::vector<std::vector<int>>& together) : limb(limbs) {
    const int n = static_cast<int>(limb.size()), words = (n + 63) / 64;
    row.resize(limb.size() * words), column.resize(limb.size() * words);
    place.resize(static_cast<std::size_t>(lower_half(n, 0)));
    const auto couple = [&](int l, int with) {
      row[static_cast<std::size_t>(l * words + with / 64)] |= std::uint64_t{1} << (with % 64);
    };
    for (int l = 0; l < n; l++)
      for (int a = limb[static_cast<std::size_t>(l)].parent; a >= 0; a = limb[static_cast<std::size_t>(a)].parent)
        couple(l, a);
    for (const auto& set : together)
      for (const int l : set)
        if (l != set.back()) couple(set.back(), l);
    const int numbers = eliminate_limbs(n, words, limb.data(), row.data(), place.data(), column.data());
    view = {n, words, numbers, limb.data(), place.data(), row.data(), column.data()};
  }
  Blocks(const Blocks&) = delete;
};

// A problem whose rows are given by J, or as contacts of bodies with the world.
struct Solver {
  Blocks own, coupled;
  std::vector<int> parent{0}, first_dof{0}, order, first_slot;
  std::vector<RowType> type;
  std::vector<RowSegment> segment;
  std::vector<RowSlot> slot;
  std::vector<double> mass, H, R, axis, a0, a, g, step, acceleration, carried, numbers;

  Solver(const std::vector<int>& tree, const Eigen::MatrixXd& M, const Eigen::VectorXd& smooth,
         const std::vector<std::vector<int>>& together)
      : own(limbs_of(tree), {}), coupled(limbs_of(tree), together) {
    const std::size_t n = tree.size();
    for (const int p : tree) parent.push_back(p + 1);
    for (int k = 0; k <= static_cast<int>(n); k++) first_dof.push_back(k);
    mass.resize(static_cast<std::size_t>(own.view.numbers));
    for (int m = 0; m < own.view.limbs; m++)
      for (int l = m; l >= 0; l = own.limb[static_cast<std::size_t>(l)].parent) {
        const Limb &x = own.limb[static_cast<std::size_t>(m)], &y = own.limb[static_cast<std::size_t>(l)];
        for (int i = 0; i < x.count; i++)
          for (int j = 0; j < y.count; j++)
            mass[static_cast<std::size_t>(own.view.at(m, l) + i * y.count + j)] = M(x.first + i, y.first + j);
      }
    H.resize(static_cast<std::size_t>(coupled.view.numbers)), R = H;
    a0 = {smooth.begin(), smooth.end()}, a = a0, g.resize(n), step.resize(n), axis.resize(6 * n);
    acceleration.resize(6 * (n + 1)), carried.resize(body_numbers * own.limb.size());
  }
  RowSlot& add(RowKind kind, int rows, int body, int size) {
    slot.push_back({kind, rows, body, -1, static_cast<int>(numbers.size()), -1, 1});
    numbers.resize(numbers.size() + static_cast<std::size_t>(slot_geometry(kind, rows) + size));
    return slot.back();
  }
  // D, aref, coefficients of a block; gives where the numbers behind begin.
  double* set(const RowSlot& s, const double* D, const double* aref, const double* friction) {
    double* x = numbers.data() + s.numbers;
    for (int k = 0; k < s.rows; k++) x[k] = aref[k], x[s.rows + k] = D[k], x[2 * s.rows + k] = friction[k];
    return x + slot_geometry(s.kind, s.rows);
  }
  // A row block with J (rows, columns) for these coordinates.
  void add_rows(RowKind kind, const Eigen::MatrixXd& J, const std::vector<int>& columns, const double* D,
                const double* aref, const double* friction) {
    RowType t{kind, static_cast<int>(J.rows()), static_cast<int>(segment.size()), 0, static_cast<int>(columns.size())};
    for (const int v : columns)
      for (int l = 0; l < own.view.limbs; l++)
        if (const Limb& limb = own.limb[static_cast<std::size_t>(l)]; v >= limb.first && v < limb.first + limb.count)
          segment.push_back({l, v - limb.first, 1}), t.segments++;
    const RowSlot& s = add(kind, t.rows, 0, t.rows * t.columns);
    slot.back().type = static_cast<int>(type.size());
    type.push_back(t);
    double* x = set(s, D, aref, friction);
    for (int i = 0; i < J.rows(); i++)
      for (int k = 0; k < J.cols(); k++) x[i * J.cols() + k] = J(i, k);
  }
  LimbProblem<double> problem() {
    first_slot.clear(), order.clear();
    const int nb = static_cast<int>(parent.size()) - 1;
    for (int b = 0; b <= nb; b++) {
      first_slot.push_back(static_cast<int>(order.size()));
      for (int i = 0; i < static_cast<int>(slot.size()); i++)
        if (b > 0 && slot[static_cast<std::size_t>(i)].body == b) order.push_back(i);
    }
    first_slot.push_back(static_cast<int>(order.size()));
    for (int i = 0; i < static_cast<int>(slot.size()); i++)
      if (slot[static_cast<std::size_t>(i)].body == 0) order.push_back(i);
    return {own.view,
            coupled.view,
            parent.data(),
            first_dof.data(),
            type.data(),
            segment.data(),
            nb,
            static_cast<int>(a.size()),
            mass.data(),
            H.data(),
            R.data(),
            axis.data(),
            a0.data(),
            a.data(),
            g.data(),
            step.data(),
            acceleration.data(),
            carried.data(),
            slot.data(),
            numbers.data(),
            order.data(),
            first_slot.data(),
            static_cast<int>(slot.size())};
  }
};

std::vector<std::vector<int>> coupled_limbs(const std::vector<int>& tree, const RowPattern& rows) {
  const std::vector<Limb> limbs = limbs_of(tree);
  std::vector<std::vector<int>> together;
  for (const PackedBlock& b : rows.block) {
    std::vector<int> set;
    for (int k = b.column; k < b.column + b.columns; k++)
      for (int l = 0; l < static_cast<int>(limbs.size()); l++)
        if (const Limb& limb = limbs[static_cast<std::size_t>(l)];
            rows.column[k] >= limb.first && rows.column[k] < limb.first + limb.count)
          set.push_back(l);
    together.push_back(set);
  }
  return together;
}

void add_all_rows(const Problem& c, Solver& s) {
  for (const PackedBlock& b : c.rows.block) {
    const std::vector<int> columns(c.rows.column.begin() + b.column, c.rows.column.begin() + b.column + b.columns);
    Eigen::MatrixXd J(b.rows, b.columns);
    for (int i = 0; i < b.rows; i++)
      for (int k = 0; k < b.columns; k++) J(i, k) = c.dense.J(b.first + i, columns[static_cast<std::size_t>(k)]);
    s.add_rows(b.kind, J, columns, c.D.data() + b.first, c.aref.data() + b.first, c.friction.data() + b.first);
  }
}

// The most passes that a problem took, from a guess that is the solution or not.
double solve_all(const std::vector<RowKind>& kinds, bool from_solution) {
  double most = 0;
  for (unsigned seed = 0; seed < 100; seed++) {
    const int n = 1 + static_cast<int>(seed % 13);
    const Problem c = random_problem(n, 1 + static_cast<int>(seed % 22), seed, kinds);
    const ConstrainedAcceleration exact = dense_newton(c.dense, c.dense.a0, 100, 1e-15);
    Solver s(c.parent, c.dense.M, c.dense.a0, coupled_limbs(c.parent, c.rows));
    add_all_rows(c, s);
    for (int k = 0; k < n; k++) s.a[static_cast<std::size_t>(k)] = from_solution ? exact.a(k) : 3.0;
    const LimbProblem<double> p = s.problem();
    const double passes = newton_passes(p, 1, {60, 1e-12}).passes;
    EXPECT_LT(passes, 60) << "seed " << seed;
    most = std::max(most, passes);
    const Eigen::Map<Eigen::VectorXd> a(s.a.data(), n);
    EXPECT_LE((a - exact.a).norm(), 1e-9 * (1 + exact.a.norm())) << "seed " << seed;
    for (std::size_t i = 0; i < s.slot.size(); i++)
      with_rows_of(s.slot[i].kind, s.slot[i].rows, [&](auto kind, auto rows) {
        double f[rows];
        forces_of_slot<kind, rows, double>(p, s.slot[i], f);
        for (int k = 0; k < rows; k++)
          EXPECT_NEAR(f[k], exact.force(c.rows.block[i].first + k), 1e-7 * (1 + exact.force.norm())) << "seed " << seed;
      });
    refine(p, 1);
    EXPECT_LT(unbalanced(p, 1), 1e-9) << "seed " << seed;
  }
  return most;
}

TEST(LimbNewton, FindsTheSolutionOfTheDenseReference) {
  EXPECT_LE(solve_all({RowKind::Equality, RowKind::Friction, RowKind::Unilateral}, false), 20);
}
TEST(LimbNewton, FindsTheSolutionOfContactsWithPyramids) {
  EXPECT_LE(solve_all({RowKind::Pyramid, RowKind::Unilateral}, false), 20);
}
TEST(LimbNewton, FindsTheSolutionOfContactsWithCones) {
  EXPECT_LE(solve_all({RowKind::Cone, RowKind::Equality}, false), 25);
}
TEST(LimbNewton, NeedsOnePassFromTheSolutionWhereCostsAreQuadratic) {
  EXPECT_LE(solve_all({RowKind::Pyramid, RowKind::Friction, RowKind::Unilateral, RowKind::Equality}, true), 1);
}

// Dry friction and limits up to 1e5 times as hard as others: along a step the cost falls steeply at first, and rises gently after a
// kink that is as near as nothing.
TEST(LimbNewton, GetsPastKinksAtTheBeginningOfAStep) {
  double most = 0;
  for (unsigned seed = 0; seed < 500; seed++) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<> uniform(0, 1);
    const int columns = 2 + static_cast<int>(seed % 6), n = 3 + static_cast<int>(seed % 13);
    std::vector<int> all, chain;
    for (int k = 0; k < columns; k++) all.push_back(k), chain.push_back(k - 1);
    Solver s(chain, Eigen::MatrixXd::Identity(columns, columns), Eigen::VectorXd::Zero(columns), {});
    const double far = std::pow(10.0, 2 - 3 * uniform(engine)), guess = std::pow(10.0, 2 - 4 * uniform(engine));
    for (int i = 0; i < n; i++) {
      const RowKind kind = engine() % 2 ? RowKind::Friction : RowKind::Unilateral;
      const double size = std::pow(10.0, 2 * uniform(engine) - 1);
      Eigen::MatrixXd J(1, columns);
      for (int k = 0; k < columns; k++) J(0, k) = size * (4 * uniform(engine) - 2);
      const double D = std::pow(10.0, 5 * uniform(engine)), friction = std::pow(10.0, 3 * uniform(engine) - 1);
      const double aref = -far * (4 * uniform(engine) - 2);
      s.add_rows(kind, J, all, &D, &aref, &friction);
    }
    for (double& x : s.a) x = guess * (4 * uniform(engine) - 2);
    const double passes = newton_passes(s.problem(), 1, {100, 1e-10}).passes;
    EXPECT_LT(passes, 100) << "seed " << seed;
    EXPECT_LT(unbalanced(s.problem(), 1), 1e-5) << "seed " << seed;  // hard rows pull against each other
    most = std::max(most, passes);
  }
  EXPECT_LE(most, 40);
}

// Contacts of bodies with the world, added up on the bodies, are what their rows are by J.
TEST(LimbNewton, ContactsOfABodyAreTheirRows) {
  for (unsigned seed = 0; seed < 200; seed++) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<> uniform(-1, 1);
    const int n = 2 + static_cast<int>(seed % 11);
    std::vector<int> tree;  // a chain, or some of three that hang on the first coordinate
    for (int k = 0; k < n; k++) tree.push_back(k > 1 && k % 3 == 1 && seed % 2 == 0 ? 0 : k - 1);
    Eigen::MatrixXd M = Eigen::MatrixXd::Identity(n, n) * (1 + 0.3 * n);
    for (int i = 0; i < n; i++)
      for (int j = tree[static_cast<std::size_t>(i)]; j >= 0; j = tree[static_cast<std::size_t>(j)])
        M(i, j) = M(j, i) = 0.3 * uniform(engine);
    Eigen::VectorXd smooth(n);
    for (double& x : smooth) x = 5 * uniform(engine);
    Solver by_body(tree, M, smooth, {}), by_rows(tree, M, smooth, {});
    Eigen::MatrixXd S(6, n);
    for (int k = 0; k < n; k++)
      for (int i = 0; i < 6; i++) by_body.axis[static_cast<std::size_t>(6 * k + i)] = S(i, k) = uniform(engine);
    for (int contact = 0; contact < 6; contact++) {
      const int body = 1 + static_cast<int>(engine() % static_cast<unsigned>(n));
      const int d = std::array{1, 3, 4, 6}[engine() % 4];
      const RowKind kind = d == 1 ? RowKind::Unilateral : engine() % 2 ? RowKind::Cone : RowKind::Pyramid;
      const Eigen::Vector3d c = Eigen::Vector3d::NullaryExpr([&] { return uniform(engine); });
      const Eigen::Matrix3d E = Eigen::Quaterniond::UnitRandom().toRotationMatrix();
      double D[6], aref[6], friction[6];
      for (int k = 0; k < 6; k++) aref[k] = 5 * uniform(engine), friction[k] = 1 + 0.9 * uniform(engine);
      D[0] = std::pow(10.0, 2 + uniform(engine));
      for (int k = 1; k < 6; k++) D[k] = D[0] * std::pow(friction[k] / friction[0], 2);
      const RowSlot slot = by_body.add(kind, d, body, point_and_axes);
      double* x = by_body.set(slot, D, aref, friction);
      for (int i = 0; i < 3; i++) x[i] = c(i);
      for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) x[3 + 3 * k + i] = E(i, k);
      std::vector<int> columns;
      for (int k = body - 1; k >= 0; k = tree[static_cast<std::size_t>(k)]) columns.insert(columns.begin(), k);
      Eigen::MatrixXd J(d, columns.size());
      for (int k = 0; k < static_cast<int>(columns.size()); k++) {
        const Eigen::Vector3d w = S.col(columns[static_cast<std::size_t>(k)]).head<3>(),
                              v = S.col(columns[static_cast<std::size_t>(k)]).tail<3>() + w.cross(c);
        for (int i = 0; i < d; i++) J(i, k) = E.col(i % 3).dot(i < 3 ? v : w);
      }
      by_rows.add_rows(kind, J, columns, D, aref, friction);
    }
    newton_passes(by_body.problem(), 1, {60, 1e-12}), newton_passes(by_rows.problem(), 1, {60, 1e-12});
    for (std::size_t k = 0; k < by_rows.a.size(); k++) EXPECT_NEAR(by_body.a[k], by_rows.a[k], 1e-9) << "seed " << seed;
    EXPECT_LT(unbalanced(by_body.problem(), 1), 1e-9);
    refine(by_body.problem(), 1);
    for (std::size_t k = 0; k < by_rows.a.size(); k++) EXPECT_NEAR(by_body.a[k], by_rows.a[k], 1e-9) << "seed " << seed;
  }
}

TEST(LimbBlocks, FactorSolveAndMultiplyAsDenseMatricesDo) {
  for (unsigned seed = 0; seed < 100; seed++) {
    const Problem c =
        random_problem(2 + static_cast<int>(seed % 40), 1 + static_cast<int>(seed % 9), seed, {RowKind::Equality});
    const int n = static_cast<int>(c.parent.size());
    const Blocks own(limbs_of(c.parent), {}), both(limbs_of(c.parent), coupled_limbs(c.parent, c.rows));
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n, n);
    std::vector<double> H(static_cast<std::size_t>(both.view.numbers)), R = H;
    std::mt19937 engine(seed);
    std::uniform_real_distribution<> uniform(-1, 1);
    for (int m = 0; m < both.view.limbs; m++)
      for (int l = 0; l <= m; l++) {
        if (both.view.at(m, l) < 0) continue;
        const Limb &x = both.limb[static_cast<std::size_t>(m)], &y = both.limb[static_cast<std::size_t>(l)];
        for (int i = 0; i < x.count; i++)
          for (int j = 0; j < y.count; j++) {
            if (x.first + i < y.first + j) continue;
            const double value = m == l && i == j ? 2.0 + n : uniform(engine);
            A(x.first + i, y.first + j) = A(y.first + j, x.first + i) = value;
            H[static_cast<std::size_t>(both.view.at(m, l) + i * y.count + j)] = value;
          }
      }
    Eigen::VectorXd x(n), y(n);
    for (double& value : x) value = uniform(engine);
    limbs_times(both.view, H.data(), x.data(), y.data());
    EXPECT_LT((A * x - y).norm(), 1e-12 * A.norm());
    factor_limbs(both.view, H.data(), R.data());
    Eigen::VectorXd solution = x;
    const double square = solve_limbs(both.view, R.data(), solution.data());
    EXPECT_LT((A * solution - x).norm(), 1e-12 * A.norm());
    EXPECT_NEAR(square, x.dot(solution), 1e-12 * (1 + x.norm()));
    // elimination fills nothing that is not there already where no rows couple limbs
    EXPECT_LE(own.view.numbers, both.view.numbers);
  }
}

}  // namespace
}  // namespace featherstorm::test_limb_newton
