#include "host/specialise.h"

#include <stdexcept>

#include "core/trace/count.h"
#include "core/trace/order.h"
#include "host/assemble/assemble.h"
#include "host/error.h"
#include "host/traced_kernel.h"

namespace featherstorm {
namespace {

int operations(const Program& p) { return count(p, trace_order(p)).instructions(); }

Program trace(const Operation& o, const Robot& robot, int most) {
  return trace_best(o.op, robot.model, o.frame, o.derivative, o.parameters, most);
}

Error too_large(const std::string& operations, int most) {
  return Error("this robot needs " + operations + " operations, more than the " + std::to_string(most) +
               " that are unrolled");
}

// Traces what is not too large.
Program trace_checked(const Operation& o, const Robot& robot, int most) {
  if (robot.model.nv > max_specialised_freedoms)
    throw Error("this robot has " + std::to_string(robot.model.nv) + " degrees of freedom, more than the " +
                std::to_string(max_specialised_freedoms) + " that are unrolled");
  try {
    Program p = trace(o, robot, most);
    if (operations(p) > most) throw too_large(std::to_string(operations(p)), most);
    return p;
  } catch (const std::length_error&) { throw too_large("over " + std::to_string(4 * most), most); }
}

}  // namespace

Program specialised_program(const Operation& o, const Robot& robot) {
  return trace_checked(o, robot, max_compiled_operations);
}

BoundKernel assemble_kernel(const Operation& o, const Robot& robot, Precision precision, const std::string& isa) {
  if (!can_assemble(isa) || robot.model.nv > max_specialised_freedoms) return {};
  try {
    const Program p = trace(o, robot, max_assembled_operations);
    if (operations(p) <= max_assembled_operations) return assemble_program(p, precision, isa);
  } catch (const std::length_error&) {}  // far too large
  return {};
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
