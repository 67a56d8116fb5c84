#include <gtest/gtest.h>

#include "core/kinematics/joint_conversions.h"
#include "core/kinematics/maximal.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_maximal {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Robots without welded links, so that bodies are links of the dense oracle.
Case plain(unsigned seed, const std::vector<JointType>& types = all_joint_types, bool floating = false) {
  RandomOptions o;
  o.bodies = 1 + static_cast<int>(seed % 7), o.fixed = 0, o.types = types, o.floating = floating;
  return Case(random_spec(seed, o), seed);
}
// V of the dense oracle: w and velocity of the mass centre of each link, world axes
VectorXd velocities(const Case& c, const Numbers& q, const Numbers& v) {
  const dense::Pose p = c.oracle.pose(q, v);
  VectorXd V(6 * c.model().nb);
  for (std::size_t i = 0; i < c.oracle.node.size(); i++) {
    const dense::Node& n = c.oracle.node[i];
    const dense::Matrix3 R = p.T[i].topLeftCorner<3, 3>();
    const dense::Vector3 w = p.v[i].head<3>(), u = p.v[i].tail<3>();
    V.segment<3>(6 * (n.body - 1)) = R * w;
    V.segment<3>(6 * (n.body - 1) + 3) = R * (u + w.cross(n.com));
  }
  return V;
}
MatrixXd jacobian_of(const Case& c) {
  const int n = c.model().nv;
  MatrixXd J(6 * c.model().nb, n);
  for (int k = 0; k < n; k++) {
    Numbers e(n, 0.0);
    e[k] = 1;
    J.col(k) = velocities(c, c.state.q, e);
  }
  return J;
}
// W of the links about their mass centres, world axes
MatrixXd weights(const Case& c) {
  const dense::Pose p = c.oracle.pose(c.state.q, c.state.v);
  MatrixXd W = MatrixXd::Zero(6 * c.model().nb, 6 * c.model().nb);
  for (std::size_t i = 0; i < c.oracle.node.size(); i++) {
    const dense::Node& n = c.oracle.node[i];
    const dense::Matrix3 R = p.T[i].topLeftCorner<3, 3>(), C = dense::skew(n.com);
    const int at = 6 * (n.body - 1);
    W.block<3, 3>(at, at) = R * (n.I.topLeftCorner<3, 3>() + n.mass * C * C) * R.transpose();
    W.block<3, 3>(at + 3, at + 3) = n.mass * dense::Matrix3::Identity();
  }
  return W;
}
MatrixXd pseudo_inverse(const MatrixXd& A) { return A.completeOrthogonalDecomposition().pseudoInverse(); }
VectorXd random_vector(int n, unsigned seed) {
  Random random(seed);
  VectorXd v(n);
  for (int i = 0; i < n; i++) v(i) = random.uniform(-2, 2);
  return v;
}
struct Velocity { VectorXd qd, residual; };
template <Metric metric>
Velocity to_generalised(const Case& c, const VectorXd& V) {
  Velocity r{VectorXd::Constant(c.model().nv, NAN), VectorXd::Constant(V.size(), NAN)};
  generalised_velocity<metric>(c.model(), c.state.q.data(), V.data(), r.qd.data(), r.residual.data());
  return r;
}
Velocity by_joints(const Case& c, const VectorXd& V) {
  Velocity r{VectorXd::Constant(c.model().nv, NAN), VectorXd::Constant(V.size(), NAN)};
  joint_velocities(c.model(), c.state.q.data(), V.data(), r.qd.data(), r.residual.data());
  return r;
}
template <class F>
void for_seeds(unsigned count, F f) {
  for (unsigned seed = 1; seed <= count; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    f(seed);
  }
}

TEST(MaximalVelocity, IsThatOfTheLinks) {
  for_seeds(20, [](unsigned seed) {
    const Case c = plain(seed, all_joint_types, seed % 3 == 0);
    VectorXd V = VectorXd::Constant(6 * c.model().nb, NAN);
    maximal_velocity(c.model(), c.state.q.data(), c.state.v.data(), V.data());
    const VectorXd expected = velocities(c, c.state.q, c.state.v);
    EXPECT_LT((V - expected).norm(), 1e-12 * (1 + expected.norm()));
  });
}

