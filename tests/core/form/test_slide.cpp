// Models with turned axes, slid origins and regrouped inertias are the same robot: against oracles that have the model as
// it was built.
// The choice of origins against an exhaustive search and Denavit-Hartenberg's.
#include "core/form/slide.h"

#include <gtest/gtest.h>

#include "core/form/regroup.h"
#include "core/kinematics/kinematics.h"
#include "core/model/joint_axes.h"
#include "core/reference/model/denavit_hartenberg.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/robots/adversarial_robot.h"

namespace featherstorm::test_slide {
namespace {

using namespace testing;

using dense::MatrixX;

int components(const Model<double>& m) {
  int n = 0;
  for (int i = 1; i <= m.nb; i++)
    for (int k = 0; k < 3 && m.body[i].parent > 0; k++) n += m.body[i].X_T.r(k) != 0;
  return n;
}

// Joint forces, the inertia matrix and accelerations.
TEST(Slide, JointQuantitiesStay) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const auto tau = c.oracle.rnea(s.q, s.v, s.a, {});
    const MatrixX H = c.oracle.crba(s.q);
    const double scale = force_scale(c, s.a);
    for (const Model<double>& m :
         {slid(c.model()), turned(c.model()), regrouped(c.model()), regrouped(slid(turned(c.model())))}) {
      EXPECT_LT(relative_error(call_newton_euler(m, s.q, s.v, s.a, {}), tau, scale),
                10 * tolerance<double>("newton_euler"));
      EXPECT_LT(relative_error(call_rnea(m, s.q, s.v, s.a, {}), tau, scale), 10 * tolerance<double>("rnea"));
      const MatrixX G = dense::unpacked(m, call_crba(m, s.q));
      EXPECT_LT((G - H).cwiseAbs().maxCoeff(), 10 * tolerance<double>("crba") * H.cwiseAbs().maxCoeff());
      const std::vector<double> forces(tau.begin(), tau.end());
      EXPECT_LT(force_error(c, call_articulated_bodies(m, s.q, s.v, forces, {}), s.a), 10 * tolerance<double>("aba"));
    }
  });
}

TEST(Slide, FramesStay) {
  for_random_robots([](const Case& c) {
    const Model<double> by_numbers = turned(c.model());
    for (const Model<double>& m : {slid(c.model()), by_numbers, slid(by_numbers)}) {
      std::vector<double> before(12 * m.nf), after(12 * m.nf);
      forward_kinematics(c.model(), c.state.q.data(), before.data());
      forward_kinematics(m, c.state.q.data(), after.data());
      double scale = 1;
      for (double x : before) scale = std::max(scale, std::abs(x));
      for (int k = 0; k < 12 * m.nf; k++) EXPECT_NEAR(after[k], before[k], 1e-13 * scale);
    }
    EXPECT_LE(components(slid(c.model())), components(c.model()));
    EXPECT_LE(components(slid(by_numbers)), components(by_numbers));
  });
}

// A leg: hip about x, thigh and calf about y. What separates thigh from hip lies along the thigh's own axis, and what
// separates calf from thigh is all that is left.
TEST(Slide, ParallelAxesLieBesideEachOther) {
  ModelBuilder b;
  std::string parent;
  const std::vector<std::pair<Vec3d, Vec3d>> joints{
      {{1, 0, 0}, {0.1, 0.2, 0.3}}, {{0, 1, 0}, {0, 0.09, 0}}, {{0, 1, 0}, {0, 0.03, -0.2}}};
  for (const auto& [axis, r] : joints) {
    const std::string name = "l" + std::to_string(b.build().model.nb);
    b.add_link({name, 1, Vec3d(0.01, 0.02, -0.1)});
    JointSpec j;
    j.name = "j" + name, j.child = name, j.parent = parent, j.axis = axis, j.X.r = r;
    b.add_joint(j);
    parent = name;
  }
  const Model<double> built = turned(b.build().model), m = slid(built);
  EXPECT_EQ(components(built), 3);
  EXPECT_EQ(components(m), 1);
  EXPECT_EQ(m.body[2].X_T.r, Vec3d(0, 0, 0));
  EXPECT_NEAR(m.body[3].X_T.r.norm(), 0.2, 1e-15);
}

// A chain of Denavit-Hartenberg parameters a, d at right angles whose origins were moved anywhere along their axes has two
// components a joint again: a along x, and d along the axis before or the joint's own.
TEST(Slide, FindsDenavitHartenbergOrigins) {
  Random random(4);
  for (int k = 0; k < 10; k++) {
    ModelBuilder b;
    std::string parent;
    double moved = 0;  // the parent's origin along its axis
    for (int i = 0; i < 6; i++) {
      const std::string name = "l" + std::to_string(i);
      b.add_link(random_link(random, name));
      JointSpec j;
      DhJoint dh;
      dh.a = random.uniform(0.1, 1), dh.d = random.uniform(0.1, 1), dh.alpha = i % 2 ? M_PI / 2 : -M_PI / 2;
      j.name = "j" + name, j.child = name, j.parent = parent;
      j.X = dh_placement(dh);
      const double t = random.uniform(-1, 1);
      j.X.r = j.X.r + j.X.R.col(2) * t - Vec3d(0, 0, moved);
      moved = t, parent = name;
      b.add_joint(j);
    }
    const Model<double> m = turned(b.build().model);
    EXPECT_GT(components(m), 10);
    EXPECT_LE(components(slid(m)), 10);
  }
}

