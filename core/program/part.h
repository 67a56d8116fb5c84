// A program of some outputs of another program.
#pragma once
#include <functional>

#include "core/trace/program.h"

namespace featherstorm {

// The outputs with chosen names, in their order, and the operations they depend on. Inputs that none of them reads are
// left out, and so are carried pairs.
Program part_of(const Program& p, const std::function<bool(const std::string&)>& chosen);

}  // namespace featherstorm
