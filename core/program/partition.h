#pragma once
// A program cut into roles that work on the same instance at the same time: a limb for each warp of a CUDA block.
//
// The tree of bodies is split into a trunk (the root and some bodies next to it) and the limbs attached to it. Each
// role has some limbs; role 0 also has the trunk. The dependencies of a value decide where it is computed:
//
//   common   depends on inputs of the trunk alone        phase 0, by role 0; or by every role that needs it
//   limb     depends on inputs of one role's limbs       in that role, phase 0 or, after common values, phase 1
//   trunk    depends on inputs of several roles          phase 2, by role 0
//   return   like trunk, but only outputs of one role's  in that role, phase 3
//            limbs depend on it, or only the trunk's
//
// In the articulated-body algorithm these are: the velocities of the trunk; the inward sweep, first the inertias and
// then the forces; the trunk with the solution for the base; and the outward sweep. A value that another role needs is
// passed through a slot of shared memory, with a barrier between two phases. Phases without statements, and their
// barriers, are left out. Inputs, conditions and products that a sum takes (count.h, Fusion) are never exchanged: each
// role has its own. Every value is computed by the same operations as in the whole program, so results are bitwise
// equal.
//
// A carried program is one pass of its loop. Each role has variables for the carried inputs that it uses. At the end of
// a pass the role that computed a next value keeps it, and gives it to the other roles after one more barrier.
//
// The trunk, the limbs of each role and the roles of the common values are chosen for the shortest total time of all
// phases, where each phase is as long as its longest role.
#include <vector>

#include "core/trace/program.h"

namespace featherstorm {

// The body of each component of a program's arrays.
struct Bodies {
  std::vector<int> parent;                      // (bodies + 1): body 0 is the root, parent[i] < i
  std::vector<std::vector<int>> input, output;  // array, component -> body; 0 if it belongs to none
};

struct RoleStep {
  enum Kind : unsigned char {
    load,     // the input `node`
    compute,  // the operation `node`
    give,     // value of `node` into `slot`
    fetch,    // value of `node` from `slot`
    store,    // the result (in a carried program the kept one) into component `component` of output `array`
    barrier,  // all roles wait for each other
    // of carried programs, at the end of a pass
    keep,       // the result, component `component` of output `array`
    give_next,  // the kept result into `slot`
    take,       // the kept result becomes the carried input `node`
    fetch_next  // the value in `slot` becomes the carried input `node`
  };
  Kind kind;
  int node = 0, slot = 0, array = 0, component = 0;
};

struct RoleProgram {
  std::vector<std::vector<RoleStep>> steps;          // role -> its steps; all roles have the same number of barriers
  std::vector<std::vector<RoleStep>> before, after;  // for a carried program: loads before its loop, stores after it
  std::vector<int> role_of_body;                     // body -> role of its limb, -1 in the trunk
  bool traced = false;                               // statements of a phase stand in the order of the trace
  int slots = 0;                                     // largest number of values in shared memory at once
  int phases = 0;                                    // number of barriers in a pass, plus 1
  int exchanged = 0;                                 // number of values passed between roles
  long longest = 0, total = 0, whole = 0;  // approximate instructions: longest role of each phase summed; all roles
                                           // together; the undivided program
};

// Cuts the program into `roles` >= 2 roles; statements of a phase follow `order` (order.h). The result has no steps
// where the program cannot be cut: trees with fewer limbs than roles.
RoleProgram partition(const Program& p, const Bodies& bodies, int roles, const std::vector<int>& order);

// Approximate number of instructions of an operation on a CUDA device.
int device_instructions(Op op);

}  // namespace featherstorm
