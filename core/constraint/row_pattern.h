// What the rows of constraints are to a solver: blocks of rows that have one cost and, of each, the coordinates that they move.
//
// A Jacobian is packed: of each block its rows, each the numbers of the block's columns.
#pragma once
#include <cassert>
#include <type_traits>
#include <vector>

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

struct PackedBlock : RowBlock {
  int column = 0, columns = 0;  // its coordinates, among all columns
  int entry = 0;                // where its numbers of J begin: rows columns
  int w = 0;                    // where its part of W begins, the lower half: rows (rows + 1) / 2
};

// Block: a vector or a slice of blocks.
template <class Blocks, class Columns> struct RowPatternOf {
  Blocks block;
  Columns column;
  FS_HD int size() const { return static_cast<int>(block.size()); }
  FS_HD const PackedBlock& last() const { return block[size() - 1]; }
  FS_HD int rows() const { return size() == 0 ? 0 : last().first + last().rows; }
  FS_HD int entries() const { return size() == 0 ? 0 : last().entry + last().rows * last().columns; }
  FS_HD int curvatures() const { return size() == 0 ? 0 : last().w + last().rows * (last().rows + 1) / 2; }
  // A block behind the others whose columns are there already.
  FS_HD const PackedBlock& add(RowKind kind, int n, int at, int columns) {
    block.push_back({{kind, rows(), n}, at, columns, entries(), curvatures()});
    return last();
  }
};

struct RowPattern : RowPatternOf<std::vector<PackedBlock>, std::vector<int>> {
  void add(RowKind kind, int n, const std::vector<int>& coordinates) {
    RowPatternOf::add(kind, n, static_cast<int>(column.size()), static_cast<int>(coordinates.size()));
    column.insert(column.end(), coordinates.begin(), coordinates.end());
  }
};

}  // namespace featherstorm
