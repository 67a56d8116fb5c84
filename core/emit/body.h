#pragma once
// Statements of a program, the same for every target.
#include <string>
#include <vector>

#include "core/trace/program.h"

namespace featherstorm {

// Returns loads, statements and stores for one instance. The pointers <name>_in and <name>_out point to this instance,
// with strides <name>_in_stride and <name>_out_stride. T, splat, load, load_uniform, store are defined by the prelude.
//
// Names:
//
//   q_3           component 3 of input q
//   t12           value of node 12
//   s12, c12      sine and cosine of node 12
//   q_3_next      component 3 of q in the next pass
//   y_2_last      component 2 of output y in the latest pass
std::string emit_body(const Program& p, const std::vector<int>& order, bool double_precision);

}  // namespace featherstorm
