#include "core/program/hoist.h"

namespace featherstorm {
namespace {

Edge mapped(const std::vector<int>& node, Edge e) { return Edge::of(node[e.node()], e.negative()); }

// Copies a node whose operands are copied already.
int copy(const Node& n, const std::vector<int>& node, Graph& to) {
  if (n.op == Op::Const) return to.constant(n.value).node();
  if (n.op == Op::Input) return to.input(n.array, n.component).node();
  Edge x[3];
  for (int k = 0; k < arity(n.op); k++) x[k] = mapped(node, n.operand[k]);
  return to.operation(n.op, x[0], x[1], x[2]).node();
}

// The fusion of the whole program for a part of it.
Fusion part_of(const Fusion& whole, const std::vector<int>& node, const Graph& part) {
  Fusion f{std::vector<char>(part.size(), 0), std::vector<int>(part.size(), -1)};
  for (std::size_t i = 0; i < node.size(); i++) {
    if (node[i] < 0 || arity(part.node(node[i]).op) == 0) continue;
    f.folded[node[i]] = whole.folded[i];
    if (whole.product[i] >= 0) f.product[node[i]] = node[whole.product[i]];
  }
  return f;
}

}  // namespace

std::optional<Split> hoist(const Program& p) {
  if (p.carried.empty()) return std::nullopt;
  const Graph& g = p.graph;
  const std::vector<char> live = live_nodes(p);
  const Fusion fusion = fuse(p);
  std::vector<char> varies(g.size(), 0), moves(g.size(), 0), derived(g.size(), 0);
  int nodes[3];
  for (int i = 0; i < g.size(); i++) {
    if (!live[i]) continue;
    const Node& n = g.node(i);
    if (n.op == Op::Input) varies[i] = p.is_carried(n.array);
    for (int k = operands(g, i, nodes); k-- > 0;) varies[i] |= varies[nodes[k]];
    moves[i] = !varies[i] && arity(n.op) > 0 && !is_condition(n.op) && !fusion.folded[i];
  }
  // values that the pass needs; products and conditions are placed with their users, in one part or in both
  std::vector<char> in_pass(g.size(), 0), in_setup(g.size(), 0);
  for (const auto& values : p.results)
    for (Expr x : values) in_pass[x.edge().node()] = 1;
  for (int i = g.size(); i-- > 0;) {
    if (!live[i] || !in_pass[i]) continue;
    if (moves[i]) {
      derived[i] = in_setup[i] = 1, in_pass[i] = 0;
      continue;
    }
    for (int k = 0; k < arity(g.node(i).op); k++) in_pass[g.node(i).operand[k].node()] = 1;
  }
  int count = 0;
  for (int i = g.size(); i-- > 0;) {
    count += derived[i];
    if (!in_setup[i]) continue;
    for (int k = 0; k < arity(g.node(i).op); k++) in_setup[g.node(i).operand[k].node()] = 1;
  }
  if (count == 0) return std::nullopt;

  Split s;
  s.setup.inputs = s.pass.inputs = p.inputs;
  s.pass.inputs.push_back({"derived", count, false});
  s.setup_node.assign(g.size(), -1), s.pass_node.assign(g.size(), -1);
  s.setup_node[0] = s.pass_node[0] = 0;  // zero
  std::vector<Expr> values;
  auto mark = g.marks().begin();
  for (int i = 0; i < g.size(); i++) {
    for (; mark != g.marks().end() && mark->node <= i; ++mark) s.pass.graph.mark(mark->text);
    if (in_setup[i]) s.setup_node[i] = copy(g.node(i), s.setup_node, s.setup.graph);
    if (derived[i]) {
      s.pass_node[i] = s.pass.graph.input(int(p.inputs.size()), int(values.size())).node();
      values.push_back(Expr(Edge::of(s.setup_node[i])));
    } else if (in_pass[i]) {
      s.pass_node[i] = copy(g.node(i), s.pass_node, s.pass.graph);
    }
  }
  s.setup.output("derived", values);
  for (std::size_t j = 0; j < p.outputs.size(); j++) {
    std::vector<Expr> results;
    for (Expr x : p.results[j]) results.push_back(Expr(mapped(s.pass_node, x.edge())));
    s.pass.output(p.outputs[j].name, results);
  }
  s.pass.carried = p.carried;
  s.setup_fusion = part_of(fusion, s.setup_node, s.setup.graph);
  s.pass_fusion = part_of(fusion, s.pass_node, s.pass.graph);
  return s;
}

std::vector<int> setup_order(const Split& s, const std::vector<int>& order) {
  std::vector<int> there;
  for (int i : order)
    if (s.setup_node[i] >= 0) there.push_back(s.setup_node[i]);
  return there;
}

std::vector<int> pass_order(const Split& s, const std::vector<int>& order) {
  std::vector<int> there;
  for (int i : order)
    if (s.pass_node[i] >= 0) there.push_back(s.pass_node[i]);
  return there;
}

}  // namespace featherstorm
