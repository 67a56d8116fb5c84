#include "core/loops/loop_constraints.h"

#include <gtest/gtest.h>
#include <unsupported/Eigen/MatrixFunctions>

#include "core/dynamics/rnea.h"
#include "tests/support/oracles/dense.h"
#include "tests/support/robots/linkages.h"
#include "tests/support/tools/message.h"
#include "tests/support/tools/tolerance.h"

namespace featherstorm::test_loop_constraints {
namespace {

using namespace testing;

const std::vector<LoopType> all_loop_types = {
    LoopType::Fixed,       LoopType::Revolute,  LoopType::Prismatic, LoopType::Helical,   LoopType::RackPinion,
    LoopType::Cylindrical, LoopType::Universal, LoopType::Planar,    LoopType::Spherical, LoopType::PointOnLine};

struct Parameter { double parameter; };
// A placement that a joint of this type admits, and its motion subspace in the successor frame.
struct Admitted {
  Placement<double> X = identity_placement<double>();
  std::vector<Motion<double>> S;
};
template <class Joint> Admitted joint_at(const Numbers& q, double parameter) {
  Motion<double> S[6];
  const Parameter b{parameter};
  Joint::template subspace<double>(b, q.data(), S);
  return {Joint::template placement<double>(b, q.data()), {S, S + Joint::nv}};
}
Admitted admitted(LoopType type, Random& random, double parameter) {
  Numbers q;
  for (int k = 0; k < 4; k++) q.push_back(random.uniform(-1.5, 1.5));
  const Eigen::Quaterniond p = random.quaternion();
  switch (type) {
    case LoopType::Fixed: return {};
    case LoopType::Revolute: return joint_at<Revolute>(q, 0);
    case LoopType::Prismatic: return joint_at<Prismatic>(q, 0);
    case LoopType::Helical: q[0] *= 5; return joint_at<Helical>(q, parameter);  // more than a turn
    case LoopType::RackPinion: q[0] *= 5; return joint_at<RackPinion>(q, parameter);
    case LoopType::Cylindrical: return joint_at<Cylindrical>(q, 0);
    case LoopType::Universal: return joint_at<Universal>(q, 0);
    case LoopType::Planar: return joint_at<Planar>(q, 0);
    case LoopType::Spherical: return joint_at<Ball>({p.w(), p.x(), p.y(), p.z()}, 0);
    case LoopType::PointOnLine: {
      Admitted a = joint_at<Ball>({p.w(), p.x(), p.y(), p.z()}, 0);
      a.X.r.z() = q[0];
      a.S.push_back({zero3<double>(), a.X.R.transpose().col(2)});
      return a;
    }
  }
  return {};
}
Loop<double> loop_of(LoopType type, double parameter) {
  Loop<double> l;
  l.type = type, l.parameter = parameter;
  return l;
}
double power(const Force<double>& f, const Motion<double>& m) { return dot(m, f); }

TEST(LoopJoint, ForcesDoNoWorkOnAdmittedMotionsAndSpanTheRest) {
  Random random(1);
  for (LoopType type : all_loop_types)
    for (int trial = 0; trial < 10; trial++) {
      SCOPED_TRACE("type " + std::to_string(static_cast<int>(type)));
      const double h = random.uniform(0.1, 0.5);
      const Admitted a = admitted(type, random, h);
      const LoopJointAt<double> J = loop_joint(loop_of(type, h), a.X, zero_motion<double>());
      ASSERT_EQ(J.n, constraints_of(type));
      ASSERT_EQ(J.n + static_cast<int>(a.S.size()), 6);
      Eigen::MatrixXd T(6, J.n);
      for (int c = 0; c < J.n; c++) {
        EXPECT_NEAR(J.delta[c], 0, 1e-13);
        for (const Motion<double>& s : a.S) EXPECT_NEAR(power(J.T[c], s), 0, 1e-14);
        for (int r = 0; r < 6; r++) T(r, c) = component(J.T[c], r);
      }
      EXPECT_GT(T.jacobiSvd().singularValues().minCoeff(), 0.1);
    }
}

TEST(LoopJoint, DeltaIsTTransposedTimesTheDisplacementToFirstOrder) {
  Random random(2);
  for (LoopType type : all_loop_types)
    for (int trial = 0; trial < 5; trial++) {
      SCOPED_TRACE("type " + std::to_string(static_cast<int>(type)));
      const double h = random.uniform(0.1, 0.5);
      const Admitted a = admitted(type, random, h);
      dense::Vector6 d;
      for (int k = 0; k < 6; k++) d(k) = random.uniform(-1, 1);
      // error of delta for a displacement of size e
      auto error = [&](double e) {
        // X_err = exp(-d×) as a placement in the place where the joint would have the frame
        const dense::Matrix6 Xe = (-dense::crm(e * d)).exp();
        Placement<double> err;
        err.R = Xe.topLeftCorner<3, 3>().transpose();
        const Mat3d rx = -err.R * Xe.bottomLeftCorner<3, 3>();
        err.r = {rx(2, 1), rx(0, 2), rx(1, 0)};
        const LoopJointAt<double> J = loop_joint(loop_of(type, h), a.X * err, zero_motion<double>());
        double worst = 0;
        for (int c = 0; c < J.n; c++) {
          double expected = 0;
          for (int r = 0; r < 6; r++) expected += component(J.T[c], r) * e * d(r);
          worst = std::max(worst, std::abs(J.delta[c] - expected));
        }
        return worst;
      };
      EXPECT_LT(error(1e-4), 1e-7);
      EXPECT_LT(error(1e-6), 1e-11);
    }
}

// A random robot with a loop of each type between random bodies, closed at the state's configuration.
struct Closed {
  Robot robot;
  State s;
  Loops<double> loops;
  explicit Closed(unsigned seed, bool exact = true) {
    RandomOptions o;
    o.bodies = 7, o.floating = seed % 2;
    robot = random_robot(seed, o);
    s = random_state(robot, seed);
    Random random(seed + 11);
    const Model<double>& m = robot.model;
    Scratch<double> x(m.nx);
    Scratch<Placement<double>> X(m.nb + 1);
    for (int i = 1; i <= m.nb; i++) update_joint(m, i, s.q.data(), Zeros<double>{}, x);
    body_placements(m, x, X);
    for (LoopType type : all_loop_types) {
      Loop<double> l = loop_of(type, random.uniform(0.1, 0.5));
      l.p = random.below(m.nb + 1);
      do l.s = random.below(m.nb + 1);
      while (l.s == l.p);
      l.row = loops.nc;
      l.X_S = random_placement(random, 0);
      const Admitted a = admitted(type, random, l.parameter);
      l.X_P = inverse(X[l.p]) * X[l.s] * l.X_S * inverse(a.X);
      const Placement<double> off{Eigen::AngleAxisd(0.2, Vec3d(0.6, 0, 0.8)).toRotationMatrix(), {0.1, 0.2, 0.1}};
      if (!exact) l.X_P = l.X_P * off;
      loops.loop.push_back(l);
      loops.nl++, loops.nc += constraints_of(type);
    }
  }
};

TEST(LoopConstraints, AreTheDerivativesOfThePositionError) {
  for (unsigned seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Closed c(seed);
    const Model<double>& m = c.robot.model;
    const LoopRows at = constraints(m, c.loops, c.s.q, c.s.v);
    EXPECT_LT(at.delta.norm(), 1e-12);
    const Eigen::VectorXd d =
        derivative([&](double t) { return constraints(m, c.loops, moved(m, c.s.q, c.s.v, t), c.s.v).delta; });
    EXPECT_LT((at.K * vector(c.s.v) - d).norm(), 1e-8 * (1 + d.norm()));
  }
}

TEST(LoopConstraints, RightHandSideIsMinusTheRateOfKTimesTheVelocity) {
  for (unsigned seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Closed c(seed, seed % 3 > 0);
    const Model<double>& m = c.robot.model;
    const LoopRows at = constraints(m, c.loops, c.s.q, c.s.v);
    const Eigen::VectorXd Kdot_v = derivative([&](double t) {
      return Eigen::VectorXd(constraints(m, c.loops, moved(m, c.s.q, c.s.v, t), c.s.v).K * vector(c.s.v));
    });
    EXPECT_LT((at.k + Kdot_v).norm(), 1e-7 * (1 + Kdot_v.norm()));
    // Baumgarte: k_stab = -2 alpha K qd - beta^2 delta
    const double alpha = 7;
    const Eigen::VectorXd k_stab = constraints(m, c.loops, c.s.q, c.s.v, alpha).k - at.k;
    const Eigen::VectorXd expected = -2 * alpha * (at.K * vector(c.s.v)) - alpha * alpha * at.delta;
    EXPECT_LT((k_stab - expected).norm(), 1e-11 * (1 + expected.norm()));
  }
}

TEST(LoopConstraints, AreAsExactFarFromTheOriginAsNearIt) {
  // the same closed state with the floating robot a million metres away
  for (unsigned seed = 1; seed <= 11; seed += 2) {
    RandomOptions o;
    o.bodies = 7, o.floating = true, o.roots = 0;
    Robot robot = random_robot(seed, o);
    State s = random_state(robot, seed);
    const Model<double>& m = robot.model;
    Loops<double> loops;
    Loop<double> l = loop_of(LoopType::Revolute, 0);
    l.p = m.nb, l.s = 1;
    l.X_P = l.X_S = identity_placement<double>();
    loops = {1, 5, {l}};
    const LoopRows near = constraints(m, loops, s.q, s.v, 1);
    for (int k = 0; k < 3; k++) s.q[k] += 1e6;
    const LoopRows far = constraints(m, loops, s.q, s.v, 1);
    EXPECT_EQ((near.K - far.K).norm() + (near.k - far.k).norm() + (near.delta - far.delta).norm(), 0);
  }
}

TEST(LoopForces, AreThoseOfEqualAndOppositeForcesOnTheBodies) {
  for (unsigned seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Closed c(seed, false);
    const Model<double>& m = c.robot.model;
    Random random(seed);
    Numbers f(6 * c.loops.nl), tau(m.nv, NAN), f_ext(6 * m.nb, 0.0), with(m.nv), without(m.nv);
    for (double& x : f) x = random.uniform(-5, 5);
    loop_forces(m, c.loops, c.s.q.data(), f.data(), tau.data());
    Scratch<double> x(m.nx);
    Scratch<Placement<double>> X(m.nb + 1);
    for (int i = 1; i <= m.nb; i++) update_joint(m, i, c.s.q.data(), Zeros<double>{}, x);
    body_placements(m, x, X);
    for (int l = 0; l < c.loops.nl; l++) {
      const Loop<double>& loop = c.loops.loop[l];
      const Placement<double> S = X[loop.s] * loop.X_S;
      const Vec3d n = S.R * Vec3d(&f[6 * l]), g = S.R * Vec3d(&f[6 * l + 3]);
      for (int side : {1, -1}) {
        const int i = side > 0 ? loop.s : loop.p;
        if (i == 0) continue;
        const Vec3d moment = n + (S.r - X[i].r).cross(g);
        double* on_body = &f_ext[6 * (i - 1)];
        for (int k = 0; k < 3; k++) on_body[k] += side * moment(k), on_body[3 + k] += side * g(k);
      }
    }
    rnea(m, c.s.q.data(), c.s.v.data(), c.s.a.data(), Zeros<double>{}, without.data());
    rnea(m, c.s.q.data(), c.s.v.data(), c.s.a.data(), f_ext.data(), with.data());
    // C' = C - tau^a
    EXPECT_LT((vector(without) - vector(with) - vector(tau)).norm(), 1e-11 * (scale_of(without) + scale_of(tau)));
  }
}

TEST(LoopClusters, JoinLoopsThatShareAJoint) {
  // chain 1-2-3, chain 4-5, body 6; loops 1-3, 3-0 share joints, 5-0 stands alone, 6-2 joins the first
  ModelBuilder b;
  const char* parents[] = {"", "1", "2", "", "4", ""};
  for (int i = 1; i <= 6; i++) {
    b.add_link(bar(std::to_string(i), 1, 1));
    b.add_joint(hinge("j" + std::to_string(i), parents[i - 1], std::to_string(i), {0, 0, 0}));
  }
  const Robot r = b.build();
  auto clusters = [&](std::vector<std::pair<std::string, std::string>> pairs) {
    std::vector<LoopSpec> specs;
    for (const auto& [p, s] : pairs) specs.push_back(pin(p, {1, 0, 0}, s, {1, 0, 0}));
    return loop_clusters(r.model, close_loops(r, specs));
  };
  EXPECT_EQ(clusters({{"1", "3"}, {"5", ""}, {"3", ""}}), (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(clusters({{"1", "2"}, {"4", "5"}, {"2", "3"}}), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(clusters({{"1", "2"}, {"4", "5"}, {"2", "5"}}), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(clusters({{"6", ""}, {"4", ""}, {"6", "4"}}), (std::vector<int>{0, 0, 0}));
}

TEST(CloseLoops, RefusesWhatItCannotMean) {
  const Linkage l = four_bar();
  const auto message = [&](const LoopSpec& s) { return testing::message([&] { close_loops(l.robot, {s}); }); };
  LoopSpec spec = pin("coupler", {0, 0, 0}, "rocker", {0, 0, 0});
  EXPECT_EQ(message(spec), "no error");
  spec.successor = "rokcer";
  EXPECT_EQ(message(spec), "loop joint 'pin': link 'rokcer' does not exist");
  spec.successor = "coupler";
  EXPECT_EQ(message(spec), "loop joint 'pin': connects a body with itself");
  spec.successor = "rocker", spec.type = LoopType::Helical;
  EXPECT_EQ(message(spec), "loop joint 'pin': parameter is zero or not finite");
  spec.type = LoopType::Revolute, spec.X_P.R *= 2;
  EXPECT_EQ(message(spec), "loop joint 'pin': placement is not a rotation and a finite origin");
}

}  // namespace
}  // namespace featherstorm::test_loop_constraints
