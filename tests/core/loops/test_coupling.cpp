#include <gtest/gtest.h>

#include "core/loops/coupled_dynamics.h"

#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/forward_dynamics.h"
#include "tests/support/oracles/dense.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_coupling {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd inertia(const Model<double>& m, const Numbers& q) {
  Numbers packed(m.nh);
  crba(m, q.data(), packed.data());
  return dense::unpacked(m, packed);
}
MatrixXd dense_map(const Model<double>& m, const Coupling<double>& c) {
  MatrixXd G(m.nv, c.nu);
  for (int j = 0; j < c.nu; j++) {
    const Numbers u = [&] {
      Numbers e(c.nu, 0.0);
      return e[j] = 1, e;
    }();
    coupled_velocity(m, c, u.data(), G.col(j).data());
  }
  return G;
}

// A random robot whose one-freedom joints after the first are coupled to the first one, or to the first two.
struct Geared {
  Robot robot;
  Coupling<double> c;
  State s;
  Numbers u, ud;
  explicit Geared(unsigned seed) {
    RandomOptions o;
    o.bodies = 8, o.floating = seed % 2;
    robot = random_robot(seed, o);
    s = random_state(robot, seed);
    const Model<double>& m = robot.model;
    Random random(seed);
    std::vector<int> single;
    for (int i = 1; i <= m.nb; i++)
      if ((i < m.nb ? m.body[i + 1].v : m.nv) == m.body[i].v + 1) single.push_back(i);
    auto name = [&](int k) { return robot.joint_names[single[k] - 1]; };
    std::vector<CouplingSpec> specs;
    for (std::size_t k = 2; k < single.size(); k++) {
      CouplingSpec spec{name(k), {{name(0), random.uniform(-3, 3)}}, random.uniform(-1, 1)};
      if (k % 2) spec.terms.push_back({name(1), random.uniform(-3, 3)});
      specs.push_back(spec);
    }
    c = couple(robot, specs);
    for (int j = 0; j < c.nu; j++) u.push_back(random.uniform(-2, 2)), ud.push_back(random.uniform(-3, 3));
    coupled_position(m, c, s.q.data());
  }
};

TEST(Coupling, PositionsFollowVelocities) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Geared g(seed);
    const Model<double>& m = g.robot.model;
    Numbers qd(m.nv, NAN);
    coupled_velocity(m, g.c, g.u.data(), qd.data());
    // integrated with qd = G u the coupled joints stay where coupled_position puts them
    Numbers q = moved(m, g.s.q, qd, 0.3), again = q;
    coupled_position(m, g.c, again.data());
    EXPECT_LT((vector(q) - vector(again)).norm(), 1e-13 * (1 + vector(q).norm()));
    for (int k = 0; k < m.nv; k++)
      if (g.c.start[k + 1] > g.c.start[k] + 1 || g.c.offset[k] != 0) again[m.dof_q[k]] = NAN;
    coupled_position(m, g.c, again.data());
    EXPECT_LT((vector(q) - vector(again)).norm(), 1e-13 * (1 + vector(q).norm()));
  }
}

TEST(FdCoupled, IsTheMotionUnderTheCouplingsConstraintForces) {
  for (unsigned seed = 1; seed <= 30; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Geared g(seed);
    const Model<double>& m = g.robot.model;
    Numbers qd(m.nv), C(m.nv), ud(g.c.nu, NAN), qdd(m.nv, NAN), tau_u(g.c.nu, NAN), expected(g.c.nu);
    coupled_velocity(m, g.c, g.u.data(), qd.data());
    newton_euler(m, g.s.q.data(), qd.data(), Zeros<double>{}, g.s.f_ext.data(), C.data());
    fd_coupled(m, g.c, g.s.q.data(), g.u.data(), g.s.tau.data(), g.s.f_ext.data(), ud.data(), qdd.data());
    // [H K^T; K 0] with K the rows q_k - sum ratio q_d = 0
    const MatrixXd H = inertia(m, g.s.q), G = dense_map(m, g.c);
    const int n = m.nv, nk = n - g.c.nu;
    MatrixXd A = MatrixXd::Zero(n + nk, n + nk);
    A.topLeftCorner(n, n) = H;
    for (int k = 0, r = n; k < n; k++) {
      if (g.c.start[k + 1] == g.c.start[k] + 1 && g.c.driver[g.c.column[g.c.start[k]]] == k) continue;
      A(r, k) = A(k, r) = 1;
      for (int j = 0; j < g.c.nu; j++) A(r, g.c.driver[j]) = A(g.c.driver[j], r) = -G(k, j);
      r++;
    }
    VectorXd b = VectorXd::Zero(n + nk);
    b.head(n) = vector(g.s.tau) - vector(C);
    const VectorXd x = A.fullPivLu().solve(b);
    EXPECT_LT((vector(qdd) - x.head(n)).norm(), 1e-9 * (1 + x.head(n).norm()));
    EXPECT_LT((vector(qdd) - G * vector(ud)).norm(), 1e-12 * (1 + x.head(n).norm()));
    // inverse dynamics gives G^T tau back, and power is the same either way
    coupled_id(m, g.c, g.s.q.data(), g.u.data(), ud.data(), g.s.f_ext.data(), tau_u.data());
    coupled_force(m, g.c, g.s.tau.data(), expected.data());
    const double scale = 1e-10 * (1 + vector(expected).norm() + vector(C).norm() + (H * vector(qdd)).norm());
    EXPECT_LT((vector(tau_u) - vector(expected)).norm(), scale);
    EXPECT_NEAR(vector(expected).dot(vector(g.u)), vector(g.s.tau).dot(vector(qd)), scale);
  }
}

