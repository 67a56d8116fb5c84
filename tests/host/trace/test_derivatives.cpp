// Derivatives of every operation against central differences of the operation itself, and against each other; those of
// forward dynamics against the recursions in core, on the tangent space.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "core/kinematics/integrate.h"
#include "core/program/count.h"
#include "core/program/order.h"
#include "host/load/load.h"
#include "host/table/ops.h"
#include "host/trace/draw.h"
#include "tests/support/robots/linkages.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/run_batch.h"
#include "tests/support/tools/scratch.h"

namespace featherstorm::test_derivatives {
namespace {

using Columns = std::vector<std::vector<double>>;  // one vector for each array of a row, of one instance

struct Inputs {
  Columns in;
  std::vector<double> uniforms;
};

// Inputs of a row as it says how they are drawn; parameters are the robot's own numbers, a little off.
Inputs inputs_of(const Robot& robot, const OpRow& row, std::mt19937& g) {
  std::uniform_real_distribution<double> U(-1, 1);
  Draw draw(robot.model, static_cast<unsigned>(g()));
  Inputs r;
  for (const auto& a : row.in) {
    std::vector<double> x = draw(a.sample, a.components);
    for (std::string_view p : parameter_names())
      if (p == a.name) {
        x = parameter_values(robot, p);
        for (double& y : x) y = (std::isfinite(y) ? y : 10) * (1 + 0.05 * U(g)) + (p == "armature" ? 0.05 : 0);
      }
    r.in.push_back(x);
  }
  for (const auto& a : row.uniforms)
    for (double x : draw(a.sample, a.components)) r.uniforms.push_back(x);
  return r;
}

// The outputs of a row for one instance.
Columns run(Evaluator& e, std::string_view op, const Columns& in, const std::vector<double>& uniforms, int frame) {
  return testing::run_one(e, op, in, uniforms, 1, frame);
}

Columns joined(Columns a, const Columns& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
double dot(const Columns& a, const Columns& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); k++)
    for (std::size_t c = 0; c < a[k].size(); c++) sum += a[k][c] * b[k][c];
  return sum;
}
double largest(const Columns& a) {
  double most = 0;
  for (const auto& x : a)
    for (double y : x) most = std::max(most, std::fabs(y));
  return most;
}
Columns random_like(const std::vector<OpRow::Argument>& arrays, std::mt19937& g) {
  std::uniform_real_distribution<double> U(-1, 1);
  Columns r;
  for (const auto& a : arrays) {
    auto& x = r.emplace_back(a.components);
    for (double& y : x) y = U(g);
  }
  return r;
}
// A random direction for each input: along the manifold of q, and for a matrix small beside it.
Columns random_tangents(const Robot& robot, const OpRow& row, const Columns& in, std::mt19937& g) {
  Columns r = random_like(row.in, g);
  const Model<double>& m = robot.model;
  for (std::size_t k = 0; k < r.size(); k++) {
    const std::string_view name = row.in[k].name;
    if (name == "M" || name == "L")
      for (double& x : r[k]) x *= 0.1 * largest({in[k]});
    if (name != "q" && name != "q_to") continue;
    std::vector<double> v(m.nv), high(m.nq), low(m.nq);
    std::copy_n(r[k].begin(), m.nv, v.begin());
    integrate(m, in[k].data(), v.data(), 1e-5, high.data());
    integrate(m, in[k].data(), v.data(), -1e-5, low.data());
    for (int i = 0; i < m.nq; i++) r[k][i] = (high[i] - low[i]) / 2e-5;
  }
  return r;
}
Columns moved(Columns x, const Columns& d, double h) {
  for (std::size_t k = 0; k < x.size(); k++)
    for (std::size_t c = 0; c < x[k].size(); c++) x[k][c] += h * d[k][c];
  return x;
}

// Rows of the books are left out for larger robots: derivatives of their n x n results take seconds to assemble.
enum class Rows { Engine, All, Closures };
void check_every_operation(const Robot& robot, const std::vector<std::string>& parameters, Rows rows = Rows::Engine) {
  const test::WithoutCompiler interpreted;
  Evaluator e(robot, {.threads = 1, .parameters = parameters});
  std::mt19937 g(11);
  for (const OpRow& row : e.ops()) {
    const std::string name(row.name);
    const bool closure =
        name.find("loop") != name.npos || name.find("coupled") != name.npos || name == "independent_map";
    if (!row.refused.empty() || (!info_of(row.index).common && rows == Rows::Engine)) continue;
    if (rows == Rows::Closures && !closure) continue;
    SCOPED_TRACE(robot.name + " " + name);
    const int frame = row.uses_frame ? robot.model.nf - 1 : 0;
    const Inputs x = inputs_of(robot, row, g);
    const Columns tangents = random_tangents(robot, row, x.in, g), bars = random_like(row.out, g);
    const Columns forward = run(e, name + "_jvp", joined(x.in, tangents), x.uniforms, frame);
    const Columns reverse = run(e, name + "_vjp", joined(x.in, bars), x.uniforms, frame);
    ASSERT_EQ(forward.size(), row.out.size());
    ASSERT_EQ(reverse.size(), row.in.size());
    const double scale = 1e-6 + largest(forward) + largest(bars);
    EXPECT_NEAR(dot(bars, forward), dot(reverse, tangents), 1e-8 * scale * (1 + largest(reverse)));
    const double h = 1e-6;
    const Columns high = run(e, name, moved(x.in, tangents, h), x.uniforms, frame);
    const Columns low = run(e, name, moved(x.in, tangents, -h), x.uniforms, frame);
    const Columns here = run(e, name, x.in, x.uniforms, frame);
    for (std::size_t k = 0; k < here.size(); k++)
      for (std::size_t c = 0; c < here[k].size(); c++)
        EXPECT_NEAR(forward[k][c], (high[k][c] - low[k][c]) / (2 * h), 5e-6 * (scale + largest(here)))
            << row.out[k].name << "[" << c << "]";
  }
}

TEST(Derivatives, OfEveryOperationEqualDifferences) {
  check_every_operation(load("panda"), {});
  check_every_operation(load("go2", {.floating_base = true}), {});
}

TEST(Derivatives, OfTheBooksOperationsEqualDifferences) {
  check_every_operation(load("double_pendulum"), {}, Rows::All);
  testing::RandomOptions o;
  o.bodies = 3, o.floating = true, o.types = {JointType::Revolute, JointType::Prismatic};
  Robot robot = testing::random_robot(3, o);
  std::vector<ContactSpec> contacts{on_ground(robot.body_names[1], {0.1, 0, 0}, 1.5, 0.5, 0.2),
                                    on_ground(robot.body_names[3], {0, 0.1, 0}, 1, 0.7)};
  contacts.push_back({"ball",
                      robot.body_names[2],
                      {0, 0, 0.1},
                      0.6,
                      robot.body_names[1],
                      Surface::Sphere,
                      identity_placement<double>(),
                      0.9,
                      0,
                      0,
                      0.4,
                      0});
  robot.model.contacts = contacts_of(robot, contacts, 3, 1);
  check_every_operation(robot, {}, Rows::All);
}

TEST(Derivatives, OfTheOperationsOnClosedRobotsEqualDifferences) {
  check_every_operation(testing::closed_robot(testing::four_bar()), {}, Rows::Closures);
  check_every_operation(testing::gripper(), {}, Rows::Closures);
}

TEST(Derivatives, OfEveryJointEqualDifferences) {
  for (unsigned seed = 1; seed <= 6; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::RandomOptions o;
    o.bodies = 6;
    check_every_operation(testing::random_robot(seed, o), {});
  }
}

TEST(Derivatives, ByParametersEqualDifferences) {
  check_every_operation(load("panda"), {"mass", "com", "inertia", "armature", "damping", "gravity"});
  check_every_operation(load("hyq", {.floating_base = true}), {"position", "friction"});
}

long cost(const Program& p) {
  const Counts c = count(p, trace_order(p));
  return c.mul + c.add - c.fused + 8 * (c.rcp + c.sqrt + c.sincos + c.other);
}

// All gradients of forward dynamics for about twice its operations; a division or a sine-cosine pair counts as eight.
TEST(Derivatives, OfForwardDynamicsAreCheap) {
  for (const char* name : {"iiwa14", "panda", "go2", "hyq", "g1", "atlas"}) {
    const Robot robot = load(name, {.floating_base = std::string(name) != "iiwa14" && std::string(name) != "panda"});
    const int fd = Evaluator(robot, {.threads = 1}).op("fd").index;
    const double ratio = static_cast<double>(cost(trace_best(fd, robot.model, 0, Derivative::vjp))) /
                         static_cast<double>(cost(trace_best(fd, robot.model, 0)));
    EXPECT_LE(ratio, 2.13) << name;
    RecordProperty(name, std::to_string(ratio));
  }
}

// Without a kernel that takes the model as data, what cannot be made is told instead of run.
TEST(Derivatives, OfRobotsTooLargeAreRefused) {
  ModelBuilder b("chain");
  for (int i = 0; i < 300; i++) {
    LinkSpec link;
    link.name = "l" + std::to_string(i), link.mass = 1, link.inertia = Mat3d::Identity();
    b.add_link(link);
    JointSpec joint;
    joint.name = "j" + std::to_string(i), joint.parent = i == 0 ? "" : "l" + std::to_string(i - 1),
    joint.child = link.name;
    b.add_joint(joint);
  }
  Evaluator e(b.build(), {.threads = 1});
  const OpRow& row = e.op("rnea_vjp");
  std::mt19937 g(1);
  const Columns in = random_like(row.in, g);
  for (int attempt = 0; attempt < 2; attempt++) EXPECT_THROW(run(e, "rnea_vjp", in, {}, 0), Error);
  EXPECT_EQ(run(e, "rnea", Columns(in.begin(), in.begin() + 3), {}, 0).size(), 1u);
}

}  // namespace
}  // namespace featherstorm::test_derivatives
