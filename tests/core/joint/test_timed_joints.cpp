// Time-dependent joints, RBDA (3.31)-(3.33), (3.40)-(3.43): against the same mechanism with the motion in time made by
// prescribed joints (RBDA chapter 9), and against finite differences of the transform.
#include <gtest/gtest.h>

#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/forward_dynamics.h"
#include "core/dynamics/rnea.h"
#include "core/joint/timed.h"
#include "core/kinematics/energy.h"
#include "core/kinematics/kinematics.h"
#include "core/kinematics/momentum.h"
#include "core/program/count.h"
#include "core/program/order.h"
#include "core/reference/dynamics/hybrid_aba.h"
#include "core/scalar/pack.h"
#include "core/trace/evaluate.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/robots/timed_joint_texts.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_timed_joints {
namespace {

using namespace testing;

const UserJoint timed_crank = make_user_joint<TimedCrank>(), timed_crane = make_user_joint<TimedCrane>();

// A robot with a time-dependent joint, and its twin with prescribed joints instead.
struct Pair {
  Robot timed, twin;
  std::vector<int> to_twin;                          // coordinate of `timed` in the twin
  Numbers shift, shift_rate, shift_second;           // (nv) what is added to it
  std::vector<char> prescribed;                      // (twin.nb + 1)
  Numbers prescribed_q, prescribed_v, prescribed_a;  // (twin.nv)

  // numbers of the timed robot in the twin
  Numbers map(const Numbers& x, const Numbers& add, const Numbers& given) const {
    Numbers y(given);
    for (std::size_t k = 0; k < x.size(); k++) y[to_twin[k]] = x[k] + add[k];
    return y;
  }
};

Pair pair(bool crane, bool reversed, unsigned seed, double t) {
  Random random(seed);
  const double k = 0.7;
  std::vector<LinkSpec> links;
  for (const char* name : {"base", "end", "tip"}) links.push_back(random_link(random, name));
  JointSpec first{"first", JointType::Revolute, "", "base"}, last{"last", JointType::Helical, "end", "tip"};
  first.X = random_placement(random, 0), first.axis = random.rotation().col(0);
  last.X = random_placement(random, 0), last.axis = random.rotation().col(0), last.parameter = 0.2;
  JointSpec timed{"timed", JointType::UserDefined, "base", "end"};
  timed.X = random_placement(random, 0), timed.reversed = reversed, timed.parameter = k;
  timed.user = crane ? timed_crane : timed_crank;
  timed.armature.assign(timed.user.nv, 0.3);
  // the factors of its placement, from its predecessor on
  std::vector<JointSpec> chain;
  JointSpec free{"timed", crane ? JointType::UserDefined : JointType::Revolute, "", ""};
  free.user = user_crane, free.armature = timed.armature;
  JointSpec x{"x", JointType::Prismatic, "", ""}, y{"y", JointType::Prismatic, "", ""};
  x.axis = {1, 0, 0}, y.axis = {0, 1, 0};
  if (crane) chain = {x, y, free};
  else chain = {free, x};
  if (reversed) std::reverse(chain.begin(), chain.end());
  chain[0].X = timed.X;
  for (std::size_t i = 0; i < chain.size(); i++) {
    chain[i].reversed = reversed;
    chain[i].parent = i == 0 ? "base" : "m" + std::to_string(i);
    chain[i].child = i + 1 == chain.size() ? "end" : "m" + std::to_string(i + 1);
  }
  ModelBuilder a("timed"), b("twin");
  for (const LinkSpec& l : links) a.add_link(l), b.add_link(l);
  for (std::size_t i = 1; i < chain.size(); i++) b.add_link({"m" + std::to_string(i)});
  a.add_joint(first), a.add_joint(timed), a.add_joint(last);
  b.add_joint(first), b.add_joint(last);
  for (const JointSpec& j : chain) b.add_joint(j);
  Pair p{a.build(), b.build(), {}, {}, {}, {}, {}, {}, {}, {}};
  const Model<double>&m = p.timed.model, &n = p.twin.model;
  for (int d = 0; d < m.nv; d++) {
    const int i = m.dof_body[d];
    p.to_twin.push_back(n.body[p.twin.joint(p.timed.joint_names[i - 1])].v + d - m.body[i].v);
    const bool turned = !crane && i == p.timed.joint("timed");
    p.shift.push_back(turned ? k * t * t : 0), p.shift_rate.push_back(turned ? 2 * k * t : 0);
    p.shift_second.push_back(turned ? 2 * k : 0);
  }
  p.prescribed.assign(n.nb + 1, 0);
  p.prescribed_q = p.prescribed_v = p.prescribed_a = Numbers(n.nv, 0.0);
  auto prescribe = [&](const char* name, double q, double v, double acc) {
    const int i = p.twin.joint(name), d = n.body[i].v;
    p.prescribed[i] = 1, p.prescribed_q[d] = q, p.prescribed_v[d] = v, p.prescribed_a[d] = acc;
  };
  if (crane) {
    prescribe("x", k * t * t, 2 * k * t, 2 * k);
    prescribe("y", 0.3 * std::sin(2 * t), 0.6 * std::cos(2 * t), -1.2 * std::sin(2 * t));
  } else {
    prescribe("x", 0.5 + 0.2 * std::sin(3 * t), 0.6 * std::cos(3 * t), -1.8 * std::sin(3 * t));
  }
  return p;
}

// f(pair, state of the timed robot, t)
template <class F>
void for_pairs(F f) {
  for (bool crane : {false, true})
    for (bool reversed : {false, true})
      for (unsigned seed : {1u, 2u}) {
        SCOPED_TRACE(std::string(crane ? "crane" : "crank") + (reversed ? " reversed" : "") + " seed " +
                     std::to_string(seed));
        const double t = 0.4 * seed;
        const Pair p = pair(crane, reversed, seed, t);
        f(p, random_state(p.timed, seed), t);
      }
}
void expect_near(const Numbers& a, const Numbers& b, double bound) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); k++) EXPECT_NEAR(a[k], b[k], bound) << k;
}