// The arm of Figure 9.2 without its motors; its joints have these armatures.
ModelBuilder arm(const std::vector<double>& armature) {
  ModelBuilder b;
  b.set_gravity({0, -9.81, 0});
  b.add_link({"upper", 2, {0.25, 0, 0}, Vec3d(0.01, 0.05, 0.05).asDiagonal()});
  b.add_link({"forearm", 1, {0.2, 0, 0}, Vec3d(0.01, 0.03, 0.03).asDiagonal()});
  JointSpec j1{"q1", JointType::Revolute, "", "upper"}, j3{"q3", JointType::Revolute, "upper", "forearm"};
  j3.X.r = {0.5, 0, 0}, j1.armature = j3.armature = armature;
  b.add_joint(j1), b.add_joint(j3);
  return b;
}
// With the rotors 2, 4 of the motors, by ratios rho. Their inertias are `reflected` / rho^2; `tilted` turns the second
// motor's axis away from the joints'.
Robot geared_arm(double rho, double reflected, double tilted) {
  ModelBuilder b = arm({});
  const double I = reflected / (rho * rho);
  const Mat3d disc = Vec3d(I / 2, I / 2, I).asDiagonal();
  b.add_link({"rotor1", I * 1e3, Vec3d::Zero(), disc});
  const Mat3d R = Eigen::AngleAxisd(tilted, Vec3d::UnitY()).toRotationMatrix();
  b.add_link({"rotor2", I * 1e3, Vec3d::Zero(), R * disc * R.transpose()});
  JointSpec j2{"q2", JointType::Revolute, "", "rotor1"}, j4{"q4", JointType::Revolute, "upper", "rotor2"};
  j4.X.r = {0.4, 0, 0};
  j4.axis = {std::sin(tilted), 0, std::cos(tilted)};
  b.add_joint(j4), b.add_joint(j2);
  return b.build();
}

TEST(CoupledInertia, IsEquation927ForATwoLinkArmWithGears) {
  const double rho1 = 7, rho2 = -11;
  const Robot r = geared_arm(10, 4, 0.3);
  const Coupling<double> c = couple(r, {{"q2", {{"q1", rho1}}}, {"q4", {{"q3", rho2}}}});
  const Numbers q{0.3, 0.8, -0.5, 0.2};
  const MatrixXd H = inertia(r.model, q);
  auto v = [&](const char* name) { return r.model.body[r.joint(name)].v; };
  const int i1 = v("q1"), i2 = v("q2"), i3 = v("q3"), i4 = v("q4");
  for (auto [i, j] : {std::pair{i1, i2}, {i2, i3}, {i2, i4}, {i3, i4}}) EXPECT_EQ(H(i, j), 0);
  Numbers packed(r.model.nh);
  crba(r.model, q.data(), packed.data());
  double A[4];
  coupled_inertia(r.model, c, packed.data(), A);
  EXPECT_NEAR(A[0], H(i1, i1) + rho1 * rho1 * H(i2, i2), 1e-13 * A[0]);
  EXPECT_NEAR(A[1], H(i1, i3) + rho2 * H(i1, i4), 1e-13 * A[0]);
  EXPECT_NEAR(A[2], A[1], 1e-15 * A[0]);
  EXPECT_NEAR(A[3], H(i3, i3) + rho2 * rho2 * H(i4, i4), 1e-13 * A[0]);
  EXPECT_NE(H(i1, i4), 0);
}

TEST(Couple, RefusesWhatItCannotMean) {
  const Robot r = geared_arm(10, 1, 0);
  const auto message = [&](const std::vector<CouplingSpec>& specs) {
    return testing::message([&] { couple(r, specs); });
  };
  EXPECT_EQ(message({{"q2", {{"q1", 2}}}}), "no error");
  EXPECT_EQ(message({{"q9", {{"q1", 2}}}}), "coupling 'q9': joint 'q9' does not exist");
  EXPECT_EQ(message({{"q2", {{"q9", 2}}}}), "coupling 'q2': joint 'q9' does not exist");
  EXPECT_EQ(message({{"q2", {}}}), "coupling 'q2': has no driver");
  EXPECT_EQ(message({{"q2", {{"q1", NAN}}}}), "coupling 'q2': ratio is not finite");
  EXPECT_EQ(message({{"q2", {{"q1", 1}}, INFINITY}}), "coupling 'q2': offset is not finite");
  EXPECT_EQ(message({{"q2", {{"q1", 1}}}, {"q2", {{"q3", 1}}}}), "coupling 'q2': is coupled twice");
  EXPECT_EQ(message({{"q2", {{"q1", 1}}}, {"q1", {{"q3", 1}}}}), "coupling 'q2': driver 'q1' is coupled itself");
  ModelBuilder b;
  b.add_link({"a", 1}), b.float_root("a");
  const Robot floating = b.build();
  EXPECT_THROW(couple(floating, {{"root", {{"root", 1}}}}), ModelError);
}

}  // namespace
}  // namespace featherstorm::test_coupling
