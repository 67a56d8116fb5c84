// The rows of host/table/ops/higher_derivatives.h, maximal.h and variable_step.h against other operations: differences of them,
// their products, or identities, as in test_book_ops.cpp.
#include "core/dynamics/newton_euler.h"
#include "core/joint/timed.h"
#include "tests/host/table/row_test.h"
#include "tests/support/robots/timed_joint_texts.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_further_ops {
namespace {

using namespace testing;

class FurtherOps : public RowTest {
 protected:
  const Numbers none = Numbers(n, 0.0), no_force = Numbers(6 * m.nb, 0.0);
  Numbers jerk = numbers(n), snap = numbers(n);
  // velocity and acceleration at time t of a motion whose derivatives at 0 are v, a, jerk, snap
  Numbers v_at(double t) const {
    Numbers x(v);
    for (int k = 0; k < n; k++) x[k] += t * (a[k] + t * (jerk[k] / 2 + t * snap[k] / 6));
    return x;
  }
  Numbers a_at(double t) const {
    Numbers x(a);
    for (int k = 0; k < n; k++) x[k] += t * (jerk[k] + t * snap[k] / 2);
    return x;
  }
  // with the mean velocity, up to terms in t^3 that differences do not see
  Numbers q_at(double t) { return moved(q, sum(v, a, t / 2), t); }
  static Numbers part(const Numbers& x, int first, int count) {
    return Numbers(x.begin() + first, x.begin() + first + count);
  }
  // x . y
  static double product(const Numbers& x, const Numbers& y) {
    double s = 0;
    for (std::size_t k = 0; k < x.size(); k++) s += x[k] * y[k];
    return s;
  }
};

TEST_F(FurtherOps, SecondDerivativesOfForwardDynamicsAreThoseOfDifferences) {
  const Batch second = run("fd_second_derivatives", {q, v, tau, f, u, du, da});
  for (int k = 0; k < 3; k++)
    expect_equal(second[k], derivative([&](double t) {
                   return run("fd_derivatives", {moved(q, u, t), sum(v, du, t), sum(tau, da, t), f})[k + 1];
                 }),
                 1e-6);
}

// M da/dpi = -Y(q, v, a)
TEST_F(FurtherOps, ParameterDerivativesAreTheRegressorsSolution) {
  const Batch d = run("fd_parameter_derivatives", {q, v, tau, f});
  expect_equal(d[0], aba(q, v, tau));
  const Numbers Y = run("regressor", {q, v, d[0]})[0];
  for (int h : {0, 1, 5, 17, 10 * m.nb - 1}) {
    const Numbers c = run("id_delta", {q, column(d[1], 10 * m.nb, h)})[0];
    expect_equal(sum(c, column(Y, 10 * m.nb, h)), Numbers(n, 0.0), 1e-8);
  }
}

TEST_F(FurtherOps, HybridDerivativesAreThoseOfDifferences) {
  Numbers given(n);
  for (int k = 0; k < n; k++) given[k] = k % 3 == 0;
  const Batch d = run("hybrid_derivatives", {q, v, a, tau, f}, given);
  const auto y = [&](const Numbers& q, const Numbers& v, const Numbers& a, const Numbers& tau) {
    const Batch r = run("hybrid_dynamics", {q, v, a, tau, f}, given);
    Numbers x(n);
    for (int k = 0; k < n; k++) x[k] = given[k] ? r[1][k] : r[0][k];
    return x;
  };
  const Batch motion = run("hybrid_dynamics", {q, v, a, tau, f}, given);
  expect_equal(d[0], motion[0]), expect_equal(d[1], motion[1]);
  for (int k : {0, 1, 5, 8, n - 1}) {
    const Numbers e = unit(k);
    expect_equal(column(d[2], n, k), derivative([&](double t) { return y(moved(q, e, t), v, a, tau); }), 1e-7);
    expect_equal(column(d[3], n, k), derivative([&](double t) { return y(q, sum(v, e, t), a, tau); }), 1e-7);
    expect_equal(column(d[4], n, k), derivative([&](double t) { return y(q, v, sum(a, e, t), sum(tau, e, t)); }), 1e-7);
  }
}

TEST_F(FurtherOps, RatesAreThoseOfDifferences) {
  const Batch inverse = run("inverse_inertia_rate", {q, u});
  expect_equal(inverse[0], run("fd_derivatives", {q, v, tau, f})[3], 1e-8);
  expect_equal(inverse[1], derivative([&](double t) { return run("inverse_inertia_rate", {moved(q, u, t), u})[0]; }),
               1e-7);
  const std::pair<const char*, const char*> forms[] = {
      {"coriolis_matrix_body_fixed", "coriolis_matrix_rate_body_fixed"},
      {"coriolis_matrix_mass_centre", "coriolis_matrix_rate_mass_centre"}};
  for (const auto& [C, rate] : forms)
    expect_equal(run(rate, {q, v, u, du})[0],
                 derivative([&, op = C](double t) { return run(op, {moved(q, u, t), sum(v, du, t)})[0]; }), 1e-7);
  // along the motion, each second rate is the rate of the first
  expect_equal(run("crba_second_rate", {q, v, a})[0],
               derivative([&](double t) { return run("crba_rate", {q_at(t), v_at(t)})[0]; }), 1e-6);
  expect_equal(run("gravity_torques_second_rate", {q, v, a})[0],
               derivative([&](double t) { return run("gravity_torques_rate", {q_at(t), v_at(t)})[0]; }), 1e-6);
  expect_equal(run("coriolis_matrix_second_rate", {q, v, a, jerk})[0], derivative([&](double t) {
                 const Numbers w = v_at(t);
                 return run("coriolis_matrix_rate", {q_at(t), w, w, a_at(t)})[0];
               }),
               1e-6);
  const Batch first = run("rnea_rate", {q, v, a, jerk}), second = run("rnea_second_rate", {q, v, a, jerk, snap});
  expect_equal(first[0], run("rnea", {q, v, a})[0]);
  expect_equal(first[1], derivative([&](double t) { return run("rnea", {q_at(t), v_at(t), a_at(t)})[0]; }), 1e-6);
  expect_equal(second[0], first[0]), expect_equal(second[1], first[1]);
  expect_equal(
      second[2],
      derivative([&](double t) { return run("rnea_rate", {q_at(t), v_at(t), a_at(t), sum(jerk, snap, t)})[1]; }), 1e-6);
  Numbers K(n), B(n), uniforms;
  for (int k = 0; k < n; k++) K[k] = 300 + 10 * k, B[k] = 0.2 + 0.01 * k;
  uniforms.insert(uniforms.end(), K.begin(), K.end()), uniforms.insert(uniforms.end(), B.begin(), B.end());
  const Batch motor = run("elastic_feedforward", {q, v, a, jerk, snap}, uniforms);
  for (int k = 0; k < n; k++) {
    EXPECT_NEAR(motor[0][k], second[0][k] / K[k], 1e-9);
    EXPECT_NEAR(motor[1][k], v[k] + second[1][k] / K[k], 1e-9);
    EXPECT_NEAR(motor[2][k], B[k] * (a[k] + second[2][k] / K[k]) + second[0][k], 1e-9);
  }
}

TEST_F(FurtherOps, InverseDynamicsInOtherForms) {
  expect_equal(run("id_mass_centres", {q, v, a, f})[0], rnea(q, v, a));
  // a base at rest is the world
  const Numbers g{m.gravity.x(), m.gravity.y(), m.gravity.z()}, rest(6, 0.0);
  expect_equal(run("rnea_moving_base", {q, v, a, rest, rest, g})[0], run("rnea", {q, v, a})[0]);
  // one that accelerates against gravity with its magnitude bears twice the weight of the robot at rest
  const Batch lifted = run("rnea_moving_base", {q, none, none, rest, {0, 0, 0, -g[0], -g[1], -g[2]}, g});
  double mass = 0;
  for (int i = 1; i <= m.nb; i++) mass += m.body[i].I.m;
  for (int c = 0; c < 3; c++) EXPECT_NEAR(lifted[1][3 + c], -2 * g[c] * mass, 1e-8);
  const Numbers held = run("gravity", {q})[0];
  expect_equal(lifted[0], sum(held, held));
}

TEST_F(FurtherOps, VelocitiesAndForcesOfBodies) {
  const Numbers V = run("maximal_velocity", {q, v})[0], F = f, tau_F = run("generalised_force", {q, F})[0];
  // linear rows times the masses are the linear momentum
  Numbers p(3, 0.0);
  for (int i = 1; i <= m.nb; i++)
    for (int c = 0; c < 3; c++) p[c] += m.body[i].I.m * V[6 * (i - 1) + 3 + c];
  const Batch h = run("momentum", {q, v});
  expect_equal(p, part(h[2], 3, 3));
  EXPECT_NEAR(product(F, V), product(tau_F, v), 1e-9);
  for (const char* op : {"generalised_velocity", "generalised_velocity_inertia", "joint_velocities"}) {
    SCOPED_TRACE(op);
    const Batch back = run(op, {q, V});
    expect_equal(back[0], v, 1e-8);
    expect_equal(back[1], no_force, 1e-8);
  }
  for (const char* op : {"maximal_force", "maximal_force_inertia"})
    expect_equal(run("generalised_force", {q, run(op, {q, tau})[0]})[0], tau, 1e-8);
  // the shortest is no longer than F
  const Numbers least = run("maximal_force", {q, tau_F})[0];
  EXPECT_LT(product(least, least), product(F, F));
  // the momentum of V, rotors apart, is what the inertia's metric keeps: its residual does no work with any motion
  const Batch fit = run("generalised_velocity", {q, F});
  expect_equal(run("generalised_force", {q, fit[1]})[0], none, 1e-8);
  // wrenches of joints
  const Numbers W = run("joint_wrenches_of", {q, tau})[0];
  const Batch forces = run("forces_of_joints", {q, W});
  expect_equal(forces[1], tau, 1e-8);
  expect_equal(run("generalised_force", {q, forces[0]})[0], tau, 1e-8);
  // forces at points do the work of their points: F . V with the points' velocities
  Numbers points = numbers(3 * m.nb);
  const Numbers moved_force = run("force_at_mass_centres", {q, points, f})[0];
  for (int i = 0; i < m.nb; i++)
    for (int c = 3; c < 6; c++) EXPECT_NEAR(moved_force[6 * i + c], f[6 * i + c], 1e-12);
  // again at the same point with the opposite sign there is nothing left
  Numbers opposite(f);
  for (double& x : opposite) x = -x;
  expect_equal(sum(moved_force, run("force_at_mass_centres", {q, points, opposite})[0]), no_force);
}

TEST_F(FurtherOps, OperationalInertiaOfSeveralFrames) {
  const Numbers column_f = run("operational_inertia_column", {q})[0], Minv = run("fd_derivatives", {q, v, tau, f})[3];
  ASSERT_EQ(column_f.size(), std::size_t(36 * m.nf));
  const int by = frame;
  const Numbers J = run("jacobian", {q})[0];
  for (int at : {0, m.nf / 2, by}) {
    frame = at;
    const Numbers K = run("jacobian", {q})[0];
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) {
        const Numbers x = times(Minv, part(J, j * n, n));
        EXPECT_NEAR(column_f[36 * at + 6 * i + j], product(part(K, i * n, n), x), 1e-6) << at;
      }
  }
}

