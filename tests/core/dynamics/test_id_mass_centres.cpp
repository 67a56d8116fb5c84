#include "core/dynamics/id_mass_centres.h"
#include "tests/support/oracles/lagrange.h"
#include "tests/support/tools/every_scalar.h"

namespace featherstorm::test_id_mass_centres {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Numbers by_mass_centres(const Model<double>& m, const State& s) {
  Numbers tau(m.nv, NAN);
  id_mass_centres(m, s.q.data(), s.v.data(), s.a.data(), s.f_ext.data(), tau.data());
  return tau;
}

TEST(IdMassCentres, EqualsTheDenseOracle) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const dense::VectorX expected = c.oracle.rnea(s.q, s.v, s.a, s.f_ext);
    EXPECT_LT(relative_error(by_mass_centres(c.model(), s), expected, force_scale(c, s.a)), tolerance<double>("rnea"));
  });
}

TEST(IdMassCentres, MotionsAreThoseOfTheCentresInTheWorld) {
  for (unsigned seed = 1; seed <= 15; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 1 + static_cast<int>(seed % 7), o.fixed = 0, o.floating = seed % 3 == 0;
    const Case c(random_spec(seed, o), seed);
    const Model<double>& m = c.model();
    const State& s = c.state;
    auto x = scratch<double>(m.nx);
    auto body = scratch<MassCentre<double>>(m.nb + 1);
    auto motion = scratch<CentreMotion<double>>(m.nb + 1);
    centre_motions(m, s.q.data(), s.v.data(), s.a.data(), x, body, motion);
    // world velocities of the oracle's links, and their rates. Magnitudes and products do not depend on the body's axes
    const auto world = [&](const Numbers& q, const Numbers& v) {
      const dense::Pose p = c.oracle.pose(q, v);
      VectorXd V(6 * m.nb);
      for (std::size_t i = 0; i < c.oracle.node.size(); i++) {
        const dense::Node& n = c.oracle.node[i];
        const dense::Matrix3 R = p.T[i].topLeftCorner<3, 3>();
        const dense::Vector3 w = p.v[i].head<3>(), u = p.v[i].tail<3>();
        V.segment<6>(6 * (n.body - 1)) << R * w, R * (u + w.cross(n.com));
      }
      return V;
    };
    const VectorXd V = world(s.q, s.v), A = rate(m, s.q, s.v, s.a, world);
    for (int i = 1; i <= m.nb; i++) {
      const dense::Vector3 w = V.segment<3>(6 * (i - 1)), v = V.segment<3>(6 * (i - 1) + 3);
      // proper accelerations: gravity appears as the world's own, upwards
      const dense::Vector3 alpha = A.segment<3>(6 * (i - 1)), a = A.segment<3>(6 * (i - 1) + 3) - c.spec.gravity;
      const CentreMotion<double>& k = motion[i];
      const double scale = 1 + A.norm() + V.squaredNorm();
      EXPECT_NEAR(dot(k.w, k.w), w.dot(w), 1e-12 * scale);
      EXPECT_NEAR(dot(k.w, k.v), w.dot(v), 1e-12 * scale);
      EXPECT_NEAR(dot(k.v, k.v), v.dot(v), 1e-12 * scale);
      EXPECT_NEAR(dot(k.alpha, k.w), alpha.dot(w), 1e-7 * scale);
      EXPECT_NEAR(dot(k.alpha, k.alpha), alpha.dot(alpha), 1e-7 * scale * (1 + A.norm()));
      EXPECT_NEAR(dot(k.a, k.v), a.dot(v), 1e-7 * scale);
      EXPECT_NEAR(dot(k.a, k.a), a.dot(a), 1e-7 * scale * (1 + A.norm()));
      EXPECT_NEAR(dot(k.a, k.alpha), a.dot(alpha), 1e-7 * scale * (1 + A.norm()));
    }
  }
}

TEST(IdMassCentres, TakesTheMassCentreOfNoMassAtTheOrigin) {
  const MassCentre<double> b = mass_centre<double>(RigidBodyInertia<double>{0, {0, 0, 0}, {0, 0, 0, 0, 0, 0}});
  EXPECT_EQ(b.c.norm(), 0);
  EXPECT_EQ(b.Ic.xx, 0);
}

