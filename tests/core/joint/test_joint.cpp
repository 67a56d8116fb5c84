// Every joint type in both polarities: the oracle's motion, products of its shape.
#include "core/model/joints.h"

#include <gtest/gtest.h>

#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/six.h"

namespace featherstorm::test_joint {
namespace {

using namespace testing;

using namespace dense;

// A joint at one position and velocity as plain matrices.
struct At {
  Matrix6 X;  // parent to child
  MatrixX S;
  Vector6 c;
  Vector6 vJ;
  Vector3 w, v, alpha, a;  // classical: velocities and accelerations, angular and linear, of the coordinates'
};
At at(const Model<double>& m, int i, const std::vector<double>& q, const std::vector<double>& v,
      const std::vector<double>& a) {
  std::vector<double> x(m.nx);
  update_joint(m, i, q, v, x);
  At r;
  with_joint(m, i, x, [&](const auto& J) {
    const auto vi = slice(v, m.body[i].v);
    const auto ai = slice(a, m.body[i].v);
    const Placement<double> P = J.placement();
    r.X = transform_to(homogeneous(P.R, P.r));
    r.S = MatrixX(6, J.nv);
    for (int k = 0; k < J.nv; k++) {
      std::vector<double> unit(J.nv, 0.0);
      unit[k] = 1;
      r.S.col(k) = vector(zero_motion<double>() + J.velocity(unit));
    }
    r.c = vector(zero_motion<double>() + J.bias(vi));
    r.vJ = vector(zero_motion<double>() + J.velocity(vi));
    r.w = zero3<double>() + J.angular_velocity(vi), r.v = zero3<double>() + J.linear_velocity(vi);
    r.alpha = zero3<double>() + J.angular_acceleration(vi, ai), r.a = zero3<double>() + J.linear_acceleration(vi, ai);
  });
  return r;
}

// f(model, state) for a body on one joint: every type, both polarities, several placements and states.
template <class F> void for_joints(F f) {
  for (JointType type : all_joint_types)
    for (bool reversed : {false, true})
      for (unsigned seed = 1; seed <= 6; seed++) {
        SCOPED_TRACE(name_of(type) + (reversed ? " reversed, seed " : ", seed ") + std::to_string(seed));
        RandomOptions o;
        o.bodies = 1, o.types = {type}, o.reversed = reversed, o.fixed = 0;
        f(Case(random_spec(seed, o), seed));
      }
}

// Placement, S and c_J equal the oracle's, which differentiates poses and knows neither z axes nor S.
TEST(Joint, MotionEqualsOracle) {
  for_joints([](const Case& c) {
    const State& s = c.state;
    const At j = at(c.model(), 1, s.q, s.v, s.a);
    const JointMotion o = motion(c.oracle.node[0].joint, c.model().nv, s.q.data(), s.v.data());
    // link frame in the body: the turn of the axis to z
    const Placement<double> L = c.model().frame[c.robot.frame("body0")].X;
    const Matrix6 to_link = transform_to(homogeneous(L.R, L.r));
    const double bound = tolerance<double>("joint");
    EXPECT_LT((to_link * j.X - transform_to(o.T)).cwiseAbs().maxCoeff(), bound * 3);
    EXPECT_LT((to_link * j.S - o.S).cwiseAbs().maxCoeff(), bound * (1 + o.S.cwiseAbs().maxCoeff()));
    EXPECT_LT((to_link * j.c - o.c).cwiseAbs().maxCoeff(), bound * (1 + o.c.cwiseAbs().maxCoeff()));
  });
}

// alpha and the acceleration of the origin: S a + c_J + (0; w x v), RBDA (2.47)
TEST(Joint, ClassicalAccelerationsAreThoseOfTheOrigin) {
  for_joints([](const Case& c) {
    const At j = at(c.model(), 1, c.state.q, c.state.v, c.state.a);
    const Vector6 a = j.S * Eigen::Map<const VectorX>(c.state.a.data(), c.model().nv) + j.c;
    const double bound = tolerance<double>("joint") * (1 + a.norm() + j.vJ.squaredNorm());
    EXPECT_LT((j.w - j.vJ.head<3>()).norm(), bound);
    EXPECT_LT((j.v - j.vJ.tail<3>()).norm(), bound);
    EXPECT_LT((j.alpha - a.head<3>()).norm(), bound);
    EXPECT_LT((j.a - (a.tail<3>() + j.w.cross(j.v))).norm(), bound);
  });
}

// BallExp stays within a half turn and goes on turning through it.
TEST(Joint, BallExpPassesThroughHalfTurn) {
  RandomOptions o;
  o.bodies = 1, o.types = {JointType::BallExp}, o.fixed = 0, o.reversed = 0;
  const Case c(random_spec(1, o), 1);
  std::vector<double> q{0, 0, 3.0};
  q = moved(c.model(), q, {0, 0, 0.5}, 1);
  EXPECT_NEAR(q[2], 3.5 - 2 * M_PI, 1e-14);
}

// The passes' products with a joint equal those with X and S: shapes of joints.h against matrices.
TEST(Joint, ShapesMultiplyLikeTheirMatrices) {
  for_joints([](const Case& c) {
    const Model<double>& m = c.model();
    Random random(17);
    std::vector<double> x(m.nx);
    update_joint(m, 1, c.state.q, c.state.v, x);
    const At j = at(m, 1, c.state.q, c.state.v, c.state.a);
    const Motion<double> v{random.vector(), random.vector()};
    const Force<double> f{random.vector(), random.vector()};
    const RigidBodyInertia<double> I = m.body[1].I;
    Matrix6 A;
    for (int k = 0; k < 36; k++) A(k) = random.uniform(-1, 1);
    const Matrix6 G = A * A.transpose();
    const ArticulatedInertia<double> IA{upper(Matrix3(G.topLeftCorner<3, 3>())), G.topRightCorner<3, 3>(),
                                        upper(Matrix3(G.bottomRightCorner<3, 3>()))};
    const double bound = 10 * tolerance<double>("spatial") * (1 + matrix6(I).norm() + G.norm());
    with_joint(m, 1, x, [&](const auto& J) {
      EXPECT_LT((vector(apply(J, v)) - j.X * vector(v)).norm(), bound);
      EXPECT_LT((vector(apply_transpose(J, f)) - j.X.transpose() * vector(f)).norm(), bound);
      EXPECT_LT((matrix6(apply_transpose(J, I)) - j.X.transpose() * matrix6(I) * j.X).norm(), bound);
      EXPECT_LT((matrix6(apply_transpose(J, IA)) - j.X.transpose() * G * j.X).norm(), bound);
      for (int k = 0; k < J.nv; k++) {
        EXPECT_NEAR(J.project(k, f), j.S.col(k).dot(vector(f)), bound);
        EXPECT_LT((vector(J.force_of_axis(k, I)) - matrix6(I) * j.S.col(k)).norm(), bound);
        EXPECT_LT((vector(J.force_of_axis(k, IA)) - G * j.S.col(k)).norm(), bound);
      }
    });
  });
}

// The special shapes agree with their joint's file: placement after X_T, subspace, size.
TEST(Joint, ShapesAgreeWithTheJointFiles) {
  for_joints([](const Case& c) {
    const Model<double>& m = c.model();
    const Body<double>& b = m.body[1];
    if (b.reversed) return;
    const At j = at(m, 1, c.state.q, c.state.v, c.state.a);
    with_joint_type(b.type, [&](auto joint) {
      using Joint = decltype(joint);
      Motion<double> S[6];
      Joint::template subspace<double>(b, c.state.q.data(), S);
      ASSERT_EQ(Joint::nv, m.nv);
      ASSERT_EQ(Joint::nq, m.nq);
      for (int k = 0; k < Joint::nv; k++) EXPECT_LT((j.S.col(k) - vector(S[k])).norm(), 1e-15);
      std::vector<double> q = c.state.q;
      if (b.type == JointType::Revolute) q[0] += std::atan2(b.zero.s, b.zero.c);
      const Placement<double> P = b.X_T * Joint::template placement<double>(b, q.data());
      EXPECT_LT((j.X - transform_to(homogeneous(P.R, P.r))).norm(), 1e-14);
      EXPECT_LT((j.c - vector(Joint::template bias<double>(b, c.state.q.data(), c.state.v.data()))).norm(), 1e-14);
    });
  });
}

TEST(Joint, EveryShapeOccursInTheRandomRobots) {
  std::map<JointShape, int> seen;
  for (unsigned seed = 1; seed <= 60; seed++) {
    RandomOptions o;
    o.bodies = 1 + static_cast<int>(seed % 14);
    for (const Body<double>& b : random_robot(seed, o).model.body) seen[b.shape]++;
  }
  for (JointShape shape : {JointShape::RevoluteTilted, JointShape::Revolute, JointShape::Prismatic, JointShape::Free,
                           JointShape::General1, JointShape::General2, JointShape::General3, JointShape::General6})
    EXPECT_GT(seen[shape], 0) << static_cast<int>(shape);
}

}  // namespace
}  // namespace featherstorm::test_joint
