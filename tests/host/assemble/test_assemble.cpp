// Assembled kernels of random programs against the interpreter, and what registers they are given.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/program/order.h"
#include "core/trace/evaluate.h"
#include "host/assemble/allocate.h"
#include "host/assemble/assemble.h"
#include "host/assemble/frame.h"
#include "host/memory/cpu_library.h"
#include "host/system/error.h"
#include "tests/support/tools/examples.h"

namespace featherstorm::test_assemble {
namespace {

// Largest difference of `repeat` passes over 3 packs of instances from the interpreter, relative to 1 + |expected|.
template <class Real>
double worst_error(const Program& p, const std::vector<int>& order, const std::string& isa, long repeat = 1) {
  const AssembledKernel k = assemble(p, order, isa, precision_of<Real>());
  const long n = 3 * k.width, first = k.width;
  std::mt19937 random(5);
  std::vector<Arrays<double>> given;
  std::vector<Buffer> in, out;
  std::vector<Array> vi, vo;
  const Arrays<double> shared = examples::random_inputs(p, random);
  for (long i = 0; i < n; i++) {
    given.push_back(examples::random_inputs(p, random));
    for (std::size_t a = 0; a < p.inputs.size(); a++) {
      if (p.inputs[a].uniform) given[i][a] = shared[a];
      for (double& x : given[i][a]) x = static_cast<Real>(x);
    }
  }
  for (std::size_t a = 0; a < p.inputs.size(); a++) {
    const Buffer& b = in.emplace_back(precision_of<Real>(), n, p.inputs[a].size);
    for (int c = 0; c < p.inputs[a].size; c++)
      for (long i = 0; i < n; i++) b.component<Real>(c)[i] = static_cast<Real>(given[i][a][c]);
    vi.push_back({b.ref().data, b.stride()});
  }
  std::vector<std::vector<Real>> uniform(p.inputs.size());
  for (std::size_t a = 0; a < p.inputs.size(); a++)
    if (p.inputs[a].uniform) {
      uniform[a].assign(given[0][a].begin(), given[0][a].end());
      vi[a] = {uniform[a].data(), 0};
    }
  for (const auto& a : p.outputs) {
    const Buffer& b = out.emplace_back(precision_of<Real>(), n, a.size);
    for (int c = 0; c < a.size; c++)
      for (long i = 0; i < n; i++) b.component<Real>(c)[i] = std::numeric_limits<Real>::quiet_NaN();
    vo.push_back({b.ref().data, b.stride()});
  }
  k.kernel(nullptr, vi.data(), vo.data(), repeat, first, n - first);
  double worst = 0;
  for (long i = 0; i < n; i++) {
    const Arrays<double> expected = evaluate(p, given[i], repeat);
    for (std::size_t a = 0; a < p.outputs.size(); a++)
      for (int c = 0; c < p.outputs[a].size; c++) {
        const double x = out[a].template component<Real>(c)[i], y = expected[a][c];
        if (i < first) {
          EXPECT_TRUE(std::isnan(x)) << "instance " << i << " is in front of the first";
          continue;
        }
        worst = std::max(worst, std::isfinite(x) ? std::abs(x - y) / (1 + std::abs(y)) : 1e300);
      }
  }
  return worst;
}

std::vector<std::string> assemblers() {
  std::vector<std::string> isas;
  for (const std::string& isa : supported_isas())
    if (can_assemble(isa)) isas.push_back(isa);
  return isas;
}

class Assembler : public ::testing::TestWithParam<std::string> {};

TEST_P(Assembler, RandomPrograms) {
  for (std::uint32_t seed = 0; seed < 60; seed++) {
    const Program p = examples::random_program(seed, 20 + static_cast<int>(seed) * 10, false);
    for (const auto& order : {trace_order(p), greedy_order(p), latency_order(p, 96)})
      EXPECT_LT(worst_error<double>(p, order, GetParam()), 1e-9) << "seed " << seed;
  }
}

TEST_P(Assembler, ElementaryFunctions) {
  Program p;
  const std::vector<Expr> x = p.input("x", 2);
  {
    Tracing scope(p.graph);
    Expr s, c;
    sincos(x[0] * 1000, s, c);
    p.output("y", {s, c, exp(x[0] * 20), exp(Expr(-1e4) + x[1]), log(abs(x[0]) + 1e-6), log(exp(x[1] * 30)),
                   atan2(x[0], x[1]), atan2(-abs(x[0]), Expr(-2)), atan2(Expr(0), x[1]), asin(x[0]), acos(x[1])});
  }
  EXPECT_LT(worst_error<double>(p, trace_order(p), GetParam()), 1e-13);
  EXPECT_LT(worst_error<float>(p, trace_order(p), GetParam()), 1e-4);
}

// So that the fastest order may be kept, whichever it is.
TEST_P(Assembler, TheOrderDoesNotChangeABit) {
  for (std::uint32_t seed = 0; seed < 20; seed++) {
    const Program p = examples::random_program(seed, 300, true);
    std::vector<std::vector<float>> results;
    for (const auto& order : {trace_order(p), greedy_order(p), latency_order(p, 24), latency_order(p, 96)}) {
      const AssembledKernel k = assemble(p, order, GetParam(), Precision::float32);
      Buffer x(Precision::float32, k.width, 3), y(Precision::float32, k.width, 2), out(Precision::float32, k.width, 5);
      std::mt19937 random(seed);
      std::uniform_real_distribution<float> number(-1, 1);
      for (int c = 0; c < 3; c++)
        for (long i = 0; i < k.width; i++) x.component<float>(c)[i] = number(random);
      for (int c = 0; c < 2; c++)
        for (long i = 0; i < k.width; i++) y.component<float>(c)[i] = number(random);
      const Array in[] = {{x.ref().data, x.stride()}, {y.ref().data, y.stride()}}, o{out.ref().data, out.stride()};
      k.kernel(nullptr, in, &o, 1, 0, k.width);
      std::vector<float>& r = results.emplace_back();
      for (int c = 0; c < 5; c++) r.insert(r.end(), out.component<float>(c), out.component<float>(c) + k.width);
      EXPECT_EQ(std::memcmp(r.data(), results[0].data(), r.size() * sizeof(float)), 0) << "seed " << seed;
    }
  }
}

// Each operation alone, at values where sign and rounding show.
TEST_P(Assembler, EveryOperation) {
  Program p;
  const std::vector<Expr> x = p.input("x", 3), u = p.input("u", 2, true);
  {
    Tracing scope(p.graph);
    Expr s, c;
    sincos(x[0] * 50, s, c);
    const auto less = x[0] < x[1], equal = x[1] <= x[1];
    // clang-format off
    p.output("y", {x[0] + x[1], x[0] - x[1], -(x[0] * x[1]), x[0] * x[1] + x[2], x[0] * x[1] - x[2], x[2] - x[0] * x[1],
                   x[0] * x[0] + x[0], x[0] * x[0] - x[0], rcp(x[0] + 3), sqrt(x[0] * x[0] + 1), s, c, sin(x[1] * 7),
                   cos(-x[2]), min(x[0], -x[1]), max(x[0], 0.25), abs(x[0] - x[1]), floor(x[0] * 10), select(less, x[2], -x[0]),
                   select(equal && less, x[0], x[1]), select(less || x[1] < x[2], 1.0, x[1]), select(!less, x[0], 0.5),
                   u[0] * x[0] + u[1], u[1] - x[2], u[0], x[1], -x[1], Expr(2.5), Expr(0), (x[0] + 1) * 0.1});
    // clang-format on
  }
  EXPECT_LT(worst_error<double>(p, trace_order(p), GetParam()), 1e-13);
  EXPECT_LT(worst_error<float>(p, trace_order(p), GetParam()), 2e-6);
}

TEST_P(Assembler, CarriedStateAndUniformInputs) {
  Program p;
  const std::vector<Expr> q = p.input("q", 3), v = p.input("v", 3), k = p.input("k", 2), dt = p.input("dt", 1, true);
  {
    Tracing scope(p.graph);
    std::vector<Expr> a, b;
    for (int i = 0; i < 3; i++) {
      b.push_back(v[i] - dt[0] * (k[0] * q[(i + 1) % 3] + k[1] * v[(i + 2) % 3]));
      a.push_back(q[i] + dt[0] * b[i]);
    }
    p.output("q_next", a), p.output("v_next", b), p.output("energy", {q[0] * q[0] + v[1] * v[1]});
  }
  p.carry("q_next", "q"), p.carry("v_next", "v");
  for (long repeat : {1L, 2L, 7L}) {
    EXPECT_LT(worst_error<double>(p, trace_order(p), GetParam(), repeat), 1e-13);
    EXPECT_LT(worst_error<float>(p, latency_order(p), GetParam(), repeat), 1e-5);
  }
}

// Outputs may take the place of the state they come from: all inputs of a pass are read before any output is written.
TEST_P(Assembler, StateIsWrittenInPlace) {
  Program p;
  const std::vector<Expr> q = p.input("q", 2);
  {
    Tracing scope(p.graph);
    p.output("q_next", {q[1], q[0] + q[1]});
  }
  p.carry("q_next", "q");
  const AssembledKernel k = assemble(p, trace_order(p), GetParam(), Precision::float64);
  Buffer b(Precision::float64, k.width, 2);
  for (long i = 0; i < k.width; i++) b.component<double>(0)[i] = i, b.component<double>(1)[i] = 1;
  const Array state{b.ref().data, b.stride()};
  k.kernel(nullptr, &state, &state, 5, 0, k.width);
  for (long i = 0; i < k.width; i++) {  // Fibonacci: after 5 steps 3 x0 + 5 x1, 5 x0 + 8 x1
    EXPECT_EQ(b.component<double>(0)[i], 3.0 * i + 5);
    EXPECT_EQ(b.component<double>(1)[i], 5.0 * i + 8);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Assembler);
INSTANTIATE_TEST_SUITE_P(Isas, Assembler, ::testing::ValuesIn(assemblers()),
                         [](const auto& info) { return info.param; });

// One operand of memory at most, registers and slots that exist, and fewer slots where there are more registers.
TEST(Allocate, StaysWithinTheMachine) {
  for (std::uint32_t seed = 0; seed < 20; seed++) {
    const Program p = examples::random_program(seed, 400, false);
    const StraightLine s = straight_line(p, trace_order(p), true);
    for (int registers : {4, 16, 32}) {
      const Allocation a = allocate(s, registers);
      for (const Move& m : a.moves) {
        int memory = 0;
        for (const Place& x : m.operand) {
          memory += x.kind == Place::Kind::Slot || x.kind == Place::Kind::Input || x.kind == Place::Kind::Constant;
          if (x.kind == Place::Kind::Register) { EXPECT_LT(x.index, registers); }
          if (x.kind == Place::Kind::Slot) { EXPECT_LT(x.index, a.slots); }
        }
        EXPECT_LE(memory, 1);
      }
    }
    EXPECT_LE(allocate(s, 32).slots, allocate(s, 4).slots);
  }
}

TEST(Frame, HoldsEveryValueUntilItsLastUse) {
  for (std::uint32_t seed = 0; seed < 4; seed++) {
    const Program p = examples::random_program(seed, 400, false);
    const Allocation before = allocate(straight_line(p, trace_order(p), false), 6);
    std::vector<Allocation> parts = {before, before};
    const auto none = [](const Move&, int, int) { return -1; };
    const FrameLayout layout = place_in_frame(parts, 0, none, 8);
    long near = 0, near_before = 0;
    for (const Allocation& after : parts) {
      ASSERT_EQ(after.moves.size(), before.moves.size());
      EXPECT_LE(after.slots, layout.size);
      std::vector<long> slot(before.slots, -1), place(layout.size, -1);  // the move that stored what is there
      for (std::size_t k = 0; k < before.moves.size(); k++) {
        const Move &a = before.moves[k], &b = after.moves[k];
        if (a.kind == Move::Kind::Spill) {
          slot[a.number] = place.at(b.number) = static_cast<long>(k);
          continue;
        }
        for (int o = 0; o < 3; o++) {
          if (a.operand[o].kind != Place::Kind::Slot) continue;
          EXPECT_EQ(place.at(b.operand[o].index), slot[a.operand[o].index]) << "move " << k;
          near += b.operand[o].index < 8, near_before += a.operand[o].index < 8;
        }
      }
    }
    EXPECT_GT(near, near_before);
  }
}

// The bytes of a kernel's instructions bound the time of long ones. With a single base this one has 6.44 for each.
TEST(Frame, MakesShortAddresses) {
  if (assemblers().empty()) GTEST_SKIP() << "nothing is assembled here";
  const Program p = examples::random_program(1, 2000, false);
  const AssembledKernel k = assemble(p, trace_order(p), "avx2", Precision::float32);
  EXPECT_LT(static_cast<double>(k.bytes) / k.instructions, 6.4);
}

TEST(Assemble, OtherInstructionSetsAreRefused) {
  EXPECT_FALSE(can_assemble("base"));
  const Program p = examples::random_program(1, 5, false);
  EXPECT_THROW(assemble(p, trace_order(p), "base", Precision::float32), Error);
}

}  // namespace
}  // namespace featherstorm::test_assemble
