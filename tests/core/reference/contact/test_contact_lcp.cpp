#include <gtest/gtest.h>

#include "core/reference/contact/lcp.h"
#include "tests/support/robots/contact_robots.h"

namespace featherstorm::test_contact_lcp {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Oracle: every subset of contacts with a force. Slow, and nothing to go wrong.
ContactForces by_enumeration(const MatrixXd& M, const VectorXd& d) {
  const int n = static_cast<int>(d.size());
  const double tiny = 1e-9 * (1 + d.cwiseAbs().maxCoeff());
  for (int set = 0; set < 1 << n; set++) {
    std::vector<int> P;
    for (int k = 0; k < n; k++)
      if (set >> k & 1) P.push_back(k);
    VectorXd lambda = VectorXd::Zero(n);
    if (!P.empty()) {
      const VectorXd x = MatrixXd(M(P, P)).fullPivLu().solve(-d(P));
      if (!x.allFinite() || x.minCoeff() < -tiny) continue;
      lambda(P) = x;
    }
    const VectorXd zetad = M * lambda + d;
    if (zetad.minCoeff() < -tiny || VectorXd(zetad(P)).cwiseAbs().sum() > tiny) continue;
    return {true, lambda, zetad};
  }
  return {false, VectorXd::Zero(n), d};
}

void expect_complementary(const ContactForces& x, const MatrixXd& M, const VectorXd& d) {
  const double scale = 1 + d.cwiseAbs().maxCoeff();
  ASSERT_TRUE(x.solved);
  EXPECT_LT((x.zetad - M * x.lambda - d).norm(), 1e-10 * scale);
  EXPECT_GE(x.zetad.minCoeff(), -1e-9 * scale);
  EXPECT_GE(x.lambda.minCoeff(), 0);
  for (int k = 0; k < d.size(); k++) EXPECT_NEAR(x.zetad(k) * x.lambda(k), 0, 1e-8 * scale * (1 + x.lambda(k)));
}

struct Case {
  Robot robot;
  Contacts<double> contacts;
  State s;
  ContactProblem p;
};
Case random_case(unsigned seed, int count) {
  RandomOptions o;
  o.bodies = 4 + seed % 4, o.floating = seed % 2;
  Case c{random_robot(seed, o), {}, {}, {}};
  c.contacts = contacts_of(c.robot, random_contacts(c.robot, seed, count));
  c.s = random_state(c.robot, seed);
  c.p = contact_problem(c.robot.model, c.contacts, c.s.q, c.s.v, c.s.tau, c.s.f_ext);
  return c;
}

TEST(ContactSystem, IsTheProblemOfTheBook) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ContactProblem p = random_case(seed, 5).p;
    const MatrixXd M = p.G * p.H.llt().solve(MatrixXd(p.G.transpose()));
    const VectorXd d = p.G * p.qdd_free + p.bias;
    EXPECT_LT((p.M - M).norm(), 1e-10 * M.norm());
    EXPECT_LT((p.d - d).norm(), 1e-9 * (1 + d.norm()));
  }
}

TEST(ContactEquations, ThreeFormsAndEnumerationAgree) {
  int broken = 0, held = 0;
  for (unsigned seed = 1; seed <= 60; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ContactProblem p = random_case(seed, 1 + seed % 8).p;
    const double scale = 1 + p.d.cwiseAbs().maxCoeff();
    const ContactForces oracle = by_enumeration(p.M, p.d), lcp = solve_lcp(p.M, p.d), qp = solve_force_qp(p.M, p.d);
    const GaussSolution gauss = solve_gauss_qp(p.H, p.qdd_free, p.G, p.bias);
    ASSERT_EQ(lcp.solved, oracle.solved);
    ASSERT_EQ(qp.solved, oracle.solved);
    ASSERT_EQ(gauss.solved, oracle.solved);
    if (!oracle.solved) continue;
    expect_complementary(lcp, p.M, p.d);
    expect_complementary(qp, p.M, p.d);
    EXPECT_LT((lcp.zetad - oracle.zetad).norm(), 1e-8 * scale);
    EXPECT_LT((qp.zetad - oracle.zetad).norm(), 1e-8 * scale);
    auto qdd = [&](const VectorXd& lambda) { return VectorXd(p.qdd_free + p.H.llt().solve(p.G.transpose() * lambda)); };
    const double size = 1 + gauss.qdd.norm();
    EXPECT_LT((qdd(oracle.lambda) - gauss.qdd).norm(), 1e-8 * size);
    EXPECT_LT((qdd(lcp.lambda) - gauss.qdd).norm(), 1e-8 * size);
    EXPECT_LT((qdd(qp.lambda) - gauss.qdd).norm(), 1e-8 * size);
    EXPECT_LT((qdd(gauss.lambda) - gauss.qdd).norm(), 1e-8 * size);
    for (int k = 0; k < p.d.size(); k++) (lcp.lambda(k) > 0 ? held : broken)++;
  }
  EXPECT_GT(broken, 30);
  EXPECT_GT(held, 30);
}

