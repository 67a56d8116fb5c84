// Sensitivity: how ill-conditioned the equation of motion is, and what follows for its solution in float and double.
// RBDA section 10.2. And the truncation error of the integrators (section 10.1).
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <array>
#include <cmath>

#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/forward_dynamics.h"
#include "core/kinematics/energy.h"
#include "core/step/rk4_step.h"
#include "core/step/step.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/tolerance.h"

namespace featherstorm::test_accuracy_sensitivity {
namespace {

using namespace testing;

constexpr Zeros<double> none;
template <class T>
constexpr double epsilon = std::numeric_limits<T>::epsilon();
template <class T>
std::vector<T> in(const Numbers& a) {
  return {a.begin(), a.end()};
}

// Figure 10.3: rods of length and mass 1 in a plane without gravity, the centre of mass half way. Body k hangs on the
// end of body parents[k] - 1, or where that is 0 on the world, at (x, 0) for the k-th of `grounds`.
Robot rods(const std::vector<int>& parents, const std::vector<double>& grounds = {0},
           const std::vector<double>& mass = {}) {
  ModelBuilder b;
  std::size_t ground = 0;
  for (std::size_t i = 0; i < parents.size(); i++) {
    const double m = mass.empty() ? 1 : mass[i];
    b.add_link({"l" + std::to_string(i + 1), m, {0.5, 0, 0}, m * Mat3d(Vec3d(0.001, 1.0 / 12, 1.0 / 12).asDiagonal())});
    JointSpec j;
    j.name = "j" + std::to_string(i + 1), j.child = "l" + std::to_string(i + 1);
    if (parents[i] > 0) j.parent = "l" + std::to_string(parents[i]), j.X.r = {1, 0, 0};
    else j.X.r = {grounds[ground++], 0, 0};
    b.add_joint(j);
  }
  b.set_gravity({0, 0, 0});
  return b.build();
}
Robot chain(int n) {
  std::vector<int> parents(n);
  for (int i = 0; i < n; i++) parents[i] = i;
  return rods(parents);
}
Eigen::MatrixXd inertia(const Model<double>& m, const Numbers& q) {
  Numbers packed(m.nh);
  crba(m, q.data(), packed.data());
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(m.nv, m.nv);
  for (int i = 0; i < m.nv; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j]) H(i, j) = H(j, i) = packed[m.at(i, j)];
  return H;
}
double condition(const Model<double>& m, const Numbers& q) {
  const Eigen::VectorXd e =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(inertia(m, q), Eigen::EigenvaluesOnly).eigenvalues();
  return e(e.size() - 1) / e(0);
}
template <class T>
std::vector<T> by_aba(const Model<double>& m, const Numbers& q, const Numbers& tau) {
  std::vector<T> a(m.nv);
  articulated_bodies(cast<T>(m), in<T>(q).data(), Zeros<T>{}, in<T>(tau).data(), Zeros<T>{}, a.data());
  return a;
}
template <class T>
std::vector<T> by_crba(const Model<double>& m, const Numbers& q, const Numbers& tau) {
  std::vector<T> a(m.nv);
  fd_crba(cast<T>(m), in<T>(q).data(), Zeros<T>{}, in<T>(tau).data(), Zeros<T>{}, a.data());
  return a;
}

const double bend = 75 * M_PI / 180;
const Numbers zigzag{bend, -bend, bend, -bend, bend, -bend};

TEST(Sensitivity, OfTheZigzagArm) {
  const Robot r = chain(6);
  const Model<double>& m = r.model;
  EXPECT_NEAR(condition(m, zigzag), 725.39, 0.005);
  // the force that gives every joint the acceleration 1
  const Numbers ones(6, 1.0), published{126.4936, 97.4663, 69.9762, 43.7998, 21.9371, 6.1646};
  Numbers tau(6);
  newton_euler(m, zigzag.data(), none, ones.data(), none, tau.data());
  for (int k = 0; k < 6; k++) EXPECT_EQ(std::trunc(tau[k] * 1e4 + 1e-6) / 1e4, published[k]) << k;
  EXPECT_LT(relative_error(by_aba<double>(m, zigzag, tau), ones, 1), 725 * epsilon<double>);
  EXPECT_LT(relative_error(by_crba<double>(m, zigzag, tau), ones, 1), 725 * epsilon<double>);
  // rounded to three figures, by less than 0.5 %, it gives others by up to 41 %
  const Numbers rounded{126, 97.5, 70.0, 43.8, 21.9, 6.16};
  for (int k = 0; k < 6; k++) EXPECT_LT(std::abs(rounded[k] / tau[k] - 1), 0.005);
  // the book's first digits are transposed: 0.6952
  const Numbers expected{0.6592, 1.3654, 1.3808, 0.5894, 0.9057, 1.0705};
  EXPECT_LT(relative_error(by_aba<double>(m, zigzag, rounded), expected, 1), 6e-5);
  EXPECT_LT(relative_error(by_crba<double>(m, zigzag, rounded), expected, 1), 6e-5);
  // in float what is lost is at most what the condition number says, of which rounding the force is a part
  EXPECT_LT(relative_error(by_aba<float>(m, zigzag, tau), ones, 1), 725 * epsilon<float>);
  EXPECT_LT(relative_error(by_crba<float>(m, zigzag, tau), ones, 1), 725 * epsilon<float>);
}

// About 4 N^4 where the links are in line, RBDA section 10.2; less where they are folded.
TEST(Sensitivity, GrowsWithTheFourthPowerOfTheNumberOfLinks) {
  const std::pair<int, double> straight[] = {{2, 44.3}, {3, 309.5}, {4, 1074.4}, {5, 2711.3},
                                             {6, 5685}, {8, 17972}, {10, 43523}, {20, 670341}};
  for (auto [n, kappa] : straight) {
    EXPECT_NEAR(condition(chain(n).model, Numbers(n, 0.0)), kappa, 1e-3 * kappa) << n;
    if (n >= 6) { EXPECT_NEAR(kappa / (4 * std::pow(n, 4)), 1, 0.11) << n; }
  }
  EXPECT_NEAR(condition(chain(6).model, {0, M_PI, -M_PI, M_PI, -M_PI, M_PI}), 26.8, 0.05);
  // the first angle does not matter
  EXPECT_NEAR(condition(chain(6).model, {-2, -bend, bend, -bend, bend, -bend}), 725.39, 0.005);
}

// Of the spanning trees of a closed loop one of least depth is the best conditioned: two arms of three links that meet,
// and not one of six. RBDA section 10.2.
TEST(Sensitivity, IsLessInTreesOfLessDepth) {
  // an arch over five lengths, as one arm from the left and as two arms from both ends
  const Numbers lean{1.1, -0.4, -0.5, -0.5, -0.4, -0.3};
  const double one = condition(chain(6).model, lean);
  const double two = condition(rods({0, 1, 2, 0, 4, 5}, {0, 5}).model, {1.1, -0.4, -0.5, M_PI - 1.1, 0.4, 0.5});
  EXPECT_LT(two, one / 10);
  // in line: a chain of six, two of three, three of two, six of one
  const double c6 = condition(chain(6).model, Numbers(6, 0.0));
  const double c3 = condition(rods({0, 1, 2, 0, 4, 5}, {0, 9}).model, Numbers(6, 0.0));
  const double c2 = condition(rods({0, 1, 0, 3, 0, 5}, {0, 9, 20}).model, Numbers(6, 0.0));
  const double c1 = condition(rods({0, 0, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5}).model, Numbers(6, 0.0));
  EXPECT_NEAR(c1, 1, 1e-12);
  EXPECT_NEAR(c2, 44.3, 0.05);
  EXPECT_NEAR(c3, 309.5, 0.05);
  EXPECT_GT(c6, c3);
  // also with the same bodies: a chain of seven, and a trunk with branches
  EXPECT_LT(condition(rods({0, 1, 1, 2, 2, 3, 3}).model, Numbers(7, 0.4)), condition(chain(7).model, Numbers(7, 0.4)));
}

// The error of forward dynamics is at most a small multiple of condition number times epsilon, whatever makes the
// number large: length of the chain, or bodies that differ by 10^5 in mass, either way round.
template <class T>
void expect_errors_within_condition() {
  std::vector<std::pair<Robot, Numbers>> cases;
  for (int n : {2, 4, 8, 16}) cases.push_back({chain(n), Numbers(n, 0.1)});
  for (double ratio : {1e-5, 1e-3, 1e3, 1e5}) cases.push_back({rods({0, 1, 2}, {0}, {1, ratio, 1}), {0.3, 0.7, -0.5}});
  double worst_aba = 0, worst_crba = 0;
  for (const auto& [r, angles] : cases) {
    const Model<double>& m = r.model;
    const std::vector<T> rounded = in<T>(angles);
    const Numbers q(rounded.begin(), rounded.end());
    Random random(1);
    for (int k = 0; k < 20; k++) {
      Numbers x(m.nv), tau(m.nv);
      for (double& y : x) y = random.uniform(-1, 1);
      newton_euler(m, q.data(), none, x.data(), none, tau.data());
      const std::vector<T> t = in<T>(tau);
      const Numbers expected = by_crba<double>(m, q, Numbers(t.begin(), t.end()));
      const double unit = condition(m, q) * epsilon<T> * largest(expected);
      worst_aba = std::max(worst_aba, relative_error(by_aba<T>(m, q, tau), expected, unit));
      worst_crba = std::max(worst_crba, relative_error(by_crba<T>(m, q, tau), expected, unit));
    }
  }
  EXPECT_LT(worst_aba, 0.5);
  EXPECT_LT(worst_crba, 0.7);
}
TEST(Sensitivity, ErrorsOfForwardDynamicsAreWithinTheConditionNumberInFloat) {
  expect_errors_within_condition<float>();
}

// RBDA section 10.1 has it that articulated bodies are more accurate than the composite-rigid-body algorithm: on chains
// in line, whose condition number is the worst.
TEST(Sensitivity, ArticulatedBodiesAreMoreAccurateThanTheInertiaMatrix) {
  for (int n : {10, 20, 40}) {
    const Robot r = chain(n);
    const Model<double>& m = r.model;
    Random random(7);
    double errors[2] = {0, 0};
    for (int k = 0; k < 20; k++) {
      Numbers q(n), x(n), tau(n);
      for (int i = 0; i < n; i++) q[i] = static_cast<float>(random.uniform(-0.05, 0.05)), x[i] = random.uniform(-1, 1);
      newton_euler(m, q.data(), none, x.data(), none, tau.data());
      const std::vector<float> t = in<float>(tau);
      const Numbers expected = by_aba<double>(m, q, Numbers(t.begin(), t.end()));
      errors[0] += relative_error(by_aba<float>(m, q, tau), expected, largest(expected));
      errors[1] += relative_error(by_crba<float>(m, q, tau), expected, largest(expected));
    }
    std::printf("chain of %2d in float: error %.1e by articulated bodies, %.1e by the inertia matrix\n", n,
                errors[0] / 20, errors[1] / 20);
    EXPECT_LT(errors[0], errors[1]) << n;
  }
}

// Truncation: by how much the energy changes in a second, without damping, with steps of three sizes.
template <class Step>
std::array<double, 3> drift(const Robot& r, const State& s, int steps, const Step& advance) {
  std::array<double, 3> d;
  for (int k = 0; k < 3; k++, steps *= 2) {
    Numbers q = s.q, v = s.v, before(2), after(2);
    energy(r.model, q.data(), v.data(), before.data());
    for (int i = 0; i < steps; i++) advance(StepParameters<double>{1.0 / steps, 0, 0, 1}, q, v);
    energy(r.model, q.data(), v.data(), after.data());
    d[k] = std::abs(after[0] + after[1] - before[0] - before[1]);
  }
  return d;
}
TEST(Truncation, EnergyDriftsWithTheOrderOfTheIntegrator) {
  RandomOptions o;
  o.bodies = 4, o.types = {JointType::Revolute, JointType::Ball}, o.branching = 0, o.roots = 0, o.reversed = 0;
  for (bool floating : {false, true}) {
    o.floating = floating;
    const Robot r = random_robot(8, o);
    const Model<double>& m = r.model;
    State s = random_state(r, 8);
    const Drive drive{none, none, none, none};
    const auto fourth = drift(r, s, 100, [&](const auto& p, Numbers& q, Numbers& v) {
      rk4_step(m, q.data(), v.data(), drive, none, p, q.data(), v.data());
    });
    const auto first = drift(r, s, 500, [&](const auto& p, Numbers& q, Numbers& v) {
      step(m, q.data(), v.data(), drive, none, p, q.data(), v.data());
    });
    // halving the step divides the drift by at least 2^4, and by 2
    for (int k = 0; k < 2; k++) {
      EXPECT_GT(std::log2(fourth[k] / fourth[k + 1]), 3.5) << fourth[k];
      EXPECT_NEAR(std::log2(first[k] / first[k + 1]), 1, 0.25) << first[k];
    }
    // 400 evaluations of the dynamics at fourth order give less drift than 2000 at first order
    EXPECT_LT(fourth[0], first[2]);
  }
}

}  // namespace
}  // namespace featherstorm::test_accuracy_sensitivity
