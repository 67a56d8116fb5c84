// Other descriptions of a robot: Denavit-Hartenberg parameters, products of exponentials, planar mechanisms.
#include <gtest/gtest.h>

#include <Eigen/LU>

#include "core/dynamics/rnea.h"
#include "core/reference/dynamics/planar_rnea.h"
#include "core/reference/model/denavit_hartenberg.h"
#include "core/reference/model/product_of_exponentials.h"
#include "tests/support/robots/linkages.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_descriptions {
namespace {

using namespace testing;

Placement<double> pose_of(const Robot& r, const Numbers& q, const std::string& frame) {
  Numbers pose(12 * r.model.nf);
  forward_kinematics(r.model, q.data(), pose.data());
  const double* p = &pose[12 * r.frame(frame)];
  return {rows(p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11]), {p[0], p[1], p[2]}};
}
double distance(const Placement<double>& a, const Placement<double>& b) {
  return (a.R - b.R).norm() + (a.r - b.r).norm();
}

// The textbook's homogeneous matrix of one row (Craig's modified convention), written out.
Eigen::Matrix4d dh_matrix(double a, double alpha, double d, double theta) {
  const double c = std::cos(theta), s = std::sin(theta), ca = std::cos(alpha), sa = std::sin(alpha);
  return (Eigen::Matrix4d() << c, -s, 0, a, s * ca, c * ca, -sa, -sa * d, s * sa, c * sa, ca, ca * d, 0, 0, 0, 1)
      .finished();
}

TEST(DenavitHartenberg, ForwardKinematicsIsTheProductOfMatrices) {
  const JointType types[] = {JointType::Revolute, JointType::Prismatic, JointType::Helical, JointType::Cylindrical};
  for (unsigned seed = 1; seed <= 30; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    DhChain chain{random.uniform(-3, 3), random.uniform(-1, 1), {}, {}};
    ModelBuilder b;
    std::vector<std::string> links;
    auto row = [&] {
      return DhJoint{random.uniform(0, 0.7),    random.chance(0.3) ? 0 : random.uniform(-2, 2),
                     random.uniform(-0.5, 0.5), random.uniform(-3, 3),
                     types[random.below(4)],    random.uniform(-0.2, 0.2)};
    };
    for (int i = 0; i < 6; i++) {
      chain.joints.push_back(row());
      links.push_back("link" + std::to_string(i));
      b.add_link(random_link(random, links.back()));
    }
    chain.end = row();
    add_chain(b, chain, links);
    const Robot r = b.build();
    const State s = random_state(r, seed);
    Eigen::Matrix4d T = dh_matrix(0, 0, chain.d_0, chain.theta_0);
    const double* q = s.q.data();
    auto expect_pose = [&](const std::string& frame) {
      const Placement<double> X = pose_of(r, s.q, frame);
      EXPECT_LT((X.R - T.topLeftCorner<3, 3>()).norm() + (X.r - T.topRightCorner<3, 1>()).norm(), 1e-12);
    };
    for (int i = 0; i < 6; i++) {
      const DhJoint& j = chain.joints[i];
      double d = j.d, theta = j.theta;
      if (j.type == JointType::Revolute) theta += *q++;
      if (j.type == JointType::Prismatic) d += *q++;
      if (j.type == JointType::Helical) theta += *q, d += j.pitch * *q++;
      if (j.type == JointType::Cylindrical) theta += q[0], d += q[1], q += 2;
      T = T * dh_matrix(j.a, j.alpha, d, theta);
      expect_pose(links[i]);
    }
    T = T * dh_matrix(chain.end.a, chain.end.alpha, chain.end.d, chain.end.theta);
    expect_pose("end");
  }
}

TEST(DenavitHartenberg, RefusesJointsThatAreNoLine) {
  ModelBuilder b;
  b.add_link({"a", 1});
  DhChain chain;
  EXPECT_THROW(add_chain(b, chain, {"a"}), ModelError);
  chain.joints.push_back({0, 0, 0, 0, JointType::Ball, 0});
  EXPECT_THROW(add_chain(b, chain, {"a"}), ModelError);
}

RandomOptions screw_robots() {
  RandomOptions o;
  o.types = {JointType::Revolute, JointType::Prismatic, JointType::Helical};
  o.reversed = 0;
  return o;
}

TEST(ProductOfExponentials, IsTheForwardKinematicsOfTreesOfScrews) {
  for (unsigned seed = 1; seed <= 30; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot r = random_robot(seed, screw_robots());
    const State s = random_state(r, seed);
    const Screws e = screws(r);
    for (int f = 0; f < r.model.nf; f++)
      EXPECT_LT(distance(product_of_exponentials(r.model, e, s.q.data(), f), pose_of(r, s.q, r.frame_names[f])), 1e-12);
  }
}