TEST(TimedJoint, InverseDynamicsIsThatOfPrescribedJoints) {
  for_pairs([](const Pair& p, const State& s, double t) {
    const Model<double>&m = p.timed.model, &n = p.twin.model;
    const Numbers q = p.map(s.q, p.shift, p.prescribed_q), v = p.map(s.v, p.shift_rate, p.prescribed_v);
    const Numbers a = p.map(s.a, p.shift_second, p.prescribed_a);
    Numbers expected(n.nv), spatial(m.nv), classical(m.nv);
    rnea(n, q.data(), v.data(), a.data(), Zeros<double>{}, expected.data());
    const auto qt = at_time(s.q.data(), t);
    const auto vt = drifting(m, s.q.data(), s.v.data(), t);
    rnea(m, qt, vt, s.a.data(), Zeros<double>{}, spatial.data());
    newton_euler(m, qt, vt, s.a.data(), Zeros<double>{}, classical.data());
    for (int d = 0; d < m.nv; d++) {
      // the twin's rotor turns with theta, that of the timed joint with q
      const double rotor = m.armature[d] * p.shift_second[d];
      EXPECT_NEAR(spatial[d], expected[p.to_twin[d]] - rotor, 1e-11) << d;
      EXPECT_NEAR(classical[d], expected[p.to_twin[d]] - rotor, 1e-11) << d;
    }
  });
}

TEST(TimedJoint, ForwardDynamicsIsThatOfPrescribedJoints) {
  for_pairs([](const Pair& p, const State& s, double t) {
    const Model<double>&m = p.timed.model, &n = p.twin.model;
    const Numbers q = p.map(s.q, p.shift, p.prescribed_q), v = p.map(s.v, p.shift_rate, p.prescribed_v);
    Numbers rotor(m.nv);
    for (int d = 0; d < m.nv; d++) rotor[d] = m.armature[d] * p.shift_second[d];
    const Numbers tau = p.map(s.tau, rotor, Numbers(n.nv, 0.0));
    Numbers a(n.nv), f(n.nv), expected(m.nv), articulated(m.nv), composite(m.nv);
    hybrid_aba(n, p.prescribed, q.data(), v.data(), p.prescribed_a.data(), tau.data(), Zeros<double>{}, a.data(),
               f.data());
    for (int d = 0; d < m.nv; d++) expected[d] = a[p.to_twin[d]] - p.shift_second[d];
    const auto qt = at_time(s.q.data(), t);
    const auto vt = drifting(m, s.q.data(), s.v.data(), t);
    articulated_bodies(m, qt, vt, s.tau.data(), Zeros<double>{}, articulated.data());
    fd_crba(m, qt, vt, s.tau.data(), Zeros<double>{}, composite.data());
    const double bound = 1e-10 * (1 + Eigen::Map<const Eigen::VectorXd>(expected.data(), m.nv).norm());
    expect_near(articulated, expected, bound);
    expect_near(composite, expected, bound);
  });
}

