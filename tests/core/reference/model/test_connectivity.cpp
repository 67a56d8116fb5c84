// RBDA chapter 4: connectivity graphs and their numbering, polarity; section 3.1: rates of positions.
#include <gtest/gtest.h>

#include "core/dynamics/state_rate.h"
#include "core/joint/general.h"
#include "core/kinematics/position_rate.h"
#include "core/reference/model/connectivity.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/oracles/random_matrices.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_connectivity {
namespace {

using namespace testing;

// (3.5)-(3.9), (4.13)
TEST(PositionRate, IsTheDerivativeOfPositionsAndHalfTheQuaternionProduct) {
  int balls = 0;
  const auto check = [&](const Model<double>& m, const State& s) {
    Numbers rate(m.nq + m.nv);
    state_rate(m, s.q.data(), s.v.data(), s.tau.data(), Zeros<double>{}, rate.data());
    const Eigen::VectorXd expected = derivative([&](double h) { return testing::vector(moved(m, s.q, s.v, h)); });
    for (int k = 0; k < m.nq; k++) EXPECT_NEAR(rate[k], expected(k), 1e-8) << k;
    Numbers qdd(m.nv);
    articulated_bodies(m, s.q.data(), s.v.data(), s.tau.data(), Zeros<double>{}, qdd.data());
    for (int k = 0; k < m.nv; k++) EXPECT_EQ(rate[m.nq + k], qdd[k]);
    for (int i = 1; i <= m.nb; i++) {
      const Body<double>& b = m.body[i];
      if (b.type != JointType::Ball) continue;
      const Quaternion<double> p{s.q[b.q], s.q[b.q + 1], s.q[b.q + 2], s.q[b.q + 3]};
      const Quaternion<double> pd = p * Quaternion<double>{0, s.v[b.v], s.v[b.v + 1], s.v[b.v + 2]};
      EXPECT_NEAR(rate[b.q], pd.w / 2, 1e-14);
      EXPECT_NEAR(rate[b.q + 1], pd.x / 2, 1e-14);
      EXPECT_NEAR(rate[b.q + 2], pd.y / 2, 1e-14);
      EXPECT_NEAR(rate[b.q + 3], pd.z / 2, 1e-14);
      balls++;
    }
    // linear in v
    Numbers twice(m.nq), one(m.nq), v2 = s.v;
    for (double& x : v2) x *= 2;
    position_rate(m, s.q.data(), s.v.data(), one.data()), position_rate(m, s.q.data(), v2.data(), twice.data());
    for (int k = 0; k < m.nq; k++) EXPECT_NEAR(twice[k], 2 * one[k], 1e-12);
  };
  for_robots_in_states(12, check);
  EXPECT_GT(balls, 0);
}

// Section 4.1: the crank-slider linkage has one loop, 4 spanning trees and 8 regular numberings.
TEST(Connectivity, CrankSliderOfFigure44) {
  const std::vector<Arc> joints{{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  EXPECT_EQ(spanning_trees(4, joints), 4);
  EXPECT_EQ(spanning_tree(4, joints).loops, 1);
  // all ways to number three bodies and four joints
  int numberings = 0;
  std::vector<int> body{1, 2, 3};
  std::vector<std::vector<int>> lambdas;
  do {
    std::vector<int> number{0, body[0], body[1], body[2]}, joint{0, 1, 2, 3};
    do {  // joint[k] is the (k + 1)-th
      std::vector<int> p(5), s(5);
      for (int k = 0; k < 4; k++) p[k + 1] = number[joints[joint[k]].p], s[k + 1] = number[joints[joint[k]].s];
      if (!is_regular(3, p, s)) continue;
      numberings++;
      std::vector<int> lambda;
      for (int i = 1; i <= 3; i++) lambda.push_back(std::min(p[i], s[i]));
      lambdas.push_back(lambda);
    } while (std::next_permutation(joint.begin(), joint.end()));
  } while (std::next_permutation(body.begin(), body.end()));
  EXPECT_EQ(numberings, 8);
  // the parent arrays of Figure 4.5 are among them: two chains, and trees that branch at the base
  EXPECT_EQ(std::count(lambdas.begin(), lambdas.end(), std::vector<int>{0, 1, 2}), 2);
  EXPECT_GT(std::count(lambdas.begin(), lambdas.end(), std::vector<int>{0, 0, 1}), 0);
}

TEST(Connectivity, AnyGraphIsNumberedRegularly) {
  for_seeds([](Random& random) {
    const int bodies = 2 + random.below(9);
    std::vector<Arc> joints;
    for (int i = 1; i < bodies; i++)
      joints.push_back(random.chance(0.5) ? Arc{random.below(i), i} : Arc{i, random.below(i)});
    const int chords = random.below(4);
    for (int k = 0; k < chords; k++) {
      const int a = random.below(bodies), b = random.below(bodies);
      joints.push_back(a == b ? Arc{0, bodies - 1} : Arc{a, b});
    }
    random.shuffle(joints);
    const SpanningTree t = spanning_tree(bodies, joints);
    EXPECT_TRUE(is_regular(bodies - 1, t.p, t.s));
    EXPECT_EQ(t.loops, chords);  // N_L = N_J - N_B
    std::vector<int> seen = t.joint, names = t.body;
    std::sort(seen.begin(), seen.end()), std::sort(names.begin(), names.end());
    for (std::size_t k = 0; k < seen.size(); k++) EXPECT_EQ(seen[k], static_cast<int>(k) + 1);
    for (int k = 0; k < bodies; k++) EXPECT_EQ(names[k], k);
    for (int i = 1; i < bodies; i++) {
      EXPECT_EQ(t.lambda[i], std::min(t.p[i], t.s[i]));
      EXPECT_LT(t.lambda[i], i);
    }
    for (std::size_t k = 0; k < joints.size(); k++) {  // every joint still joins its bodies, in its direction
      EXPECT_EQ(t.p[t.joint[k]], t.body[joints[k].p]);
      EXPECT_EQ(t.s[t.joint[k]], t.body[joints[k].s]);
    }
  });
  EXPECT_EQ(spanning_tree(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}, {3, 2, 1}).lambda, (std::vector<int>{-1, 0, 1, 2}));
}

TEST(Connectivity, RefusesGraphsThatAreNone) {
  EXPECT_EQ(message([] { spanning_tree(3, {{0, 1}}); }), "body 2 is not connected to the base");
  EXPECT_EQ(message([] { spanning_tree(2, {{0, 2}}); }), "joint 0 joins body 2, expected 0 to 1");
  EXPECT_EQ(message([] { spanning_tree(2, {{1, 1}}); }), "joint 0 joins body 1 to itself");
  EXPECT_EQ(message([] { spanning_tree(3, {{0, 1}, {1, 2}, {2, 0}}, {0, 1, 2}); }),
            "the tree has 3 joints, expected 2");
  EXPECT_EQ(message([] { spanning_tree(2, {{0, 1}}, {5}); }), "the tree has joint 5, which does not exist");
}

// Table 4.2 twice is the joint again; T goes by -X*, so that T^T S = 0 stays.
TEST(Polarity, TwiceReversedIsTheJointAgain) {
  for_seeds([](Random& random) {
    Placement<double> J{random.rotation(), random.vector()};
    const Placement<double> J0 = J;
    Motion<double> S[1]{{random.vector(), random.vector()}}, c{random.vector(), random.vector()};
    const Motion<double> S0 = S[0], c0 = c;
    reverse_joint(J, S, 1, c);
    Force<double> T{random.vector(),
                    random.vector()};  // a constraint force of the reversed joint, and of the joint itself
    T = T - Force<double>{S[0].w, S[0].v} * (dot(S[0], T) / (S[0].w.squaredNorm() + S[0].v.squaredNorm()));
    EXPECT_NEAR(dot(S0, -apply_transpose(inverse(J0), T)), 0, 1e-13);
    reverse_joint(J, S, 1, c);
    EXPECT_LT((S[0].w - S0.w).norm() + (S[0].v - S0.v).norm() + (c.w - c0.w).norm() + (c.v - c0.v).norm(), 1e-13);
    EXPECT_LT((J.R - J0.R).norm() + (J.r - J0.r).norm(), 1e-13);
  });
}

}  // namespace
}  // namespace featherstorm::test_connectivity
