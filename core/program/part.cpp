#include "core/program/part.h"

namespace featherstorm {

Program part_of(const Program& p, const std::function<bool(const std::string&)>& chosen) {
  std::vector<std::size_t> outputs;
  for (std::size_t k = 0; k < p.outputs.size(); k++)
    if (chosen(p.outputs[k].name)) outputs.push_back(k);
  const Graph& g = p.graph;
  std::vector<char> live(static_cast<std::size_t>(g.size()), 0), read(p.inputs.size(), 0);
  for (const std::size_t k : outputs)
    for (const Expr& x : p.results[k]) live[static_cast<std::size_t>(x.edge().node())] = 1;
  for (int i = g.size() - 1; i >= 0; i--) {
    if (!live[static_cast<std::size_t>(i)]) continue;
    const Node& n = g.node(i);
    for (int k = 0; k < arity(n.op); k++) live[static_cast<std::size_t>(n.operand[k].node())] = 1;
    if (n.op == Op::Input) read[static_cast<std::size_t>(n.array)] = 1;
  }

  Program part;
  std::vector<int> array(p.inputs.size(), -1), node(static_cast<std::size_t>(g.size()), 0);
  for (std::size_t k = 0; k < p.inputs.size(); k++) {
    if (!read[k]) continue;
    array[k] = static_cast<int>(part.inputs.size());
    part.inputs.push_back(p.inputs[k]);
  }
  const auto mapped = [&](Edge e) { return Edge::of(node[static_cast<std::size_t>(e.node())], e.negative()); };
  for (int i = 0; i < g.size(); i++) {
    if (!live[static_cast<std::size_t>(i)]) continue;
    const Node& n = g.node(i);
    Edge made;
    if (n.op == Op::Const) made = part.graph.constant(n.value);
    else if (n.op == Op::Input) made = part.graph.input(array[static_cast<std::size_t>(n.array)], n.component);
    else made = part.graph.operation(n.op, mapped(n.operand[0]), mapped(n.operand[1]), mapped(n.operand[2]));
    node[static_cast<std::size_t>(i)] = made.node();
  }
  for (const std::size_t k : outputs) {
    std::vector<Expr> values;
    for (const Expr& x : p.results[k]) values.push_back(Expr(mapped(x.edge())));
    part.output(p.outputs[k].name, values);
  }
  return part;
}

}  // namespace featherstorm