// A cloud of particles: every link as six particles on its principal axes of second moments.
struct Particle {
  std::size_t node;
  dense::Vector3 r;  // in the link
  double mu;
};
std::vector<Particle> particles(const Case& c) {
  std::vector<Particle> cloud;
  for (std::size_t i = 0; i < c.oracle.node.size(); i++) {
    const dense::Node& n = c.oracle.node[i];
    if (n.mass == 0) continue;
    const dense::Matrix3 C = dense::skew(n.com), Ic = n.I.topLeftCorner<3, 3>() + n.mass * C * C;
    const dense::Matrix3 moments = 0.5 * Ic.trace() * dense::Matrix3::Identity() - Ic;
    const Eigen::SelfAdjointEigenSolver<dense::Matrix3> e(moments);
    for (int k = 0; k < 3; k++)
      for (const double side : {-1, 1}) {
        const double d = std::sqrt(3 * std::max(e.eigenvalues()(k), 0.0) / n.mass);
        cloud.push_back({i, n.com + side * d * e.eigenvectors().col(k), n.mass / 6});
      }
  }
  return cloud;
}
// The cloud's positions at q, with the dense oracle's poses.
VectorXd positions(const Case& c, const std::vector<Particle>& cloud, const Numbers& q) {
  const dense::Pose p = c.oracle.pose(q, Numbers(c.model().nv, 0.0));
  VectorXd r(3 * cloud.size());
  for (std::size_t i = 0; i < cloud.size(); i++)
    r.segment<3>(3 * i) = (p.T[cloud[i].node] * cloud[i].r.homogeneous()).head<3>();
  return r;
}
MatrixXd jacobian_of(const Case& c, const std::vector<Particle>& cloud, const Numbers& q) {
  const int n = c.model().nv;
  MatrixXd J(3 * cloud.size(), n);
  for (int k = 0; k < n; k++) {
    Numbers e(n, 0.0);
    e[k] = 1;
    J.col(k) = derivative([&](double t) { return positions(c, cloud, moved(c.model(), q, e, t)); });
  }
  return J;
}
VectorXd masses(const std::vector<Particle>& cloud) {
  VectorXd mu(3 * cloud.size());
  for (std::size_t i = 0; i < cloud.size(); i++) mu.segment<3>(3 * i).setConstant(cloud[i].mu);
  return mu;
}

TEST(Particles, MakeUpInertiaCoriolisForceAndInverseDynamicsByDAlembert) {
  // Liu and Jain section 2: M = sum mu J^T J, C = Md qd - 1/2 (dM/dq qd)^T qd, Q = sum mu J^T (rdd - g)
  RandomOptions o;
  o.types = coordinate_joints;
  for (unsigned seed = 1; seed <= 8; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    o.bodies = 1 + static_cast<int>(seed % 4);
    const Case c(random_spec(seed, o), seed);
    const Model<double>& m = c.model();
    const State& s = c.state;
    const int n = m.nv;
    const std::vector<Particle> cloud = particles(c);
    const VectorXd mu = masses(cloud), qd = vector(s.v);
    const auto inertia_at = [&](const Numbers& q) {
      const MatrixXd J = jacobian_of(c, cloud, q);
      return MatrixXd(J.transpose() * mu.asDiagonal() * J);
    };
    const MatrixXd J = jacobian_of(c, cloud, s.q), M = inertia_at(s.q);
    MatrixXd H = dense::unpacked(m, call_crba(m, s.q));
    H.diagonal() -= c.oracle.rotor;
    EXPECT_LT((M - H).norm(), 1e-8 * (1 + H.norm()));
    // accelerations of the particles along the motion, from positions alone
    const auto at = [&](double t) { return positions(c, cloud, moved(m, s.q, sum(s.v, s.a, t / 2), t)); };
    const auto twice = [&](double h) { return VectorXd((at(h) - 2 * at(0) + at(-h)) / (h * h)); };
    VectorXd rdd = (4 * twice(1e-3) - twice(2e-3)) / 3;
    EXPECT_LT((derivative(at) - J * qd).norm(), 1e-8 * (1 + (J * qd).norm()));
    for (std::size_t i = 0; i < cloud.size(); i++) rdd.segment<3>(3 * i) -= c.spec.gravity;
    VectorXd Q = J.transpose() * mu.cwiseProduct(rdd) + c.oracle.rotor.cwiseProduct(vector(s.a));
    State without = s;
    without.f_ext.assign(without.f_ext.size(), 0.0);
    EXPECT_LT((vector(by_mass_centres(m, without)) - Q).norm(), 1e-6 * force_scale(c, s.a));
    // C by derivatives of M, and what C is not: (dM/dq) qd is another matrix than dM/dt
    MatrixXd Md = MatrixXd::Zero(n, n), dM_qd(n, n);
    for (int k = 0; k < n; k++) {
      Numbers e(n, 0.0);
      e[k] = 1;
      const VectorXd d = derivative(
          [&](double t) {
            const MatrixXd M = inertia_at(moved(m, s.q, e, t));
            return VectorXd(Eigen::Map<const VectorXd>(M.data(), n * n));
          },
          4e-3);
      const MatrixXd dM = Eigen::Map<const MatrixXd>(d.data(), n, n);
      Md += dM * qd(k), dM_qd.col(k) = dM * qd;
    }
    const VectorXd C = Md * qd - 0.5 * dM_qd.transpose() * qd,
                   expected = c.oracle.rnea(s.q, s.v, Numbers(n, 0.0), {}, false);
    EXPECT_LT((C - expected).norm(), 1e-5 * (1 + expected.norm() + Md.norm()));
    if (n > 2) { EXPECT_GT((dM_qd - Md).norm(), 1e-2 * Md.norm()); }
  }
}

