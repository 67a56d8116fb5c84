// Sensitivity: how ill-conditioned the equation of motion is, and what follows for its solution in float and double.
// RBDA section 10.2.
#include <gtest/gtest.h>

#include "core/dynamics/forward_dynamics.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

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
double condition(const Model<double>& m, const Numbers& q) {
  return testing::condition(dense::unpacked(m, call_crba(m, q)));
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
TEST(Sensitivity, ErrorsOfForwardDynamicsAreWithinTheConditionNumberInFloat) {
  std::vector<std::pair<Robot, Numbers>> cases;
  for (int n : {2, 4, 8, 16}) cases.push_back({chain(n), Numbers(n, 0.1)});
  for (double ratio : {1e-5, 1e-3, 1e3, 1e5}) cases.push_back({rods({0, 1, 2}, {0}, {1, ratio, 1}), {0.3, 0.7, -0.5}});
  double worst_aba = 0, worst_crba = 0;
  for (const auto& [r, angles] : cases) {
    const Model<double>& m = r.model;
    const std::vector<float> rounded = in<float>(angles);
    const Numbers q(rounded.begin(), rounded.end());
    Random random(1);
    for (int k = 0; k < 20; k++) {
      Numbers x(m.nv), tau(m.nv);
      for (double& y : x) y = random.uniform(-1, 1);
      newton_euler(m, q.data(), none, x.data(), none, tau.data());
      const std::vector<float> t = in<float>(tau);
      const Numbers expected = by_crba<double>(m, q, Numbers(t.begin(), t.end()));
      const double unit = condition(m, q) * epsilon<float> * largest(expected);
      worst_aba = std::max(worst_aba, relative_error(by_aba<float>(m, q, tau), expected, unit));
      worst_crba = std::max(worst_crba, relative_error(by_crba<float>(m, q, tau), expected, unit));
    }
  }
  EXPECT_LT(worst_aba, 0.5);
  EXPECT_LT(worst_crba, 0.7);
}

}  // namespace
}  // namespace featherstorm::test_accuracy_sensitivity
