// Which numbers of the rows of constraints there are: blocks of rows and, of each, the coordinates that they move.
//
// A Jacobian is packed: of each block its rows, each the numbers of the block's columns.
#pragma once
#include <vector>

#include "core/constraint/row_kind.h"
#include "core/scalar/scalar.h"

namespace featherstorm {

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
