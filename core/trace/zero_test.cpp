#include "core/trace/zero_test.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace featherstorm {
namespace {

const double tolerance = 1e-11;  // relative; rounding gives about 1e-15 per operation

// True if two values agree. Equal infinities do not agree, because they carry no information.
bool same(double x, double y) { return std::fabs(x - y) <= tolerance * std::max(std::fabs(x), std::fabs(y)); }

}  // namespace

ZeroTest zero_test(const Program& p, const std::vector<Arrays<double>>& points) {
  const Graph& g = p.graph;
  std::vector<std::vector<double>> values;
  for (const auto& inputs : points) values.push_back(evaluate_nodes(g, inputs));

  // zero: a sum much smaller than its terms at every point
  ZeroTest result;
  std::vector<char> live = live_nodes(p);
  std::vector<char> zero(g.size(), 0);
  for (int i = 0; i < g.size(); ++i) {
    const Node& n = g.node(i);
    if (!live[i] || arity(n.op) == 0 || is_condition(n.op)) continue;
    zero[i] = 1;
    for (const auto& v : values) {
      double scale = 0;
      if (n.op == Op::Add || n.op == Op::Sub) scale = std::fabs(v[n.operand[0].node()]);
      if (!(std::fabs(v[i]) <= tolerance * scale)) zero[i] = 0;
    }
    if (zero[i]) result.zero.push_back(i);
  }

  // constant: the same value at every point
  std::vector<int> sorted;
  for (int i = 0; i < g.size(); ++i) {
    if (!live[i] || zero[i] || g.node(i).op == Op::Const || is_condition(g.node(i).op)) continue;
    bool constant = arity(g.node(i).op) > 0;
    for (const auto& v : values) constant = constant && same(v[i], values[0][i]);
    (constant ? result.constant : sorted).push_back(i);
  }

  // equal: neighbours when sorted by magnitude at the first point, confirmed at the others
  const auto& v0 = values[0];
  sorted.erase(std::remove_if(sorted.begin(), sorted.end(), [&](int i) { return !std::isfinite(v0[i]); }),
               sorted.end());
  std::stable_sort(sorted.begin(), sorted.end(), [&](int a, int b) { return std::fabs(v0[a]) < std::fabs(v0[b]); });
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    // the earliest of the neighbouring nodes that agrees at all points
    ZeroTest::Pair found{sorted[k], sorted[k], false};
    auto consider = [&](int other) {
      if (other >= found.earlier || arity(g.node(sorted[k]).op) == 0) return;
      bool negative = (v0[sorted[k]] < 0) != (v0[other] < 0), agrees = true;
      for (const auto& v : values) agrees = agrees && same(v[sorted[k]], negative ? -v[other] : v[other]);
      if (agrees) found = {sorted[k], other, negative};
    };
    double size = std::fabs(v0[sorted[k]]);
    for (std::size_t j = k; j-- > 0 && same(size, std::fabs(v0[sorted[j]]));) consider(sorted[j]);
    for (std::size_t j = k + 1; j < sorted.size() && same(size, std::fabs(v0[sorted[j]])); ++j) consider(sorted[j]);
    if (found.earlier != sorted[k]) result.equal.push_back(found);
  }
  std::sort(result.equal.begin(), result.equal.end(),
            [](const ZeroTest::Pair& a, const ZeroTest::Pair& b) { return a.node < b.node; });
  return result;
}

ZeroTest zero_test(const Program& p, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<Arrays<double>> points(3);
  for (auto& inputs : points) {
    for (const auto& array : p.inputs) {
      auto& values = inputs.emplace_back(array.size);
      for (double& x : values) x = number(random);
    }
  }
  return zero_test(p, points);
}

}  // namespace featherstorm
