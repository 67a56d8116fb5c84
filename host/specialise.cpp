#include "host/specialise.h"

#include "core/trace/count.h"
#include "core/trace/order.h"
#include "host/assemble/assemble.h"
#include "host/error.h"
#include "host/trace_op.h"
#include "host/traced_kernel.h"

namespace featherstorm {
namespace {

int operations(const Program& p) { return count(p, trace_order(p)).instructions(); }

}  // namespace

Program specialised_program(int op, const Model<double>& model, int frame) {
  if (model.nv > max_specialised_freedoms)
    throw Error("this robot has " + std::to_string(model.nv) + " degrees of freedom, more than the " +
                std::to_string(max_specialised_freedoms) + " that are unrolled");
  Program p = trace_best(op, model, frame);
  if (operations(p) > max_specialised_operations)
    throw Error("this robot needs " + std::to_string(operations(p)) + " operations, more than the " +
                std::to_string(max_specialised_operations) + " that are unrolled");
  return p;
}

BoundKernel assemble_kernel(int op, const Model<double>& model, int frame, Precision precision,
                            const std::string& isa) {
  if (!can_assemble(isa) || model.nv > max_specialised_freedoms) return {};
  const Program p = trace_best(op, model, frame);
  if (operations(p) > max_specialised_operations) return {};
  return assemble_program(p, precision, isa);
}

BoundKernel specialise_kernel(int op, const Model<double>& model, int frame, Precision precision, int width,
                              HostCompiler& compiler) {
  if (!compiler.missing().empty()) return {};
  return compile_program(specialised_program(op, model, frame), precision, width, compiler);
}

}  // namespace featherstorm