TEST_F(FurtherOps, VariableStepsReachTheEndWithinTolerance) {
  const double T = 0.02;
  Numbers uniforms{1e-9, 1e-9};
  uniforms.insert(uniforms.end(), 2 * n, 0.0);
  for (double s : {0.0, 0.0, 0.1}) uniforms.push_back(s);
  const Batch end = run("dormand_prince", {q, v, {T}, {0}, {1}, tau, none}, uniforms, 200);
  EXPECT_EQ(end[2][0], 0);
  EXPECT_GT(end[3][0], 0);
  Numbers fine{T / 400};
  fine.insert(fine.end(), uniforms.begin() + 2, uniforms.end());
  const Batch steps = run("rk4_step", {q, v, tau, none}, fine, 400);
  expect_equal(end[0], steps[0], 1e-8), expect_equal(end[1], steps[1], 1e-7);
  // one attempt over the whole time is refused where no error is allowed
  uniforms[0] = uniforms[1] = 1e-14;
  const Batch refused = run("dormand_prince", {q, v, {T}, {0}, {1}, tau, none}, uniforms);
  EXPECT_EQ(refused[0], q);
  EXPECT_EQ(refused[2][0], T);
  EXPECT_LT(refused[3][0], T);
}

// go2 has no joint that depends on time: there its rows are those without time
TEST_F(FurtherOps, TimeChangesNothingWhereNothingDependsOnIt) {
  const Numbers t{0.7};
  expect_equal(run("rnea_timed", {q, v, a, f, t})[0], rnea(q, v, a));
  expect_equal(run("fd_timed", {q, v, tau, f, t})[0], aba(q, v, tau));
  expect_equal(run("forward_kinematics_timed", {q, t})[0], run("forward_kinematics", {q})[0]);
  const Batch id = run("rnea_timed_derivatives", {q, v, a, f, t}), fd = run("fd_timed_derivatives", {q, v, tau, f, t});
  const Batch rnea_d = run("rnea_derivatives", {q, v, a, f}), fd_d = run("fd_derivatives", {q, v, tau, f});
  for (int k = 0; k < 2; k++) expect_equal(id[k], rnea_d[k], 1e-9);
  for (int k = 0; k < 4; k++) expect_equal(fd[k], fd_d[k], 1e-7);
  expect_equal(id[2], none), expect_equal(fd[4], none);
  Numbers uniforms{0.01};
  uniforms.insert(uniforms.end(), 2 * n, 0.0);
  for (double s : {0.0, 0.0, 0.1}) uniforms.push_back(s);
  const Batch timed = run("rk4_step_timed", {q, v, t, tau, none}, uniforms, 3);
  const Batch plain = run("rk4_step", {q, v, tau, none}, uniforms, 3);
  expect_equal(timed[0], plain[0]), expect_equal(timed[1], plain[1], 1e-8);
  EXPECT_NEAR(timed[2][0], 0.73, 1e-12);
}

