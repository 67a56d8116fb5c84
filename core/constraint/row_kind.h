// What the rows of constraints are to a solver.
#pragma once
#include <cassert>
#include <type_traits>

#include "core/scalar/scalar.h"

namespace featherstorm {

// Unilateral: limits, contacts without friction. Pyramid, Cone: the rows of one contact, its normal first.
enum class RowKind : unsigned char { Equality, Friction, Unilateral, Pyramid, Cone };

// Rows that have one cost.
struct RowBlock {
  RowKind kind = RowKind::Equality;
  int first = 0, rows = 1;
};

// Six rows at most.
inline constexpr int most_rows = 6, most_entries = 21;

// f(n) with n = rows as a constant.
FS_HD void with_rows(int rows, auto&& f) {
  switch (rows) {
    case 1: return f(std::integral_constant<int, 1>{});
    case 3: return f(std::integral_constant<int, 3>{});
    case 4: return f(std::integral_constant<int, 4>{});
    default: break;
  }
  assert(rows == 6);
  f(std::integral_constant<int, 6>{});
}

}  // namespace featherstorm
