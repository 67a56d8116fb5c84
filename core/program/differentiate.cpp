#include "core/program/differentiate.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <stdexcept>

namespace featherstorm {
namespace {

Expr value_of(Edge e, const std::vector<Expr>& nodes) { return e.negative() ? -nodes[e.node()] : nodes[e.node()]; }

// An operation on traced numbers, by its code.
Expr operation(Op op, Expr a, Expr b, Expr c) {
  Graph& g = Tracing::graph();
  const Edge x = a.edge(), y = b.edge();
  switch (op) {
    case Op::Const:
    case Op::Input: break;
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Atan2: return atan2(a, b);
    case Op::Min: return min(a, b);
    case Op::Max: return max(a, b);
    case Op::Less: return Expr(algebra::less(g, x, y));
    case Op::LessEqual: return Expr(algebra::less_equal(g, x, y));
    case Op::And: return Expr(algebra::both(g, x, y));
    case Op::Or: return Expr(algebra::either(g, x, y));
    case Op::Select: return select(ExprCondition(x), b, c);
    case Op::Rcp:
    case Op::Sqrt:
    case Op::Sin:
    case Op::Cos:
    case Op::Exp:
    case Op::Log:
    case Op::Abs:
    case Op::Floor: return Expr(algebra::unary(g, op, x));
  }
  assert(false);
  return {};
}

// The values of all live nodes of a program, in the graph being recorded.
std::vector<Expr> replay_nodes(const Program& p, const std::vector<char>& live, const TracedArrays& in) {
  std::vector<Expr> nodes(p.graph.size());
  std::size_t next_mark = 0;
  const auto& marks = p.graph.marks();
  for (int i = 0; i < p.graph.size(); i++) {
    for (; next_mark < marks.size() && marks[next_mark].node <= i; next_mark++) mark(marks[next_mark].text.c_str());
    if (!live[i]) continue;
    const Node& n = p.graph.node(i);
    if (n.op == Op::Const) {
      nodes[i] = Expr(n.value);
    } else if (n.op == Op::Input) {
      nodes[i] = in.at(n.array).at(n.component);
    } else {
      Expr x[3];
      for (int k = 0; k < arity(n.op); k++) x[k] = value_of(n.operand[k], nodes);
      nodes[i] = operation(n.op, x[0], x[1], x[2]);
    }
  }
  return nodes;
}

TracedArrays outputs_of(const Program& p, const std::vector<Expr>& nodes) {
  TracedArrays out;
  for (const auto& values : p.results) {
    auto& array = out.emplace_back();
    for (Expr x : values) array.push_back(value_of(x.edge(), nodes));
  }
  return out;
}

// The change of `n` for a change of each operand. Calls f(k, slope) for operands whose slope is a product, and
// g(k, condition, taken) for operands whose change passes through under a condition. x: the operands, y: the value.
template <class F, class G> void slopes(const Node& n, const Expr x[3], Expr y, F f, G g) {
  switch (n.op) {
    case Op::Add: return f(0, Expr(1)), f(1, Expr(1));
    case Op::Sub: return f(0, Expr(1)), f(1, Expr(-1));
    case Op::Mul: return f(0, x[1]), f(1, x[0]);
    case Op::Rcp: return f(0, -(y * y));
    case Op::Sqrt: return f(0, 0.5 * rcp(y));
    case Op::Sin: return f(0, cos(x[0]));
    case Op::Cos: return f(0, -sin(x[0]));
    case Op::Exp: return f(0, y);
    case Op::Log: return f(0, rcp(x[0]));
    case Op::Atan2: {
      const Expr k = rcp(x[0] * x[0] + x[1] * x[1]);
      return f(0, x[1] * k), f(1, -(x[0] * k));
    }
    case Op::Min: return g(0, x[0] < x[1], true), g(1, x[0] < x[1], false);
    case Op::Max: return g(0, x[1] < x[0], true), g(1, x[1] < x[0], false);
    case Op::Abs: return f(0, select(x[0] < Expr(0), Expr(-1), Expr(1)));
    case Op::Select: return g(1, ExprCondition(x[0].edge()), true), g(2, ExprCondition(x[0].edge()), false);
    case Op::Const:
    case Op::Input:
    case Op::Floor:
    case Op::Less:
    case Op::LessEqual:
    case Op::And:
    case Op::Or: return;
  }
}

// x where the condition is `taken`, else 0.
Expr where(ExprCondition c, bool taken, Expr x) { return taken ? select(c, x, Expr(0)) : select(c, Expr(0), x); }

// Nodes that depend on an input that is not held fixed.
std::vector<char> varying_nodes(const Program& p, const std::function<bool(int)>& varies) {
  std::vector<char> v(p.graph.size(), 0);
  for (int i = 0; i < p.graph.size(); i++) {
    const Node& n = p.graph.node(i);
    if (n.op == Op::Input) v[i] = varies(n.array);
    if (is_condition(n.op) || n.op == Op::Floor) continue;
    for (int k = n.op == Op::Select ? 1 : 0; k < arity(n.op); k++) v[i] = v[i] || v[n.operand[k].node()];
  }
  return v;
}

void operands_of(const Node& n, const std::vector<Expr>& nodes, Expr x[3]) {
  for (int k = 0; k < arity(n.op); k++) x[k] = value_of(n.operand[k], nodes);
}

// The inputs of a derived program: those of p, with the `added` arrays before the uniform ones.
struct Inputs { TracedArrays of_p, added; };
Inputs declare(const Program& p, Program& d, const std::vector<Program::Array>& added) {
  Inputs in;
  in.of_p.resize(p.inputs.size());
  for (std::size_t k = 0; k < p.inputs.size(); k++)
    if (!p.inputs[k].uniform) in.of_p[k] = d.input(p.inputs[k].name, p.inputs[k].size);
  for (const auto& a : added) in.added.push_back(d.input(a.name, a.size));
  for (std::size_t k = 0; k < p.inputs.size(); k++)
    if (p.inputs[k].uniform) in.of_p[k] = d.input(p.inputs[k].name, p.inputs[k].size, true);
  return in;
}

}  // namespace

TracedArrays replay(const Program& p, const TracedArrays& in) {
  return outputs_of(p, replay_nodes(p, live_nodes(p), in));
}

TracedArrays pull_back(const Program& p, const TracedArrays& in, const TracedArrays& y_bar) {
  const std::vector<char> live = live_nodes(p);
  const std::vector<char> varies = varying_nodes(p, [&](int array) { return !p.inputs[array].uniform; });
  const std::vector<Expr> nodes = replay_nodes(p, live, in);
  std::vector<Expr> bar(p.graph.size());  // zero
  const auto add = [&](Edge e, Expr x) {
    if (varies[e.node()]) bar[e.node()] += e.negative() ? -x : x;
  };
  for (std::size_t j = 0; j < p.results.size(); j++)
    for (std::size_t c = 0; c < p.results[j].size(); c++) add(p.results[j][c].edge(), y_bar.at(j).at(c));
  TracedArrays x_bar(p.inputs.size());
  for (std::size_t k = 0; k < p.inputs.size(); k++)
    if (!p.inputs[k].uniform) x_bar[k].resize(p.inputs[k].size);
  for (int i = p.graph.size() - 1; i >= 0; i--) {
    if (!live[i] || !varies[i]) continue;
    const Node& n = p.graph.node(i);
    if (n.op == Op::Input) {
      x_bar[n.array][n.component] = bar[i];
      continue;
    }
    Expr x[3];
    operands_of(n, nodes, x);
    const Expr b = bar[i];
    slopes(
        n, x, nodes[i], [&](int k, Expr slope) { add(n.operand[k], b * slope); },
        [&](int k, ExprCondition c, bool taken) { add(n.operand[k], where(c, taken, b)); });
  }
  return x_bar;
}

TracedArrays push_forward(const Program& p, const TracedArrays& in, const TracedArrays& x_tan) {
  const std::vector<char> live = live_nodes(p);
  const std::vector<char> varies = varying_nodes(p, [&](int array) { return !x_tan.at(array).empty(); });
  const std::vector<Expr> nodes = replay_nodes(p, live, in);
  std::vector<Expr> tan(p.graph.size());  // zero
  for (int i = 0; i < p.graph.size(); i++) {
    if (!live[i] || !varies[i]) continue;
    const Node& n = p.graph.node(i);
    if (n.op == Op::Input) {
      tan[i] = x_tan[n.array].at(n.component);
      continue;
    }
    Expr x[3];
    operands_of(n, nodes, x);
    slopes(
        n, x, nodes[i], [&](int k, Expr slope) { tan[i] += value_of(n.operand[k], tan) * slope; },
        [&](int k, ExprCondition c, bool taken) { tan[i] += where(c, taken, value_of(n.operand[k], tan)); });
  }
  return outputs_of(p, tan);
}

Program vjp(const Program& p, const std::vector<std::string>& of, const std::vector<std::string>& by) {
  Program d;
  const auto place = [](const std::vector<Program::Array>& arrays, const std::string& name, const char* what) {
    const auto at = std::ranges::find(arrays, name, &Program::Array::name);
    if (at == arrays.end() || at->uniform)
      throw std::invalid_argument("vjp: the program has no " + std::string(what) + " '" + name + "'");
    return static_cast<std::size_t>(at - arrays.begin());
  };
  std::vector<Program::Array> bars;
  for (const std::string& name : of)
    bars.push_back({name + cotangent_suffix, p.outputs[place(p.outputs, name, "output")].size, false});
  const Inputs in = declare(p, d, bars);
  TracedArrays y_bar, x_bar;
  for (const Program::Array& a : p.outputs) y_bar.emplace_back(a.size, Expr(0.0));
  for (std::size_t k = 0; k < of.size(); k++) y_bar[place(p.outputs, of[k], "output")] = in.added[k];
  {
    Tracing scope(d.graph);
    x_bar = pull_back(p, in.of_p, y_bar);
  }
  for (const std::string& name : by) d.output(name + cotangent_suffix, x_bar[place(p.inputs, name, "input")]);
  return d;
}

Program vjp(const Program& p) {
  std::vector<std::string> of, by;
  for (const Program::Array& a : p.outputs) of.push_back(a.name);
  for (const Program::Array& a : p.inputs)
    if (!a.uniform) by.push_back(a.name);
  return vjp(p, of, by);
}

Program jvp(const Program& p) {
  Program d;
  std::vector<Program::Array> tangents;
  for (const auto& a : p.inputs)
    if (!a.uniform) tangents.push_back({a.name + tangent_suffix, a.size, false});
  const Inputs in = declare(p, d, tangents);
  TracedArrays x_tan(p.inputs.size()), y_tan;
  for (std::size_t k = 0, j = 0; k < p.inputs.size(); k++)
    if (!p.inputs[k].uniform) x_tan[k] = in.added[j++];
  {
    Tracing scope(d.graph);
    y_tan = push_forward(p, in.of_p, x_tan);
  }
  for (std::size_t j = 0; j < p.outputs.size(); j++) d.output(p.outputs[j].name + tangent_suffix, y_tan[j]);
  return d;
}

}  // namespace featherstorm
