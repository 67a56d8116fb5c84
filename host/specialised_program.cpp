#include "host/specialised_program.h"

#include "core/trace/count.h"
#include "core/trace/order.h"
#include "host/error.h"
#include "host/trace_op.h"

namespace featherstorm {

int operations_of(const Program& p) { return count(p, trace_order(p)).instructions(); }

Program specialised_program(int op, const Model<double>& model, int frame) {
  if (model.nv > max_specialised_freedoms)
    throw Error("this robot has " + std::to_string(model.nv) + " degrees of freedom, more than the " +
                std::to_string(max_specialised_freedoms) + " that are unrolled");
  Program p = trace_best(op, model, frame);
  if (operations_of(p) > max_specialised_operations)
    throw Error("this robot needs " + std::to_string(operations_of(p)) + " operations, more than the " +
                std::to_string(max_specialised_operations) + " that are unrolled");
  return p;
}

}  // namespace featherstorm
