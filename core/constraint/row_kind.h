// What the rows of constraints are to a solver.
#pragma once
#include <vector>

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

}  // namespace featherstorm
