// Places of a kernel's values in memory that only it uses, the frame.
//
// A long kernel is bound by the bytes of its instructions, because all of them come from the second cache for one vector
// of instances. An address within 128 bytes (AVX-512: vectors) of a register takes three bytes less than others. These
// near places go to values that are used often in a short time.
#pragma once
#include <functional>

#include "host/assemble/allocate.h"

namespace featherstorm {

struct FrameLayout {
  std::vector<int> held;  // place of each value that is held from beginning to end
  int size = 0;           // places in all
};

// Gives each value a place, in vectors from the beginning of the frame, and replaces the slots of the parts by places.
//
// parts     one after the other; the first one, which may be repeated, counts most
// held      number of values that have a place from beginning to end
// held_by   (move, operand, part) -> which of them the operand is; operand -1: the result that a move stores. -1: none
// near      number of near places, the first ones
FrameLayout place_in_frame(std::vector<Allocation>& parts, int held,
                           const std::function<int(const Move&, int operand, int part)>& held_by, int near);

}  // namespace featherstorm
