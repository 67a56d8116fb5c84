#include <gtest/gtest.h>

#include "core/rates/regressor.h"

#include "core/dynamics/id_delta.h"
#include "core/kinematics/energy.h"
#include "core/reference/dynamics/base_parameters.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_regressor {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

VectorXd parameters(const Model<double>& m) {
  VectorXd pi(10 * m.nb);
  inertial_parameters(m, pi.data());
  return pi;
}
VectorXd rotor_forces(const Model<double>& m, const VectorXd& a) {
  return Eigen::Map<const VectorXd>(m.armature.data(), m.nv).cwiseProduct(a);
}
RowMajor classic(const Model<double>& m, const State& s) {
  RowMajor Y = RowMajor::Constant(m.nv, 10 * m.nb, NAN);
  regressor(m, s.q.data(), s.v.data(), s.a.data(), Y.data());
  return Y;
}

TEST(Regressor, IsTheDerivativeOfInverseDynamicsAndTimesTheParametersItself) {
  for_random_robots([](const Case& c) {
    const RowMajor Y = classic(c.model(), c.state);
    const VectorXd tau = vector(call_rnea(c.model(), c.state.q, c.state.v, c.state.a, {}));
    for (int i = 1; i <= c.model().nb; i++)
      for (int h = 0; h < 10; h++) {
        Model<double> m = c.model();
        RigidBodyInertia<double>& I = m.body[i].I;
        double* number[] = {&I.m, &I.h.x(), &I.h.y(), &I.h.z(), &I.I.xx, &I.I.yy, &I.I.zz, &I.I.xy, &I.I.xz, &I.I.yz};
        *number[h] += 1;  // linear: any step will do
        const VectorXd d = vector(call_rnea(m, c.state.q, c.state.v, c.state.a, {})) - tau;
        EXPECT_LT((Y.col(10 * (i - 1) + h) - d).norm(), 1e-11 * (1 + Y.norm() + tau.norm()));
      }
    EXPECT_LT((Y * parameters(c.model()) + rotor_forces(c.model(), vector(c.state.a)) - tau).norm(),
              1e-11 * (1 + tau.norm()));
  });
}

TEST(SlotineLiRegressor, IsInertiaCoriolisAndGravityOfTheReference) {
  double apart = 0;
  for_random_robots([&](const Case& c) {
    const Model<double>& m = c.model();
    const State& s = c.state;
    const Numbers rest(m.nv, 0.0);
    // any other vector for qd_r
    const VectorXd qd_r = vector(s.tau) * 0.2, pi = parameters(m);
    const VectorXd g = c.oracle.rnea(s.q, rest, rest, {});
    const VectorXd Ma = c.oracle.crba(s.q) * vector(s.a);
    VectorXd got[2];
    const auto check = [&](auto form, VectorXd& got) {
      RowMajor Y(m.nv, 10 * m.nb);
      MatrixXd C(m.nv, m.nv);
      slotine_li_regressor<form()>(m, s.q.data(), s.v.data(), qd_r.data(), s.a.data(), Y.data());
      coriolis_matrix<form()>(m, s.q.data(), s.v.data(), C.data());
      got = Y * pi + rotor_forces(m, vector(s.a));
      const VectorXd expected = Ma + C.transpose() * qd_r + g;  // C is written row by row
      EXPECT_LT((got - expected).norm(), 1e-11 * (1 + expected.norm()));
    };
    check(std::integral_constant<Coriolis, Coriolis::Christoffel>{}, got[0]);
    check(std::integral_constant<Coriolis, Coriolis::BodyFixed>{}, got[1]);
    apart = std::max(apart, (got[0] - got[1]).norm());
  });
  EXPECT_GT(apart, 1);
}

TEST(MomentumRegressor, TimesParametersIsTheGeneralisedMomentum) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    RowMajor Y(m.nv, 10 * m.nb);
    momentum_regressor(m, c.state.q.data(), c.state.v.data(), Y.data());
    const VectorXd p = c.oracle.crba(c.state.q) * vector(c.state.v);
    EXPECT_LT((Y * parameters(m) + rotor_forces(m, vector(c.state.v)) - p).norm(), 1e-12 * (1 + p.norm()));
  });
}

