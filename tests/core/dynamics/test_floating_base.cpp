#include <gtest/gtest.h>

#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/floating_base.h"
#include "core/kinematics/energy.h"
#include "core/kinematics/momentum.h"
#include "core/reference/dynamics/hybrid_aba.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_floating_base {
namespace {

using namespace testing;
using dense::MatrixX;
using dense::VectorX;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The floating base by a free joint with an armature.
RobotSpec with_armature(RobotSpec spec, unsigned seed) {
  Random random(seed);
  JointSpec root;
  root.name = "root", root.type = JointType::Free, root.child = spec.floating[0];
  for (int k = 0; k < 6; k++) root.armature.push_back(random.uniform(0, 3));
  spec.floating.clear();
  spec.joints.push_back(root);
  return spec;
}

// f(case) for floating trees of 2 to 9 bodies over all joint types, one root; every other base has an armature.
template <bool armature = true, class F> void for_floating_robots(F f) {
  for (unsigned seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 2 + static_cast<int>(seed % 8);
    o.floating = true, o.roots = 0;
    const RobotSpec spec = random_spec(seed, o);
    f(Case(armature && seed % 2 == 1 ? with_armature(spec, seed) : spec, seed));
  }
}

// Everything that floating_base.h computes of a state, n = nv - 6 joint coordinates.
struct Floating {
  int n;
  RowMajor I0, F, H;
  VectorX p0, C;
  explicit Floating(const Case& c) : n(c.model().nv - 6), I0(6, 6), F(6, n), p0(6), C(n) {
    const Model<double>& m = c.model();
    I0.setConstant(NAN), F.setConstant(NAN), p0.setConstant(NAN), C.setConstant(NAN);
    floating_inertia(m, c.state.q.data(), I0.data(), F.data());
    floating_bias(m, c.state.q.data(), c.state.v.data(), c.state.f_ext.data(), p0.data(), C.data());
    H = dense::unpacked(m, call_crba(m, c.state.q)).bottomRightCorner(n, n);
  }
};

// Velocity or acceleration of the base in its own axes, from the coordinates of the free joint.
struct Base {
  Mat3d R;
  Vec3d v, w;
  Base(const State& s) : R(matrix(Quaternion<double>{s.q[3], s.q[4], s.q[5], s.q[6]})) {
    v = R.transpose() * Vec3d(s.v[0], s.v[1], s.v[2]);
    w = Vec3d(s.v[3], s.v[4], s.v[5]);
  }
  VectorX velocity() const { return (VectorX(6) << w, v).finished(); }
  // classical acceleration of the origin in world axes -> spatial acceleration
  VectorX spatial(const Numbers& qdd) const {
    const Vec3d a = R.transpose() * Vec3d(qdd[0], qdd[1], qdd[2]) - w.cross(v);
    return (VectorX(6) << qdd[3], qdd[4], qdd[5], a).finished();
  }
};

TEST(FloatingBase, EquationOfMotionHoldsForForwardDynamics) {
  for_floating_robots([](const Case& c) {
    const Floating s(c);
    // the base itself feels no joint force
    Numbers tau = c.state.tau;
    for (int k = 0; k < 6; k++) tau[k] = 0;
    const Numbers qdd = call_articulated_bodies(c.model(), c.state.q, c.state.v, tau, c.state.f_ext);
    const VectorX a0 = Base(c.state).spatial(qdd), a = vector(qdd).tail(s.n), t = vector(tau).tail(s.n);
    const double scale = force_scale(c, qdd);
    EXPECT_LT((s.I0 * a0 + s.F * a + s.p0).norm() / scale, 1e-12);
    EXPECT_LT((s.F.transpose() * a0 + s.H * a + s.C - t).norm() / scale, 1e-12);
    // the base eliminated
    RowMajor H = s.H;
    VectorX C = s.C;
    floating_reduce(s.n, s.I0.data(), s.F.data(), s.p0.data(), H.data(), C.data());
    EXPECT_LT((H * a + C - t).norm() / scale, 1e-12);
    EXPECT_LT((H - H.transpose()).norm(), 1e-11 * s.H.norm());
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatrixX>(H).eigenvalues().minCoeff(), 0);
  });
}

