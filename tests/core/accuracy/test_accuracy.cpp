// Rounding: what far frames and large velocities cost, and what does not depend on them. RBDA section 10.1.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/crba.h"
#include "core/dynamics/newton_euler.h"
#include "tests/support/robots/screw_chain.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/tolerance.h"

namespace featherstorm::test_accuracy {
namespace {

using namespace testing;

template <class T>
constexpr double epsilon = std::numeric_limits<T>::epsilon();
template <class T>
std::vector<T> in(const Numbers& a) {
  return {a.begin(), a.end()};
}

// A body far from its origin, by the library's own inverse of an inertia: a_O = I_O^-1 f_O, measured at the centre of mass.
template <class T>
double spatial_error(double distance) {
  double worst = 0;
  for (unsigned seed = 1; seed <= 50; seed++) {
    Random random(seed);
    const Vec3d c = random.rotation().col(0) * distance;
    const RigidBodyInertia<double> at_c{1, Vec3d::Zero(), {1, 0, 0, 1, 0, 1}};
    const Mat3<T> none = cast<T>(Mat3d(Mat3d::Identity()));
    const Vec3<T> r = cast<T>(c);
    const Force<double> f{random.vector(), random.vector()};
    const Force<T> f_O = apply_transpose(none, r, Force<T>{cast<T>(f.n), cast<T>(f.f)});
    const Motion<T> a = solve_articulated(articulated<T>(apply_transpose(none, r, cast<T>(at_c))), f_O);
    const Vec3d w = cast<double>(a.w), v = cast<double>(a.v) + cross(w, cast<double>(r));
    worst = std::max(worst, std::max((w - f.n).norm(), (v - f.f).norm()));
  }
  return worst;
}
TEST(Accuracy, OfASpatialBodyFallsWithTheSquareOfTheDistance) {
  EXPECT_LT(spatial_error<double>(0.1), 20 * epsilon<double>);
  EXPECT_LT(spatial_error<float>(0.1), 20 * epsilon<float>);
  for (double c : {10.0, 100.0}) {
    EXPECT_NEAR(std::log10(spatial_error<double>(10 * c) / spatial_error<double>(c)), 2, 0.5) << c;
    EXPECT_LT(spatial_error<double>(c), 10 * c * c * epsilon<double>);
  }
  EXPECT_NEAR(std::log10(spatial_error<float>(100) / spatial_error<float>(10)), 2, 0.5);
}

// A chain of six joints whose base stands at a distance from the world's origin.
Robot chain_at(double distance) {
  const ScrewChain t = screw_chain(6, 3);
  ModelBuilder b;
  for (int i = 0; i < 6; i++) {
    const ScrewJoint& j = t.joint[i];
    b.add_link(j.link);
    JointSpec s;
    s.name = "j" + std::to_string(i + 1), s.child = j.link.name;
    if (i > 0) s.parent = t.joint[i - 1].link.name;
    const Mat3d Rx = matrix(RotationX<double>{std::cos(j.alpha), std::sin(j.alpha)});
    s.X = {Rx, Vec3d(j.a, 0, 0) + Rx * Vec3d(0, 0, j.d)};
    if (i == 0) s.X.r += Vec3d(0.6, -0.48, 0.64) * distance;
    b.add_joint(s);
  }
  return b.build();
}
const Numbers q6{0.3, -0.8, 1.1, 0.4, -1.3, 0.9}, v6{1, -2, 0.5, 1.5, -0.7, 2}, a6{2, 1, -1, 3, 0.3, -2};

// Largest error relative to the largest entry; infinite where there is a NaN.
template <class T>
double worst(const std::vector<T>& a, const Numbers& b) {
  return relative_error(a, b, largest(b));
}
TEST(Accuracy, InBodyCoordinatesTheWorldsOriginDoesNotMatter) {
  Numbers H(21);
  crba(chain_at(0).model, q6.data(), H.data());
  std::vector<float> near(21), tau_near(6), a_near(6);
  for (double distance : {0.0, 1.0, 1e2, 1e4, 1e6}) {
    const Model<float> m = cast<float>(chain_at(distance).model);
    std::vector<float> h(21), tau(6), a(6);
    crba(m, in<float>(q6).data(), h.data());
    newton_euler(m, in<float>(q6).data(), in<float>(v6).data(), in<float>(a6).data(), Zeros<float>{}, tau.data());
    articulated_bodies(m, in<float>(q6).data(), in<float>(v6).data(), in<float>(a6).data(), Zeros<float>{}, a.data());
    if (distance == 0) near = h, tau_near = tau, a_near = a;
    EXPECT_LT(worst(h, H), 20 * epsilon<float>);
    // the same bits
    EXPECT_EQ(h, near);
    EXPECT_EQ(tau, tau_near);
    EXPECT_EQ(a, a_near);
  }
}

// newton_euler.h never forms linear velocities: of a robot in free flight, the speed of its base changes no bit.
TEST(Accuracy, NewtonEulerFormDoesNotSeeTheMeanVelocity) {
  RandomOptions o;
  o.bodies = 6, o.types = {JointType::Revolute}, o.floating = true, o.reversed = 0, o.armature = 0, o.roots = 0;
  const Robot robot = random_robot(4, o);
  const State s = random_state(robot, 4);
  const int n = robot.model.nv;
  const Model<float> m = cast<float>(robot.model);
  const auto q = in<float>(s.q), tau = in<float>(s.tau), a = in<float>(s.a), slow = in<float>(s.v);
  std::vector<float> fast = slow, f_slow(n), f_fast(n), a_slow(n), a_fast(n);
  for (int k = 0; k < 3; k++) fast[k] += 1e4f * std::array{0.6f, -0.48f, 0.64f}[k];
  newton_euler(m, q.data(), slow.data(), a.data(), Zeros<float>{}, f_slow.data());
  newton_euler(m, q.data(), fast.data(), a.data(), Zeros<float>{}, f_fast.data());
  EXPECT_EQ(f_slow, f_fast);
  articulated_bodies(m, q.data(), slow.data(), tau.data(), Zeros<float>{}, a_slow.data());
  articulated_bodies(m, q.data(), fast.data(), tau.data(), Zeros<float>{}, a_fast.data());
  EXPECT_EQ(a_slow, a_fast);
}

// Body count: a chain of a thousand joints. RNEA of what forward dynamics gives is the force that went in.
TEST(Accuracy, RemainsWithAThousandBodies) {
  const ScrewChain t = screw_chain(1000, 2);
  const Model<double>& m = t.robot.model;
  const State s = random_state(t.robot, 2);
  Numbers v(m.nv), a(m.nv), back(m.nv), scale(m.nv);
  for (int k = 0; k < m.nv; k++) v[k] = 0.01 * s.v[k];
  newton_euler(m, s.q.data(), v.data(), Zeros<double>{}, Zeros<double>{}, scale.data());
  articulated_bodies(m, s.q.data(), v.data(), s.tau.data(), Zeros<double>{}, a.data());
  newton_euler(m, s.q.data(), v.data(), a.data(), Zeros<double>{}, back.data());
  double largest = 0, error = 0;
  for (int k = 0; k < m.nv; k++)
    largest = std::max(largest, std::abs(scale[k])), error = std::max(error, std::abs(back[k] - s.tau[k]));
  EXPECT_LT(error, 1e-13 * largest);
}

}  // namespace
}  // namespace featherstorm::test_accuracy
