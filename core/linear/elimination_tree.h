// A tree for the factors of ltdl.h of a matrix that couples coordinates which the robot's tree does not couple:
// M + J^T D J, where a row of J has coordinates of two limbs.
//
// Eliminating coordinate k adds products of all entries of its row. With parent(k) the greatest coordinate below k in
// that row, every entry that appears is between a coordinate and an ancestor in this tree: the elimination tree of Liu
// (1990), from the last coordinate to the first. Without coupling it is the robot's own. The algorithms of ltdl.h take
// it in place of a model.
#pragma once
#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "core/scalar/bits.h"

namespace featherstorm {

struct EliminationTree {
  int nv = 0, nh = 0;  // coordinates, entries
  std::vector<int> dof_parent, depth, row_start, column;
  FS_HD int at(int i, int j) const { return row_start[i] + depth[j]; }
};

// in   dof_parent  of the robot: its matrix has the entries of each coordinate and its ancestors
// in   together    sets of coordinates that have entries with each other
inline EliminationTree elimination_tree(const std::vector<int>& dof_parent,
                                        const std::vector<std::vector<int>>& together) {
  EliminationTree t;
  t.nv = static_cast<int>(dof_parent.size());
  std::vector<std::set<int>> row(dof_parent.size());  // the coordinates below k that it has entries with
  for (int k = 0; k < t.nv; k++)
    for (int j = dof_parent[k]; j >= 0; j = dof_parent[j]) row[k].insert(j);
  // entries with the last of a set are enough: its elimination couples the others
  for (const std::vector<int>& set : together) {
    const int last = set.empty() ? 0 : *std::max_element(set.begin(), set.end());
    for (int j : set)
      if (j < last) row[last].insert(j);
  }
  t.dof_parent.assign(dof_parent.size(), -1);
  for (int k = t.nv - 1; k >= 0; k--) {
    if (row[k].empty()) continue;
    const int parent = t.dof_parent[k] = *row[k].rbegin();
    for (int j : row[k])
      if (j != parent) row[parent].insert(j);
  }
  for (int k = 0; k < t.nv; k++) {
    t.depth.push_back(t.dof_parent[k] < 0 ? 0 : t.depth[t.dof_parent[k]] + 1);
    t.row_start.push_back(t.nh);
    std::vector<int> ancestors{k};
    for (int j = t.dof_parent[k]; j >= 0; j = t.dof_parent[j]) ancestors.push_back(j);
    t.column.insert(t.column.end(), ancestors.rbegin(), ancestors.rend());
    t.nh = static_cast<int>(t.column.size());
  }
  t.row_start.push_back(t.nh);
  return t;
}

// The same in memory of the caller, for couplings that are known only at run time.
struct EliminationTreeIn {
  int nv = 0, nh = 0;
  int *dof_parent, *depth, *row_start;  // (nv), (nv), (nv + 1)
  std::uint64_t* row;                   // (nv words)  a set of bits for each coordinate: it and its ancestors
  FS_HD int at(int i, int j) const { return row_start[i] + depth[j]; }
};

// in-out  t  nv and row are given: for coordinate k some of the coordinates below it with an entry;
//            the others follow from these, and its parent
FS_HD void eliminate(int words, EliminationTreeIn& t) {
  for (int k = t.nv - 1; k >= 0; k--) {
    std::uint64_t* const of = t.row + k * words;
    int at = words - 1;
    while (at >= 0 && of[at] == 0) at--;
    t.dof_parent[k] = at < 0 ? -1 : 64 * at + highest_bit(of[at]);
    if (at < 0) continue;
    of[at] &= ~(std::uint64_t{1} << (t.dof_parent[k] % 64));
    for (int i = 0; i <= at; i++) t.row[t.dof_parent[k] * words + i] |= of[i];
  }
  t.nh = 0;
  for (int k = 0; k < t.nv; k++) {
    const int parent = t.dof_parent[k];
    t.depth[k] = parent < 0 ? 0 : t.depth[parent] + 1;
    for (int i = 0; i < words; i++) t.row[k * words + i] = parent < 0 ? 0 : t.row[parent * words + i];
    t.row[k * words + k / 64] |= std::uint64_t{1} << (k % 64);
    t.row_start[k] = t.nh, t.nh += t.depth[k] + 1;
  }
  t.row_start[t.nv] = t.nh;
}

}  // namespace featherstorm
