#include "host/specialise.h"

#include "core/trace/count.h"
#include "core/trace/order.h"
#include "host/assemble/assemble.h"
#include "host/error.h"
#include "host/traced_kernel.h"

namespace featherstorm {
namespace {

int operations(const Program& p) { return count(p, trace_order(p)).instructions(); }

Program trace(const Operation& o, const Robot& robot) {
  return trace_best(o.op, robot.model, o.frame, o.derivative, o.parameters);
}

// Traces what is not too large.
Program trace_checked(const Operation& o, const Robot& robot, int most) {
  if (robot.model.nv > max_specialised_freedoms)
    throw Error("this robot has " + std::to_string(robot.model.nv) + " degrees of freedom, more than the " +
                std::to_string(max_specialised_freedoms) + " that are unrolled");
  Program p = trace(o, robot);
  if (operations(p) > most)
    throw Error("this robot needs " + std::to_string(operations(p)) + " operations, more than the " +
                std::to_string(most) + " that are unrolled");
  return p;
}

}  // namespace

Program specialised_program(const Operation& o, const Robot& robot) {
  return trace_checked(o, robot, max_compiled_operations);
}

BoundKernel assemble_kernel(const Operation& o, const Robot& robot, Precision precision, const std::string& isa) {
  if (!can_assemble(isa) || robot.model.nv > max_specialised_freedoms) return {};
  const Program p = trace(o, robot);
  if (operations(p) > max_assembled_operations) return {};
  return assemble_program(p, precision, isa);
}

BoundKernel specialise_kernel(const Operation& o, const Robot& robot, Precision precision, int width,
                              HostCompiler& compiler) {
  if (!compiler.missing().empty()) return {};
  return compile_program(specialised_program(o, robot), precision, width, compiler);
}

BoundKernel any_kernel(const Operation& o, const Robot& robot, Precision precision, const std::string& isa,
                       bool assemble, const Notice& notice) {
  const int most = assemble && can_assemble(isa) ? max_assembled_operations : max_compiled_operations;
  return traced_kernel(trace_checked(o, robot, most), precision, isa, assemble, notice);
}

}  // namespace featherstorm
