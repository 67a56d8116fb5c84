// Soft contacts of an array of springs: RBDA section 11.8, Extensions.
#include <gtest/gtest.h>

#include "core/reference/contact/soft_array.h"
#include "tests/support/robots/soft_world.h"

namespace featherstorm::test_contact_soft_array {
namespace {

using namespace testing;
using Eigen::VectorXd;

ContactSpec on_patch(double friction, double half = 0.5) {
  ContactSpec c = at_origin(friction);
  c.half_x = c.half_y = half;
  return c;
}

TEST(ArraySurface, IsTheSingleSpringAtANode) {
  const Robot robot = floating({ball("ball", 0.1, 1)});
  ArraySurface<double> s{rubber.K_n, rubber.D_n, rubber.K_t, rubber.D_t, 7, 7};
  SoftWorld<ArraySurface<double>> x(robot, {on_patch(0.5)}, s);
  SoftWorld<SoftSurface<double>> y(robot, {on_patch(0.5)}, rubber);
  const double node = -0.5 + 1.5 * 0.2;  // the third
  x.q = y.q = {node, node + 0.2, 0.1, 1, 0, 0, 0};
  x.v = y.v = {0, 0, -1, 0, 0, 0};
  for (int k = 0; k < 20; k++) {
    x.step(100), y.step(100);
    EXPECT_LT((vector(x.q) - vector(y.q)).norm(), 1e-10);
    EXPECT_NEAR(x.f[0], y.f[0], 1e-8);
  }
}

TEST(ArraySurface, InterpolatesWithoutGapsOrSteps) {
  const Robot robot = floating({ball("ball", 0.1, 1)});
  SoftWorld<ArraySurface<double>> x(robot, {on_patch(0.5)}, {4000, 20, 3000, 15, 5, 6});
  double last = 0;
  x.q[2] = 1;
  for (int k = 0; k < 2000; k++) {
    // a dent of one depth is as deep everywhere, a slope is one everywhere
    x.q[0] = -0.5 + k / 2000.0, x.q[1] = 0.3;
    SoftContact<double> s;
    with_soft_contacts<double>(robot.model, x.contacts, x.q, x.v, [&](int, const auto& c, const auto&) { s = c; });
    for (int n = 0; n < 30; n++) x.u[3 * n + 2] = 0.01, x.u[3 * n] = -0.02;
    ArrayAt<double> at = array_at(x.soft[0], x.contacts.contact[0], s, x.u);
    EXPECT_NEAR(at.z, 0.01, 1e-12);
    EXPECT_NEAR(at.x[0], -0.02, 1e-12);
    EXPECT_NEAR(at.slope[0], 0, 1e-12);
    for (int n = 0; n < 30; n++) x.u[3 * n + 2] = -0.5 + (n % 5 - 0.5) / 3.0;
    at = array_at(x.soft[0], x.contacts.contact[0], s, x.u);
    EXPECT_NEAR(at.z, x.q[0], 1e-12);
    EXPECT_NEAR(at.slope[0], 1, 1e-12);
    // a rough surface has a steady slope, which is the derivative of z
    for (int n = 0; n < 30; n++) x.u[3 * n + 2] = std::sin(7.0 * n);
    at = array_at(x.soft[0], x.contacts.contact[0], s, x.u);
    if (k > 0) { EXPECT_NEAR(at.z - last, at.slope[0] / 2000, 1e-4); }
    last = at.z;
  }
}

TEST(ArraySurface, LosesWhatDampersAndSlipTake) {
  const Robot robot = floating({ball("ball", 0.1, 1)}, {0, 0, 0});
  const ArraySurface<double> s{3000, 60, 2000, 30, 4, 5};
  SoftWorld<ArraySurface<double>> x(robot, {on_patch(0.5)}, s);
  Random random(8);
  int trials = 0, slipping = 0;
  for (int trial = 0; trial < 300; trial++) {
    for (double& a : x.v) a = random.uniform(-1, 1);
    for (double& a : x.u) a = random.uniform(-0.01, 0.002);
    x.q[0] = random.uniform(-0.45, 0.45), x.q[1] = random.uniform(-0.45, 0.45);
    SoftContact<double> c;
    x.q[2] = 1;
    with_soft_contacts<double>(robot.model, x.contacts, x.q, x.v, [&](int, const auto& k, const auto&) { c = k; });
    const ArrayAt<double> at = array_at(s, x.contacts.contact[0], c, x.u);
    x.q[2] = 0.1 + at.z - 1e-14;  // it just touches the surface as it is
    x.forces();
    if (x.f[0] == 0) continue;
    trials++;
    const double w = spline_at_node;
    double stored = 0, lost = 0;
    Eigen::Vector2d surface(0, 0);
    over_nodes(s, x.contacts.contact[0], c, [&](int n, double weight, double, double) {
      for (int i = 0; i < 3; i++) {
        const double K = i < 2 ? s.K_t : s.K_n, D = i < 2 ? s.D_t : s.D_n, rate = x.ud[3 * n + i];
        stored += w * K * x.u[3 * n + i] * rate;
        lost += w * D * rate * rate;
        if (i < 2) surface(i) += weight * rate;
      }
    });
    const double lever = 0.1 + at.z / 2;
    const Eigen::Vector2d ft(x.f[1], x.f[2]), v(x.v[0] - lever * x.v[4], x.v[1] + lever * x.v[3]);
    const Eigen::Vector2d slip = v - surface;
    EXPECT_NEAR(x.power() + stored, -lost + ft.dot(slip), 1e-7 * (1 + lost));
    EXPECT_NEAR(ft.dot(slip), -ft.norm() * slip.norm(), 1e-9);
    if (slip.norm() > 1e-9) slipping++;
  }
  EXPECT_GT(trials, 100);
  EXPECT_GT(slipping, 30);
}

TEST(ArraySurface, KeepsDentsThatFade) {
  const Robot robot = floating({ball("ball", 0.1, 1.5)});
  const ArraySurface<double> s{3000, 900, 3000, 900, 8, 8};
  SoftWorld<ArraySurface<double>> x(robot, {on_patch(0.5)}, s);
  x.q[2] = 0.1, x.s.dt = 5e-4;
  x.step(1000);
  const Numbers dent = x.u;
  EXPECT_LT(*std::min_element(dent.begin(), dent.end()), -1e-3);
  x.q[0] = 0.45, x.q[1] = -0.45, x.q[2] = 1, x.v.assign(6, 0.0);
  x.forces();
  EXPECT_EQ(x.f[0], 0);
  x.update(0.2);
  for (std::size_t k = 0; k < dent.size(); k++) EXPECT_NEAR(x.u[k], dent[k] * std::exp(-3000.0 / 900 * 0.2), 1e-12);
}

TEST(ArraySurface, NeedsABoundedPlane) {
  const Robot robot = floating({ball("ball", 0.1, 1)});
  EXPECT_THROW(check_array(contacts_of(robot, {at_origin()}), {1, 1, 1, 1, 4, 4}), ModelError);
  EXPECT_THROW(check_array(contacts_of(robot, {on_patch(0)}), {1, 1, 1, 1, 2, 4}), ModelError);
  EXPECT_NO_THROW(check_array(contacts_of(robot, {on_patch(0)}), {1, 1, 1, 1, 3, 4}));
}

}  // namespace
}  // namespace featherstorm::test_contact_soft_array
