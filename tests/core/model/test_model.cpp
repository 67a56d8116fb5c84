// The system model: numbering, index tables and the book's golden numbers. RBDA chapter 4 and section 6.4.
#include "core/model/model.h"

#include <gtest/gtest.h>

#include "tests/support/oracles/cases.h"

namespace featherstorm::test_model {
namespace {

using namespace testing;

// A robot of unit links with these parents (0 is the world, links 1..n) and joint types, all revolute by default.
Robot tree(const std::vector<int>& parent, const std::vector<JointType>& types = {}) {
  ModelBuilder b;
  for (std::size_t i = 0; i < parent.size(); i++) {
    LinkSpec l{"link" + std::to_string(i + 1), 1.0};
    l.inertia = Mat3d::Identity();
    b.add_link(l);
    JointSpec j;
    j.name = "joint" + std::to_string(i + 1);
    j.child = l.name;
    if (parent[i] > 0) j.parent = "link" + std::to_string(parent[i]);
    if (!types.empty()) j.type = types[i];
    j.X.r = {0.1, 0.2, 0.3};
    b.add_joint(j);
  }
  return b.build();
}
// the same parents by the names' numbers, for golden numbers whose numbering is not depth first
int body(const Robot& r, int link) { return r.joint("joint" + std::to_string(link)); }

struct Costs { int D1 = 0, D2 = 0; };
Costs costs(const Model<double>& m) {
  Costs c;
  for (int k = 0; k < m.nv; k++) {
    const int d = m.depth[k] + 1;
    c.D1 += d - 1, c.D2 += d * (d - 1) / 2;
  }
  return c;
}

std::vector<int> chain(int n) {
  std::vector<int> p;
  for (int i = 0; i < n; i++) p.push_back(i);
  return p;
}

// RBDA Table 6.4: lambda = (0 1 1 2 2 3), joint 2 has three freedoms, lambda' = (0 1 2 3 1 4 4 5) from 1.
TEST(Model, ExpandedParentArrayOfTable64) {
  const JointType R = JointType::Revolute;
  const Robot r = tree({0, 1, 1, 2, 2, 3}, {R, JointType::BallYpr, R, R, R, R});
  // the book numbers the coordinates 1, 2-4 (joint 2), 5 (joint 3), 6, 7 (joints 4, 5), 8 (joint 6)
  std::vector<int> of_book(9);  // book's coordinate -> ours
  of_book[0] = -1;
  auto v = [&](int joint) { return r.model.body[body(r, joint)].v; };
  of_book[1] = v(1), of_book[2] = v(2), of_book[3] = v(2) + 1, of_book[4] = v(2) + 2;
  of_book[5] = v(3), of_book[6] = v(4), of_book[7] = v(5), of_book[8] = v(6);
  const int lambda[] = {0, 1, 2, 3, 1, 4, 4, 5};
  for (int k = 1; k <= 8; k++) EXPECT_EQ(r.model.dof_parent[of_book[k]], of_book[lambda[k - 1]]) << k;
}

// Fig. 4.6: mu(0) = {1 4}, mu(1) = {2 3}, nu(1) = {1 2 3 5}, kappa(3) = {1 3}, kappa(8) = {4 8}
TEST(Model, SetsOfFigure46) {
  const std::vector<int> parent = {0, 1, 1, 0, 3, 4, 4, 4};
  const Robot r = tree(parent);
  const Model<double>& m = r.model;
  auto bodies = [&](std::vector<int> links) {
    for (int& l : links) l = body(r, l);
    std::sort(links.begin(), links.end());
    return links;
  };
  EXPECT_EQ(children(m, 0), bodies({1, 4}));
  EXPECT_EQ(children(m, body(r, 1)), bodies({2, 3}));
  EXPECT_EQ(children(m, body(r, 2)), bodies({}));
  EXPECT_EQ(subtree(m, body(r, 1)), bodies({1, 2, 3, 5}));
  std::vector<int> all{0};
  for (int i = 1; i <= 8; i++) all.push_back(i);
  EXPECT_EQ(subtree(m, 0), all);
  EXPECT_EQ(support(m, body(r, 3)), bodies({1, 3}));
  EXPECT_EQ(support(m, body(r, 8)), bodies({4, 8}));
  EXPECT_EQ(support(m, 0), bodies({}));
}

// j in kappa(i) exactly if i in nu(j); mu(i) in nu(i): RBDA (4.3)
TEST(Model, SupportAndSubtreeAreDual) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    auto has = [](const std::vector<int>& a, int x) { return std::find(a.begin(), a.end(), x) != a.end(); };
    for (int i = 1; i <= m.nb; i++) {
      for (int j = 1; j <= m.nb; j++) EXPECT_EQ(has(support(m, i), j), has(subtree(m, j), i));
      for (int k : children(m, i)) EXPECT_TRUE(has(subtree(m, i), k));
      EXPECT_TRUE(has(children(m, m.body[i].parent), i));
    }
  });
}