// All ways to slide three origins by what makes some component zero, none farther than the robot's size.
TEST(Slide, IsTheBestOfAll) {
  Random random(5);
  for (int k = 0; k < 60; k++) {
    std::vector<Axis> axes(4);
    for (int i = 1; i < 4; i++) {
      axes[i].parent = i - 1, axes[i].slides = true;
      for (int c = 0; c < 3; c++) axes[i].r(c) = static_cast<int>(random.uniform(-2, 3));
      axes[i].z = Vec3d::Unit(static_cast<int>(random.uniform(0, 3)));
    }
    const auto cost = [&](const std::vector<double>& t) {
      int n = 0;
      for (int i = 2; i < 4; i++) {
        const Vec3d r = axes[i].r + axes[i].z * t[i] - Vec3d(0, 0, t[i - 1]);
        for (int c = 0; c < 3; c++) n += std::abs(r(c)) > 1e-9;
      }
      return n;
    };
    const double size = std::max(axes[2].r.norm(), axes[3].r.norm());
    const int most = static_cast<int>(size);
    int best = 100;
    for (int x = -most; x <= most; x++)
      for (int y = -most; y <= most; y++)
        for (int z = -most; z <= most; z++) best = std::min(best, cost({0, double(x), double(y), double(z)}));
    EXPECT_EQ(cost(slides(axes)), best);
    for (double t : slides(axes)) EXPECT_LE(std::abs(t), size);
  }
}

// The common normal of axes that are almost parallel is as far away as they are near to it: no origin goes there.
TEST(Slide, OriginsStayWithinTheRobotWhereAxesAreAlmostParallel) {
  for (double angle : {1e-2, 1e-4, 4e-6, 1e-9, 1e-12, 1e-15})
    for (double right : {0.0, M_PI / 2, M_PI}) {
      std::vector<Axis> axes(4);
      for (int i = 1; i < 4; i++) {
        axes[i].parent = i - 1, axes[i].slides = true;
        axes[i].r = Vec3d(0.1 * i, -0.2, 0.3);
        axes[i].z = Vec3d(0, std::sin(right + angle), std::cos(right + angle));
      }
      double size = 0;
      for (int i = 2; i < 4; i++) size = std::max(size, axes[i].r.norm());
      for (double t : slides(axes)) EXPECT_LE(std::abs(t), size) << angle << ", " << right;
    }
}

// An offset is zero only where rounding left it, be the offset itself a nanometre.
TEST(Slide, KeepsSmallOffsets) {
  Axis a;
  a.parent = 1, a.slides = true, a.r = Vec3d(1e-9, 0.5, -2e-13), a.z = Vec3d(0, 0, 1);
  EXPECT_EQ(slid_origin(a, 0, 0), a.r);
  const Vec3d r = slid_origin(a, 0.25, 0.25 + 1e-16);
  EXPECT_EQ(r.x(), 1e-9);
  EXPECT_NEAR(r.z(), -2e-13, 1e-15);
}

// Frames of robots with almost parallel axes stay as the specification has them, and so do their forces.
TEST(Slide, AdversarialRobotsStay) {
  for (unsigned seed = 1; seed <= 150; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Case c(adversarial_spec(seed, {12}), seed);
    const State& s = c.state;
    const auto tau = c.oracle.rnea(s.q, s.v, s.a, {});
    const MatrixX H = c.oracle.crba(s.q);
    double reach = 1e-300;
    for (const auto& T : c.oracle.pose(s.q, s.v).T) reach = std::max(reach, T.topRightCorner<3, 1>().norm());
    std::vector<double> built(12 * c.model().nf), formed(12 * c.model().nf);
    forward_kinematics(c.model(), s.q.data(), built.data());
    const double scale = force_scale(c, s.a);
    for (const Model<double>& m : {c.model(), slid(turned(c.model())), regrouped(slid(turned(c.model())))}) {
      EXPECT_LT(relative_error(call_newton_euler(m, s.q, s.v, s.a, {}), tau, scale), 1e-12);
      const MatrixX G = dense::unpacked(m, call_crba(m, s.q));
      EXPECT_LT((G - H).cwiseAbs().maxCoeff(), 1e-12 * H.cwiseAbs().maxCoeff());
      forward_kinematics(m, s.q.data(), formed.data());
      for (int k = 0; k < 12 * m.nf; k++)
        EXPECT_NEAR(formed[k], built[k], 1e-12 * (k % 12 < 3 ? std::max(reach, std::abs(built[k])) : 1));
    }
  }
}

}  // namespace
}  // namespace featherstorm::test_slide
