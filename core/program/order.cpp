#include "core/program/order.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "core/program/count.h"
#include "core/program/schedule.h"

namespace featherstorm {

std::vector<int> trace_order(const Program& p) {
  std::vector<char> live = live_nodes(p);
  std::vector<int> operations;
  for (int i = 0; i < p.graph.size(); ++i) {
    if (live[i] && arity(p.graph.node(i).op) > 0) operations.push_back(i);
  }
  return insert_inputs(p, operations);
}

// One greedy order: being `patience` nodes behind the trace counts as much as one live value.
static std::vector<int> greedy_order(const Program& p, double patience) {
  Schedule schedule(p);
  std::vector<int> operations, freed = schedule.ready(), changed;

  using Candidate = std::pair<double, int>;
  std::priority_queue<Candidate> queue;  // has stale entries: gains only rise, so the first of a node is the right one
  auto offer = [&](std::vector<int>& nodes) {
    for (int i : nodes) queue.push({schedule.gain(i) - i / patience, i});
    nodes.clear();
  };
  offer(freed);
  while (!queue.empty()) {
    int i = queue.top().second;
    queue.pop();
    if (schedule.placed(i)) continue;
    operations.push_back(i);
    schedule.place(i, freed, changed);
    offer(freed);
    offer(changed);
  }
  return insert_inputs(p, operations);
}

std::vector<int> greedy_order(const Program& p) {
  const Fusion fusion = fuse(p);
  std::vector<int> best;
  int least = 0;
  for (double patience : {1e2, 1e3, 1e4}) {
    std::vector<int> order = greedy_order(p, patience);
    int live = max_live(p, order, fusion);
    if (best.empty() || live < least) best = std::move(order), least = live;
  }
  return best;
}

std::vector<int> sethi_ullman_order(const Program& p) {
  const Graph& g = p.graph;

  // Registers that a tree of operations needs: equal needs of the two hardest operands cost one more.
  std::vector<int> need(g.size(), 0);
  for (int i = 0; i < g.size(); ++i) {
    int nodes[3], most = 0, second = 0;
    for (int k = operands(g, i, nodes); k-- > 0;) {
      int a = need[nodes[k]];
      if (a > most) {
        second = most, most = a;
      } else {
        second = std::max(second, a);
      }
    }
    if (g.node(i).op != Op::Const) need[i] = std::max(1, most == second ? most + 1 : most);
  }

  // Depth first with a stack of (node, true if its operands are placed).
  std::vector<int> operations;
  std::vector<char> placed(g.size(), 0);
  std::vector<std::pair<int, bool>> stack;
  for (const auto& values : p.results) {
    for (Expr x : values) {
      stack.push_back({x.edge().node(), false});
      while (!stack.empty()) {
        auto [i, operands_placed] = stack.back();
        stack.pop_back();
        if (placed[i] || arity(g.node(i).op) == 0) continue;
        if (operands_placed) {
          placed[i] = 1;
          operations.push_back(i);
          continue;
        }
        stack.push_back({i, true});
        int nodes[3], n = operands(g, i, nodes);
        std::stable_sort(nodes, nodes + n, [&](int a, int b) { return need[a] < need[b]; });
        for (int k = 0; k < n; ++k) stack.push_back({nodes[k], false});  // the neediest is on top
      }
    }
  }
  return insert_inputs(p, operations);
}

bool is_valid_order(const Program& p, const std::vector<int>& order) {
  std::vector<char> live = live_nodes(p), placed(p.graph.size(), 0);
  int expected = 0;
  for (int i = 0; i < p.graph.size(); ++i) expected += live[i] && p.graph.node(i).op != Op::Const;
  for (int i : order) {
    if (i < 0 || i >= p.graph.size() || !live[i] || placed[i] || p.graph.node(i).op == Op::Const) return false;
    int nodes[3];
    for (int k = operands(p.graph, i, nodes); k-- > 0;) {
      if (!placed[nodes[k]]) return false;
    }
    placed[i] = 1;
  }
  return int(order.size()) == expected;
}

}  // namespace featherstorm
