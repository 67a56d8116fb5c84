// Sparsity of H11 in hybrid dynamics: the tree with its prescribed joints contracted. RBDA section 9.1, Figure 9.1.
//
// Reference only. The indices depend on a model and a choice of joints; they are computed once and shared by a batch.
#pragma once
#include "core/model/model.h"

namespace featherstorm {

// Index tables of a packed matrix (model.h) for another tree of coordinates. ltdl.h accepts it in place of a Model.
struct PackedTree {
  int nv = 0, nh = 0;
  std::vector<int> dof_parent, depth, row_start;
  int at(int i, int j) const { return row_start[i] + depth[j]; }
};
inline PackedTree packed_tree(const std::vector<int>& dof_parent) {
  PackedTree t;
  t.nv = static_cast<int>(dof_parent.size());
  t.dof_parent = dof_parent;
  t.row_start.push_back(0);
  for (int p : dof_parent) {
    t.depth.push_back(p < 0 ? 0 : t.depth[p] + 1);
    t.row_start.push_back(t.row_start.back() + t.depth.back() + 1);
  }
  t.nh = t.row_start.back();
  return t;
}

// Contracts the tree.
//
// in   parent (nb + 1)      lambda; parent[0] is not read
// in   prescribed (nb + 1)  as in hybrid_aba.h
// out  map (nb + 1)         node of the contracted tree that contains body i; 0 is the world's
// out  parent (n + 1)       lambda' of the n joints with known forces
struct ContractedTree { std::vector<int> map, parent; };
inline ContractedTree contracted(const std::vector<int>& parent, const std::vector<char>& prescribed) {
  ContractedTree t{std::vector<int>(parent.size(), 0), {0}};
  for (std::size_t i = 1; i < parent.size(); i++) {
    const int up = t.map[parent[i]];
    t.map[i] = up;
    if (prescribed[i]) continue;
    t.map[i] = static_cast<int>(t.parent.size());
    t.parent.push_back(up);
  }
  return t;
}

// lambda' expanded to coordinates. `dof` lists the coordinates of joints with known forces, `tree` is their packed
// layout.
struct HybridTree {
  std::vector<int> dof;
  PackedTree tree;
};
template <class P> HybridTree hybrid_tree(const Model<P>& m, const std::vector<char>& prescribed) {
  HybridTree h;
  std::vector<int> number(m.nv, -1), parent;
  for (int k = 0; k < m.nv; k++) {
    if (prescribed[m.dof_body[k]]) continue;
    int up = m.dof_parent[k];
    while (up >= 0 && number[up] < 0) up = m.dof_parent[up];
    number[k] = static_cast<int>(h.dof.size());
    h.dof.push_back(k);
    parent.push_back(up < 0 ? -1 : number[up]);
  }
  h.tree = packed_tree(parent);
  return h;
}

}  // namespace featherstorm
