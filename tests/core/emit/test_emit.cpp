#include "core/emit/emit.h"

#include <limits>

#include "core/program/order.h"
#include "tests/core/emit/compile.h"
#include "tests/support/tools/examples.h"

namespace featherstorm::emit_test {
namespace {

// Runs `count` different instances from the second pack on and compares each with the interpreter; what lies around
// the instances and the components must stay as it was.
template <class Real>
void expect_as_evaluated(const Program& p, Kernel* kernel, int width, long repeat, double range, double tolerance) {
  const long first = width, count = 3 * width, stride = 5 * width + 1;  // odd: loads are not aligned
  const Real poison = Real(-12345);
  std::mt19937 random(7);
  std::vector<Arrays<double>> instances;
  for (long i = 0; i < count; ++i) instances.push_back(examples::random_inputs(p, random, range));

  Arrays<Real> in_data, out_data;
  std::vector<Array> in, out;
  for (std::size_t a = 0; a < p.inputs.size(); ++a) {
    auto& data = in_data.emplace_back(p.inputs[a].size * stride, poison);
    for (int c = 0; c < p.inputs[a].size; ++c) {
      for (long i = 0; i < count; ++i) {
        double& x = instances[i][a][c];
        x = Real(p.inputs[a].uniform ? instances[0][a][c] : x);
        data[p.inputs[a].uniform ? c : c * stride + first + i] = Real(x);
      }
    }
  }
  for (const auto& array : p.outputs) out_data.emplace_back(array.size * stride, poison);
  for (auto& data : in_data) in.push_back({data.data(), stride});
  for (auto& data : out_data) out.push_back({data.data(), stride});
  kernel(nullptr, in.data(), out.data(), repeat, first, count);

  for (long i = 0; i < count; ++i) {
    Arrays<double> expected = evaluate(p, instances[i], repeat);
    for (std::size_t a = 0; a < p.outputs.size(); ++a) {
      for (int c = 0; c < p.outputs[a].size; ++c) {
        double y = expected[a][c], scale = 1 + std::fabs(y);
        ASSERT_NEAR(out_data[a][c * stride + first + i], y, tolerance * scale)
            << p.outputs[a].name << "[" << c << "] of instance " << i;
      }
    }
  }
  for (std::size_t a = 0; a < p.outputs.size(); ++a) {
    for (long k = 0; k < long(out_data[a].size()); ++k) {
      long i = k % stride;
      if (i < first || i >= first + count) ASSERT_EQ(out_data[a][k], poison) << "written outside of the instances";
    }
  }
}

class Emit : public ::testing::Test {
 protected:
  void SetUp() override {
    compilers = host_compilers();
    if (compilers.empty()) GTEST_SKIP() << "no host compiler: neither $CXX nor c++ nor clang++ can be run";
  }

  void check(const Program& p, const std::vector<int>& order, HostVector target, long repeat, double range,
             double tolerance) {
    for (const auto& compiler : compilers) {
      SCOPED_TRACE(compiler + " width " + std::to_string(target.width) +
                   (target.double_precision ? " double" : " float"));
      Library library(compiler, emit(p, order, target));
      ASSERT_TRUE(library.kernel);
      if (target.double_precision) {
        expect_as_evaluated<double>(p, library.kernel, target.width, repeat, range, tolerance);
      } else {
        expect_as_evaluated<float>(p, library.kernel, target.width, repeat, range, tolerance);
      }
    }
  }

