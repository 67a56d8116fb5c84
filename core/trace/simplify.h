#pragma once
// The rules of algebra: each function adds an operation to the graph, or finds an existing equal value.
//
// All folding happens here, when the operation is traced:
//   constants          c1 + c2, c1 * (c2 * x), c1 + (c2 + x), sin(c), ... are computed
//   neutral elements   x + 0, x * 1, x * 0, x - x, x + (y - x), x * rcp(x), rcp(rcp(x)), sqrt(x) * sqrt(x)
//   signs              x - y = -(y - x), (-x) * y = -(x * y), sin(-x) = -sin(x), max(-x, -y) = -min(x, y):
//                      signs move outwards, so that terms that differ only in sign share their nodes
//   order              x + y = y + x: operands of commutative operations are in the order they were traced
//   conditions         !(x < y) = (y <= x), De Morgan: there is no Not operation
// Numbers are assumed finite: x * 0 = 0 and !(x < y) = (y <= x) hold for all numbers except infinities and NaN.
#include "core/trace/graph.h"

namespace featherstorm::algebra {

Edge add(Graph& g, Edge x, Edge y);
Edge multiply(Graph& g, Edge x, Edge y);
Edge divide(Graph& g, Edge x, Edge y);

// An operation of one operand: Rcp, Sqrt, Sin, Cos, Exp, Log, Abs, Floor.
Edge unary(Graph& g, Op op, Edge x);

Edge atan2(Graph& g, Edge y, Edge x);
Edge minimum(Graph& g, Edge x, Edge y);
Edge maximum(Graph& g, Edge x, Edge y);

// Conditions; the constants false and true are the edges of 0 and 1.
Edge less(Graph& g, Edge x, Edge y);
Edge less_equal(Graph& g, Edge x, Edge y);
Edge both(Graph& g, Edge x, Edge y);
Edge either(Graph& g, Edge x, Edge y);
Edge negation(Graph& g, Edge x);

// condition ? x : y
Edge select(Graph& g, Edge condition, Edge x, Edge y);

}  // namespace featherstorm::algebra
