// The batched contact texts with packs, traced, as the body of a real loop and in the form of device code.
#include <gtest/gtest.h>

#include "core/contact/contact_step.h"
#include "core/contact/soft_surface.h"
#include "core/scalar/pack.h"
#include "core/trace/evaluate.h"
#include "cuda/kernels/device_model.h"
#include "tests/support/robots/contact_robots.h"
#include "tests/support/tools/tolerance.h"

namespace featherstorm::test_contact_batched {
namespace {

using namespace testing;

struct Case {
  Robot robot;
  std::vector<ContactSpec> specs;
  Contacts<double> contacts;
  State s;
};
// A tree with a floating root and contacts of its bodies with the ground and with each other.
Case random_case(unsigned seed, int count) {
  RandomOptions o;
  o.bodies = 5, o.floating = true;
  o.types.pop_back();  // device models have no user-defined joints
  Case c{random_robot(seed, o), {}, {}, {}};
  c.specs = random_contacts(c.robot, seed, count);
  c.contacts = contacts_of(c.robot, c.specs);
  c.s = random_state(c.robot, seed);
  return c;
}

// contact_step with 6 + 2 sweeps; out: lambda, q_next, v_next.
template <class M, class C, class In, class Out>
void step_of(const M& m, const C& contacts, const In& in, Out out) {
  using P = typename M::Number;
  using T = std::remove_cvref_t<decltype(out[0])>;
  const Zeros<T> none;
  const StepParameters<P> s{P(0.004), P(0), P(0), P(0.01)};
  const ContactParameters<P> c{P(0.3), P(1e-3), P(2), P(0.1), P(1e-3)};
  const int nr = contacts.nr;
  for (int k = 0; k < nr; k++) out[k] = in[4][k];
  contact_step(m, contacts, in[0], in[1], Drive{in[2], none, none, none}, in[3], s, c, 6, 2, out, out + nr,
               out + nr + m.nq);
}

// Instances in different states of contact share a pack: each must be what it is alone.
template <class T, class P>
void expect_lanes(double tolerance) {
  const Case c = random_case(2, 4);
  const Model<double>& m = c.robot.model;
  const int nr = c.contacts.nr, n = nr + m.nq + m.nv;
  Arrays<T> in;
  std::vector<Arrays<double>> alone(lanes<T>);
  for (int l = 0; l < lanes<T>; l++) {
    const State s = random_state(m, 40 + l);
    alone[l] = {s.q, s.v, s.tau, s.f_ext, Numbers(nr, 0.0)};
    in.resize(5);
    for (int a = 0; a < 5; a++) {
      in[a].resize(alone[l][a].size());
      for (std::size_t k = 0; k < in[a].size(); k++) set_lane(in[a][k], l, alone[l][a][k]);
    }
  }
  std::vector<const T*> pointers;
  for (const auto& a : in) pointers.push_back(a.data());
  std::vector<T> out(n);
  const Contacts<P> contacts = cast<P>(c.contacts);
  step_of(cast<P>(m), contacts, pointers, out.data());
  int states = 0;
  for (int l = 0; l < lanes<T>; l++) {
    std::vector<const double*> p;
    for (const auto& a : alone[l]) p.push_back(a.data());
    Numbers expected(n);
    step_of(m, c.contacts, p, expected.data());
    const double scale = scale_of(expected);
    for (int k = 0; k < n; k++) EXPECT_NEAR(lane(out[k], l), expected[k], tolerance * scale) << l << ", " << k;
    for (int k = 0; k < 4; k++) states |= expected[3 * k] > 0 ? 1 : 2;
  }
  EXPECT_EQ(states, 3);  // contacts with and without a force
}
TEST(ContactStepText, RunsInPacks) {
  expect_lanes<Pack<double, 2>, double>(1e-11);
  expect_lanes<Pack<float, 4>, float>(1e-3);
}

// The sweep as the body of a loop: a program with lambda carried.
TEST(ContactSweepText, IsTheBodyOfARealLoop) {
  const Robot robot = quadruped();
  const Contacts<double> contacts = contacts_of(robot, feet());
  const Model<double>& m = robot.model;
  Numbers q = standing(robot), v(m.nv), zero(m.nv, 0.0), phi(4), margin(4), L(m.nh), lambda(12, 0.0), b(12), w(24);
  Random random(5);
  for (double& x : v) x = random.uniform(-1, 1);
  v[m.body[robot.joint("root")].v + 2] = -2;
  RowMatrix G(12, m.nv), A(12, 12);
  crba(m, q.data(), L.data());
  ltdl(m, L.data());
  contact_rows(m, contacts, q.data(), 3, phi.data(), margin.data(), G.data());
  Eigen::Map<Eigen::VectorXd>(b.data(), 12) = G * vector(v);
  contact_inertia(m, contacts, L.data(), 3, G.data(), A.data());
  const Numbers active(4, 1.0);
  contact_weights(contacts, A.data(), active.data(), w.data(), lambda.data());
  Program p;
  auto in_A = p.input("A", 144), in_b = p.input("b", 12), in_w = p.input("w", 24), in_lambda = p.input("lambda", 12);
  {
    Tracing scope(p.graph);
    contact_sweep(contacts, in_A, in_b, in_w, in_lambda.data());
    p.output("lambda_next", in_lambda);
  }
  p.carry("lambda_next", "lambda");
  const Numbers A_numbers(A.data(), A.data() + 144);
  const Numbers traced = evaluate<double>(p, {A_numbers, b, w, lambda}, 25)[0];
  for (int k = 0; k < 25; k++) contact_sweep(contacts, A.data(), b.data(), w.data(), lambda.data());
  double pressed = 0;
  for (int k = 0; k < 12; k++) {
    EXPECT_NEAR(traced[k], lambda[k], 1e-12);
    pressed += std::abs(lambda[k]);
  }
  EXPECT_GT(pressed, 1e-3);
}

// Model and contacts as kernel parameters, working memory of fixed size: the bits of the host's forms.
TEST(ContactDeviceText, HasTheBitsOfTheHostModel) {
  for (unsigned seed : {2u, 3u}) {
    Case c = random_case(seed, 4);
    Model<double>& m = c.robot.model;
    m.contacts = c.contacts;
    using Device = DeviceModel<double, 32>;
    ASSERT_TRUE(fits<Device>(m));
    const Device device = device_model<Device>(m);
    const auto& contacts = device.contacts;
    const int n = c.contacts.nr + m.nq + m.nv;
    const Numbers lambda(c.contacts.nr, 0.02);
    const std::vector<const double*> in{c.s.q.data(), c.s.v.data(), c.s.tau.data(), c.s.f_ext.data(), lambda.data()};
    Numbers a(n, NAN), b(n, NAN);
    step_of(m, c.contacts, in, a.data());
    step_of(device, contacts, in, b.data());
    EXPECT_EQ(a, b);
    // soft contacts
    const std::vector<SoftSurface<double>> soft(4, {400, 20, 300, 15});
    const Zeros<double> none;
    auto soft_step = [&](const auto& m, const auto& contacts, Numbers& out) {
      out.assign(24 + n, 0.01);
      double* x = out.data();
      soft_contact_step(m, contacts, soft.data(), in[0], in[1], Drive{none, none, none, none}, in[3],
                        StepParameters<double>{1e-3, 0, 0, 0.01}, x, x + 12, x + 24, x + 24 + m.nq);
    };
    soft_step(m, c.contacts, a), soft_step(device, contacts, b);
    EXPECT_EQ(a, b);
  }
}

}  // namespace
}  // namespace featherstorm::test_contact_batched