TEST(GeneralisedVelocity, IsThePseudoInverseOfTheJacobian) {
  for_seeds(20, [](unsigned seed) {
    const Case c = plain(seed, all_joint_types, seed % 3 == 0);
    const MatrixXd J = jacobian_of(c);
    // admitted velocities come back, joint by joint as well
    const VectorXd qd = vector(c.state.v), V = J * qd;
    const double kappa = condition(J.transpose() * J);
    for (const Velocity& r :
         {to_generalised<Metric::Unit>(c, V), to_generalised<Metric::Inertia>(c, V), by_joints(c, V)}) {
      EXPECT_LT((r.qd - qd).norm(), 1e-12 * kappa * (1 + qd.norm()));
      EXPECT_LT(r.residual.norm(), 1e-12 * kappa * (1 + V.norm()));
    }
    // others: the least |V - J qd|, (61), and what is missing
    const VectorXd any = random_vector(6 * c.model().nb, seed);
    const Velocity r = to_generalised<Metric::Unit>(c, any);
    const VectorXd expected = pseudo_inverse(J) * any;
    EXPECT_LT((r.qd - expected).norm(), 1e-12 * kappa * (1 + expected.norm()));
    EXPECT_LT((r.residual - (any - J * expected)).norm(), 1e-12 * kappa * (1 + any.norm()));
    EXPECT_LT((J.transpose() * r.residual).norm(), 1e-11 * kappa * (1 + any.norm()));
    // with the bodies' inertia: momentum is kept in every joint's direction
    const MatrixXd W = weights(c);
    const Velocity w = to_generalised<Metric::Inertia>(c, any);
    EXPECT_LT((J.transpose() * W * (any - J * w.qd)).norm(), 1e-11 * kappa * (1 + any.norm() + (J * w.qd).norm()));
  });
}

TEST(MaximalForce, IsTheDualOfVelocityAndThePseudoInverseOfTheTransposedJacobian) {
  for_seeds(20, [](unsigned seed) {
    const Case c = plain(seed, all_joint_types, seed % 3 == 0);
    const Model<double>& m = c.model();
    const MatrixXd J = jacobian_of(c);
    const double kappa = condition(J.transpose() * J);
    const VectorXd F = random_vector(6 * m.nb, seed), Q0 = vector(c.state.tau);
    VectorXd Q = VectorXd::Constant(m.nv, NAN), back = VectorXd::Constant(6 * m.nb, NAN);
    generalised_force(m, c.state.q.data(), F.data(), Q.data());
    EXPECT_LT((Q - J.transpose() * F).norm(), 1e-12 * (1 + Q.norm()));
    maximal_force(m, c.state.q.data(), Q0.data(), back.data());
    EXPECT_LT((back - pseudo_inverse(J.transpose()) * Q0).norm(), 1e-12 * kappa * (1 + back.norm()));
    EXPECT_LT((J.transpose() * back - Q0).norm(), 1e-12 * kappa * (1 + Q0.norm()));
    maximal_force<Metric::Inertia>(m, c.state.q.data(), Q0.data(), back.data());
    EXPECT_LT((J.transpose() * back - Q0).norm(), 1e-11 * kappa * (1 + Q0.norm() + back.norm()));
    EXPECT_LT((weights(c).inverse() * back - J * (pseudo_inverse(J) * weights(c).inverse() * back)).norm(),
              1e-10 * kappa * (1 + back.norm()));
    // a force at a point, with its torque apart: Q = J_v'^T f + J_w^T tau', (67), as external forces of inverse
    // dynamics
    const dense::Pose p = c.oracle.pose(c.state.q, c.state.v);
    const VectorXd at = random_vector(3 * m.nb, seed + 9);
    force_at_mass_centres(m, c.state.q.data(), at.data(), F.data(), back.data());
    generalised_force(m, c.state.q.data(), back.data(), Q.data());
    VectorXd expected = VectorXd::Zero(m.nv);
    for (std::size_t i = 0; i < c.oracle.node.size(); i++) {
      const int b = c.oracle.node[i].body - 1;
      const dense::Vector3 x = (p.T[i] * c.oracle.node[i].com.homogeneous()).head<3>();
      // column of J_v' = J_v + [J_w ×] (p - x)
      for (int k = 0; k < m.nv; k++) {
        const dense::Vector3 w = J.block<3, 1>(6 * b, k), v = J.block<3, 1>(6 * b + 3, k);
        expected(k) += (v + w.cross(dense::Vector3(at.segment<3>(3 * b) - x))).dot(F.segment<3>(6 * b + 3)) +
                       w.dot(F.segment<3>(6 * b));
      }
    }
    EXPECT_LT((Q - expected).norm(), 1e-12 * (1 + Q.norm()));
  });
}