TEST(TimedJoint, MotionEnergyAndMomentumAreThoseOfPrescribedJoints) {
  for_pairs([](const Pair& p, const State& s, double t) {
    const Model<double>&m = p.timed.model, &n = p.twin.model;
    const Numbers q = p.map(s.q, p.shift, p.prescribed_q), v = p.map(s.v, p.shift_rate, p.prescribed_v);
    const Numbers a = p.map(s.a, p.shift_second, p.prescribed_a);
    const auto qt = at_time(s.q.data(), t);
    const auto vt = drifting(m, s.q.data(), s.v.data(), t);
    Numbers pose(12 * m.nf), twin_pose(12 * n.nf), x(6), y(6);
    forward_kinematics(m, qt, pose.data()), forward_kinematics(n, q.data(), twin_pose.data());
    for (const char* name : {"base", "end", "tip"}) {
      const int f = p.timed.frame(name), g = p.twin.frame(name);
      for (int k = 0; k < 12; k++) EXPECT_NEAR(pose[12 * f + k], twin_pose[12 * g + k], 1e-13);
      frame_velocity(m, qt, vt, f, x.data()), frame_velocity(n, q.data(), v.data(), g, y.data());
      expect_near(x, y, 1e-12);
      frame_acceleration(m, qt, vt, s.a.data(), f, x.data());
      frame_acceleration(n, q.data(), v.data(), a.data(), g, y.data());
      expect_near(x, y, 1e-11);
    }
    Numbers e(2), twin_e(2), com(3), twin_com(3), comv(3), twin_comv(3), h(6), twin_h(6), L(3), twin_L(3);
    energy(m, qt, vt, e.data()), energy(n, q.data(), v.data(), twin_e.data());
    for (int d = 0; d < m.nv; d++) {  // rotors as above
      const double w = v[p.to_twin[d]];
      twin_e[0] += 0.5 * m.armature[d] * (s.v[d] * s.v[d] - w * w);
    }
    expect_near(e, twin_e, 1e-11);
    momentum(m, qt, vt, com.data(), comv.data(), h.data(), L.data());
    momentum(n, q.data(), v.data(), twin_com.data(), twin_comv.data(), twin_h.data(), twin_L.data());
    expect_near(com, twin_com, 1e-12), expect_near(comv, twin_comv, 1e-12), expect_near(h, twin_h, 1e-11);
  });
}

// Velocities that are absent: the mechanism as it stands at t, with H and gravity of the joints as they are.
TEST(TimedJoint, TimeStandsStillWithoutVelocities) {
  for_pairs([](const Pair& p, const State& s, double t) {
    const Model<double>&m = p.timed.model, &n = p.twin.model;
    const auto qt = at_time(s.q.data(), t);
    const Numbers q = p.map(s.q, p.shift, p.prescribed_q), a = p.map(s.a, Numbers(m.nv, 0.0), Numbers(n.nv, 0.0));
    Numbers tau(m.nv), expected(n.nv), H(m.nh);
    rnea(m, qt, Zeros<double>{}, s.a.data(), Zeros<double>{}, tau.data());
    rnea(n, q.data(), Zeros<double>{}, a.data(), Zeros<double>{}, expected.data());
    for (int d = 0; d < m.nv; d++) EXPECT_NEAR(tau[d], expected[p.to_twin[d]], 1e-11);
  });
}

