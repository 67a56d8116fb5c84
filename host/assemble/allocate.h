// Register allocation for instructions without branches.
//
// Without branches, all future uses are known, so the value whose next use is furthest is evicted (Belady). An evicted
// value is stored to a memory slot once, or not at all if it is in memory anyway. One operand of an instruction is
// read from memory if that saves a load.
#pragma once
#include <limits>

#include "host/assemble/straight_line.h"

namespace featherstorm {

struct Place {
  enum class Kind : unsigned char { None, Register, Slot, Input, Constant } kind = Kind::None;
  int index = 0;      // of the register, slot, constant or input array
  int component = 0;  // Input
};

// One machine instruction.
struct Move {
  Code code;
  int result;          // register
  Place operand[3];    // at most one of them is in memory
  int destroyed = -1;  // multiply-adds: the operand whose register receives the result
  int array = 0, number = 0;
  enum class Kind : unsigned char { Compute, Load, Copy, Spill, Store } kind = Kind::Compute;
};

struct Allocation {
  std::vector<Move> moves;
  std::vector<std::uint64_t> constants;
  int slots = 0;
};

Allocation allocate(const StraightLine& s, int registers);

}  // namespace featherstorm
