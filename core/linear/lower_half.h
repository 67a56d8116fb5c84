// Symmetric matrices as the rows of their lower half, one after the other: n (n + 1) / 2 numbers.
#pragma once
#include "core/scalar/scalar.h"

namespace featherstorm {

// Index of the entry in row i and column j, j <= i; lower_half(n, 0) is the number of entries.
FS_HD constexpr int lower_half(int i, int j) { return i * (i + 1) / 2 + j; }
// The same of i and j in any order.
FS_HD constexpr int symmetric(int i, int j) { return i < j ? lower_half(j, i) : lower_half(i, j); }

}  // namespace featherstorm
