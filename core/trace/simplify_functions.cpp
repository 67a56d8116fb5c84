// Functions of one and two operands, conditions and the choice between two values.
#include <cmath>
#include <limits>
#include <utility>

#include "core/trace/apply.h"
#include "core/trace/simplify.h"

namespace featherstorm::algebra {
namespace {

const double infinity = std::numeric_limits<double>::infinity();

// Min or Max; negative operands exchange the two: max(-x, -y) = -min(x, y).
Edge extremum(Graph& g, Op op, Edge x, Edge y) {
  if (g.is_constant(x) && g.is_constant(y)) return g.constant(apply(op, g.value(x), g.value(y), 0.0));
  if (x == y) return x;
  if (g.is_constant(y)) std::swap(x, y);

  if (g.is_constant(x)) {
    // min(x, inf) = x: the limit has no effect
    double none = op == Op::Min ? infinity : -infinity;
    if (g.is_constant(x, none)) return y;
    // min(c1, min(c2, z)) = min(min(c1, c2), z)
    const Node& n = g.node(y);
    if (n.op == op && !y.negative() && g.is_constant(n.operand[0])) {
      Edge c = g.constant(apply(op, g.value(x), g.value(n.operand[0]), 0.0));
      return extremum(g, op, c, n.operand[1]);
    }
  } else if (x.node() > y.node()) {
    std::swap(x, y);
  }

  if (x.negative() && y.negative()) return -extremum(g, op == Op::Min ? Op::Max : Op::Min, -x, -y);
  return g.operation(op, x, y);
}

// A comparison; -x < -y is y < x.
Edge comparison(Graph& g, Op op, Edge x, Edge y) {
  if (g.is_constant(x) && g.is_constant(y)) return g.constant(apply(op, g.value(x), g.value(y), 0.0));
  if (x == y) return g.constant(op == Op::LessEqual);
  if (g.is_constant(x, -infinity) || g.is_constant(y, infinity)) return g.constant(1);
  if (g.is_constant(x, infinity) || g.is_constant(y, -infinity)) return g.constant(0);
  if (x.negative() && y.negative()) return g.operation(op, -y, -x);
  return g.operation(op, x, y);
}

// And or Or: `neutral` is the constant that leaves the other operand unchanged.
Edge junction(Graph& g, Op op, double neutral, Edge x, Edge y) {
  if (g.is_constant(x)) return g.is_constant(x, neutral) ? y : x;
  if (g.is_constant(y)) return g.is_constant(y, neutral) ? x : y;
  if (x == y) return x;
  if (x.node() > y.node()) std::swap(x, y);
  return g.operation(op, x, y);
}

}  // namespace

Edge unary(Graph& g, Op op, Edge x) {
  if (g.is_constant(x)) return g.constant(apply(op, g.value(x), 0.0, 0.0));
  const Node n = g.node(x);
  if (op == Op::Rcp) {
    // 1 / (1 / z) = z, 1 / (c * z) = (1 / c) * (1 / z)
    if (n.op == Op::Rcp) return with_sign(n.operand[0], x.negative());
    if (n.op == Op::Mul && g.is_constant(n.operand[0])) {
      double c = g.value(n.operand[0]);
      return multiply(g, g.constant(x.negative() ? -1 / c : 1 / c), unary(g, op, n.operand[1]));
    }
    return with_sign(g.operation(op, x.positive()), x.negative());
  }
  if (op == Op::Sin) return with_sign(g.operation(op, x.positive()), x.negative());
  if (op == Op::Cos) return g.operation(op, x.positive());
  if (op == Op::Abs) {
    bool not_negative = n.op == Op::Abs || n.op == Op::Sqrt || n.op == Op::Exp;
    return not_negative ? x.positive() : g.operation(op, x.positive());
  }
  return g.operation(op, x);
}

Edge atan2(Graph& g, Edge y, Edge x) {
  if (g.is_constant(x) && g.is_constant(y)) return g.constant(std::atan2(g.value(y), g.value(x)));
  // atan2(-y, x) = -atan2(y, x)
  if (!g.is_constant(y)) return with_sign(g.operation(Op::Atan2, y.positive(), x), y.negative());
  return g.operation(Op::Atan2, y, x);
}

Edge minimum(Graph& g, Edge x, Edge y) { return extremum(g, Op::Min, x, y); }
Edge maximum(Graph& g, Edge x, Edge y) { return extremum(g, Op::Max, x, y); }

Edge less(Graph& g, Edge x, Edge y) { return comparison(g, Op::Less, x, y); }
Edge less_equal(Graph& g, Edge x, Edge y) { return comparison(g, Op::LessEqual, x, y); }

Edge both(Graph& g, Edge x, Edge y) { return junction(g, Op::And, 1, x, y); }
Edge either(Graph& g, Edge x, Edge y) { return junction(g, Op::Or, 0, x, y); }

Edge negation(Graph& g, Edge x) {
  if (g.is_constant(x)) return g.constant(g.value(x) == 0);
  const Node n = g.node(x);
  Edge a = n.operand[0], b = n.operand[1];
  if (n.op == Op::Less) return less_equal(g, b, a);
  if (n.op == Op::LessEqual) return less(g, b, a);
  if (n.op == Op::And) return either(g, negation(g, a), negation(g, b));
  return both(g, negation(g, a), negation(g, b));
}

Edge select(Graph& g, Edge condition, Edge x, Edge y) {
  if (g.is_constant(condition)) return g.is_constant(condition, 0) ? y : x;
  if (x == y) return x;
  // (a <= b) ? x : y = (b < a) ? y : x: one form of the two
  const Node n = g.node(condition);
  if (n.op == Op::LessEqual) return select(g, less(g, n.operand[1], n.operand[0]), y, x);
  if (x.negative()) return -g.operation(Op::Select, condition, -x, -y);
  return g.operation(Op::Select, condition, x, y);
}

}  // namespace featherstorm::algebra
