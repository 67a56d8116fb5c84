// Connectivity graph of a rigid-body system: spanning trees, chords, regular numbering. RBDA section 4.1.
//
//   const SpanningTree t = spanning_tree(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});   // a crank-slider linkage
//
// Nodes are bodies 0..N_B, with 0 the fixed base. Arcs are joints from predecessor to successor. Tree joints become the
// JointSpecs of a ModelBuilder, chords become the LoopSpecs of close_loops (loops.h).
#pragma once
#include <string>
#include <vector>

namespace featherstorm {

struct Arc {
  int p, s;  // predecessor, successor
};

// A numbering: 1 to N_B for bodies and tree joints, then loop joints. lambda(i) = min(p(i), s(i)) < i. RBDA (4.1),
// (4.2)
struct SpanningTree {
  std::vector<int> body;    // (N_B + 1) new number of each body
  std::vector<int> joint;   // (N_J) new number of each joint, from 1; more than N_B for chords
  std::vector<int> p, s;    // (N_J + 1) predecessor and successor of the joint with this new number; entry 0 unused
  std::vector<int> lambda;  // (N_B + 1) parent of each body, in new numbers; lambda(0) = -1
  int loops = 0;            // N_L = N_J - N_B independent kinematic loops
};

// Finds a spanning tree by depth-first search, with joints in the given order. `tree` may list the joints that must be
// tree joints; it then has N_B of them. Throws std::invalid_argument, naming the first faulty joint or body, in these
// cases: a joint connects a body that does not exist, or a body to itself; bodies are not connected to the base; the
// chosen joints are not a tree.
SpanningTree spanning_tree(int bodies, const std::vector<Arc>& joints, const std::vector<int>& tree = {});

// Returns true if the numbering (p, s of joints 1 to N_J, entry 0 unused) is regular: tree joint i joins body i to a
// lower one.
bool is_regular(int moving_bodies, const std::vector<int>& p, const std::vector<int>& s);

// Number of spanning trees of the graph: any cofactor of its Laplacian (Kirchhoff).
long spanning_trees(int bodies, const std::vector<Arc>& joints);

}  // namespace featherstorm