TEST(ProductOfExponentials, RobotsComeBackTheSameFromTheirScrews) {
  for (unsigned seed = 1; seed <= 30; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o = screw_robots();
    o.fixed = 0, o.armature = 0;
    const RobotSpec spec = random_spec(seed, o);
    const Robot r = build(spec);
    const Screws e = screws(r);
    std::vector<ScrewLink> links;
    for (int i = 1; i <= r.model.nb; i++) {
      const int p = r.model.body[i].parent;
      const std::string name = r.body_names[i], parent = p ? r.body_names[p] : "";
      for (const LinkSpec& l : spec.links)
        if (l.name == name) links.push_back({l, parent, e.M[r.frame(name)], e.S[r.model.body[i].v]});
    }
    ModelBuilder b;
    b.set_gravity(spec.gravity);
    add_screws(b, links);
    const Robot again = b.build();
    const State s = random_state(r, seed);
    const int n = r.model.nv;
    ASSERT_EQ(again.model.nv, n);
    // coordinates by joint
    auto to_again = [&](const Numbers& x) {
      Numbers y(n);
      for (int i = 1; i <= n; i++)
        y[again.model.body[again.joint("joint_" + r.body_names[i])].v] = x[r.model.body[i].v];
      return y;
    };
    const Numbers q = to_again(s.q), v = to_again(s.v), a = to_again(s.a);
    for (int i = 1; i <= n; i++)
      EXPECT_LT(distance(pose_of(again, q, "home_" + r.body_names[i]), pose_of(r, s.q, r.body_names[i])), 1e-12);
    Numbers tau(n), tau2(n);
    rnea(r.model, s.q.data(), s.v.data(), s.a.data(), Zeros<double>{}, tau.data());
    rnea(again.model, q.data(), v.data(), a.data(), Zeros<double>{}, tau2.data());
    EXPECT_LT((vector(to_again(tau)) - vector(tau2)).norm(), 1e-10 * (1 + vector(tau).norm()));
  }
}

TEST(ProductOfExponentials, RefusesWhatIsNoScrew) {
  RandomOptions o;
  o.types = {JointType::Ball}, o.bodies = 2;
  EXPECT_THROW(screws(random_robot(1, o)), ModelError);
  ModelBuilder b;
  EXPECT_THROW(add_screws(b, {{{"a", 1}, "b", identity_placement<double>(), {{0, 0, 1}, {0, 0, 0}}}}), ModelError);
  EXPECT_THROW(add_screws(b, {{{"a", 1}, "", identity_placement<double>(), {{0, 0, 2}, {0, 0, 0}}}}), ModelError);
}

TEST(Planar, InverseDynamicsIsThatOfTheSpatialRun) {
  std::vector<Robot> robots{four_bar().robot, slider_crank().robot, five_bar().robot};
  for (unsigned seed = 1; seed <= 20; seed++) {
    // random trees with axes along +-z and slides in the plane
    Random random(seed);
    RobotSpec spec;
    for (int i = 0; i < 6; i++) {
      spec.links.push_back(random_link(random, std::to_string(i)));
      JointSpec j;
      j.name = "j" + std::to_string(i), j.type = random.chance(0.3) ? JointType::Prismatic : JointType::Revolute;
      j.parent = i && !random.chance(0.2) ? std::to_string(random.below(i)) : "", j.child = std::to_string(i);
      const double t = random.uniform(-3, 3), u = random.uniform(-3, 3);
      j.X.R = matrix(rotation_z(t)), j.X.r = {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
      j.axis = {0, 0, random.chance(0.5) ? 1.0 : -1.0};
      if (j.type == JointType::Prismatic) j.axis = {std::cos(u), std::sin(u), 0};
      spec.joints.push_back(j);
    }
    spec.gravity = {random.uniform(-9, 9), random.uniform(-9, 9), random.uniform(-9, 9)};
    robots.push_back(build(spec));
  }
  unsigned seed = 0;
  for (const Robot& r : robots) {
    SCOPED_TRACE(++seed);
    const int n = r.model.nv;
    const State s = random_state(r, seed);
    Numbers tau(n, NAN), expected(n, NAN);
    planar_rnea(planar_model(r), s.q.data(), s.v.data(), s.a.data(), tau.data());
    rnea(r.model, s.q.data(), s.v.data(), s.a.data(), Zeros<double>{}, expected.data());
    EXPECT_LT((vector(tau) - vector(expected)).norm(), 1e-12 * (1 + vector(expected).norm()));
  }
  EXPECT_THROW(planar_model(stewart_platform().robot), ModelError);
}

}  // namespace
}  // namespace featherstorm::test_descriptions