// A block that slides freely on the shaken table of timed_joint_texts.h, by both kinds of kernels, and what is refused.
TEST(TimedOps, OfARobotWithAJointThatDependsOnTime) {
  ModelBuilder b("slide");
  b.add_link({"block", 3, {0.1, 0, 0.2}, Mat3d::Identity() * 0.1});
  JointSpec j{"timed", JointType::UserDefined, "", "block"};
  const double A = 0.4;
  j.user = make_user_joint<TimedSlide>(), j.parameter = A;
  b.add_joint(j);
  for (bool assemble : {false, true}) {
    Evaluator e(b.build(), {.threads = 1, .assemble = assemble});
    const Batch q{{0.1}, {1.1}, {2.1}}, v{{-0.5}, {0.5}, {1.5}}, a{{0.3}, {1.3}, {2.3}}, t{{0.2}, {1.2}, {2.2}},
        f(3, Numbers(6));
    const Batch tau = run_batch(e, "rnea_timed", {q, v, a, f, t})[0],
                by_t = run_batch(e, "rnea_timed_derivatives", {q, v, a, f, t})[2];
    for (int i = 0; i < 3; i++) {
      EXPECT_NEAR(tau[i][0], 3 * (a[i][0] - 25 * A * std::sin(5 * t[i][0])), 1e-12);
      EXPECT_NEAR(by_t[i][0], -3 * 125 * A * std::cos(5 * t[i][0]), 1e-11);
    }
    EXPECT_NE(message([&] {
                run_batch(e, "rnea", {q, v, a});
              }).find("joints that depend on time, expected an operation with an input t"),
              std::string::npos);
    EXPECT_NEAR(run_batch(e, "integrate", {q, v}, {0.5})[0][1][0], 1.1 + 0.5 * 0.5, 1e-12);
  }
}

}  // namespace
}  // namespace featherstorm::test_further_ops
