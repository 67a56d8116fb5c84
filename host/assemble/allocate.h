// Registers for a straight line of instructions.
//
// With no branch the whole future is known, so the value to give up is the one whose next use is furthest (Belady). What
// gives up its register goes to a slot of memory once, or nowhere if it lies in memory anyway; one operand of an
// instruction is read from memory where that saves a load.
#pragma once
#include <limits>

#include "host/assemble/straight_line.h"

namespace featherstorm {

struct Place {
  enum class Kind : unsigned char { None, Register, Slot, Input, Constant } kind = Kind::None;
  int index = 0;      // of the register, the slot, the constant or the input array
  int component = 0;  // Input
};

// One machine instruction.
struct Move {
  Code code;
  int result;          // register
  Place operand[3];    // at most one of them in memory
  int destroyed = -1;  // multiply-adds: the operand whose register takes the result
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
