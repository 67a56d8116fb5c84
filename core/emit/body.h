#pragma once
// The statements of a program, the same for every target.
#include <string>
#include <vector>

#include "core/trace/program.h"

namespace featherstorm {

// Loads, statements and stores for the instance that the pointers <name>_in and <name>_out stand at, with strides
// <name>_in_stride and <name>_out_stride; T, splat, load, load_uniform, store are the prelude's.
//
// Names: q_3 is component 3 of input q, t12 the value of node 12, s12 and c12 sine and cosine of node 12;
// q_3_next is component 3 of q in the next pass, y_2_last component 2 of output y so far.
std::string emit_body(const Program& p, const std::vector<int>& order, bool double_precision);

}  // namespace featherstorm
