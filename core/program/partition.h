#pragma once
// A program cut into roles that work on the same instance at the same time: a limb for each warp of a CUDA block.
//
// The tree of bodies falls into a trunk (the root and some bodies beyond it) and the limbs that hang from it; each role
// takes some limbs, role 0 the trunk as well. What a value depends on and what depends on it says where it is computed:
//
//   common   depends on inputs of the trunk alone        phase 0, by role 0; or by every role that needs it
//   limb     depends on inputs of one role's limbs       in that role, phase 0 or, behind common values, phase 1
//   trunk    depends on inputs of several roles          phase 2, by role 0
//   return   as trunk, but only outputs of one role's    in that role, phase 3
//            limbs depend on it, or only the trunk's
//
// In the articulated-body algorithm these are the velocities of the trunk; the way in, first the inertias and then the
// forces; the trunk with the solution for the base; and the way out. A value that another role needs goes through a slot
// of memory that all roles share, and a barrier stands between two phases; phases without a statement, and their
// barriers, are left out. Inputs, conditions and products that a sum takes (count.h, Fusion) are never exchanged: each
// role has its own. Every value is computed by the same operations as in the whole program, so results are the same bits.
//
// A carried program is one pass of its loop. Each role has variables for the carried inputs that it uses; at the end of a
// pass who computed one's next value keeps it and gives it to the others, behind one more barrier.
//
// The trunk, the roles of the limbs and who computes the common values are chosen for the shortest way through all
// phases, each as long as its longest role.
#include <vector>

#include "core/trace/program.h"

namespace featherstorm {

// Where the components of a program's arrays belong in a tree of bodies.
struct Bodies {
  std::vector<int> parent;                      // (bodies + 1): body 0 is the root, parent[i] < i
  std::vector<std::vector<int>> input, output;  // array, component -> body; 0 for what belongs to none
};

struct RoleStep {
  enum Kind : unsigned char {
    load,     // the input `node`
    compute,  // the operation `node`
    give,     // value of `node` into `slot`
    fetch,    // value of `node` from `slot`
    store,    // the result into component `component` of output `array`; of a carried program, what was kept of it
    barrier,  // all roles wait for each other
    // of carried programs, at the end of a pass
    keep,       // the result, component `component` of output `array`
    give_next,  // what was kept into `slot`
    take,       // what was kept becomes the carried input `node`
    fetch_next  // what lies in `slot` becomes the carried input `node`
  };
  Kind kind;
  int node = 0, slot = 0, array = 0, component = 0;
};

struct RoleProgram {
  std::vector<std::vector<RoleStep>> steps;          // role -> what it does; all roles have the same number of barriers
  std::vector<std::vector<RoleStep>> before, after;  // of a carried program: loads before its loop, stores behind
  std::vector<int> role_of_body;                     // body -> role of its limb, -1 in the trunk
  bool traced = false;                               // statements of a phase stand in the order of the trace
  int slots = 0;                                     // values that lie in the shared memory at once
  int phases = 0;                                    // barriers of a pass + 1
  int exchanged = 0;                                 // values given
  long longest = 0, total = 0, whole = 0;  // instructions, roughly: of the longest roles of all phases, of all roles
                                           // together, and of the program in one
};

// The program in `roles` >= 2 roles, statements of a phase as they stand in `order` (order.h). Without steps where it
// cannot be cut: trees with fewer limbs than roles.
RoleProgram partition(const Program& p, const Bodies& bodies, int roles, const std::vector<int>& order);

// Instructions, roughly, that an operation takes on a CUDA device.
int device_instructions(Op op);

}  // namespace featherstorm
