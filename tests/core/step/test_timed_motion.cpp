// Robots with time-dependent joints in motion: derivatives by state and time against differences, integrators against
// closed forms.
#include <gtest/gtest.h>

#include "core/derivatives/timed_derivatives.h"
#include "core/dynamics/articulated_bodies.h"
#include "core/step/dormand_prince.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/robots/timed_joint_texts.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_timed_motion {
namespace {

using namespace testing;

const UserJoint timed_crank = make_user_joint<TimedCrank>(), timed_crane = make_user_joint<TimedCrane>(),
                timed_slide = make_user_joint<TimedSlide>();
const Zeros<double> none;

// a free base, a time-dependent joint in either polarity, a ball and a helical joint behind it
Robot timed_robot(const UserJoint& joint, bool reversed, unsigned seed) {
  Random random(seed);
  ModelBuilder b("timed");
  for (const char* name : {"base", "end", "tip", "last"}) b.add_link(random_link(random, name));
  b.float_root("base");
  JointSpec timed{"timed", JointType::UserDefined, "base", "end"}, ball{"ball", JointType::Ball, "end", "tip"};
  JointSpec screw{"screw", JointType::Helical, "tip", "last"};
  timed.user = joint, timed.parameter = 0.7, timed.reversed = reversed, timed.armature.assign(joint.nv, 0.3);
  screw.parameter = 0.2, screw.axis = random.rotation().col(0);
  for (JointSpec* j : {&timed, &ball, &screw}) j->X = random_placement(random, 0), b.add_joint(*j);
  return b.build();
}
Eigen::MatrixXd by_rows(const Numbers& a, int n) {
  return Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(a.data(), n, n);
}
template <class F>
void for_robots(F f) {
  for (const UserJoint* joint : {&timed_crank, &timed_crane, &timed_slide})
    for (bool reversed : {false, true})
      for (unsigned seed : {1u, 2u}) {
        SCOPED_TRACE(std::to_string(joint->nv) + (reversed ? " reversed" : "") + " seed " + std::to_string(seed));
        const Robot r = timed_robot(*joint, reversed, seed);
        f(r, random_state(r, seed), 0.3 * seed);
      }
}
Numbers unit(int n, int k) {
  Numbers e(n, 0.0);
  e[k] = 1;
  return e;
}
void expect_near(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  EXPECT_LT((a - b).norm(), 1e-7 * (1 + b.norm()));
}

TEST(TimedDerivatives, OfInverseDynamicsAreThoseOfDifferences) {
  for_robots([](const Robot& r, const State& s, double t0) {
    const Model<double>& m = r.model;
    const int n = m.nv;
    const auto torque = [&](const Numbers& q, const Numbers& v, double t) {
      Numbers tau(n);
      newton_euler(m, at_time(q.data(), t), drifting(m, q.data(), v.data(), t), s.a.data(), s.f_ext.data(), tau.data());
      return vector(tau);
    };
    Numbers by_q(n * n, NAN), by_v(n * n, NAN), by_t(n, NAN);
    rnea_timed_derivatives(m, s.q.data(), s.v.data(), s.a.data(), t0, s.f_ext.data(), by_q.data(), by_v.data(),
                           by_t.data());
    for (int k = 0; k < n; k++) {
      const Numbers e = unit(n, k);
      expect_near(by_rows(by_q, n).col(k), derivative([&](double h) { return torque(moved(m, s.q, e, h), s.v, t0); }));
      expect_near(by_rows(by_v, n).col(k), derivative([&](double h) { return torque(s.q, sum(s.v, e, h), t0); }));
    }
    expect_near(vector(by_t), derivative([&](double h) { return torque(s.q, s.v, t0 + h); }));
    EXPECT_GT(vector(by_t).norm(), 0.01);
  });
}

TEST(TimedDerivatives, OfForwardDynamicsAreThoseOfDifferences) {
  for_robots([](const Robot& r, const State& s, double t0) {
    const Model<double>& m = r.model;
    const int n = m.nv;
    const auto motion = [&](const Numbers& q, const Numbers& v, const Numbers& tau, double t) {
      Numbers a(n);
      articulated_bodies(m, at_time(q.data(), t), drifting(m, q.data(), v.data(), t), tau.data(), s.f_ext.data(),
                         a.data());
      return vector(a);
    };
    Numbers a(n), by_q(n * n, NAN), by_v(n * n, NAN), by_tau(n * n, NAN), by_t(n, NAN);
    fd_timed_derivatives(m, s.q.data(), s.v.data(), s.tau.data(), t0, s.f_ext.data(), a.data(), by_q.data(),
                         by_v.data(), by_tau.data(), by_t.data());
    expect_near(vector(a), motion(s.q, s.v, s.tau, t0));
    for (int k = 0; k < n; k++) {
      const Numbers e = unit(n, k);
      expect_near(by_rows(by_q, n).col(k),
                  derivative([&](double h) { return motion(moved(m, s.q, e, h), s.v, s.tau, t0); }));
      expect_near(by_rows(by_v, n).col(k),
                  derivative([&](double h) { return motion(s.q, sum(s.v, e, h), s.tau, t0); }));
      expect_near(by_rows(by_tau, n).col(k),
                  derivative([&](double h) { return motion(s.q, s.v, sum(s.tau, e, h), t0); }));
    }
    expect_near(vector(by_t), derivative([&](double h) { return motion(s.q, s.v, s.tau, t0 + h); }));
  });
}

TEST(TimedDerivatives, AreThoseOfTheRecursionWhereNothingDependsOnTime) {
  RandomOptions o;
  o.bodies = 5;
  for (unsigned seed = 1; seed <= 4; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot r = random_robot(seed, o);
    const Model<double>& m = r.model;
    const State s = random_state(r, seed);
    const int n = m.nv;
    Numbers q1(n * n), v1(n * n), q2(n * n), v2(n * n), t(n, NAN);
    rnea_timed_derivatives(m, s.q.data(), s.v.data(), s.a.data(), 0.2, s.f_ext.data(), q1.data(), v1.data(), t.data());
    rnea_derivatives(m, s.q.data(), s.v.data(), s.a.data(), s.f_ext.data(), q2.data(), v2.data());
    EXPECT_LT((vector(q1) - vector(q2)).norm(), 1e-11 * (1 + vector(q2).norm()));
    EXPECT_LT((vector(v1) - vector(v2)).norm(), 1e-11 * (1 + vector(v2).norm()));
    EXPECT_EQ(vector(t).norm(), 0);
  }
}
TEST(TimedDerivatives, AreLeftToThisTextByTheRecursion) {
  const Robot r = timed_robot(timed_crank, false, 1);
  const State s = random_state(r, 1);
  Numbers a(r.model.nv * r.model.nv), b(a);
  EXPECT_THROW(rnea_derivatives(r.model, s.q.data(), s.v.data(), s.a.data(), none, a.data(), b.data()),
               std::invalid_argument);
}

// A slide without friction on the shaken table keeps its velocity in the world: q + A sin 5t = x0 + w t.
Robot slide() {
  ModelBuilder b("slide");
  b.add_link({"block", 3, {0.1, 0, 0.2}, Mat3d::Identity() * 0.1});
  JointSpec j{"timed", JointType::UserDefined, "", "block"};
  j.user = timed_slide, j.parameter = 0.4;
  b.add_joint(j);
  return b.build();
}
const double A = 0.4, start = 0.3, duration = 1.5;
double place(double t, double x0, double w) { return x0 + w * (t - start) - A * std::sin(5 * t); }
double speed(double t, double w) { return w - 5 * A * std::cos(5 * t); }

TEST(TimedMotion, RungeKuttaIsOfFourthOrder) {
  const Model<double> m = slide().model;
  const auto error = [&](int steps) {
    const double dt = duration / steps;
    double q = place(start, 1, 0.5), v = speed(start, 0.5);
    for (int k = 0; k < steps; k++)
      rk4_step_timed(m, &q, &v, start + k * dt, Drive{none, none, none, none}, none,
                     StepParameters<double>{dt, 0, 0, 1}, &q, &v);
    return std::hypot(q - place(start + duration, 1, 0.5), v - speed(start + duration, 0.5));
  };
  EXPECT_LT(error(100), 1e-6);
  EXPECT_NEAR(std::log2(error(50) / error(100)), 4, 0.2);
}
TEST(TimedMotion, VariableStepsStayWithinTolerance) {
  const Model<double> m = slide().model;
  for (double tolerance : {1e-5, 1e-8}) {
    double q = place(start, 1, 0.5), v = speed(start, 0.5), t = start;
    StepControl<double> c{duration, 0, 1};
    for (int k = 0; k < 1000 && c.remaining > 0; k++)
      dormand_prince_timed(m, &q, &v, t, Drive{none, none, none, none}, none, StepParameters<double>{0, 0, 0, 1},
                           ErrorTolerance<double>{tolerance, tolerance}, c, &q, &v);
    EXPECT_EQ(c.remaining, 0);
    EXPECT_NEAR(t, start + duration, 1e-12);
    EXPECT_NEAR(q, place(t, 1, 0.5), 50 * tolerance);
    EXPECT_NEAR(v, speed(t, 0.5), 50 * tolerance);
  }
}
TEST(TimedMotion, RefusesStepsWithoutTime) {
  const Model<double> m = slide().model;
  double q = 0, v = 0;
  EXPECT_THROW(rk4_step(m, &q, &v, Drive{none, none, none, none}, none, StepParameters<double>{0.1, 0, 0, 1}, &q, &v),
               std::invalid_argument);
}

}  // namespace
}  // namespace featherstorm::test_timed_motion
