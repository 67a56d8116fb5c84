// Contacts through the engine: the rows against identities that join them to other rows. That the texts are right the
// tests of core show.
#include <gtest/gtest.h>

#include <cmath>

#include "core/contact/contact_step.h"
#include "core/contact/soft_surface.h"
#include "tests/host/table/row_test.h"
#include "tests/support/robots/worlds.h"

namespace featherstorm::test_contact_ops {
namespace {

using namespace testing;

class ContactOps : public RowTest {
 protected:
  ContactOps() : RowTest(load("go2", {.contacts = go2_feet(0.6)}), 5) {}
  static double dot(const Numbers& A, int row, const Numbers& x) {
    double s = 0;
    for (std::size_t k = 0; k < x.size(); k++) s += A[row * x.size() + k] * x[k];
    return s;
  }
};

TEST_F(ContactOps, RatesOfGapsAreThoseOfDifferences) {
  const double h = 1e-5;
  const Batch now = run("contact_jacobian", {q}), rates = run("contact_rates", {q, v});
  const Numbers later = run("contact_jacobian", {moved(q, v, h)})[0],
                before = run("contact_jacobian", {moved(q, v, -h)})[0];
  for (int k = 0; k < 4; k++) {
    EXPECT_NEAR(rates[0][k], (later[k] - before[k]) / (2 * h), 1e-7);
    EXPECT_NEAR(rates[0][k], dot(now[2], 3 * k, v), 1e-10);
    // along v, where q (+) v t has the acceleration 0 in these coordinates
    EXPECT_NEAR(rates[1][k], (later[k] - 2 * now[0][k] + before[k]) / (h * h), 1e-3);
    EXPECT_GT(now[1][k], 1e6) << "the ground has no edge";
  }
}

TEST_F(ContactOps, FramesStandAtTheFeet) {
  const Numbers frames = run("contact_frames", {q})[0], gap = run("contact_jacobian", {q})[0];
  const Numbers pose = run("forward_kinematics", {q})[0];
  const char* names[] = {"FL_foot", "FR_foot", "RL_foot", "RR_foot"};
  for (int k = 0; k < 4; k++) {
    const int foot = e.robot().frame(names[k]);
    EXPECT_NEAR(pose[12 * foot + 2] - 0.022, gap[k], 1e-12);
    for (int i = 0; i < 2; i++) EXPECT_NEAR(frames[12 * k + i], pose[12 * foot + i], 1e-12);
    EXPECT_NEAR(frames[12 * k + 2], gap[k] / 2, 1e-12);
    for (int i = 0; i < 3; i++) {
      EXPECT_NEAR(frames[12 * k + 3 + i], i == 2, 1e-12);
      EXPECT_NEAR(frames[12 * k + 6 + i], i == 0, 1e-12);
      EXPECT_NEAR(frames[12 * k + 9 + i], i == 1, 1e-12);
    }
  }
}

TEST_F(ContactOps, TheSystemIsThatOfForwardDynamics) {
  const Batch system = run("contact_system", {q, v, tau, f});
  const Numbers G = run("contact_jacobian", {q})[2], A = run("contact_inertia", {q})[0],
                bias = run("contact_rates", {q, v})[1];
  const Numbers free = run("aba_f_ext", {q, v, tau, f})[0], L = run("ltdl", {run("crba", {q})[0]})[0];
  for (int a = 0; a < 12; a++) {
    const Numbers column = run("solve", {L, Numbers(G.begin() + a * n, G.begin() + (a + 1) * n)})[0];
    for (int b = 0; b < 12; b++) EXPECT_NEAR(A[12 * a + b], dot(G, b, column), 1e-8 * (1 + std::abs(A[13 * a])));
  }
  for (int k = 0; k < 4; k++) {
    EXPECT_NEAR(system[4][k], dot(G, 3 * k, free) + bias[k], 1e-7 * (1 + std::abs(system[4][k])));
    for (int l = 0; l < 4; l++) EXPECT_NEAR(system[3][4 * k + l], A[36 * k + 3 * l], 1e-9 * (1 + std::abs(A[39 * k])));
  }
}

TEST_F(ContactOps, ForcesOfFrictionlessContactsAreComplementary) {
  Robot robot = load("go2", {.contacts = go2_feet(0.6), .sweeps = 400});
  Evaluator e(robot, {1, "", false, {}});
  const Batch out = run_one(e, "fd_contacts", {q, v, tau, f, {1, 1, 1, 0}, {0, 0, 0, 0}});
  const Numbers G = run("contact_jacobian", {q})[2], bias = run("contact_rates", {q, v})[1];
  for (int k = 0; k < 3; k++) {
    const double second = dot(G, 3 * k, out[0]) + bias[k];
    EXPECT_GE(out[1][k], 0);
    EXPECT_GT(second, -1e-5);
    EXPECT_NEAR(second * out[1][k], 0, 1e-3);
  }
  EXPECT_EQ(out[1][3], 0);
}

TEST_F(ContactOps, ImpulsesMakeFeetReboundAndChangeMomentumAlone) {
  Robot robot = load("go2", {.contacts = go2_feet(0, 0.5), .sweeps = 400});
  Evaluator bouncing(robot, {1, "", false, {}});
  const Batch out = run_one(bouncing, "contact_impulse", {q, v, {1, 1, 1, 1}, Numbers(12)});
  const Numbers before = run("contact_rates", {q, v})[0], after = run("contact_rates", {q, out[0]})[0];
  Numbers change(n), Gt(n, 0.0);
  const Numbers G = run("contact_jacobian", {q})[2];
  int hit = 0;
  for (int k = 0; k < 4; k++) {
    const double impulse = out[1][3 * k];
    EXPECT_GE(impulse, 0);
    EXPECT_GT(after[k], -0.5 * std::min(before[k], 0.0) - 1e-5);
    if (impulse > 1e-6) {
      hit++;
      EXPECT_NEAR(after[k], -0.5 * std::min(before[k], 0.0), 1e-5);
    }
    for (int c = 0; c < n; c++) Gt[c] += G[3 * k * n + c] * impulse;
  }
  EXPECT_GT(hit, 0);
  for (int c = 0; c < n; c++) change[c] = out[0][c] - v[c];
  const Numbers Mx = run("id_delta", {q, change})[0];
  for (int c = 0; c < n; c++) EXPECT_NEAR(Mx[c], Gt[c], 1e-8);
}

TEST_F(ContactOps, SoftForcesAreThoseOfTheContactRows) {
  q[2] = -0.5;  // deep in the ground
  Numbers soft;
  for (double x : {900.0, 20.0, 700.0, 15.0, 0.0}) soft.insert(soft.end(), 4, x);
  const Batch out = run("soft_contact_forces", {q, v, Numbers(12, 0.001), f}, soft);
  const Numbers G = run("contact_jacobian", {q})[2], rest(n, 0.0);
  const Numbers with = run("rnea_f_ext", {q, v, rest, out[0]})[0], without = run("rnea_f_ext", {q, v, rest, f})[0];
  double pressed = 0;
  for (int c = 0; c < n; c++) {
    double Gt = 0;
    for (int r = 0; r < 12; r++) Gt += G[r * n + c] * out[1][r];
    EXPECT_NEAR(without[c] - with[c], Gt, 1e-8 * 900);
  }
  for (int k = 0; k < 4; k++) {
    pressed += out[1][3 * k];
    EXPECT_LE(std::hypot(out[1][3 * k + 1], out[1][3 * k + 2]), 0.6 * out[1][3 * k] * (1 + 1e-9));
  }
  EXPECT_GT(pressed, 10);
}

TEST(Contacts, AreRefusedByName) {
  Evaluator bare(load("go2"));
  EXPECT_EQ(message([&] { bare.kernel("contact_step", Precision::float32); }),
            "contact_step: the robot has no contacts, expected some (contacts_of)");
  EXPECT_EQ(message([&] { load("go2", {.contacts = {on_ground("hoof", {0, 0, 0}, 0.02)}}); }),
            "contact 'hoof on ground': link 'hoof' does not exist");
  EXPECT_EQ(message([&] { load("go2", {.contacts = {on_ground("base", {0, 0, 0}, -1)}}); }),
            "contact 'base on ground': radius_s is -1.000000, expected 0 to 1000000.000000");
  EXPECT_EQ(message([&] { load("go2", {.contacts = go2_feet(0.6), .sweeps = 0}); }),
            "contacts 'sweeps': is 0, expected 1 to 1000");
  EXPECT_EQ(message([&] { load("go2", {.contacts = go2_feet(0.6), .relax = -1}); }),
            "contacts 'relax': is -1, expected 0 to 1000");
}

// Every number of a row reaches its place in the text: feet at different depths, heights and speeds, so that all
// matter.
TEST(Contacts, NumbersOfStepsReachTheText) {
  const Robot robot = load("go2", {.contacts = go2_feet(0.6, 0.4), .sweeps = 7, .relax = 3});
  Evaluator e(robot, {.threads = 1});
  const Model<double>& m = robot.model;
  Batch s{robot.q0, Numbers(m.nv), Numbers(12), Numbers(m.nv), Numbers(m.nv)};  // q, v, impulse, tau, target
  for (int k = 7; k < m.nq; k++) s[0][k] = (k - 7) % 3 == 1 ? 0.8 : (k - 7) % 3 == 2 ? -1.6 : 0;
  s[0][2] = 0.27, s[0][4] = 0.06, s[0][5] = 0.04, s[0][3] = std::sqrt(1 - 0.0036 - 0.0016);
  // feet are 44, 78, 13, 47 mm deep; they enter at 0.03, 0.31, -0.09, 0.18 m/s: two by erp and slop, of which the last
  // is at max_push and rebounds where `rebound` is less than 0.073
  for (int k = 0; k < m.nv; k++) s[3][k] = 0.02 * (k % 3), s[4][k] = 0.1 * k;
  s[1][0] = 0.1, s[1][2] = -0.15, s[1][3] = 1, s[1][4] = 0.3;
  for (int k = 0; k < 12; k++) s[2][k] = 0.01 * k;
  const double dt = 0.003, stops[] = {7, 0.5, 0.02};
  const ContactParameters<double> c{0.008, 2e-3, 0.115, 0.08, 0.02};
  const SoftSurface<double> soft{9000, 60, 7000, 40, 0.5};
  Numbers gains(2 * m.nv);
  for (std::size_t k = 0; k < gains.size(); k++) gains[k] = 1 + 0.1 * k;
  Numbers steps{dt};
  steps.insert(steps.end(), gains.begin(), gains.end());
  steps.insert(steps.end(), stops, stops + 3);
  const Drive drive{s[3].data(), s[4].data(), gains.data(), gains.data() + m.nv};
  const StepParameters<double> p{dt, stops[0], stops[1], stops[2]};
  const Zeros<double> none;
  for (bool is_soft : {false, true}) {
    Numbers uniforms = steps;
    for (double x : {c.erp, c.slop, c.max_push, c.rebound, c.compliance})
      if (!is_soft) uniforms.push_back(x);
    for (double x : {soft.K_n, soft.D_n, soft.K_t, soft.D_t, soft.rolling})
      if (is_soft) uniforms.insert(uniforms.end(), 4, x);
    if (is_soft)
      for (double& x : s[2]) x *= 0.02;
    const Batch found = run_one(e, is_soft ? "soft_contact_step" : "contact_step", s, uniforms);
    Numbers q(m.nq), v(m.nv), carried = s[2], force(12);
    const std::vector<SoftSurface<double>> surfaces(4, soft);
    if (is_soft)
      soft_contact_step(m, m.contacts, surfaces.data(), s[0].data(), s[1].data(), drive, none, p, carried.data(),
                        force.data(), q.data(), v.data());
    else
      contact_step(m, m.contacts, s[0].data(), s[1].data(), drive, none, p, c, 7, 3, carried.data(), q.data(),
                   v.data());
    for (int k = 0; k < m.nq; k++) EXPECT_NEAR(found[0][k], q[k], 1e-10);
    for (int k = 0; k < m.nv; k++) EXPECT_NEAR(found[1][k], v[k], 1e-8);
    for (int k = 0; k < 12; k++) EXPECT_NEAR(found[2][k], carried[k], 1e-9);
    // each of the contacts' numbers changes what comes out
    for (std::size_t n = steps.size(); n < uniforms.size(); n++) {
      Numbers other = uniforms;
      other[n] *= 0.5;
      const Batch changed = run_one(e, is_soft ? "soft_contact_step" : "contact_step", s, other);
      double most = 0;
      for (int k = 0; k < m.nv; k++) most = std::max(most, std::abs(changed[1][k] - v[k]));
      for (int k = 0; k < 12; k++) most = std::max(most, std::abs(changed[2][k] - carried[k]));
      for (int k = 0; k < m.nq; k++) most = std::max(most, std::abs(changed[0][k] - q[k]));
      EXPECT_GT(most, 1e-9) << is_soft << ", number " << n - steps.size();
    }
  }
}

}  // namespace
}  // namespace featherstorm::test_contact_ops
