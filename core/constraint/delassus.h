// Half-solved constraint rows: Y = J L^-1 D^-1/2 with M = L^T D L, so that J M^-1 J^T = Y Y^T (the Delassus matrix).
//
// A row of Y has nonzeros at the coordinates that the row of J moves and at all their ancestors up to the root. RBDA
// section 6.5; MuJoCo calls the same matrix efc_Y.
#pragma once
#include <algorithm>
#include <vector>

#include "core/linear/ltdl.h"

namespace featherstorm {

// Sparsity of a row of Y, and the terms that compute it.
struct HalfSolution {
  struct Term { int position, entry; };
  std::vector<int> column;    // coordinates, ascending
  std::vector<int> position;  // position in `column` of each column of J
  std::vector<int> start;     // (columns + 1) of the terms of a column:
  std::vector<Term> term;     // x_column -= L_entry x_position
};

// Builds the pattern. columns: columns of J, ascending; m: the tree of M.
inline HalfSolution half_solution(const auto& m, const std::vector<int>& columns) {
  HalfSolution h;
  std::vector<char> there(static_cast<std::size_t>(m.nv));
  for (const int k : columns)
    for (int j = k; j >= 0; j = m.dof_parent[j]) there[j] = 1;
  for (int j = 0; j < m.nv; j++)
    if (there[j] != 0) h.column.push_back(j);
  const auto at = [&](int j) {
    return static_cast<int>(std::lower_bound(h.column.begin(), h.column.end(), j) - h.column.begin());
  };
  for (const int k : columns) h.position.push_back(at(k));
  std::vector<std::vector<HalfSolution::Term>> terms(h.column.size());
  for (const int i : h.column)
    for (int j = m.dof_parent[i]; j >= 0; j = m.dof_parent[j])
      terms[static_cast<std::size_t>(at(j))].push_back({at(i), m.at(i, j)});
  for (const auto& of_column : terms) {
    h.start.push_back(static_cast<int>(h.term.size()));
    h.term.insert(h.term.end(), of_column.begin(), of_column.end());
  }
  h.start.push_back(static_cast<int>(h.term.size()));
  return h;
}

// Computes Y from J.
//
// in   h
// in   factor (nh)  L below the diagonal, D^-1/2 on it;  diagonal (nv)  indices of the diagonal entries
// in   J (rows columns)  row by row
// out  Y (columns of h, rows)  column by column
// Cost 1/2 d^2 multiply-adds a row, for d columns.
template <int rows>
FS_HD void half_solve(const auto& h, const auto& factor, const auto& diagonal, const auto& J, auto Y) {
  using T = ScalarOf<decltype(Y)>;
  const int n = static_cast<int>(h.column.size()), columns = static_cast<int>(h.position.size());
  // x = L^-T J^T from the tips to the root, then D^-1/2 x
  const int* const start = h.start.data();
  const HalfSolution::Term* const term = h.term.data();
  int given = columns - 1;  // the last column of J not yet read
  for (int j = n - 1; j >= 0; j--) {
    T x[rows];
    const bool there = given >= 0 && h.position[given] == j;
    for (int i = 0; i < rows; i++) x[i] = there ? J[i * columns + given] : T(0.0);
    given -= there;
    for (int t = start[j]; t < start[j + 1]; t++) {
      const T l = factor[term[t].entry];
      const auto y = slice(Y, term[t].position * rows);
      for (int i = 0; i < rows; i++) x[i] = x[i] - l * y[i];
    }
    for (int i = 0; i < rows; i++) Y[j * rows + i] = x[i];
  }
  for (int j = 0; j < n; j++) {
    const T scale = factor[diagonal[h.column[j]]];
    for (int i = 0; i < rows; i++) Y[j * rows + i] = scale * Y[j * rows + i];
  }
}

// Computes the factor that half_solve expects, from M: L below the diagonal, D^-1/2 on it.
FS_HD void half_factor(const auto& m, const auto& mass, auto factor) {
  for (int k = 0; k < m.nh; k++) factor[k] = mass[k];
  ltdl(m, factor);
  for (int k = 0; k < m.nv; k++) factor[m.at(k, k)] = sqrt(factor[m.at(k, k)]);
}

// Recomputes M from that factor: M_ij = sum_k L_ki D_k L_kj over k = i and the descendants of i.
FS_HD void mass_of_half_factor(const auto& m, const auto& factor, auto mass) {
  using T = ScalarOf<decltype(mass)>;
  for (int k = 0; k < m.nh; k++) mass[k] = T(0.0);
  for (int k = 0; k < m.nv; k++) {
    const T d = rcp(factor[m.at(k, k)] * factor[m.at(k, k)]);
    for (int i = k; i >= 0; i = m.dof_parent[i]) {
      const T a = i == k ? d : d * factor[m.at(k, i)];
      for (int j = i; j >= 0; j = m.dof_parent[j])
        mass[m.at(i, j)] = mass[m.at(i, j)] + (j == k ? a : a * factor[m.at(k, j)]);
    }
  }
}

// Solve with that factor: y = D^-1/2 L^-T y (solve_from_tips), and y = L^-1 D^-1/2 y. Both in sequence give y = M^-1 y.
FS_HD void solve_from_tips(const auto& m, const auto& factor, auto y) {
  for (int i = m.nv - 1; i >= 0; i--) {
    for (int j = m.dof_parent[i]; j >= 0; j = m.dof_parent[j]) y[j] = y[j] - factor[m.at(i, j)] * y[i];
    y[i] = factor[m.at(i, i)] * y[i];
  }
}
FS_HD void solve_from_root(const auto& m, const auto& factor, auto y) {
  for (int i = 0; i < m.nv; i++) {
    auto sum = factor[m.at(i, i)] * y[i];
    for (int j = m.dof_parent[i]; j >= 0; j = m.dof_parent[j]) sum = sum - factor[m.at(i, j)] * y[j];
    y[i] = sum;
  }
}

}  // namespace featherstorm
