// RBDA chapters 5 to 7 in their other forms: recurrences against closed sums, inverse dynamics in base coordinates,
// what a column of H is, costs by depth, what articulated bodies promise.
#include <gtest/gtest.h>

#include "core/dynamics/joint_wrenches.h"
#include "core/kinematics/kinematics.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/counting.h"

namespace featherstorm::test_book_forms {
namespace {

using namespace testing;

using dense::MatrixX, dense::VectorX;

// Dynamic sizes throughout: products of fixed ones are unrolled where they stand and take a minute to compile.
MatrixX crm(const VectorX& v) { return dense::crm(dense::Vector6(v)); }
MatrixX crf(const VectorX& v) { return dense::crf(dense::Vector6(v)); }
MatrixX transform_to(const dense::Matrix4& T) { return dense::transform_to(T); }
MatrixX xlt(const dense::Vector3& r) { return dense::xlt(r); }
MatrixX turn_of(const dense::Matrix4& T) { return dense::rot(T.topLeftCorner<3, 3>()); }

// Everything in base coordinates, one column of S per coordinate.
struct BaseCoordinates {
  std::vector<VectorX> v, c;  // velocity of each link; c_J
  std::vector<MatrixX> S;
  std::vector<MatrixX> I;
  explicit BaseCoordinates(const Case& c_) {
    const dense::Pose p = c_.oracle.pose(c_.state.q, c_.state.v);
    for (std::size_t i = 0; i < c_.oracle.node.size(); i++) {
      const MatrixX X = transform_to(p.T[i]), X_inverse = X.inverse();
      v.push_back(X_inverse * p.v[i]), S.push_back(X_inverse * p.S[i]), c.push_back(X_inverse * p.c[i]);
      I.push_back(X.transpose() * MatrixX(c_.oracle.node[i].I) * X);
    }
  }
};
VectorX part(const std::vector<double>& x, const dense::Node& n) {
  return Eigen::Map<const VectorX>(x.data() + n.v, n.nv);
}

// (5.2)-(5.5), (2.54)-(2.57): the recurrences are these sums over the support, with S° qd = c_J as well.
TEST(Recurrences, AreTheClosedSumsOfSection52) {
  for_random_robots(
      [](const Case& c) {
        const auto& node = c.oracle.node;
        const BaseCoordinates base(c);
        const dense::Pose p = c.oracle.pose(c.state.q, c.state.v);
        for (std::size_t i = 0; i < node.size(); i++) {
          std::vector<int> support;
          for (int j = static_cast<int>(i); j >= 0; j = node[j].parent) support.insert(support.begin(), j);
          VectorX v = VectorX::Zero(6), a = VectorX::Zero(6);
          for (int j : support) {
            v += base.S[j] * part(c.state.v, node[j]);  // (5.3)
            a += base.S[j] * part(c.state.a, node[j]) + base.c[j];
            for (int k : support) {  // sum over k <= j of (S_k qd_k) x S_j qd_j, (5.5)
              if (k > j) break;
              a += crm(base.S[k] * part(c.state.v, node[k])) * (base.S[j] * part(c.state.v, node[j]));
            }
          }
          EXPECT_LT((v - base.v[i]).norm(), 1e-12 * (1 + v.norm()));
          const int f = c.robot.frame(node[i].name);
          std::vector<double> got(6);
          frame_spatial_acceleration(c.model(), c.state.q.data(), c.state.v.data(), c.state.a.data(), f, got.data());
          // at the link's origin, world axes; the sum is about the world's origin
          const VectorX at_link = xlt(p.T[i].topRightCorner<3, 1>()) * a;
          for (int k = 0; k < 6; k++) EXPECT_NEAR(got[k], at_link(k), 1e-10 * (1 + at_link.norm()));
        }
      },
      12);
}

// n (m + a) against n (n + 1) / 2 m + n (n - 1) / 2 a for all velocities of a chain: section 5.2, counted in products s
// qd.
TEST(Recurrences, CostLessThanTheSums) {
  for (int n : {1, 6, 12}) {
    std::vector<Counting> s(n, Counting(1)), qd(n, Counting(2)), v(n);
    const Operations recurrence = operations([&] {
      v[0] = s[0] * qd[0];
      for (int i = 1; i < n; i++) v[i] = v[i - 1] + s[i] * qd[i];
    });
    const Operations sums = operations([&] {
      for (int i = 0; i < n; i++) {
        v[i] = s[0] * qd[0];
        for (int j = 1; j <= i; j++) v[i] = v[i] + s[j] * qd[j];
      }
    });
    EXPECT_EQ(recurrence, (Operations{n - 1, n, 0, 0}));
    EXPECT_EQ(sums, (Operations{n * (n - 1) / 2, n * (n + 1) / 2, 0, 0}));
  }
}

// (5.7)-(5.11): the algorithm without coordinate transforms; mu- and lambda-form of the forces, (5.10), section 5.3.
TEST(InverseDynamics, InBaseCoordinatesIsTheSame) {
  for_random_robots(
      [](const Case& c) {
        const auto& node = c.oracle.node;
        const BaseCoordinates base(c);
        const int N = static_cast<int>(node.size());
        const dense::Pose p = c.oracle.pose(c.state.q, c.state.v);
        std::vector<VectorX> a(N), net(N), f(N);
        VectorX a0 = VectorX::Zero(6);
        a0.tail(3) = -c.spec.gravity;  // (5.11) with a_0 = -a_g
        for (int i = 0; i < N; i++) {
          const VectorX vJ = base.S[i] * part(c.state.v, node[i]);
          a[i] = (node[i].parent < 0 ? a0 : a[node[i].parent]) + base.S[i] * part(c.state.a, node[i]) + base.c[i] +
                 crm(base.v[i]) * vJ;
          net[i] = base.I[i] * a[i] + crf(base.v[i]) * base.I[i] * base.v[i];
          if (node[i].body >= 0) {  // f^x acts at the link's origin in world axes
            const VectorX fx = Eigen::Map<const VectorX>(c.state.f_ext.data() + 6 * (node[i].body - 1), 6);
            net[i] -= xlt(p.T[i].topRightCorner<3, 1>()).transpose() * fx;
          }
        }
        VectorX tau = c.oracle.rotor.cwiseProduct(Eigen::Map<const VectorX>(c.state.a.data(), c.model().nv));
        for (int i = N - 1; i >= 0; i--) {
          f[i] = net[i];
          for (int j = i + 1; j < N; j++)
            if (node[j].parent == i) f[i] += f[j];  // mu-form
          tau.segment(node[i].v, node[i].nv) += base.S[i].transpose() * f[i];
        }
        const auto expected = call_rnea(c.model(), c.state.q, c.state.v, c.state.a, c.state.f_ext);
        EXPECT_LT(relative_error(expected, tau, force_scale(c, c.state.a)), 1e-12);
      },
      12);
}

// (6.7)-(6.14): H_ij is the sum over the bodies that both joints support, which is nu of the outer one or nothing.
TEST(JointSpaceInertia, IsTheSumOverBodiesThatBothJointsSupport) {
  for_random_robots(
      [](const Case& c) {
        const auto& node = c.oracle.node;
        const int N = static_cast<int>(node.size());
        const BaseCoordinates base(c);
        std::vector<std::vector<char>> in(N, std::vector<char>(N, 0));  // in[k][i]: joint i supports link k
        for (int k = 0; k < N; k++)
          for (int i = k; i >= 0; i = node[i].parent) in[k][i] = 1;
        MatrixX H = c.oracle.rotor.asDiagonal();
        for (int i = 0; i < N; i++)
          for (int j = 0; j < N; j++) {
            MatrixX I = MatrixX::Zero(6, 6), Ic = MatrixX::Zero(6, 6);
            for (int k = 0; k < N; k++) {
              if (in[k][i] && in[k][j]) I += base.I[k];
              if (in[k][std::max(i, j)]) Ic += base.I[k];
            }
            const bool related = in[std::max(i, j)][std::min(i, j)];
            EXPECT_LT((I - (related ? Ic : MatrixX(MatrixX::Zero(6, 6)))).norm(), 1e-12 * (1 + Ic.norm()));  // (6.9)
            H.block(node[i].v, node[j].v, node[i].nv, node[j].nv) += base.S[i].transpose() * I * base.S[j];
          }
        const MatrixX got = dense::unpacked(c.model(), call_crba(c.model(), c.state.q));
        EXPECT_LT((H - got).norm(), 1e-12 * (1 + H.norm()));
      },
      12);
}

// Section 6.3, (6.21)-(6.25): column alpha of H is what a unit acceleration of joint i takes; the joints that support i
// carry I^c_i s, those that i supports carry the I^c of their own subtree times s.
TEST(JointSpaceInertia, ColumnIsTheForceOfAUnitAcceleration) {
  for_random_robots(
      [](const Case& c) {
        Model<double> m = c.model();
        m.gravity = zero3<double>();
        const auto& node = c.oracle.node;
        const BaseCoordinates base(c);
        const dense::Pose p = c.oracle.pose(c.state.q, c.state.v);
        const int N = static_cast<int>(node.size());
        for (int i = 0; i < N; i++) {
          if (node[i].nv == 0) continue;
          std::vector<double> unit(m.nv, 0.0), wrench(6 * m.nb);
          unit[node[i].v] = 1;
          joint_wrenches(m, c.state.q.data(), Zeros<double>{}, unit.data(), Zeros<double>{}, wrench.data());
          for (int j = 0; j < N; j++) {
            if (node[j].body < 0) continue;
            MatrixX I = MatrixX::Zero(6, 6);  // of the links that joints i and j both support
            for (int k = 0; k < N; k++) {
              bool by_i = false, by_j = false;
              for (int l = k; l >= 0; l = node[l].parent) by_i = by_i || l == i, by_j = by_j || l == j;
              if (by_i && by_j) I += base.I[k];
            }
            const VectorX f = I * base.S[i].col(0);  // about the world's origin; wrenches are about the link's
            const VectorX at_link = xlt(p.T[j].topRightCorner<3, 1>()).inverse().transpose() * f;
            for (int k = 0; k < 6; k++)
              EXPECT_NEAR(wrench[6 * (node[j].body - 1) + k], at_link(k), 1e-11 * (1 + f.norm()));
          }
        }
      },
      12);
}

// (6.26)-(6.29): D1 <= n (d - 1), D2 <= n d (d - 1) / 2, with equality of all depths only.
TEST(SparseCosts, AreBoundedByTheDepth) {
  for_random_robots(
      [](const Case& c) {
        const Model<double>& m = c.model();
        int D1 = 0, D2 = 0, d = 0;
        for (int k = 0; k < m.nv; k++) {
          const int dk = m.depth[k] + 1;
          D1 += dk - 1, D2 += dk * (dk - 1) / 2, d = std::max(d, dk);
        }
        EXPECT_LE(D1, m.nv * (d - 1));
        EXPECT_LE(D2, m.nv * d * (d - 1) / 2);
        EXPECT_EQ(2 * m.nh - m.nv, m.nv + 2 * D1);  // nonzeros of H
      },
      12);
}

// Section 7.1, (7.18)-(7.25): I^A is symmetric, definite and a matter of positions alone; f_J = I^A a + p^A on either
// side of the joint; accelerations of bodies are a by-product. Dense, for every joint of random trees.
TEST(ArticulatedBody, KeepsItsPromises) {
  for_random_robots(
      [](const Case& c) {
        const auto& node = c.oracle.node;
        const int N = static_cast<int>(node.size());
        const dense::Pose p = c.oracle.pose(c.state.q, c.state.v);
        if (c.oracle.rotor.norm() > 0) return;
        VectorX a0 = VectorX::Zero(6);
        a0.tail(3) = -c.spec.gravity;
        // of handles, by assembling leaves onto their parents
        std::vector<MatrixX> IA(N), Ia(N);
        std::vector<VectorX> pA(N), pa(N), a(N);
        for (int i = 0; i < N; i++) IA[i] = node[i].I, pA[i] = crf(p.v[i]) * IA[i] * p.v[i];
        for (int i = N - 1; i >= 0; i--) {
          const VectorX cc = p.c[i] + crm(p.v[i]) * (p.S[i] * part(c.state.v, node[i]));
          Ia[i] = IA[i], pa[i] = pA[i] + IA[i] * cc;
          if (node[i].nv > 0) {
            const MatrixX U = IA[i] * p.S[i], D = (p.S[i].transpose() * U).inverse();
            Ia[i] = IA[i] - U * D * U.transpose();
            pa[i] = pA[i] + Ia[i] * cc + U * (D * (part(c.state.tau, node[i]) - p.S[i].transpose() * pA[i]));
            EXPECT_LE((Ia[i] * p.S[i]).norm(), 1e-10 * IA[i].norm());
          }
          EXPECT_LE((IA[i] - IA[i].transpose()).norm(), 1e-12 * IA[i].norm());
          EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatrixX>(IA[i]).eigenvalues()(0), -1e-10);
          if (node[i].parent < 0) continue;
          const MatrixX X = p.X[i];
          IA[node[i].parent] += X.transpose() * Ia[i] * X;
          pA[node[i].parent] += X.transpose() * pa[i];
        }
        // accelerations and wrenches as the library has them
        const auto qdd = call_articulated_bodies(c.model(), c.state.q, c.state.v, c.state.tau, {});
        std::vector<double> wrench(6 * c.model().nb), acceleration(6);
        joint_wrenches(c.model(), c.state.q.data(), c.state.v.data(), qdd.data(), Zeros<double>{}, wrench.data());
        for (int i = 0; i < N; i++) {
          if (node[i].body < 0) continue;
          frame_spatial_acceleration(c.model(), c.state.q.data(), c.state.v.data(), qdd.data(),
                                     c.robot.frame(node[i].name), acceleration.data());
          const MatrixX turn = turn_of(p.T[i]).transpose();
          const auto felt = [&](int f) -> VectorX {  // with gravity, in the axes of link f
            std::vector<double> x(6);
            frame_spatial_acceleration(c.model(), c.state.q.data(), c.state.v.data(), qdd.data(),
                                       c.robot.frame(node[f].name), x.data());
            VectorX y = Eigen::Map<const VectorX>(x.data(), 6);
            y.tail(3) -= c.spec.gravity;
            return turn_of(p.T[f]).transpose() * y;
          };
          const VectorX f_J = turn * Eigen::Map<const VectorX>(wrench.data() + 6 * (node[i].body - 1), 6);
          const double scale = 1e-9 * (1 + f_J.norm() + IA[i].norm() * felt(i).norm());
          EXPECT_LT((IA[i] * felt(i) + pA[i] - f_J).norm(), scale);
          const VectorX a_parent = MatrixX(p.X[i]) * (node[i].parent < 0 ? a0 : felt(node[i].parent));
          EXPECT_LT((Ia[i] * a_parent + pa[i] - f_J).norm(), scale);  // (7.25)
        }
      },
      12);
}

// (5.16)-(5.20) and section 5.3: a contact force at a frame takes J^T f less of the joints.
TEST(InverseDynamics, ContactForcesEnterByTheTransposedJacobian) {
  for_random_robots(
      [](const Case& c) {
        const auto& node = c.oracle.node;
        const BaseCoordinates base(c);
        const dense::Pose p = c.oracle.pose(c.state.q, c.state.v);
        const auto with = call_rnea(c.model(), c.state.q, c.state.v, c.state.a, c.state.f_ext);
        const auto without = call_rnea(c.model(), c.state.q, c.state.v, c.state.a, {});
        VectorX expected = VectorX::Zero(c.model().nv);
        for (std::size_t i = 0; i < node.size(); i++) {
          if (node[i].body < 0) continue;
          const VectorX fx = Eigen::Map<const VectorX>(c.state.f_ext.data() + 6 * (node[i].body - 1), 6);
          const VectorX f = xlt(p.T[i].topRightCorner<3, 1>()).transpose() * fx;
          for (int j = static_cast<int>(i); j >= 0; j = node[j].parent)  // (4.6): J has the columns of the support
            expected.segment(node[j].v, node[j].nv) -= base.S[j].transpose() * f;
        }
        const double bound = 1e-12 * force_scale(c, c.state.a);
        for (int k = 0; k < c.model().nv; k++) EXPECT_NEAR(with[k] - without[k], expected(k), bound);
      },
      12);
}

}  // namespace
}  // namespace featherstorm::test_book_forms
