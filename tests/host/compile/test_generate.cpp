// Generated sources: those that CMake's featherstorm_add_robot compiled into this program, against the engine.
#include "host/compile/generate.h"

#include <gtest/gtest.h>

#include <random>

#include "host/engine/evaluator.h"
#include "host/load/load.h"
#include "host/system/error.h"
#include "panda.h"

namespace featherstorm::test_generate {
namespace {

const GeneratedFile& file(const std::vector<GeneratedFile>& files, const std::string& name) {
  for (const GeneratedFile& f : files)
    if (f.name == name) return f;
  throw Error("there is no file " + name);
}

// Arrays of a batch whose components are `stride` apart.
struct Arrays2 {
  std::vector<double> data;
  long stride;
  Arrays2(int components, long stride, std::mt19937& g) : data(components * stride), stride(stride) {
    std::uniform_real_distribution<double> U(-1, 1);
    for (double& x : data) x = U(g);
  }
  ArrayRef ref(long instances) {
    return {.data = data.data(),
            .precision = Precision::float64,
            .instances = instances,
            .components = static_cast<long>(data.size()) / stride,
            .instance_stride = 1,
            .component_stride = stride};
  }
};

TEST(Generate, CompiledFunctionsEqualTheEngine) {
  const Robot robot = load("panda");
  Evaluator e(robot, {.threads = 1, .assemble = false});
  ASSERT_EQ(panda::nq, robot.model.nq);
  ASSERT_EQ(panda::width, 4);
  const long stride = 12, count = 7;  // not a multiple of the pack
  std::mt19937 g(4);
  const int n = robot.model.nv;
  const auto make = [&](int components) { return Arrays2(components, stride, g); };
  Arrays2 q = make(n), v = make(n), x = make(n);
  const auto compare = [&](const char* op, std::vector<Arrays2*> in, std::vector<Arrays2*> got,
                           const std::vector<double>& uniforms, int frame, long repeat) {
    SCOPED_TRACE(op);
    std::vector<ArrayRef> vi, vo;
    std::vector<Arrays2> expected;
    for (Arrays2* a : in) vi.push_back(a->ref(count));
    for (Arrays2* a : got) expected.push_back(*a);
    for (Arrays2& a : expected) vo.push_back(a.ref(count));
    e.run(op, vi, vo, {uniforms, frame, repeat});
    for (std::size_t k = 0; k < got.size(); k++)
      for (std::size_t c = 0; c < got[k]->data.size() / stride; c++)
        for (long i = 0; i < count; i++)
          EXPECT_NEAR(got[k]->data[c * stride + i], expected[k].data[c * stride + i],
                      1e-10 * (1 + std::abs(expected[k].data[c * stride + i])));
  };
  Arrays2 tau = make(n), H = make(robot.model.nh), a = make(n), J = make(6 * n);
  panda::rnea(q.data.data(), v.data.data(), x.data.data(), tau.data.data(), stride, count);
  compare("rnea", {&q, &v, &x}, {&tau}, {}, 0, 1);
  panda::crba(q.data.data(), H.data.data(), stride, count);
  compare("crba", {&q}, {&H}, {}, 0, 1);
  panda::fd(q.data.data(), v.data.data(), x.data.data(), a.data.data(), stride, count);
  compare("fd", {&q, &v, &x}, {&a}, {}, 0, 1);
  panda::jacobian_panda_hand(q.data.data(), J.data.data(), stride, count);
  compare("jacobian", {&q}, {&J}, {}, robot.frame("panda_hand"), 1);
  Arrays2 bar = make(n), q_bar = make(n), v_bar = make(n), x_bar = make(n);
  panda::fd_vjp(q.data.data(), v.data.data(), x.data.data(), bar.data.data(), q_bar.data.data(), v_bar.data.data(),
                x_bar.data.data(), stride, count);
  compare("fd_vjp", {&q, &v, &x, &bar}, {&q_bar, &v_bar, &x_bar}, {}, 0, 1);
  const double dt = 0.002, stiffness = 100, damping = 1, slow = 0.01;
  const std::vector<double> kp(n, 20), kd(n, 2);
  Arrays2 target = make(n), q_next = make(n), v_next = make(n);
  panda::step(q.data.data(), v.data.data(), x.data.data(), target.data.data(), &dt, kp.data(), kd.data(), &stiffness,
              &damping, &slow, q_next.data.data(), v_next.data.data(), 3, stride, count);
  std::vector<double> uniforms{dt};
  uniforms.insert(uniforms.end(), kp.begin(), kp.end());
  uniforms.insert(uniforms.end(), kd.begin(), kd.end());
  uniforms.insert(uniforms.end(), {stiffness, damping, slow});
  compare("step", {&q, &v, &x, &target}, {&q_next, &v_next}, uniforms, 0, 3);
}

TEST(Generate, TellsWhichBodyAStretchIsAbout) {
  const Robot robot = load("iiwa14");
  const auto files = generate(robot, {.name = "iiwa", .ops = {"fd"}});
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].name, "iiwa.h");
  const std::string& text = file(files, "iiwa_fd.cpp").text;
  for (int i = 1; i <= robot.model.nb; i++)
    EXPECT_NE(text.find("// body " + std::to_string(i) + ": " + robot.body_names[i]), std::string::npos) << i;
  EXPECT_NE(text.find("// articulated bodies, outward: forces"), std::string::npos);
  EXPECT_NE(text.find("// articulated bodies, inward: articulated inertias"), std::string::npos);
  EXPECT_EQ(text.find("featherstorm_kernel"), std::string::npos);
  EXPECT_NE(
      files[0].text.find("void fd(const Real* q, const Real* v, const Real* tau, Real* a, long stride, long count);"),
      std::string::npos);
}

TEST(Generate, WritesCuda) {
  const auto files = generate(load("go2"), {.name = "dog", .ops = {"step"}, .cuda = true});
  const std::string& text = file(files, "dog_step.cu").text;
  EXPECT_NE(text.find("__global__"), std::string::npos);
  EXPECT_NE(text.find("dog_step_kernel<<<"), std::string::npos);
  EXPECT_NE(file(files, "dog.cuh").text.find("namespace dog_cuda"), std::string::npos);
}

TEST(Generate, Refuses) {
  const Robot robot = load("panda");
  EXPECT_THROW(generate(robot, {.name = "7dof"}), Error);
  EXPECT_THROW(generate(robot, {.ops = {}}), Error);
  EXPECT_THROW(generate(robot, {.ops = {"dynamics"}}), Error);
  EXPECT_THROW(generate(robot, {.ops = {"jacobian"}}), Error);
  EXPECT_THROW(generate(robot, {.ops = {"fd:panda_hand"}}), Error);
  EXPECT_THROW(generate(robot, {.ops = {"jacobian:nowhere"}}), Error);
  EXPECT_THROW(generate(robot, {.ops = {"floating_bias"}}), Error);
  EXPECT_THROW(generate(robot, {.width = 3}), Error);
}

}  // namespace
}  // namespace featherstorm::test_generate
