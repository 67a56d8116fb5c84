// Two boxes with faces on each other. tests/python/world/test_pair_contacts.py compares other poses with MuJoCo.
#include "core/collision/box_box.h"
#include "tests/core/collision/shapes.h"

namespace featherstorm::test_box_box {
namespace {

using namespace testing;

std::vector<Contact3d> touching(const Placement<double>& a, const Vec3d& s, const Placement<double>& b, const Vec3d& S,
                                double margin = 0) {
  Contact3d c[8];
  box_box(a, s, b, S, margin, c);
  return within(c, 8, margin);
}

const Vec3d unit(1, 1, 1);

TEST(BoxBox, OfTheSameSizeStackedHaveFourCorners) {
  for (int axis = 0; axis < 3; axis++) {
    for (const double side : {-1.0, 1.0}) {
      Placement<double> b = at(0, 0, 0);
      b.r(axis) = side * 1.99;
      const auto c = touching(at(0, 0, 0), unit, b, unit);
      ASSERT_EQ(c.size(), 4u);
      for (int i = 0; i < 4; i++) {
        EXPECT_NEAR(c[i].distance, -0.01, 1e-13);
        EXPECT_NEAR(c[i].normal(axis), side, 1e-13);
        EXPECT_NEAR(c[i].point(axis), side * 0.995, 1e-13);
        for (int k = 0; k < i; k++) EXPECT_GT((c[i].point - c[k].point).norm(), 1.9);
      }
    }
  }
}

TEST(BoxBox, StackedUpToRoundingLoseNoCorner) {
  Random random(21);
  for (int i = 0; i < 200; i++) {
    SCOPED_TRACE("case " + std::to_string(i));
    const double tiny = std::pow(10, random.uniform(-17, -7));
    Placement<double> b = at(0, 0, 1.99);
    b.r = b.r + random.vector(tiny);
    b.R = Eigen::AngleAxisd(tiny * random.uniform(-1, 1), random.vector().normalized()).toRotationMatrix();
    const auto c = touching(at(0, 0, 0), unit, b, unit);
    for (double x : {-1.0, 1.0})
      for (double y : {-1.0, 1.0}) EXPECT_TRUE(has_point(c, {x, y, 0.995}, 1e-6));
  }
}

TEST(BoxBox, ASmallOneOnALargeOneHasItsOwnCornersAndTheReverse) {
  const Vec3d small(0.2, 0.3, 0.1);
  for (const bool reversed : {false, true}) {
    const auto top = at(0.5, -0.5, 1.09);
    const auto c = reversed ? touching(top, small, at(0, 0, 0), unit) : touching(at(0, 0, 0), unit, top, small);
    ASSERT_EQ(c.size(), 4u);
    for (double x : {0.3, 0.7})
      for (double y : {-0.8, -0.2}) EXPECT_TRUE(has_point(c, {x, y, 0.995}));
    for (const Contact3d& k : c) expect_vector(k.normal, {0, 0, reversed ? -1.0 : 1.0});
  }
}

TEST(BoxBox, TurnedBy45DegreesHaveAnOctagon) {
  const auto c = touching(at(0, 0, 0), unit, turned(at(0, 0, 1.99), 2, pi / 4), unit);
  ASSERT_EQ(c.size(), 8u);
  const double x = sqrt(2.0) - 1;
  for (double s : {-1.0, 1.0}) {
    for (double t : {-x, x}) {
      EXPECT_TRUE(has_point(c, {s, t, 0.995}));
      EXPECT_TRUE(has_point(c, {t, s, 0.995}));
    }
  }
}

TEST(BoxBox, HalfwayOverTheEdgeHaveTheOverlap) {
  const auto c = touching(at(0, 0, 0), unit, at(1.5, 0.5, 1.99), unit);
  ASSERT_EQ(c.size(), 4u);
  for (double x : {0.5, 1.0})
    for (double y : {-0.5, 1.0}) EXPECT_TRUE(has_point(c, {x, y, 0.995}));
}

TEST(BoxBox, OnAnEdgeHaveTwoPointsAndOnACornerOne) {
  auto c = touching(at(0, 0, 0), unit, turned(at(0, 0, 1 + sqrt(2.0) * 0.1 - 0.01), 0, pi / 4), Vec3d(0.1, 0.1, 0.1));
  ASSERT_EQ(c.size(), 2u);
  EXPECT_TRUE(has_point(c, {0.1, 0, 0.995}) && has_point(c, {-0.1, 0, 0.995}));
  const Mat3d R = Eigen::Quaterniond::FromTwoVectors(Vec3d(1, 1, 1), Vec3d(0, 0, -1)).toRotationMatrix();
  c = touching(at(0, 0, 0), unit, {R, {0.2, 0.3, 1 + sqrt(3.0) * 0.1 - 0.01}}, Vec3d(0.1, 0.1, 0.1));
  ASSERT_EQ(c.size(), 1u);
  expect_contact(c[0], -0.01, {0.2, 0.3, 0.995}, {0, 0, 1});
}

TEST(BoxBox, ApartAlongAnyAxisDoNotTouch) {
  EXPECT_TRUE(touching(at(0, 0, 0), unit, at(0, 0, 2.01), unit).empty());
  EXPECT_EQ(touching(at(0, 0, 0), unit, at(0, 0, 2.01), unit, 0.02).size(), 4u);
  EXPECT_TRUE(touching(at(0, 0, 0), unit, turned(at(1 + sqrt(2.0), 0, 0), 2, pi / 4), unit, -1e-9).empty());
}

}  // namespace
}  // namespace featherstorm::test_box_box
