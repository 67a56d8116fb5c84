// Rounding: what far frames and large velocities cost, and what does not depend on them. RBDA section 10.1.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <array>
#include <cmath>

#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/crba.h"
#include "core/dynamics/forward_dynamics.h"
#include "core/dynamics/newton_euler.h"
#include "core/dynamics/rnea.h"
#include "core/kinematics/kinematics.h"
#include "tests/support/robots/screw_tree.h"
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

// A planar body of mass 1 and radius of gyration 1 with its centre of mass at c, turning with unit velocity about it,
// under the force (1, -1, 1) there. Its acceleration about the origin from I_O a_O = f_O - v_O x* I_O v_O, RBDA (10.1),
// with T; returns the error where the centre of mass is, the exact value being (1, -1, 1).
template <class T>
double planar_error(double cx, double cy) {
  const T x(cx), y(cy), one(1);
  T I[3][3] = {{one + x * x + y * y, 0, 0}, {-y, one, 0}, {x, 0, one}};  // lower triangle
  const T v[3] = {one, y, -x};
  const T h[3] = {(one + x * x + y * y) * v[0] - y * v[1] + x * v[2], -y * v[0] + v[1], x * v[0] + v[2]};
  T a[3] = {one + x + y - (x * h[1] + y * h[2]), -one + h[2], one - h[1]};
  factor_small(I);
  solve_small(I, a);
  const long double w = a[0], ax = a[1], ay = a[2], e[3] = {w - 1, ax - w * cy + 1, ay + w * cx - 1};
  return static_cast<double>(std::max({std::abs(e[0]), std::abs(e[1]), std::abs(e[2])}));
}
// Mean over directions.
template <class T>
double planar_error(double distance) {
  double sum = 0;
  const int directions = 400;
  for (int k = 0; k < directions; k++) {
    const double angle = 2 * M_PI * (k + 0.37) / directions;
    sum += planar_error<T>(distance * std::cos(angle), distance * std::sin(angle));
  }
  return sum / directions;
}
template <class T>
void expect_figure_10_2() {
  // flat below the radius of gyration
  for (double c : {0.01, 0.1, 0.3, 1.0}) EXPECT_LT(planar_error<T>(c), 2 * epsilon<T>) << c;
  // in proportion to the square of the distance above
  for (double c : {10.0, 30.0, 100.0}) {
    EXPECT_LT(planar_error<T>(c), 0.5 * c * c * epsilon<T>) << c;
    EXPECT_NEAR(std::log10(planar_error<T>(10 * c) / planar_error<T>(c)), 2, 0.35) << c;
  }
}
TEST(Accuracy, OfAPlanarBodyFallsWithTheSquareOfTheDistance) {
  expect_figure_10_2<double>();
  // c = (100, 10): four digits lost
  EXPECT_LT(planar_error<double>(100, 10), 1e-11);
  EXPECT_GT(planar_error<double>(100, 10), 1e-14);
  const Mat3d I{{10101, -10, 100}, {-10, 1, 0}, {100, 0, 1}};
  const Vec3d e = Eigen::SelfAdjointEigenSolver<Mat3d>(I, Eigen::EigenvaluesOnly).eigenvalues();
  EXPECT_NEAR(e(2) / e(0), 1.0205e8, 1e4);
  EXPECT_LT((I.partialPivLu().solve(Vec3d(111, -1, 1)) - Vec3d(1, 9, -99)).norm(), 1e-9);
}
TEST(Accuracy, OfAPlanarBodyInFloat) {
  for (double c : {0.01, 0.1, 0.3, 1.0}) EXPECT_LT(planar_error<float>(c), 2 * epsilon<float>) << c;
  for (double c : {10.0, 30.0})
    EXPECT_NEAR(std::log10(planar_error<float>(10 * c) / planar_error<float>(c)), 2, 0.4) << c;
  EXPECT_GT(planar_error<float>(1000), 1e-3);  // two digits are left, or fewer
}

// The same in space with the library's own inverse of an inertia: a_O = I_O^-1 f_O, measured at the centre of mass.
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
  const ScrewTree t = screw_tree(chain_parents(6), 3);
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

