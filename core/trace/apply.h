#pragma once
// Numerical definition of each operation, used by constant folding and evaluate.h.
#include <cmath>

#include "core/trace/graph.h"

namespace featherstorm {

// Value of an operation; conditions are 1 and 0. Const and Input have no operands and must not be passed.
template <class T>
T apply(Op op, T a, T b, T c) {
  switch (op) {
    case Op::Const:
    case Op::Input: return T(0);
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Rcp: return T(1) / a;
    case Op::Sqrt: return std::sqrt(a);
    case Op::Sin: return std::sin(a);
    case Op::Cos: return std::cos(a);
    case Op::Exp: return std::exp(a);
    case Op::Log: return std::log(a);
    case Op::Atan2: return std::atan2(a, b);
    case Op::Min: return a < b ? a : b;
    case Op::Max: return a > b ? a : b;
    case Op::Abs: return std::fabs(a);
    case Op::Floor: return std::floor(a);
    case Op::Less: return T(a < b);
    case Op::LessEqual: return T(a <= b);
    case Op::And: return T(a != 0 && b != 0);
    case Op::Or: return T(a != 0 || b != 0);
    case Op::Select: return a != 0 ? b : c;
  }
  return T(0);
}

}  // namespace featherstorm