TEST(TimedJoint, TracesWithTimeAsAnInputAndRunsInPacks) {
  for_pairs([](const Pair& p, const State& s, double t) {
    const Model<double>& m = p.timed.model;
    Numbers expected(m.nv);
    rnea(m, at_time(s.q.data(), t), drifting(m, s.q.data(), s.v.data(), t), s.a.data(), Zeros<double>{},
         expected.data());
    Program program;
    const std::vector<Expr> q = program.input("q", m.nq), v = program.input("v", m.nv), a = program.input("a", m.nv),
                            time = program.input("t", 1);
    std::vector<Expr> tau(m.nv);
    {
      Tracing scope(program.graph);
      rnea(m, at_time(q.data(), time[0]), drifting(m, q.data(), v.data(), time[0]), a.data(), Zeros<Expr>{},
           tau.data());
      program.output("tau", tau);
    }
    expect_near(evaluate<double>(program, {s.q, s.v, s.a, {t}})[0], expected, 1e-11);
    using P = Pack<float, 4>;  // another time in every lane
    const Model<float> f = cast<float>(m);
    std::vector<P> pq(m.nq), pv(m.nv), pa(m.nv), ptau(m.nv);
    P pt;
    for (int l = 0; l < 4; l++) {
      set_lane(pt, l, t + 0.1 * l);
      for (int k = 0; k < m.nq; k++) set_lane(pq[k], l, s.q[k]);
      for (int k = 0; k < m.nv; k++) set_lane(pv[k], l, s.v[k]), set_lane(pa[k], l, s.a[k]);
    }
    rnea(f, at_time(pq.data(), pt), drifting(f, pq.data(), pv.data(), pt), pa.data(), Zeros<P>{}, ptau.data());
    for (int l = 0; l < 4; l++) {
      const double tl = t + 0.1 * l;
      Numbers lane_tau(m.nv);
      rnea(m, at_time(s.q.data(), tl), drifting(m, s.q.data(), s.v.data(), tl), s.a.data(), Zeros<double>{},
           lane_tau.data());
      for (int d = 0; d < m.nv; d++) EXPECT_NEAR(lane(ptau[d], l), lane_tau[d], 2e-4) << "lane " << l;
    }
  });
}

// Counts of the traced program: arrays with time cost nothing where no joint depends on it.
TEST(TimedJoint, CostsNothingInModelsWithoutSuchJoints) {
  const Robot robot = random_robot(7);
  const Model<double>& m = robot.model;
  const auto counts = [&](bool timed) {
    Program program;
    const std::vector<Expr> q = program.input("q", m.nq), v = program.input("v", m.nv), a = program.input("a", m.nv),
                            time = program.input("t", 1);
    std::vector<Expr> tau(m.nv);
    Tracing scope(program.graph);
    if (timed)
      rnea(m, at_time(q.data(), time[0]), drifting(m, q.data(), v.data(), time[0]), a.data(), Zeros<Expr>{},
           tau.data());
    else rnea(m, q.data(), v.data(), a.data(), Zeros<Expr>{}, tau.data());
    program.output("tau", tau);
    const Counts c = count(program, trace_order(program));
    return std::vector<int>{c.mul, c.add, c.fused, c.rcp, c.sqrt, c.sincos, c.other};
  };
  EXPECT_EQ(counts(true), counts(false));
  EXPECT_GT(counts(false)[0], 100);
}

TEST(TimedJoint, RefusesArraysWithoutTime) {
  const Pair p = pair(false, false, 1, 0.4);
  const Model<double>& m = p.timed.model;
  const State s = random_state(p.timed, 1);
  Numbers tau(m.nv);
  EXPECT_NE(message([&] {
              rnea(m, s.q.data(), s.v.data(), s.a.data(), Zeros<double>{}, tau.data());
            }).find("expected positions as at_time"),
            std::string::npos);
  EXPECT_NE(message([&] {
              rnea(m, at_time(s.q.data(), 0.1), s.v.data(), s.a.data(), Zeros<double>{}, tau.data());
            }).find("expected velocities as drifting"),
            std::string::npos);
}

}  // namespace
}  // namespace featherstorm::test_timed_joints
