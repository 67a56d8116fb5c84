#include "core/trace/graph.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "core/trace/work_check.h"

namespace featherstorm {

int arity(Op op) {
  switch (op) {
    case Op::Const:
    case Op::Input: return 0;
    case Op::Rcp:
    case Op::Sqrt:
    case Op::Sin:
    case Op::Cos:
    case Op::Exp:
    case Op::Log:
    case Op::Abs:
    case Op::Floor: return 1;
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Atan2:
    case Op::Min:
    case Op::Max:
    case Op::Less:
    case Op::LessEqual:
    case Op::And:
    case Op::Or: return 2;
    case Op::Select: return 3;
  }
  return 0;
}

bool is_condition(Op op) { return op == Op::Less || op == Op::LessEqual || op == Op::And || op == Op::Or; }

Graph::Graph() { share(Node{}); }

Edge Graph::constant(double value) {
  Node n;
  n.value = std::fabs(value);
  return with_sign(share(n), value < 0);
}

Edge Graph::input(int array, int component) {
  Node n;
  n.op = Op::Input, n.array = array, n.component = component;
  return share(n);
}

Edge Graph::operation(Op op, Edge a, Edge b, Edge c) {
  Node n;
  n.op = op, n.operand[0] = a, n.operand[1] = b, n.operand[2] = c;
  return share(n);
}

Edge Graph::share(const Node& n) {
  check_work();
  auto [place, fresh] = index_.try_emplace(n, size());
  if (fresh) {
    if (size() >= most_)
      throw std::length_error("a traced program has more than " + std::to_string(most_) + " operations");
    nodes_.push_back(n);
  }
  return Edge::of(place->second);
}

std::size_t Graph::Hash::operator()(const Node& n) const {
  std::uint64_t h = std::uint64_t(n.op);
  for (std::uint64_t x :
       {std::uint64_t(n.operand[0].code), std::uint64_t(n.operand[1].code), std::uint64_t(n.operand[2].code),
        std::uint64_t(n.array), std::uint64_t(n.component), std::bit_cast<std::uint64_t>(n.value)}) {
    h = (h ^ x) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
  }
  return h;
}

int operands(const Graph& graph, int i, int nodes[3]) {
  const Node& n = graph.node(i);
  int count = 0;
  for (int k = 0; k < arity(n.op); ++k) {
    int a = n.operand[k].node();
    bool known = graph.node(a).op == Op::Const;
    for (int j = 0; j < count; ++j) known = known || nodes[j] == a;
    if (!known) nodes[count++] = a;
  }
  return count;
}

}  // namespace featherstorm