TEST(Particles, PointForceDoesTheWorkOfItsGeneralisedForce) {
  // Q = J^T f, (3): power f . rd = Q . qd
  RandomOptions o;
  o.types = coordinate_joints;
  const Case c(random_spec(3, o), 3);
  const std::vector<Particle> cloud = particles(c);
  const MatrixXd J = jacobian_of(c, cloud, c.state.q);
  const VectorXd rd =
      derivative([&](double t) { return positions(c, cloud, moved(c.model(), c.state.q, c.state.v, t)); });
  Random random(5);
  for (std::size_t i = 0; i < cloud.size(); i++) {
    const Vec3d f = random.vector();
    const VectorXd Q = J.middleRows<3>(3 * i).transpose() * f;
    EXPECT_NEAR(Q.dot(vector(c.state.v)), f.dot(rd.segment<3>(3 * i)), 1e-8 * (1 + rd.norm()));
  }
}

TEST(IdMassCentres, IsLinearInTheNumberOfLinks) {
  // Liu and Jain section 7: operations for a chain of n links, with each link after the second the same number
  const auto count = [](int bodies) {
    ModelBuilder b;
    for (int i = 0; i < bodies; i++) {
      Random random(7);
      b.add_link(random_link(random, "link" + std::to_string(i)));
      JointSpec j{"joint" + std::to_string(i), JointType::Revolute, i ? "link" + std::to_string(i - 1) : "",
                  "link" + std::to_string(i)};
      j.X.r = {0.1, 0.2, 0.3}, j.axis = {0, 0, 1};
      b.add_joint(j);
    }
    const Robot r = b.build();
    const int n = r.model.nv;
    Program p;
    const std::vector<Expr> q = p.input("q", n), v = p.input("v", n), a = p.input("a", n);
    std::vector<Expr> tau(n);
    Tracing scope(p.graph);
    id_mass_centres(r.model, q.data(), v.data(), a.data(), Zeros<Expr>{}, tau.data());
    return static_cast<int>(p.graph.size());
  };
  const int five = count(5), ten = count(10), fifteen = count(15);
  EXPECT_GT(ten, five);
  EXPECT_NEAR(fifteen - ten, ten - five, 0.02 * five);
}

TEST(IdMassCentres, IsTheSameForEveryScalar) {
  for (unsigned seed = 1; seed <= 4; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 6, o.floating = seed % 2 == 0;
    const Robot robot = random_robot(seed, o);
    const State s = random_state(robot, seed);
    expect_every_scalar(
        robot.model, {s.q, s.v, s.a, s.f_ext}, robot.model.nv, 1e-5,
        [](const auto& m, const auto& in, auto out) { id_mass_centres(m, in[0], in[1], in[2], in[3], out); });
  }
}

}  // namespace
}  // namespace featherstorm::test_id_mass_centres
