// Operations per evaluation of the traced programs, beside the formulas of the book, as a table in Markdown.
//
//   bench_count [ROBOT...]     default: all built-in robots
//
// Formulas: RBDA Table 10.1 for a chain of n joints with one freedom each (a floating base counts as six of them);
// of ltdl and solve RBDA Table 6.4 with branches: D1 = sum of depths, D2 = sum of depth (depth + 1) / 2 over the dofs.
#include <cstdio>
#include <optional>

#include "bench/case.h"
#include "core/trace/count.h"
#include "core/trace/order.h"
#include "host/evaluator.h"
#include "host/load.h"
#include "host/ops.h"
#include "host/robots/robots.h"
#include "host/trace_op.h"

using namespace featherstorm;

namespace {

// Products and sums by the formula of an operation.
std::optional<long> formula(std::string_view op, const Model<double>& m) {
  const long n = m.nv;
  long d1 = 0, d2 = 0;
  for (int d : m.depth) d1 += d, d2 += d * (d + 1L) / 2;
  if (op == "rnea") return (93 * n - 108) + (81 * n - 100);
  if (op == "crba") return (10 * n * n + 22 * n - 32) + (6 * n * n + 37 * n - 43);
  if (op == "aba") return (224 * n - 259) + (205 * n - 248);
  if (op == "ltdl") return (d1 + d2) + d2;
  if (op == "solve") return (2 * d1 + n) + 2 * d1;
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> robots(argv + 1, argv + argc);
  if (robots.empty())
    for (const BuiltinRobot& r : builtin_robots()) robots.emplace_back(r.name);

  std::printf("| op | robot | nv | mul | add | fused | rcp | sincos | other | mul + add | formula | of it | "
              "instructions | max_live |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const std::string& name : robots) {
    const Robot robot = load(name);
    const Evaluator evaluator(robot);
    for (const OpRow& row : evaluator.ops()) {
      if (!row.refused.empty()) continue;
      const int frame = row.uses_frame ? deepest_frame(robot.model) : 0;
      const Program p = trace_best(row.index, robot.model, frame);
      const Counts c = count(p, latency_order(p));
      std::printf("| %s | %s | %d | %d | %d | %d | %d | %d | %d | %d |", std::string(row.name).c_str(), name.c_str(),
                  robot.model.nv, c.mul, c.add, c.fused, c.rcp, c.sincos, c.other + c.sqrt, c.flops());
      if (const auto f = formula(row.name, robot.model)) std::printf(" %ld | %.0f %% |", *f, 100.0 * c.flops() / *f);
      else std::printf(" | |");
      std::printf(" %d | %d |\n", c.instructions(), c.max_live);
      std::fflush(stdout);
    }
  }
}
