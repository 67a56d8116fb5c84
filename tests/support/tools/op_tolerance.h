// Tolerance between two kernels of an operation: rounding times the operation's conditioning.
#pragma once
#include "host/table/row/operation.h"

namespace featherstorm::testing {

// Forward dynamics of light limbs is the worst case.
inline double op_tolerance(const OpInfo& row, bool single) {
  switch (row.condition) {
    case Condition::solves: return single ? 5e-3 : 1e-8;
    case Condition::solves_twice: return single ? 5e-2 : 1e-8;
    case Condition::solves_squares: return single ? 1e-1 : 1e-8;
    case Condition::cancels: return single ? 5e-4 : 1e-11;
    case Condition::plain: break;
  }
  return single ? 5e-5 : 1e-11;
}

}  // namespace featherstorm::testing
