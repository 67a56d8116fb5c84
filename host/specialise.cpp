#include "host/specialise.h"

#include "host/assemble/assemble.h"
#include "host/trace_op.h"
#include "host/traced_kernel.h"

namespace featherstorm {

BoundKernel assemble_kernel(int op, const Model<double>& model, int frame, Precision precision,
                            const std::string& isa) {
  if (!can_assemble(isa) || model.nv > max_specialised_freedoms) return {};
  const Program p = trace_best(op, model, frame);
  if (operations_of(p) > max_specialised_operations) return {};
  return assemble_program(p, precision, isa);
}

BoundKernel specialise_kernel(int op, const Model<double>& model, int frame, Precision precision, int width,
                              HostCompiler& compiler) {
  if (!compiler.missing().empty()) return {};
  return compile_program(specialised_program(op, model, frame), precision, width, compiler);
}

}  // namespace featherstorm