// H in absolute coordinates: all inertias and axes at the world's origin, H_ij = S_i . I^c_i S_j. RBDA Table 6.2.
template <class T>
std::vector<T> crba_in_world_coordinates(const Model<double>& m, const Numbers& q) {
  Scratch<double> x(m.nx);
  Scratch<Placement<double>> X(m.nb + 1);
  for (int i = 1; i <= m.nb; i++) update_joint(m, i, q.data(), Zeros<double>{}, x);
  body_placements(m, x, X);
  std::vector<RigidBodyInertia<T>> Ic(m.nb + 1);
  std::vector<Motion<T>> S(m.nb + 1);
  std::vector<T> H(m.nh);
  const T o(0), l(1);
  for (int i = 1; i <= m.nb; i++) {
    const Placement<T> P = cast<T>(X[i]);
    Ic[i] = apply_transpose(P, cast<T>(m.body[i].I));
    S[i] = apply_inverse(P, Motion<T>{{o, o, l}, {o, o, o}});
  }
  for (int i = m.nb; i >= 1; i--) {
    const int parent = m.body[i].parent;
    const Force<T> F = Ic[i] * S[i];
    for (int j = i; j > 0; j = m.body[j].parent) H[m.at(m.body[i].v, m.body[j].v)] = dot(S[j], F);
    if (parent > 0) Ic[parent] = Ic[parent] + Ic[i];
  }
  return H;
}
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
TEST(Accuracy, InAbsoluteCoordinatesErrorsGrowWithTheSquareOfTheDistance) {
  Numbers H(21);
  crba(chain_at(0).model, q6.data(), H.data());
  const auto error = [&](auto zero, double distance) {
    return worst(crba_in_world_coordinates<decltype(zero)>(chain_at(distance).model, q6), H);
  };
  EXPECT_LT(error(0.0, 0), 1e-14);  // the text is right
  EXPECT_LT(error(0.0f, 1), 50 * epsilon<float>);
  EXPECT_NEAR(std::log10(error(0.0f, 1000) / error(0.0f, 10)) / 2, 2, 0.5);
  EXPECT_NEAR(std::log10(error(0.0, 10000) / error(0.0, 10)) / 3, 2, 0.5);
}

// A robot in free flight whose base moves with `speed`; the accelerations of its joints do not depend on it.
struct Flight {
  Flight() {
    RandomOptions o;
    o.bodies = 6, o.types = {JointType::Revolute}, o.floating = true, o.reversed = 0, o.armature = 0, o.roots = 0;
    robot = random_robot(4, o);
    state = random_state(robot, 4);
  }
  Numbers velocity(double speed) const {
    Numbers v = state.v;
    for (int k = 0; k < 3; k++) v[k] += speed * std::array{0.6, -0.48, 0.64}[k];
    return v;
  }
  // float, of the velocities as they are in float
  template <class F>
  double error(double speed, F forward_dynamics) const {
    const Model<double>& m = robot.model;
    const std::vector<float> v = in<float>(velocity(speed)), q = in<float>(state.q), tau = in<float>(state.tau);
    const Numbers qd(q.begin(), q.end()), taud(tau.begin(), tau.end());
    Numbers at_rest(v.begin(), v.end()), expected(m.nv);
    fd_crba(m, qd.data(), at_rest.data(), taud.data(), Zeros<double>{}, expected.data());
    std::vector<float> got(m.nv);
    forward_dynamics(cast<float>(m), q, v, tau, got);
    return worst(got, expected);
  }
  Robot robot;
  State state;
};
// By the bias force of rnea.h, whose spatial velocities have linear components; those of articulated_bodies.h have none.
constexpr auto by_rnea = [](const auto& m, const auto& q, const auto& v, const auto& tau, auto& a) {
  rnea(m, q.data(), v.data(), Zeros<float>{}, Zeros<float>{}, a.data());
  for (int k = 0; k < m.nv; k++) a[k] = tau[k] - a[k];
  aba_solve(m, q.data(), Zeros<float>{}, a.data());
};

// RBDA section 10.1: large mean velocities, and the remedy, a frame that moves with them.
TEST(Accuracy, LargeMeanVelocitiesHurtUnlessTheFrameMovesAlong) {
  const Flight f;
  const double slow = f.error(0, by_rnea), fast = f.error(1e4, by_rnea);
  EXPECT_LT(slow, 1e-5);
  EXPECT_GT(fast, 100 * slow);
  // in a frame that moves with the base's linear velocity
  const auto moving_frame = [](const auto& m, const auto& q, auto v, const auto& tau, auto& a) {
    for (int k = 0; k < 3; k++) v[k] = 0;
    by_rnea(m, q, v, tau, a);
  };
  EXPECT_LT(f.error(1e4, moving_frame), 3 * slow);
}
// newton_euler.h never forms linear velocities: what is built on it needs no remedy.
TEST(Accuracy, NewtonEulerFormDoesNotSeeTheMeanVelocity) {
  const Flight f;
  const int n = f.robot.model.nv;
  const Model<float> m = cast<float>(f.robot.model);
  std::vector<float> slow(n), fast(n), a_slow(n), a_fast(n);
  const auto q = in<float>(f.state.q), tau = in<float>(f.state.tau), a = in<float>(f.state.a);
  newton_euler(m, q.data(), in<float>(f.velocity(0)).data(), a.data(), Zeros<float>{}, slow.data());
  newton_euler(m, q.data(), in<float>(f.velocity(1e4)).data(), a.data(), Zeros<float>{}, fast.data());
  EXPECT_EQ(slow, fast);
  articulated_bodies(m, q.data(), in<float>(f.velocity(0)).data(), tau.data(), Zeros<float>{}, a_slow.data());
  articulated_bodies(m, q.data(), in<float>(f.velocity(1e4)).data(), tau.data(), Zeros<float>{}, a_fast.data());
  EXPECT_EQ(a_slow, a_fast);
}

// Body count: a chain of a thousand joints. RNEA of what forward dynamics gives is the force that went in.
TEST(Accuracy, RemainsWithAThousandBodies) {
  const ScrewTree t = screw_tree(chain_parents(1000), 2);
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
