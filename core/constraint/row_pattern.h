// Structure of the constraint rows for a solver: blocks of rows that share one cost, and the coordinates that each
// block moves.
//
// A Jacobian is packed: block by block, row by row, one entry for each column of the block.
#pragma once
#include <cassert>
#include <type_traits>
#include <vector>

#include "core/scalar/scalar.h"

namespace featherstorm {

// Unilateral: limits, contacts without friction. Pyramid, Cone: the rows of one contact, its normal first.
enum class RowKind : unsigned char { Equality, Friction, Unilateral, Pyramid, Cone };

// Rows that share one cost.
struct RowBlock {
  RowKind kind = RowKind::Equality;
  int first = 0, rows = 1;
};

// A block has at most six rows.
inline constexpr int most_rows = 6, most_entries = 21;

// Calls f(n) with n = rows as a compile-time constant.
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
  int column = 0, columns = 0;  // its coordinates, in the list of all columns
  int entry = 0;                // offset of its entries of J: rows columns
  int w = 0;                    // offset of its entries of W, the lower half: rows (rows + 1) / 2
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
  // Appends a block whose columns exist already.
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