// Numbering is depth first: every subtree is a run of consecutive numbers.
TEST(Model, NumberingIsDepthFirst) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    for (int i = 1; i <= m.nb; i++) {
      EXPECT_LT(m.body[i].parent, i);
      const std::vector<int> nu = subtree(m, i);
      for (std::size_t k = 0; k < nu.size(); k++) EXPECT_EQ(nu[k], i + static_cast<int>(k));
    }
  });
}

TEST(Model, OffsetsCountCoordinates) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    int q = 0, v = 0, x = 0;
    for (int i = 1; i <= m.nb; i++) {
      const Body<double>& b = m.body[i];
      EXPECT_EQ(b.q, q);
      EXPECT_EQ(b.v, v);
      EXPECT_EQ(b.x, x);
      const JointSize size =
          b.type == JointType::UserDefined ? JointSize{m.user[b.user].nq, m.user[b.user].nv} : joint_size(b.type);
      for (int k = 0; k < size.nv; k++) EXPECT_EQ(m.dof_body[v + k], i);
      q += size.nq, v += size.nv, x += joint_numbers(b.shape);
    }
    EXPECT_EQ(m.nq, q);
    EXPECT_EQ(m.nv, v);
    EXPECT_EQ(m.nx, x);
    EXPECT_EQ(m.nq, static_cast<int>(c.robot.q_names.size()));
    EXPECT_EQ(m.nv, static_cast<int>(c.robot.v_names.size()));
  });
}

// The packed triangle: row i holds i's ancestors from the root, then i.
TEST(Model, PackedTriangleHoldsAncestors) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    EXPECT_EQ(m.row_start[0], 0);
    EXPECT_EQ(m.row_start[m.nv], m.nh);
    EXPECT_EQ(m.nh, m.nv + costs(m).D1);
    for (int i = 0; i < m.nv; i++) {
      EXPECT_EQ(m.row_start[i + 1] - m.row_start[i], m.depth[i] + 1);
      int entry = m.row_start[i + 1] - 1;
      for (int j = i; j >= 0; j = m.dof_parent[j]) {
        EXPECT_EQ(m.at(i, j), entry);
        EXPECT_EQ(m.column[entry--], j);
      }
    }
  });
}

// D1 and D2, RBDA (6.26)-(6.29): golden numbers of chains, of a binary tree and of a quadruped.
TEST(Model, GoldenCostsOfChainsAndTrees) {
  const int chains[][3] = {{6, 15, 35}, {7, 21, 56}, {12, 66, 286}, {30, 435, 4495}};
  for (auto [n, D1, D2] : chains) {
    const Model<double> m = tree(chain(n)).model;
    EXPECT_EQ(costs(m).D1, D1);
    EXPECT_EQ(costs(m).D2, D2);
    EXPECT_EQ(2 * m.nh - m.nv, n * n);
  }
  const Model<double> binary = tree({0, 1, 1, 2, 2, 3, 3}).model;
  EXPECT_EQ(costs(binary).D1, 10);
  EXPECT_EQ(costs(binary).D2, 14);
  EXPECT_EQ(2 * binary.nh - binary.nv, 27);
  const JointType R = JointType::Revolute;
  const Model<double> quadruped =
      tree({0, 1, 2, 3, 1, 5, 6, 1, 8, 9, 1, 11, 12}, {JointType::Free, R, R, R, R, R, R, R, R, R, R, R, R}).model;
  EXPECT_EQ(quadruped.nv, 18);
  EXPECT_EQ(costs(quadruped).D1, 99);
  EXPECT_EQ(costs(quadruped).D2, 375);
  EXPECT_EQ(2 * quadruped.nh - quadruped.nv, 216);
}

TEST(Model, NeutralHasUnitQuaternions) {
  const Robot r = tree({0, 1, 2}, {JointType::Free, JointType::Ball, JointType::BallExp});
  EXPECT_EQ(r.q0, (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(neutral(r.model), r.q0);
}

TEST(Model, CastKeepsEveryNumber) {
  for_random_robots(
      [](const Case& c) {
        const Model<double>& m = c.model();
        const Model<double> n = cast<double>(m);
        const State& s = c.state;
        EXPECT_EQ(call_rnea(n, s.q, s.v, s.a, s.f_ext), call_rnea(m, s.q, s.v, s.a, s.f_ext));
        EXPECT_EQ(call_newton_euler(n, s.q, s.v, s.a, s.f_ext), call_newton_euler(m, s.q, s.v, s.a, s.f_ext));
        EXPECT_EQ(call_crba(n, s.q), call_crba(m, s.q));
        EXPECT_EQ(call_articulated_bodies(n, s.q, s.v, s.tau, s.f_ext),
                  call_articulated_bodies(m, s.q, s.v, s.tau, s.f_ext));
        EXPECT_EQ(n.lower, m.lower);
        EXPECT_EQ(n.dof_q, m.dof_q);
        EXPECT_EQ(n.dof_body, m.dof_body);
        EXPECT_EQ(n.frame.size(), m.frame.size());
        EXPECT_EQ(n.column, m.column);
      },
      10);
}

}  // namespace
}  // namespace featherstorm::test_model
