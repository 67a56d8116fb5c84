// Working memory of a scope on this thread, given back at its end, also if an exception ends it.
#pragma once
#include "core/scalar/scratch.h"

namespace featherstorm {

class ScratchGuard {
 public:
  ScratchGuard() = default;
  ~ScratchGuard() { scratch_stack.give_back(mark_); }
  ScratchGuard(const ScratchGuard&) = delete;
  ScratchGuard& operator=(const ScratchGuard&) = delete;

 private:
  ScratchStack::Mark mark_ = scratch_stack.mark();
};

}  // namespace featherstorm
