#include "core/program/count.h"

#include <algorithm>

namespace featherstorm {
namespace {

bool is_sum(Op op) { return op == Op::Add || op == Op::Sub; }

}  // namespace

Fusion fuse(const Program& p) {
  const Graph& g = p.graph;
  Fusion f{std::vector<char>(g.size(), 0), std::vector<int>(g.size(), -1)};
  std::vector<char> live = live_nodes(p), stored(g.size(), 0);
  for (const auto& values : p.results) {
    for (Expr x : values) stored[x.edge().node()] = 1;
  }

  std::vector<std::vector<int>> users(g.size());
  std::vector<int> products;
  for (int i = 0; i < g.size(); ++i) {
    if (!live[i]) continue;
    int nodes[3], n = operands(g, i, nodes);
    for (int k = 0; k < n; ++k) {
      if (g.node(nodes[k]).op == Op::Mul) users[nodes[k]].push_back(i);
    }
    if (g.node(i).op == Op::Mul && !stored[i]) products.push_back(i);
  }

  std::stable_sort(products.begin(), products.end(), [&](int a, int b) { return users[a].size() < users[b].size(); });
  for (int m : products) {
    bool folds = true;
    for (int u : users[m]) folds = folds && is_sum(g.node(u).op) && f.product[u] < 0;
    if (!folds) continue;
    f.folded[m] = 1;
    for (int u : users[m]) f.product[u] = m;
  }
  return f;
}

int max_live(const Program& p, const std::vector<int>& order, const Fusion& fusion) {
  const int end = int(order.size());
  std::vector<int> last(p.graph.size(), -1);
  auto use = [&](auto& self, int user, int time) -> void {
    int nodes[3], n = operands(p.graph, user, nodes);
    for (int k = 0; k < n; ++k) {
      if (fusion.folded[nodes[k]]) {
        self(self, nodes[k], time);
      } else {
        last[nodes[k]] = time;
      }
    }
  };
  for (int t = 0; t < end; ++t) {
    if (!fusion.folded[order[t]]) use(use, order[t], t);
  }
  if (!p.carried.empty()) {
    for (const auto& values : p.results) {
      for (Expr x : values) last[x.edge().node()] = end;
    }
  }

  int live = 0, most = 0;
  std::vector<int> deaths(end + 1, 0);
  for (int t = 0; t < end; ++t) {
    if (!fusion.folded[order[t]] && last[order[t]] > t) {
      ++live;
      ++deaths[last[order[t]]];
    }
    live -= deaths[t];
    most = std::max(most, live);
  }
  return most;
}

Counts count(const Program& p, const std::vector<int>& order) {
  Counts c;
  Fusion fusion = fuse(p);
  std::vector<char> angle(p.graph.size(), 0);
  for (int i : order) {
    const Node& n = p.graph.node(i);
    switch (n.op) {
      case Op::Const: break;
      case Op::Input: ++c.loads; break;
      case Op::Add:
      case Op::Sub: ++c.add; break;
      case Op::Mul:
        ++c.mul;
        c.fused += fusion.folded[i];
        break;
      case Op::Rcp: ++c.rcp; break;
      case Op::Sqrt: ++c.sqrt; break;
      case Op::Sin:
      case Op::Cos:
        c.sincos += !angle[n.operand[0].node()];
        angle[n.operand[0].node()] = 1;
        break;
      case Op::Exp:
      case Op::Log:
      case Op::Atan2:
      case Op::Min:
      case Op::Max:
      case Op::Abs:
      case Op::Floor:
      case Op::Less:
      case Op::LessEqual:
      case Op::And:
      case Op::Or:
      case Op::Select: ++c.other; break;
    }
  }
  for (const auto& values : p.results) c.stores += int(values.size());
  c.max_live = max_live(p, order, fusion);
  return c;
}

}  // namespace featherstorm
