// Sums, products and quotients; the other operations are in simplify_functions.cpp.
#include "core/trace/simplify.h"

#include <utility>

namespace featherstorm::algebra {
namespace {

// c * rest, where c is a constant: the factors of a product.
struct Scaled {
  double factor;
  Edge rest;
};

// Splits x into a constant factor and the rest; the factor is 1 where there is none.
Scaled split_product(const Graph& g, Edge x) {
  const Node& n = g.node(x);
  if (n.op != Op::Mul || !g.is_constant(n.operand[0])) return {1, x};
  return {g.node(n.operand[0]).value, with_sign(n.operand[1], x.negative())};
}

// constant + rest: the terms of a sum.
struct Shifted {
  double constant;
  Edge rest;
};

// Splits x into a constant and the rest; the constant is 0 where there is none.
Shifted split_sum(const Graph& g, Edge x) {
  const Node& n = g.node(x);
  if (n.op != Op::Add && n.op != Op::Sub) return {0, x};
  Edge a = with_sign(n.operand[0], x.negative());
  Edge b = with_sign(n.operand[1], x.negative() != (n.op == Op::Sub));
  if (g.is_constant(a)) return {g.value(a), b};
  if (g.is_constant(b)) return {g.value(b), a};
  return {0, x};
}

// True if the sum y has a term -x; then the result is the other term.
bool cancels(const Graph& g, Edge x, Edge y, Edge& rest) {
  const Node& n = g.node(y);
  if (n.op != Op::Add && n.op != Op::Sub) return false;
  const Edge a = with_sign(n.operand[0], y.negative()), b = with_sign(n.operand[1], y.negative() != (n.op == Op::Sub));
  if (a == -x) return rest = b, true;
  if (b == -x) return rest = a, true;
  return false;
}

}  // namespace

Edge add(Graph& g, Edge x, Edge y) {
  if (g.is_constant(x) && g.is_constant(y)) return g.constant(g.value(x) + g.value(y));
  if (g.is_constant(x, 0)) return y;
  if (g.is_constant(y, 0)) return x;
  if (x == -y) return g.constant(0);
  if (x == y) return multiply(g, g.constant(2), x);

  // c1 + (c2 + z) = (c1 + c2) + z
  if (g.is_constant(y)) std::swap(x, y);
  if (g.is_constant(x)) {
    Shifted s = split_sum(g, y);
    if (s.constant != 0) return add(g, g.constant(g.value(x) + s.constant), s.rest);
  }

  // x + (y - x) = y
  Edge rest;
  if (cancels(g, x, y, rest) || cancels(g, y, x, rest)) return rest;

  // x + y = y + x, and x - y = -(y - x): the operand traced first gives the sign
  if (x.node() > y.node()) std::swap(x, y);
  Op op = x.negative() == y.negative() ? Op::Add : Op::Sub;
  return with_sign(g.operation(op, x.positive(), y.positive()), x.negative());
}

Edge multiply(Graph& g, Edge x, Edge y) {
  if (g.is_constant(x) && g.is_constant(y)) return g.constant(g.value(x) * g.value(y));
  if (g.is_constant(y)) std::swap(x, y);
  bool negative = x.negative() != y.negative();
  x = x.positive(), y = y.positive();

  if (g.is_constant(x)) {
    double c = g.value(x);
    if (c == 0) return g.constant(0);
    if (c == 1) return with_sign(y, negative);
    // c1 * (c2 * z) = (c1 * c2) * z
    Scaled p = split_product(g, y);
    if (p.factor != 1) return with_sign(multiply(g, g.constant(c * p.factor), p.rest), negative);
    return with_sign(g.operation(Op::Mul, x, y), negative);
  }

  // x * (1 / x) = 1, sqrt(x) * sqrt(x) = x
  const Node &m = g.node(x), &n = g.node(y);
  if (m.op == Op::Rcp && m.operand[0] == y) return g.constant(negative ? -1 : 1);
  if (n.op == Op::Rcp && n.operand[0] == x) return g.constant(negative ? -1 : 1);
  if (x == y && m.op == Op::Sqrt) return with_sign(m.operand[0], negative);

  if (x.node() > y.node()) std::swap(x, y);
  return with_sign(g.operation(Op::Mul, x, y), negative);
}

Edge divide(Graph& g, Edge x, Edge y) {
  if (g.is_constant(x) && g.is_constant(y)) return g.constant(g.value(x) / g.value(y));
  return multiply(g, x, unary(g, Op::Rcp, y));
}

}  // namespace featherstorm::algebra
