#pragma once
// The second half of partition.h: who computes what is decided, now the steps of each role are written down.
#include "core/program/count.h"
#include "core/program/partition.h"

namespace featherstorm {

// A program to be cut, and what is known of it.
struct Cut {
  const Program& p;
  const Graph& g;
  const std::vector<int>& order;
  const Bodies& bodies;
  std::vector<char> live;
  Fusion fusion;
  std::vector<int> cost;  // node -> instructions
};

// Where each node is computed; in what each role has for itself, the role is `every`.
struct Home {
  static constexpr int every = -1;
  std::vector<int> role, phase;
};

// Whether a node is computed in one place: not an input, a condition, or a product that a sum takes.
bool has_home(const Cut& c, int node);

// The steps of all roles, the slots of what they exchange, and what the phases take. Phases are 0 to 3; an operand's home
// is in an earlier phase, or in the same role.
RoleProgram lay_out(const Cut& c, const Home& h, int roles);

}  // namespace featherstorm
