#pragma once
// The second half of partition.h: records the steps of each role, once the role of each value is decided.
#include "core/program/count.h"
#include "core/program/partition.h"

namespace featherstorm {

// A program to be cut, and properties of it.
struct Cut {
  const Program& p;
  const Graph& g;
  const std::vector<int>& order;
  const Bodies& bodies;
  std::vector<char> live;
  Fusion fusion;
  std::vector<int> cost;  // node -> instructions
};

// The role and phase in which each node is computed; the role is `every` for nodes that each role computes itself.
struct Home {
  static constexpr int every = -1;
  std::vector<int> role, phase;
};

// True if a node is computed by one role: not an input, a condition, or a product that a sum takes.
bool has_home(const Cut& c, int node);

// The steps of all roles, the slots of exchanged values, and the lengths of the phases. Phases are 0 to 3; an operand's
// home is in an earlier phase, or in the same role.
RoleProgram lay_out(const Cut& c, const Home& h, int roles);

}  // namespace featherstorm
