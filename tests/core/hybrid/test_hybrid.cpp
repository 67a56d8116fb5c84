#include <gtest/gtest.h>

#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/rnea.h"
#include "core/hybrid/hybrid_crba.h"
#include "core/reference/dynamics/hybrid_aba.h"
#include "core/reference/dynamics/hybrid_tree.h"
#include "core/trace/program.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_hybrid {
namespace {

using namespace testing;

std::vector<char> random_joints(const Model<double>& m, unsigned seed) {
  Random random(seed + 77);
  std::vector<char> p(m.nb + 1, 0);
  for (int i = 1; i <= m.nb; i++) p[i] = random.chance(0.4);
  return p;
}

struct Motions { Numbers qdd, tau; };
template <class F> Motions call(const Model<double>& m, const std::vector<char>& p, const State& s, const F& hybrid) {
  // what must not be read is poisoned
  Motions in{s.a, s.tau}, out{Numbers(m.nv, NAN), Numbers(m.nv, NAN)};
  for (int k = 0; k < m.nv; k++) (p[m.dof_body[k]] ? in.tau : in.qdd)[k] = NAN;
  hybrid(m, p, s.q.data(), s.v.data(), in.qdd.data(), in.tau.data(), s.f_ext.data(), out.qdd.data(), out.tau.data());
  return out;
}
const auto by_aba = [](auto&&... a) { hybrid_aba(a...); };
const auto by_crba = [](auto&&... a) { hybrid_crba(a...); };

TEST(Hybrid, BothFormsKeepWhatIsGivenAndAgreeWithInverseDynamics) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    for (unsigned seed = 1; seed <= 3; seed++) {
      const std::vector<char> p = random_joints(m, seed);
      for (const Motions& r : {call(m, p, c.state, by_aba), call(m, p, c.state, by_crba)}) {
        for (int k = 0; k < m.nv; k++) {
          const bool given = p[m.dof_body[k]];
          EXPECT_EQ(given ? r.qdd[k] : r.tau[k], given ? c.state.a[k] : c.state.tau[k]);
        }
        // the whole motion is consistent: ID(qdd) = tau on every joint
        const dense::VectorX tau = c.oracle.rnea(c.state.q, c.state.v, r.qdd, c.state.f_ext);
        EXPECT_LT(relative_error(r.tau, tau, force_scale(c, r.qdd)), tolerance<double>("aba"));
      }
    }
  });
}

TEST(HybridInertia, IsTheSubmatrixOfJointsWithKnownForces) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    const std::vector<char> p = random_joints(m, 5);
    Numbers H(m.nh, NAN);
    hybrid_inertia(m, p, c.state.q.data(), H.data());
    const dense::MatrixX got = dense::unpacked(m, H), whole = c.oracle.crba(c.state.q);
    for (int i = 0; i < m.nv; i++)
      for (int j = 0; j < m.nv; j++) {
        const bool kept = !p[m.dof_body[i]] && !p[m.dof_body[j]];
        const double expected = kept ? whole(i, j) : i == j;
        EXPECT_NEAR(got(i, j), expected, tolerance<double>("crba") * (1 + whole.cwiseAbs().maxCoeff()));
      }
  });
}

// Operations that hybrid_inertia does, those whose results nothing uses among them.
int operations_of_inertia(const Model<double>& m, const std::vector<char>& p) {
  Program program;
  const std::vector<Expr> q = program.input("q", m.nq);
  Tracing scope(program.graph);
  std::vector<Expr> H(m.nh);
  hybrid_inertia(m, p, q.data(), H.data());
  int count = 0;
  for (int i = 0; i < program.graph.size(); i++) count += arity(program.graph.node(i).op) > 0;
  return count;
}