// Of velocities that the joints do not admit: qd is the least-squares solution joint by joint, (66), and what is left is
// given at the body's origin in world axes.
TEST(JointConversions, LeaveWhatTheJointDoesNotAdmit) {
  for_seeds(20, [](unsigned seed) {
    const Case c = plain(seed, all_joint_types, seed % 3 == 0);
    const dense::Pose p = c.oracle.pose(c.state.q, c.state.v);
    const VectorXd V = random_vector(6 * c.model().nb, seed);
    const Velocity r = by_joints(c, V);
    double left = 0;
    for (std::size_t i = 0; i < c.oracle.node.size(); i++) {
      const dense::Node& n = c.oracle.node[i];
      const dense::Matrix3 R = p.T[i].topLeftCorner<3, 3>();
      const dense::Vector3 origin = p.T[i].topRightCorner<3, 1>();
      // of the point of a body that is at the origin of body i
      const auto at_origin = [&](int k) -> dense::Vector6 {
        if (k < 0) return dense::Vector6::Zero();
        const dense::Vector3 x = (p.T[k] * c.oracle.node[k].com.homogeneous()).head<3>();
        const dense::Vector3 w = V.segment<3>(6 * (c.oracle.node[k].body - 1));
        const dense::Vector3 v = V.segment<3>(6 * (c.oracle.node[k].body - 1) + 3);
        return (dense::Vector6() << w, v + w.cross(dense::Vector3(origin - x))).finished();
      };
      const VectorXd d = at_origin(static_cast<int>(i)) - at_origin(n.parent);
      MatrixXd S(6, n.nv);
      S << R * p.S[i].topRows(3), R * p.S[i].bottomRows(3);
      const VectorXd qd = pseudo_inverse(S) * d;
      EXPECT_LT((r.qd.segment(n.v, n.nv) - qd).norm(), 1e-10 * (1 + qd.norm()));
      const VectorXd residual = r.residual.segment(6 * (n.body - 1), 6);
      EXPECT_LT((residual - (d - S * qd)).norm(), 1e-10 * (1 + d.norm()));
      left += residual.norm();
    }
    if (c.model().nv < 6 * c.model().nb) { EXPECT_GT(left, 0.1); }
  });
}

TEST(JointConversions, TakeForcesOfJointsToBodiesAndBack) {
  for_seeds(20, [](unsigned seed) {
    const Case c = plain(seed, all_joint_types, seed % 3 == 0);
    const Model<double>& m = c.model();
    const MatrixXd J = jacobian_of(c);
    const VectorXd W = random_vector(6 * m.nb, seed), Q0 = vector(c.state.tau);
    VectorXd F = VectorXd::Constant(6 * m.nb, NAN), Q = VectorXd::Constant(m.nv, NAN), shortest = F;
    forces_of_joints(m, c.state.q.data(), W.data(), F.data(), Q.data());
    EXPECT_LT((Q - J.transpose() * F).norm(), 1e-12 * (1 + Q.norm() + F.norm()));
    // equal and opposite: nothing is left but what the world exerts
    dense::Vector3 sum = dense::Vector3::Zero();
    for (int i = 1; i <= m.nb; i++) {
      sum += F.segment<3>(6 * (i - 1) + 3);
      if (m.body[i].parent == 0) sum -= W.segment<3>(6 * (i - 1) + 3);
    }
    EXPECT_LT(sum.norm(), 1e-12 * (1 + F.norm()));
    joint_wrenches_of(m, c.state.q.data(), Q0.data(), shortest.data());
    forces_of_joints(m, c.state.q.data(), shortest.data(), F.data(), Q.data());
    EXPECT_LT((Q - Q0).norm(), 1e-10 * (1 + Q0.norm()));
    // no shorter one: what is orthogonal to it does not change Q
    const VectorXd other = shortest + W;
    VectorXd Qo(m.nv);
    forces_of_joints(m, c.state.q.data(), other.data(), F.data(), Qo.data());
    joint_wrenches_of(m, c.state.q.data(), Qo.data(), F.data());
    EXPECT_NEAR(F.dot(other - F), 0, 1e-9 * (1 + other.squaredNorm()));
  });
}

}  // namespace
}  // namespace featherstorm::test_maximal
