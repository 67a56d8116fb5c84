#pragma once
// Runs a program with numbers, node by node in trace order: the interpreter that tests use as the reference.
#include <stdexcept>
#include <vector>

#include "core/trace/apply.h"
#include "core/trace/program.h"

namespace featherstorm {

// One vector of components for each array.
template <class T>
using Arrays = std::vector<std::vector<T>>;

// Value of an edge, given the values of the nodes.
template <class T>
T value_of(Edge e, const std::vector<T>& nodes) {
  return e.negative() ? -nodes[e.node()] : nodes[e.node()];
}

// Values of all nodes for these inputs, dead ones too (they may be infinite).
template <class T>
std::vector<T> evaluate_nodes(const Graph& graph, const Arrays<T>& inputs) {
  std::vector<T> nodes(graph.size());
  for (int i = 0; i < graph.size(); ++i) {
    const Node& n = graph.node(i);
    if (n.op == Op::Const) {
      nodes[i] = T(n.value);
    } else if (n.op == Op::Input) {
      nodes[i] = inputs.at(n.array).at(n.component);
    } else {
      T x[3] = {};
      for (int k = 0; k < arity(n.op); ++k) x[k] = value_of(n.operand[k], nodes);
      nodes[i] = apply(n.op, x[0], x[1], x[2]);
    }
  }
  return nodes;
}

// Outputs for these inputs after `repeat` >= 1 passes; without carried arrays every pass gives the same.
template <class T>
Arrays<T> evaluate(const Program& p, Arrays<T> inputs, long repeat = 1) {
  if (inputs.size() != p.inputs.size()) throw std::invalid_argument("evaluate: wrong number of input arrays");
  Arrays<T> outputs;
  for (long pass = 0; pass < repeat; ++pass) {
    std::vector<T> nodes = evaluate_nodes(p.graph, inputs);
    outputs.clear();
    for (const auto& values : p.results) {
      std::vector<T>& array = outputs.emplace_back();
      for (Expr x : values) array.push_back(value_of(x.edge(), nodes));
    }
    for (auto [from, to] : p.carried) inputs[to] = outputs[from];
  }
  return outputs;
}

}  // namespace featherstorm