// Table 9.1: nu(fd) are the bodies that joints with known forces carry; what lies before the first of them costs nothing.
TEST(HybridInertia, CostsNothingOutsideNuOfTheJointsWithKnownForces) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    EXPECT_EQ(operations_of_inertia(m, std::vector<char>(m.nb + 1, 1)), 0);
  });
  // sliders, since a hinge behind a hinge has another frame than one on the world
  const auto chain = [](int links) {
    ModelBuilder b;
    for (int i = 0; i < links; i++) {
      const std::string name = "link" + std::to_string(i);
      b.add_link({name, 2, {0.1, 0.2, 0.3}, Vec3d(0.03, 0.04, 0.05).asDiagonal()});
      JointSpec j{"joint" + std::to_string(i), JointType::Prismatic, i ? "link" + std::to_string(i - 1) : "", name};
      j.X.r = {0.3, -0.2, 0.1}, j.X.R = Eigen::AngleAxisd(0.7, Vec3d(1, 2, 3).normalized()).toRotationMatrix();
      b.add_joint(j);
    }
    return b.build();
  };
  constexpr int n = 6;
  const Robot whole = chain(n);
  for (int first = 0; first < n; first++) {  // joints before `first` are prescribed
    std::vector<char> p(n + 1, 0);
    std::fill(p.begin(), p.begin() + 1 + first, 1);
    const Robot rest = chain(n - first);
    EXPECT_EQ(operations_of_inertia(whole.model, p),
              operations_of_inertia(rest.model, std::vector<char>(n - first + 1, 0)));
  }
}

TEST(HybridTree, ContractsPrescribedJointsAsInFigure91) {
  // joints 1 and 2 prescribed: nodes 1, 2 become the root, 3..7 become 1..5
  const ContractedTree t = contracted({0, 0, 1, 1, 2, 2, 4, 4}, {0, 1, 1, 0, 0, 0, 0, 0});
  EXPECT_EQ(t.map, (std::vector<int>{0, 0, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(t.parent, (std::vector<int>{0, 0, 0, 0, 2, 2}));
}

TEST(HybridTree, HasTheSparsityOfH11AndFactorsIt) {
  for_random_robots(
      [](const Case& c) {
        const Model<double>& m = c.model();
        const std::vector<char> p = random_joints(m, 9);
        const HybridTree h = hybrid_tree(m, p);
        const dense::MatrixX H = c.oracle.crba(c.state.q);
        const int n = h.tree.nv;
        Numbers packed(h.tree.nh);
        Eigen::VectorXd x(n);
        dense::MatrixX H11(n, n);
        for (int i = 0; i < n; i++) {
          x(i) = c.state.tau[h.dof[i]];
          std::vector<bool> ancestor(n, false);
          for (int j = i; j >= 0; j = h.tree.dof_parent[j])
            packed[h.tree.at(i, j)] = H(h.dof[i], h.dof[j]), ancestor[j] = true;
          for (int j = 0; j < n; j++) {
            H11(i, j) = H(h.dof[i], h.dof[j]);
            if (j < i && !ancestor[j]) { EXPECT_EQ(H11(i, j), 0); }
          }
        }
        const Eigen::VectorXd b = x;
        ltdl(h.tree, packed.data());
        solve<Factor::LTDL>(h.tree, packed.data(), x.data());
        EXPECT_LT((H11 * x - b).norm(), 1e-11 * (1 + b.norm() + H.norm() * x.norm()));
      },
      20);
}

TEST(Hybrid, PrescribedJointMayCarryABodyWithoutInertia) {
  ModelBuilder b;
  b.add_link({"massless", 0});
  b.add_link({"bob", 2, {0, 0, -0.5}, Mat3d::Zero()});
  JointSpec slide{"slide", JointType::Prismatic, "", "massless"};
  JointSpec swing{"swing", JointType::Revolute, "massless", "bob"};
  slide.axis = {1, 0, 0}, swing.axis = {0, 1, 0};
  b.add_joint(slide), b.add_joint(swing);
  const Robot r = b.build();
  const std::vector<char> p{0, 1, 0};
  const Numbers q{0.2, 0.7}, v{1.1, -0.4}, a{3.0, NAN}, tau{NAN, 0.3};
  double qdd[2], force[2];
  hybrid_aba(r.model, p, q.data(), v.data(), a.data(), tau.data(), Zeros<double>{}, qdd, force);
  // m l^2 thdd = tau - m g l sin th + m l a cos th for a bob at (-l sin th, 0, -l cos th)
  EXPECT_NEAR(qdd[1], (0.3 - 2 * 9.81 * 0.5 * std::sin(0.7) + 2 * 0.5 * 3 * std::cos(0.7)) / (2 * 0.25), 1e-13);
}

}  // namespace
}  // namespace featherstorm::test_hybrid