  std::vector<std::string> compilers;
};

const HostVector floats[] = {{4, false}, {8, false}, {16, false}};
const HostVector doubles[] = {{2, true}, {4, true}, {8, true}};

TEST_F(Emit, PendulumAgreesInAllWidths) {
  Program p = examples::pendulum_program();
  for (HostVector t : floats) check(p, trace_order(p), t, 1, 3, 2e-6);
  for (HostVector t : doubles) check(p, trace_order(p), t, 1, 3, 1e-14);
}

TEST_F(Emit, AllOrdersAgree) {
  Program p = examples::random_program(5, 200, true);
  const HostVector target{4, true};
  for (const auto& order : {trace_order(p), greedy_order(p), sethi_ullman_order(p), latency_order(p)}) {
    check(p, order, target, 1, 2, 1e-9);
  }
}

// Every operation of the graph, conditions and jumps included: all the outputs of random programs.
TEST_F(Emit, RandomProgramsAgreeInDouble) {
  for (std::uint32_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program p = examples::random_program(seed, 150, true);
    check(p, greedy_order(p), {8, true}, 1, 2, 1e-9);
  }
}

TEST_F(Emit, RandomProgramsAgreeInFloat) {
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program p = examples::random_program(seed, 40, false);
    check(p, trace_order(p), {16, false}, 1, 2, 1e-4);
  }
}

TEST_F(Emit, CarriedLoopEqualsRepeatedEvaluation) {
  Program p = examples::step_program();
  check(p, latency_order(p), {8, false}, 10, 1, 1e-4);
  check(p, trace_order(p), {4, true}, 10, 1, 1e-11);
  check(p, trace_order(p), {4, true}, 1, 1, 1e-12);
}

TEST_F(Emit, CarriedStateMayBeWrittenInPlace) {
  Program p = examples::step_program();
  Library library(compilers[0], emit(p, trace_order(p), HostVector{4, true}));
  ASSERT_TRUE(library.kernel);
  std::vector<double> q = {0.1, 0.2, 0.3, 0.4}, v = {1, -1, 0.5, 0}, u = {3, 0, -3, 1}, dt = {0.01}, energy(4);
  std::vector<double> q0 = q, v0 = v;
  Array in[] = {{q.data(), 4}, {v.data(), 4}, {u.data(), 4}, {dt.data(), 1}};
  Array out[] = {{q.data(), 4}, {v.data(), 4}, {energy.data(), 4}};
  library.kernel(nullptr, in, out, 7, 0, 4);
  for (int i = 0; i < 4; ++i) {
    Arrays<double> expected = evaluate<double>(p, {{q0[i]}, {v0[i]}, {u[i]}, {dt[0]}}, 7);
    EXPECT_NEAR(q[i], expected[0][0], 1e-13);
    EXPECT_NEAR(v[i], expected[1][0], 1e-13);
  }
}

TEST_F(Emit, OutputsMayBeInputsConstantsAndRepeats) {
  Program p;
  auto x = p.input("x", 2);
  {
    Tracing scope(p.graph);
    p.output("y", {x[1], -x[1], Expr(2.5), Expr(), x[0] * x[1], -(x[0] * x[1]), sin(x[0]), -sin(x[0])});
  }
  check(p, greedy_order(p), {4, true}, 1, 1, 1e-15);
}

TEST_F(Emit, SelectTakesConstants) {
  Program p;
  auto x = p.input("x", 2);
  {
    Tracing scope(p.graph);
    p.output("y", {select(x[0] < 0.25, 1, 2), select(0.5 < x[0] || x[1] <= -0.5, x[1], 3), max(x[0], 0)});
  }
  check(p, trace_order(p), {8, false}, 1, 1, 1e-6);
}

TEST(EmittedSource, SaysOneStatementPerLine) {
  Program p;
  auto x = p.input("x", 3);
  {
    Tracing scope(p.graph);
    mark("a remark");
    p.output("y", {x[0] * x[1] + x[2]});
  }
  std::string text = emit(p, trace_order(p), HostVector{8, false});
  EXPECT_NE(text.find("    // a remark\n    const T x_0 = load(x_in + 0 * x_in_stride);\n"), std::string::npos);
  EXPECT_NE(text.find(" = x_2 + x_0 * x_1;\n"), std::string::npos);
}

TEST(EmittedSource, RemarksCannotLeaveTheirLine) {
  Program p;
  Expr x = p.input("x", 1)[0];
  {
    Tracing scope(p.graph);
    mark("left\nint main() {\r\\");
    p.output("y", {2 * x});
  }
  std::string text = emit(p, trace_order(p), HostVector{8, false});
  EXPECT_NE(text.find("    // left?int main() {??\n"), std::string::npos);
}

TEST(EmittedSource, ConstantsKeepAllTheirDigits) {
  Program p;
  Expr x = p.input("x", 1)[0];
  {
    Tracing scope(p.graph);
    p.output("y", {x * (1.0 / 3)});
  }
  EXPECT_NE(emit(p, trace_order(p), HostVector{8, false}).find("0.333333333f * x_0"), std::string::npos);
  EXPECT_NE(emit(p, trace_order(p), HostVector{4, true}).find("0.33333333333333331 * x_0"), std::string::npos);
}

TEST(EmittedSource, RefusesInfiniteConstants) {
  Program p;
  Expr x = p.input("x", 1)[0];
  {
    Tracing scope(p.graph);
    p.output("y", {x * std::numeric_limits<double>::infinity()});
  }
  EXPECT_THROW(emit(p, trace_order(p), HostVector{8, false}), std::domain_error);
}

TEST(EmittedSource, CompilesWithNvcc) {
  if (!exists_command("nvcc")) GTEST_SKIP() << "nvcc is not on the path";
  Folder folder;
  std::string base = (folder.path / "kernel").string();
  for (Cuda target : {Cuda{false}, Cuda{true}}) {
    for (const Program& p : {examples::random_program(1, 200, true), examples::step_program()}) {
      std::ofstream(base + ".cu") << emit(p, greedy_order(p), target);
      std::string command =
          "nvcc -std=c++17 -ptx -arch=sm_90 " + base + ".cu -o " + base + ".ptx > " + base + ".log 2>&1";
      EXPECT_EQ(std::system(command.c_str()), 0) << read(base + ".log");
      EXPECT_NE(read(base + ".ptx").find(".entry featherstorm_kernel"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace featherstorm::emit_test