// More contacts than freedoms: M is singular, forces are not unique.
TEST(ContactEquations, AccelerationsAreUniqueWhereForcesAreNot) {
  const Vec3d half(0.3, 0.2, 0.1);
  const Robot robot = floating({block("b", half, 3)});
  const Contacts<double> contacts = contacts_of(robot, corners("b", half));
  Random random(3);
  int many = 0;
  for (int trial = 0; trial < 40; trial++) {
    const Numbers q{0.4, -0.7, 0.1, 1, 0, 0, 0}, rest(6, 0.0);
    Numbers f(6);
    for (int k = 0; k < 6; k++) f[k] = random.uniform(-10, 10);
    const ContactProblem p = contact_problem(robot.model, contacts, q, rest, rest, f);
    EXPECT_EQ(p.M.fullPivLu().rank(), 3);
    const ContactForces a = solve_lcp(p.M, p.d), b = solve_force_qp(p.M, p.d);
    const GaussSolution g = solve_gauss_qp(p.H, p.qdd_free, p.G, p.bias);
    expect_complementary(a, p.M, p.d);
    expect_complementary(b, p.M, p.d);
    ASSERT_TRUE(g.solved);
    EXPECT_LT((p.G.transpose() * (a.lambda - b.lambda)).norm(), 1e-9 * (1 + a.lambda.norm()));
    EXPECT_LT((p.G.transpose() * (a.lambda - g.lambda)).norm(), 1e-9 * (1 + a.lambda.norm()));
    // all solutions are basic: at most three of the four corners carry
    EXPECT_LE((a.lambda.array() > 0).count(), 3);
    EXPECT_LE((b.lambda.array() > 0).count(), 3);
    // any order of contacts
    Eigen::PermutationMatrix<4> P;
    P.setIdentity();
    P.applyTranspositionOnTheRight(0, 3), P.applyTranspositionOnTheRight(1, 2 + trial % 2);
    const ContactForces c = solve_lcp(P * p.M * P.transpose(), P * p.d);
    EXPECT_LT((P.transpose() * c.zetad - a.zetad).norm(), 1e-9 * (1 + a.zetad.norm()));
    many += (P.transpose() * c.lambda - a.lambda).norm() > 1e-3;
  }
  EXPECT_GT(many, 0);
}

TEST(SingleContact, IsTheClosedForm) {
  const Robot robot = floating({ball("b", 0.1, 2)});
  const Contacts<double> contacts = contacts_of(robot, {on_ground("b", {0, 0, 0}, 0.1)});
  const Numbers q{1, 2, 0.1, 1, 0, 0, 0}, rest(6, 0.0);
  for (double push : {-3.0, 0.0, 19.0, 20.0, 30.0}) {
    const Numbers f{0, 0, 0, 0, 0, push};
    const ContactProblem p = contact_problem(robot.model, contacts, q, rest, rest, f);
    const double weight = 2 * 9.81, lambda = single_contact(p.M(0, 0), p.d(0));
    EXPECT_NEAR(lambda, std::max(0.0, weight - push), 1e-12 * weight);
    EXPECT_NEAR(solve_lcp(p.M, p.d).lambda(0), lambda, 1e-12 * weight);
  }
}

