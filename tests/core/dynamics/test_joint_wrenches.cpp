#include <gtest/gtest.h>

#include "core/dynamics/joint_wrenches.h"

#include "tests/support/oracles/cases.h"

namespace featherstorm::test_joint_wrenches {
namespace {

using namespace testing;

using dense::MatrixX, dense::VectorX;

// Dynamic sizes throughout: products of fixed ones are unrolled where they stand and take a minute to compile.
MatrixX crm(const VectorX& v) { return dense::crm(dense::Vector6(v)); }
MatrixX crf(const VectorX& v) { return dense::crf(dense::Vector6(v)); }
MatrixX shift_to(const dense::Matrix4& T) { return dense::xlt(T.topRightCorner<3, 1>()); }

// RBDA (5.11) in base coordinates, with a_0 = -a_g: f_i = I_i a_i + v_i x* I_i v_i - f^x_i + the forces of its children.
TEST(JointWrenches, AreThoseOfTheRecursionInBaseCoordinates) {
  for_random_robots([](const Case& c) {
    const auto& node = c.oracle.node;
    const State& s = c.state;
    const int N = static_cast<int>(node.size());
    const dense::Pose p = c.oracle.pose(s.q, s.v);
    const auto part = [&](const std::vector<double>& x, int i) {
      return VectorX(Eigen::Map<const VectorX>(x.data() + node[i].v, node[i].nv));
    };
    std::vector<VectorX> a(N), f(N);
    VectorX a0 = VectorX::Zero(6);
    a0.tail(3) = -c.spec.gravity;
    for (int i = 0; i < N; i++) {
      const MatrixX X = dense::transform_to(p.T[i]), X_inverse = X.inverse();
      const MatrixX S = X_inverse * p.S[i], I = X.transpose() * MatrixX(node[i].I) * X;
      const VectorX v = X_inverse * p.v[i];
      a[i] = (node[i].parent < 0 ? a0 : a[node[i].parent]) + S * part(s.a, i) + X_inverse * p.c[i] +
             crm(v) * (S * part(s.v, i));
      f[i] = I * a[i] + crf(v) * I * v;
      if (node[i].body >= 0)  // f^x acts at the link's origin in world axes
        f[i] -= shift_to(p.T[i]).transpose() * Eigen::Map<const VectorX>(s.f_ext.data() + 6 * (node[i].body - 1), 6);
    }
    for (int i = N - 1; i >= 0; i--)
      if (node[i].parent >= 0) f[node[i].parent] += f[i];
    std::vector<double> wrench(6 * c.model().nb, NAN);
    joint_wrenches(c.model(), s.q.data(), s.v.data(), s.a.data(), s.f_ext.data(), wrench.data());
    for (int i = 0; i < N; i++) {
      if (node[i].body < 0) continue;
      const VectorX at_link = shift_to(p.T[i]).inverse().transpose() * f[i];
      for (int k = 0; k < 6; k++)
        EXPECT_NEAR(wrench[6 * (node[i].body - 1) + k], at_link(k), 1e-11 * force_scale(c, s.a)) << node[i].name;
    }
  });
}

}  // namespace
}  // namespace featherstorm::test_joint_wrenches