TEST(EnergyRegressor, TimesParametersIsTheEnergy) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    VectorXd T(10 * m.nb), V(10 * m.nb);
    energy_regressor(m, c.state.q.data(), c.state.v.data(), T.data(), V.data());
    const VectorXd qd = vector(c.state.v);
    EXPECT_NEAR(T.dot(parameters(m)) + 0.5 * qd.dot(rotor_forces(m, qd)), c.oracle.kinetic_energy(c.state.q, c.state.v),
                1e-12 * (1 + c.oracle.kinetic_energy(c.state.q, c.state.v)));
    const double expected = c.oracle.potential_energy(c.state.q);
    // the oracle's includes links welded to the world, whose energy is constant: compare changes
    Numbers q = moved(m, c.state.q, c.state.v, 0.3);
    VectorXd V1(10 * m.nb);
    energy_regressor(m, q.data(), c.state.v.data(), T.data(), V1.data());
    EXPECT_NEAR((V1 - V).dot(parameters(m)), c.oracle.potential_energy(q) - expected, 1e-11 * (1 + std::abs(expected)));
    double e[2];
    energy(m, c.state.q.data(), c.state.v.data(), e);
    EXPECT_NEAR(V.dot(parameters(m)), e[1], 1e-12 * (1 + std::abs(e[1])));
  });
}

// regressors of `count` random states, stacked
MatrixXd measurements(const Model<double>& m, int count) {
  MatrixXd W(m.nv * count, 10 * m.nb);
  for (int k = 0; k < count; k++) W.middleRows(m.nv * k, m.nv) = classic(m, random_state(m, 100 + k));
  return W;
}
RobotSpec one_joint(JointType type, const Vec3d& gravity) {
  Random random(3);
  RobotSpec spec;
  spec.links.push_back(random_link(random, "body"));
  JointSpec j;
  j.name = "joint", j.type = type, j.child = "body", j.axis = {0, 0, 1};
  spec.joints.push_back(j);
  spec.gravity = gravity;
  return spec;
}

TEST(BaseParameters, AreAsManyAsBooksSayForOneJoint) {
  const auto count = [](JointType type, const Vec3d& g) {
    return base_parameters(measurements(build(one_joint(type, g)).model, 20)).rank;
  };
  const Vec3d along(0, 0, -9.81), across(-9.81, 0, 0);
  EXPECT_EQ(count(JointType::Revolute, along), 1);   // Izz
  EXPECT_EQ(count(JointType::Revolute, across), 3);  // Izz, m cx, m cy
  EXPECT_EQ(count(JointType::Prismatic, along), 1);  // m
  EXPECT_EQ(count(JointType::Ball, along), 9);       // all but the mass
  EXPECT_EQ(count(JointType::Free, along), 10);
}

TEST(BaseParameters, OfAPlanarTwoLinkArm) {
  // two parallel axes across gravity: Izz and m c of the last link (3), and for the first Izz + m2 L^2, m cx + m2 L, m cy
  RobotSpec spec = one_joint(JointType::Revolute, {-9.81, 0, 0});
  Random random(4);
  spec.links.push_back(random_link(random, "forearm"));
  JointSpec j;
  j.name = "elbow", j.type = JointType::Revolute, j.parent = "body", j.child = "forearm", j.axis = {0, 0, 1};
  j.X.R = Mat3d::Identity(), j.X.r = {0.7, 0, 0};
  spec.joints.push_back(j);
  EXPECT_EQ(base_parameters(measurements(build(spec).model, 30)).rank, 6);
}

TEST(BaseParameters, AreRecoveredFromTorques) {
  for (unsigned seed = 1; seed <= 5; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 4, o.types = {JointType::Revolute, JointType::Prismatic, JointType::Ball}, o.armature = 0;
    const Robot robot = random_robot(seed, o);
    const Model<double>& m = robot.model;
    const MatrixXd W = measurements(m, 60);
    const BaseParameters b = base_parameters(W);
    EXPECT_LT(b.rank, 10 * m.nb);
    VectorXd tau(W.rows());
    for (int k = 0; k < 60; k++) {
      const State s = random_state(m, 100 + k);
      tau.segment(m.nv * k, m.nv) = vector(call_rnea(m, s.q, s.v, s.a, {}));
    }
    MatrixXd Wb(W.rows(), b.rank);
    for (int k = 0; k < b.rank; k++) Wb.col(k) = W.col(b.columns[k]);
    const VectorXd found = Wb.colPivHouseholderQr().solve(tau), pi_b = b.P * parameters(m);
    EXPECT_LT((found - pi_b).norm(), 1e-8 * (1 + pi_b.norm()));
    EXPECT_LT((Wb * b.P - W).norm(), 1e-9 * W.norm());
    // and they predict torques of other motions
    const State other = random_state(m, 7);
    const MatrixXd Y = classic(m, other);
    VectorXd predicted = VectorXd::Zero(m.nv);
    for (int k = 0; k < b.rank; k++) predicted += Y.col(b.columns[k]) * found(k);
    const VectorXd expected = vector(call_rnea(m, other.q, other.v, other.a, {}));
    EXPECT_LT((predicted - expected).norm(), 1e-7 * (1 + expected.norm()));
  }
}

}  // namespace
}  // namespace featherstorm::test_regressor
