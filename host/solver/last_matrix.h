// Solve with Newton's last matrix, H = M + J^T W J, for found contacts.
#pragma once
#include "core/linear/limb_blocks.h"
#include "host/contacts/find_rows.h"

namespace featherstorm {

// y = J x for one block.
template <class T>
FS_HD void block_times(const auto& J, int rows, int columns, const auto& column, const auto& x, auto y) {
  for (int i = 0; i < rows; i++) {
    y[i] = T(0.0);
    for (int k = 0; k < columns; k++) y[i] = y[i] + J[i * columns + k] * x[column(k)];
  }
}

// Return coordinate k of a block.
FS_HD int column_of(const auto& solver, const PresentBlock& c, int k) {
  if (c.contact) return solver.pairs.column[solver.pairs.start[c.source] + k].v;
  return solver.constraints.column[solver.constraints.block[c.source].column + k];
}
FS_HD int columns_of(const auto& solver, const PresentBlock& c) {
  return c.contact ? solver.pairs.columns(c.source) : solver.constraints.block[c.source].columns;
}

// Compute f and W of all blocks at a, and x = H^-1 x.
//
// out     force, W (most_rows, most_entries for each block)
// in-out  x (nv)
template <class T>
FS_HD void solve_last_matrix(const auto& solver, const PresentRows<T>& present, const auto& in, auto force, auto W,
                             auto x) {
  const auto& limbs = solver.limbs;
  LimbBlocks blocks = limbs.blocks();
  const int sets = blocks.limbs * blocks.words;
  auto row = scratch<std::uint64_t>(sets), column_sets = scratch<std::uint64_t>(sets);
  auto place = scratch<int>(lower_half(blocks.limbs, 0));
  for (int i = 0; i < sets; i++) row[i] = blocks.row[i];
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    const int n = columns_of(solver, c), last = n == 0 ? 0 : limbs.limb_of[column_of(solver, c, n - 1)];
    for (int k = 0; k < n; k++) {
      const int l = limbs.limb_of[column_of(solver, c, k)];
      if (l != last) row[last * blocks.words + l / 64] |= std::uint64_t{1} << (l % 64);
    }
  }
  blocks.row = row.data(), blocks.column = column_sets.data(), blocks.place = place.data();
  blocks.numbers =
      eliminate_limbs(blocks.limbs, blocks.words, blocks.limb, row.data(), place.data(), column_sets.data());
  const auto entry = [&](int i, int j) {
    const int m = limbs.limb_of[i], n = limbs.limb_of[j];
    return blocks.at(m, n) + (i - blocks.limb[m].first) * blocks.limb[n].count + (j - blocks.limb[n].first);
  };
  auto H = scratch<T>(blocks.numbers), R = scratch<T>(blocks.numbers);
  for (int k = 0; k < blocks.numbers; k++) H[k] = T(0.0);
  for (int i = 0; i < solver.nv; i++)
    for (int j = i; j >= 0; j = solver.own.dof_parent[j]) H[entry(i, j)] = in.mass[solver.own.at(i, j)];
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    const auto& group = solver.group[solver.group_of[c.contact][c.source]];
    const int n = columns_of(solver, c), m = group.rows;
    const auto J = slice(present.J, c.J);
    const auto column = [&](int k) { return column_of(solver, c, k); };
    T r[most_rows], along[most_rows];
    block_times<T>(J, m, n, column, in.qacc, r);
    for (int k = 0; k < m; k++) r[k] = r[k] - present.aref[c.row + k];
    const auto w = slice(W, most_entries * i);
    block_state<T>(RowBlock{group.kind, 0, m}, r, slice(present.D, c.row), slice(present.friction, c.row),
                   slice(force, most_rows * i), w);
    for (int k = 0; k < n; k++) {
      for (int s = 0; s < m; s++) {
        along[s] = T(0.0);
        for (int t = 0; t < m; t++) along[s] = along[s] + w[symmetric(s, t)] * J[t * n + k];
      }
      for (int l = 0; l <= k; l++) {
        T& sum = H[entry(column(k), column(l))];
        for (int s = 0; s < m; s++) sum = sum + along[s] * J[s * n + l];
      }
    }
  }
  factor_limbs(blocks, H.data(), R.data());
  solve_limbs(blocks, R.data(), x);
}

}  // namespace featherstorm
