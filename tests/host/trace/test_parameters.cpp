// Numbers of a robot as inputs: every operation with other numbers equals that of a robot built with them.
#include "host/trace/parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "host/load/load.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/message.h"
#include "tests/support/tools/run_batch.h"
#include "tests/support/tools/scratch.h"

namespace featherstorm::test_parameters {
namespace {

using testing::RobotSpec;

// The same robot with other numbers and the same placements of joints' axes.
RobotSpec with_other_numbers(RobotSpec spec, unsigned seed) {
  testing::Random random(seed);
  for (LinkSpec& l : spec.links) {
    const double k = random.uniform(0.5, 2);
    l.mass *= k, l.inertia *= k, l.com += random.vector(0.1);
  }
  for (JointSpec& j : spec.joints) {
    if (j.type != JointType::Fixed) j.X.r += random.vector(0.2);  // what is fixed to a body is no parameter
    for (double& x : j.armature) x *= random.uniform(0.5, 2);
    for (double& x : j.damping) x *= random.uniform(0.5, 2);
    for (double& x : j.friction) x *= random.uniform(0.5, 2);
  }
  return spec;
}

std::vector<std::string> all_names() {
  std::vector<std::string> all;
  for (std::string_view name : parameter_names())
    if (name != "lower" && name != "upper" && name != "max_effort") all.emplace_back(name);
  return all;
}

// All outputs of a row for `instances` instances, number k of each array by value(array, k, instance).
template <class F>
std::vector<testing::Batch> run(Evaluator& e, const std::string& op, long instances,
                                const std::vector<double>& uniforms, F value) {
  std::vector<testing::Batch> in;
  for (const auto& a : e.op(op).in) {
    testing::Batch& array = in.emplace_back();
    for (long i = 0; i < instances; i++) {
      array.emplace_back();
      for (int c = 0; c < a.components; c++) array.back().push_back(value(a.name, c, i));
    }
  }
  return testing::run_batch(e, op, in, uniforms, 1, e.robot().model.nf - 1);
}
double largest(const std::vector<testing::Batch>& arrays) {
  double most = 0;
  for (const auto& array : arrays)
    for (const auto& instance : array)
      for (double x : instance) most = std::max(most, std::fabs(x));
  return most;
}

// The first robot with these numbers of the other.
RobotSpec with_numbers_of(RobotSpec spec, const RobotSpec& other, const std::vector<std::string>& names) {
  for (const std::string& p : names) {
    for (std::size_t l = 0; l < spec.links.size(); l++) {
      if (p == "mass") spec.links[l].mass = other.links[l].mass;
      if (p == "com") spec.links[l].com = other.links[l].com;
      if (p == "inertia") spec.links[l].inertia = other.links[l].inertia;
    }
    for (std::size_t j = 0; j < spec.joints.size(); j++) {
      if (p == "position") spec.joints[j].X.r = other.joints[j].X.r;
      if (p == "armature") spec.joints[j].armature = other.joints[j].armature;
      if (p == "damping") spec.joints[j].damping = other.joints[j].damping;
      if (p == "friction") spec.joints[j].friction = other.joints[j].friction;
    }
  }
  return spec;
}

// Every operation that takes a state, with the numbers of three other robots in one batch.
void compare(const RobotSpec& spec, const std::vector<std::string>& names) {
  const test::WithoutCompiler interpreted;
  const Robot robot = testing::build(spec);
  constexpr long instances = 3;
  std::vector<Robot> others;
  std::vector<std::unique_ptr<Evaluator>> references;
  std::vector<testing::State> states, goals;
  for (unsigned i = 0; i < instances; i++) {
    const RobotSpec other = with_other_numbers(spec, 100 + i);
    others.push_back(testing::build(other));
    references.push_back(std::make_unique<Evaluator>(testing::build(with_numbers_of(spec, other, names)),
                                                     EvaluatorOptions{.threads = 1, .assemble = false}));
    states.push_back(testing::random_state(robot.model, 7 + i)),
        goals.push_back(testing::random_state(robot.model, 90 + i));
  }
  Evaluator e(robot, {.threads = 1, .parameters = names});
  for (const OpRow& row : e.ops()) {
    const std::string op(row.name);
    if (!row.refused.empty()) continue;
    if (names.size() == 1 && !info_of(row.index).common) continue;  // the books' rows with all parameters together
    const std::string_view first = row.in[0].name;
    if (first == "M" || first.starts_with("L")) continue;  // of matrices, not of the robot
    SCOPED_TRACE(op);
    std::vector<double> uniforms;
    for (const auto& u : row.uniforms)
      uniforms.insert(uniforms.end(), u.components, u.name == "dt" ? 0.01 : u.name == "tolerance" ? 1e-12 : 0.7);
    const auto state = [&](std::string_view name, int c, long i) {
      if (name == "q") return states[i].q[c];
      if (name == "q_to") return goals[i].q[c];
      return name == "v" ? states[i].v[c] : std::sin(c + 1.3 * static_cast<double>(i));
    };
    const auto got = run(e, op, instances, uniforms, [&](std::string_view name, int c, long i) {
      for (const std::string& p : names)
        if (p == name) return parameter_values(others[i], name)[c];
      return state(name, c, i);
    });
    for (long i = 0; i < instances; i++) {
      const auto expected =
          run(*references[i], op, 1, uniforms, [&](std::string_view name, int c, long) { return state(name, c, i); });
      const double scale = std::max(1e-3, largest(expected));
      for (std::size_t k = 0; k < expected.size(); k++)
        for (std::size_t c = 0; c < expected[k][0].size(); c++)
          ASSERT_NEAR(got[k][i][c], expected[k][0][c], 1e-9 * scale) << "instance " << i << ", " << k << ", " << c;
    }
  }
}

testing::RandomOptions options(int bodies, bool floating) {
  testing::RandomOptions o;
  o.bodies = bodies, o.floating = floating;
  return o;
}

TEST(Parameters, AllOfThemEqualARobotBuiltWithThem) {
  for (unsigned seed = 1; seed <= 2; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare(testing::random_spec(seed, options(5, seed % 2 == 0)), all_names());
  }
}

TEST(Parameters, EachOfThemLeavesTheOthersConstant) {
  for (const std::string& name : all_names())
    if (name != "gravity") {
      SCOPED_TRACE(name);
      testing::RandomOptions o = options(3, false);
      o.fixed = 0;  // the mass of a welded link moves its body's centre
      compare(testing::random_spec(9, o), {name});
    }
}

TEST(Parameters, LimitsAndEffortsEqualARobotBuiltWithThem) {
  const test::WithoutCompiler interpreted;
  const Robot robot = load("panda");
  const int n = robot.model.nv;
  Robot other = robot;
  for (int k = 0; k < n; k++) {
    other.model.lower[k] = -0.2 - 0.05 * k, other.model.upper[k] = 0.1 + 0.02 * k, other.model.max_effort[k] = 3 + k;
  }
  Evaluator e(robot, {.threads = 1, .parameters = {"lower", "upper", "max_effort"}});
  Evaluator reference(other, {.threads = 1, .assemble = false});
  std::vector<double> uniforms;
  for (const auto& u : e.op("step").uniforms)
    uniforms.insert(uniforms.end(), u.components, u.name == "dt" ? 0.01 : u.name == "limit_stiffness" ? 50 : 1);
  const auto value = [&](std::string_view name, int c, long i) {
    for (std::string_view p : {"lower", "upper", "max_effort"})
      if (p == name) return parameter_values(other, name)[c];
    return name == "tau" ? 20 * std::sin(c + static_cast<double>(i)) : 0.6 * std::cos(1.7 * c + static_cast<double>(i));
  };
  Evaluator without(robot, {.threads = 1, .assemble = false});
  const auto got = run(e, "step", 4, uniforms, value), expected = run(reference, "step", 4, uniforms, value),
             unlimited = run(without, "step", 4, uniforms, value);
  double difference = 0;
  for (std::size_t k = 0; k < expected.size(); k++)
    for (std::size_t i = 0; i < 4; i++)
      for (int c = 0; c < n; c++) {
        const double x = expected[k][i][c];
        EXPECT_NEAR(got[k][i][c], x, 1e-9 * (1 + std::fabs(x)));
        difference = std::max(difference, std::fabs(unlimited[k][i][c] - x));
      }
  EXPECT_GT(difference, 0.01);  // the limits are felt
}

TEST(Parameters, AreInTheAxesOfTheLinks) {
  for (unsigned seed = 1; seed <= 10; seed++) {
    const RobotSpec spec = testing::random_spec(seed, options(6, false));
    const Robot robot = testing::build(spec);
    const auto mass = parameter_values(robot, "mass"), com = parameter_values(robot, "com"),
               inertia = parameter_values(robot, "inertia");
    int compared = 0;
    for (int i = 1; i <= robot.model.nb; i++)
      for (const LinkSpec& l : spec.links) {
        if (l.name != robot.body_names[i]) continue;
        bool alone = true;  // no other link is fixed to it
        for (const JointSpec& j : spec.joints)
          alone = alone && !(j.type == JointType::Fixed && (j.parent == l.name || j.child == l.name));
        if (!alone) continue;
        EXPECT_NEAR(mass[i - 1], l.mass, 1e-12);
        for (int k = 0; k < 3 && l.mass > 0; k++) EXPECT_NEAR(com[3 * (i - 1) + k], l.com(k), 1e-12);
        for (int k = 0; k < 3 && l.mass > 0; k++) EXPECT_NEAR(inertia[6 * (i - 1) + k], l.inertia(0, k), 1e-12);
        compared++;
      }
    EXPECT_GT(compared, 0) << seed;
  }
}

TEST(Parameters, RefuseUnknownNames) {
  const Robot robot = load("panda");
  EXPECT_THROW(Parameters(robot, {"weight"}), Error);
  EXPECT_THROW(Parameters(robot, {"mass", "mass"}), Error);
  EXPECT_THROW(parameter_values(robot, "weight"), Error);
  const std::string words = testing::message([&] { Evaluator(robot, {.parameters = {"weight"}}); });
  EXPECT_NE(words.find("mass"), std::string::npos) << "the error lists the parameters: " << words;
}

}  // namespace
}  // namespace featherstorm::test_parameters
