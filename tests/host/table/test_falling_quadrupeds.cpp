// Quadrupeds that fall on the ground, through the engine's rows of steps with contacts.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/host/table/contact_batch.h"
#include "tests/support/tools/scratch.h"

namespace featherstorm::test_falling_quadrupeds {
namespace {

using namespace test;

template <class Real>
void fall(const char* step) {
  Robot robot = on_feet();
  // dry friction is smooth below friction_velocity, where joints would creep for seconds
  robot.model.friction.assign(robot.model.nv, 0.0);
  const Model<double>& m = robot.model;
  Evaluator e(robot, {.threads = 1});
  const Stance stance(robot);
  const long count = 7;
  auto s = falling(robot, stance, count);
  Numbers uniforms = stance.uniforms(robot);
  const bool soft = std::string(step) == "soft_contact_step";
  const double K = 5e3;
  if (soft) {
    uniforms.resize(1 + 2 * m.nv + 3);
    uniforms[0] = 5e-4;
    for (double x : {K, 60.0, K, 60.0, 0.0}) uniforms.insert(uniforms.end(), 4, x);
  }
  double mass = 0;
  for (int i = 1; i <= m.nb; i++) mass += m.body[i].I.m;
  // kinetic, potential, that of the joints' springs and of soft surfaces
  auto energy = [&](long i) {
    const auto E = run_batch<double>(e, "energy", {{s[0][i]}, {s[1][i]}});
    double sum = E[0][0][0] + E[0][0][1];
    for (int k = 6; k < m.nv; k++) sum += 0.5 * stance.kp * std::pow(s[0][i][k + 1] - stance.target[k], 2);
    if (!soft) return sum;
    const Numbers gap = run_batch<double>(e, "contact_jacobian", {{s[0][i]}})[0][0], u = s[2][i];
    for (int c = 0; c < 4; c++)
      sum += 0.5 * K * (std::pow(std::min(gap[c], 0.0), 2) + std::pow(u[3 * c], 2) + std::pow(u[3 * c + 1], 2));
    return sum;
  };
  Numbers last;
  for (long i = 0; i < count; i++) last.push_back(energy(i));
  const Numbers first = last;
  for (int k = 0; k < 1000; k++) {
    const auto out = run_batch<Real>(e, step, s, uniforms, soft ? 8 : 2);
    for (int a = 0; a < 3; a++) s[a] = out[a];
    for (long i = 0; i < count && !soft; i++)
      for (int c = 0; c < 4; c++) {
        const Numbers& x = s[2][i];
        ASSERT_GE(x[3 * c], 0);
        ASSERT_LE(std::hypot(x[3 * c + 1], x[3 * c + 2]), 0.6 * x[3 * c] * (1 + 1e-5));
      }
    if (k % 10 == 9)
      for (long i = 0; i < count; i++) {
        const double E = energy(i);
        // springs and gravity are taken at the beginning of a step
        ASSERT_LT(E, last[i] + 2e-3 * std::abs(first[i])) << "instance " << i << ", step " << k;
        last[i] = E;
      }
  }
  for (long i = 0; i < count; i++) {
    SCOPED_TRACE(i);
    const Numbers gap = run_batch<double>(e, "contact_jacobian", {{s[0][i]}})[0][0];
    for (double x : s[1][i]) EXPECT_NEAR(x, 0, soft ? 1e-2 : 2e-3);  // soft ground swings longer
    double normal = 0;
    for (int c = 0; c < 4; c++) {
      normal += soft ? -K * gap[c] : s[2][i][3 * c] / stance.dt;
      EXPECT_GT(gap[c], soft ? -0.4 * mass * 9.81 / K : -1.2 * stance.slop);
      EXPECT_LT(gap[c], soft ? 0.0 : 1e-5);
    }
    // impulses carry the weight; soft surfaces do so by how deep they are
    EXPECT_NEAR(normal, mass * 9.81, 0.01 * mass * 9.81);
  }
}

TEST(FallingQuadrupeds, ComeToRestOnTheirFeet) { fall<float>("contact_step"); }
TEST(FallingQuadrupeds, ComeToRestInDouble) { fall<double>("contact_step"); }
TEST(FallingQuadrupeds, ComeToRestOnSoftGround) { fall<float>("soft_contact_step"); }

TEST(FallingQuadrupeds, DoNotDependOnTheirBatch) {
  const Robot robot = on_feet();
  const Stance stance(robot);
  const Numbers uniforms = stance.uniforms(robot);
  const long count = 300;
  auto run = [&](Evaluator& e, std::vector<RowArrays> s) {
    for (int k = 0; k < 30; k++) {
      const auto out = run_batch<float>(e, "contact_step", s, uniforms, 4);
      for (int a = 0; a < 3; a++) s[a] = out[a];
    }
    return s;
  };
  Evaluator one(robot, {.threads = 1}), two(robot, {.threads = 2});
  const auto all = falling(robot, stance, count), a = run(one, all), b = run(two, all);
  for (int k = 0; k < 3; k++) EXPECT_EQ(a[k], b[k]);
  double pressed = 0;
  for (long i = 0; i < count; i += 61) {
    std::vector<RowArrays> alone;
    for (const RowArrays& x : all) alone.push_back({x[i]});
    const auto c = run(two, alone);
    for (int k = 0; k < 3; k++) EXPECT_EQ(c[k][0], a[k][i]);
    for (int f = 0; f < 4; f++) pressed += a[2][i][3 * f];
  }
  EXPECT_GT(pressed, 0) << "none has reached the ground";
}

}  // namespace
}  // namespace featherstorm::test_falling_quadrupeds