TEST(FloatingId, IsUndoneByForwardDynamicsAndAgreesWithHybridDynamics) {
  for_floating_robots([](const Case& c) {
    const Model<double>& m = c.model();
    Numbers in = c.state.a, qdd(m.nv, NAN), tau(m.nv, NAN), qdd2(m.nv, NAN), tau2(m.nv, NAN);
    for (int k = 0; k < 6; k++) in[k] = NAN;
    floating_id(m, c.state.q.data(), c.state.v.data(), in.data(), c.state.f_ext.data(), qdd.data(), tau.data());
    for (int k = 0; k < m.nv; k++) EXPECT_EQ(k < 6 ? tau[k] : qdd[k], k < 6 ? 0 : c.state.a[k]);
    const double scale = force_scale(c, qdd);
    EXPECT_LT(relative_error(tau, c.oracle.rnea(c.state.q, c.state.v, qdd, c.state.f_ext), scale), 1e-12);
    EXPECT_LT(force_error(c, call_articulated_bodies(m, c.state.q, c.state.v, tau, c.state.f_ext), qdd),
              tolerance<double>("aba"));
    std::vector<char> prescribed(m.nb + 1, 1);
    prescribed[1] = 0;
    const Numbers zero(m.nv, 0.0);
    hybrid_aba(m, prescribed, c.state.q.data(), c.state.v.data(), c.state.a.data(), zero.data(), c.state.f_ext.data(),
               qdd2.data(), tau2.data());
    EXPECT_LT(relative_error(tau2, tau, scale), 1e-12);
    EXPECT_LT(force_error(c, qdd2, qdd), 1e-12);
  });
}

// Armature has no part in the momentum.
TEST(FloatingInertia, GivesMomentumAndKineticEnergy) {
  for_floating_robots<false>([](const Case& c) {
    const Model<double>& m = c.model();
    const Floating s(c);
    const Base base(c.state);
    const VectorX v0 = base.velocity(), qd = vector(c.state.v).tail(s.n);
    // h = I0^c v0 + F qd, moved to the world's origin and axes
    const VectorX h = s.I0 * v0 + s.F * qd;
    const Vec3d f = base.R * h.tail<3>(), n = base.R * h.head<3>() + Vec3d(c.state.q.data()).cross(f);
    double com[3], rate[3], expected[6], h_com[3], e[2];
    momentum(m, c.state.q.data(), c.state.v.data(), com, rate, expected, h_com);
    energy(m, c.state.q.data(), c.state.v.data(), e);
    EXPECT_LT((n - Vec3d(expected)).norm(), 1e-12 * (1 + n.norm()));
    EXPECT_LT((f - Vec3d(expected + 3)).norm(), 1e-12 * (1 + f.norm()));
    const double T = 0.5 * v0.dot(h) + 0.5 * qd.dot(s.F.transpose() * v0 + s.H * qd);
    EXPECT_NEAR(T, e[0], 1e-12 * e[0]);
  });
}

TEST(FloatingJacobian, IsTheVelocityThatJointsGiveAFrameAtZeroMomentum) {
  for_floating_robots([](const Case& c) {
    const Model<double>& m = c.model();
    const Floating s(c);
    const VectorX qd = vector(c.state.v).tail(s.n);
    const VectorX v0 = -s.I0.ldlt().solve(s.F * qd);
    const Vec3d v = Base(c.state).R * v0.tail<3>();
    Numbers all = c.state.v;
    for (int k = 0; k < 3; k++) all[k] = v(k), all[3 + k] = v0(k);
    for (int frame : {0, m.nf - 1}) {
      RowMajor J = RowMajor::Constant(6, s.n, NAN);
      floating_jacobian(m, c.state.q.data(), frame, J.data());
      Numbers expected(6, NAN);
      frame_velocity(m, c.state.q.data(), all.data(), frame, expected.data());
      EXPECT_LT((J * qd - vector(expected)).norm(), 1e-11 * (1 + vector(expected).norm()));
    }
  });
}

}  // namespace
}  // namespace featherstorm::test_floating_base