// RBDA Example 11.1: a disc between two walls.
TEST(ContactEquations, OfTheSlotMayHaveNoSolution) {
  MatrixXd M(2, 2);
  M << 1, -1, -1, 1;
  for (double sum : {-1e-3, -2.0}) {
    const VectorXd d = Eigen::Vector2d(3 + sum, -3);
    EXPECT_FALSE(solve_lcp(M, d).solved);
    EXPECT_FALSE(solve_force_qp(M, d).solved);
    EXPECT_FALSE(solve_gauss_qp(MatrixXd::Identity(1, 1), VectorXd::Zero(1), Eigen::Vector2d(1, -1), d).solved);
  }
  for (double sum : {0.0, 2.0}) {
    const VectorXd d = Eigen::Vector2d(3 + sum, -3);
    const ContactForces x = solve_lcp(M, d);
    expect_complementary(x, M, d);
    EXPECT_NEAR(x.zetad.sum(), sum, 1e-12);
    expect_complementary(solve_force_qp(M, d), M, d);
    EXPECT_TRUE(solve_gauss_qp(MatrixXd::Identity(1, 1), VectorXd::Zero(1), Eigen::Vector2d(1, -1), d).solved);
  }
  // as a mechanism: a sphere in a slot that ends in arcs, its centre on the line where they begin
  ModelBuilder b;
  b.add_link(ball("disc", 0.5, 1));
  JointSpec j{"plane", JointType::Planar, "", "disc"};
  b.set_gravity({0, 0, 0});
  b.add_joint(j);
  const Robot robot = b.build();
  // arcs of radius 2 that bulge into the slot, solid inside, one above and one below the disc
  ContactSpec top = on_ground("disc", {0, 0, 0}, 0.5), bottom = top;
  top.surface = bottom.surface = Surface::Sphere, top.radius = bottom.radius = 2;
  top.X_p.r = {0, 2.5, 0}, bottom.X_p.r = {0, -2.5, 0};
  const Contacts<double> contacts = contacts_of(robot, {top, bottom});
  const Numbers q{0, 0, 0}, still(3, 0.0), none(6, 0.0);
  // at rest any push along the slot is free; with a velocity the arcs curve away, for convex arcs the gap opens
  ContactProblem p = contact_problem(robot.model, contacts, q, still, {0, 1, 0}, none);
  EXPECT_NEAR(p.M(0, 1), -p.M(0, 0), 1e-14);
  EXPECT_NEAR(p.d.sum(), 0, 1e-14);
  EXPECT_TRUE(solve_lcp(p.M, p.d).solved);
  Numbers v(3, 0.0);
  v[1] = 0.3;
  p = contact_problem(robot.model, contacts, q, v, still, none);
  EXPECT_NEAR(p.d.sum(), 2 * 0.09 / 2.5, 1e-12);
  EXPECT_TRUE(solve_lcp(p.M, p.d).solved);
  // cavities instead: the slot narrows on both sides of its middle, and motion through it has no solution
  top.surface = bottom.surface = Surface::Cavity;
  top.X_p.r = {0, -1.5, 0}, bottom.X_p.r = {0, 1.5, 0};
  const Contacts<double> narrow = contacts_of(robot, {top, bottom});
  p = contact_problem(robot.model, narrow, q, v, still, none);
  EXPECT_LT(p.d.sum(), 0);
  EXPECT_FALSE(solve_lcp(p.M, p.d).solved);
  EXPECT_FALSE(solve_force_qp(p.M, p.d).solved);
  EXPECT_FALSE(solve_gauss_qp(p.H, p.qdd_free, p.G, p.bias).solved);
}

TEST(ContactEquations, RefuseBadInput) {
  const MatrixXd M = MatrixXd::Identity(2, 2);
  EXPECT_THROW(solve_lcp(M, VectorXd::Zero(3)), std::invalid_argument);
  EXPECT_THROW(solve_force_qp(M, VectorXd::Constant(2, NAN)), std::invalid_argument);
  EXPECT_THROW(solve_gauss_qp(-M, VectorXd::Zero(2), M, VectorXd::Zero(2)), std::invalid_argument);
  EXPECT_THROW(solve_gauss_qp(M, VectorXd::Zero(2), M, VectorXd::Zero(1)), std::invalid_argument);
  EXPECT_TRUE(solve_lcp(MatrixXd(0, 0), VectorXd(0)).solved);
}

// Frictionless projected Gauss-Seidel, batched, against the exact solution.
TEST(FdContacts, ConvergesToTheExactSolution) {
  int compared = 0;
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Case c = random_case(seed, 5);
    const Model<double>& m = c.robot.model;
    const ContactForces x = solve_lcp(c.p.M, c.p.d);
    if (!x.solved) continue;
    Numbers lambda(5, 0.0), qdd(m.nv, NAN), touching(5, 1.0);
    fd_contacts(m, c.contacts, c.s.q.data(), c.s.v.data(), c.s.tau.data(), c.s.f_ext.data(), touching.data(), 20000,
                lambda.data(), qdd.data());
    const VectorXd expected = c.p.qdd_free + c.p.H.llt().solve(c.p.G.transpose() * x.lambda);
    EXPECT_LT((vector(qdd) - expected).norm(), 1e-8 * (1 + expected.norm()));
    compared++;
    // contacts that do not touch have no force
    touching.assign(5, 0.0), lambda.assign(5, 1.0);
    fd_contacts(m, c.contacts, c.s.q.data(), c.s.v.data(), c.s.tau.data(), c.s.f_ext.data(), touching.data(), 3,
                lambda.data(), qdd.data());
    EXPECT_LT((vector(qdd) - c.p.qdd_free).norm(), 1e-9 * (1 + c.p.qdd_free.norm()));
    EXPECT_EQ(vector(lambda).norm(), 0);
  }
  EXPECT_GE(compared, 15);
}

}  // namespace
}  // namespace featherstorm::test_contact_lcp
