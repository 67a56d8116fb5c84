// Some of a program's outputs as a program of their own.
#pragma once
#include <functional>

#include "core/trace/program.h"

namespace featherstorm {

// The outputs whose names are chosen, in their order, with what they depend on: inputs that none of them reads are left out. Carried pairs
// are not taken along.
Program part_of(const Program& p, const std::function<bool(const std::string&)>& chosen);

}  // namespace featherstorm
