#pragma once
// Properties of Expr for Eigen: it is a real number, and products with double are allowed.
#include <Eigen/Core>

#include "core/trace/expr.h"

namespace Eigen {

template <>
struct NumTraits<featherstorm::Expr> : GenericNumTraits<featherstorm::Expr> {
  using Real = featherstorm::Expr;
  using NonInteger = featherstorm::Expr;
  using Nested = featherstorm::Expr;
  using Literal = featherstorm::Expr;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 1,
    AddCost = 1,
    MulCost = 1
  };
};

template <class Operation>
struct ScalarBinaryOpTraits<double, featherstorm::Expr, Operation> {
  using ReturnType = featherstorm::Expr;
};

template <class Operation>
struct ScalarBinaryOpTraits<featherstorm::Expr, double, Operation> {
  using ReturnType = featherstorm::Expr;
};

}  // namespace Eigen
