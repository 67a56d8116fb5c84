#include "host/specialise.h"

#include "host/assemble/assemble.h"
#include "host/error.h"
#include "host/traced_kernel.h"

namespace featherstorm {

BoundKernel assemble_kernel(const Operation& o, const Robot& robot, Precision precision, const std::string& isa) {
  if (!can_assemble(isa) || robot.model.nv > max_specialised_freedoms) return {};
  return assemble_program(specialised_program(o, robot.model, max_assembled_operations), precision, isa);
}

BoundKernel specialise_kernel(const Operation& o, const Robot& robot, Precision precision, int width,
                              HostCompiler& compiler) {
  if (!compiler.missing().empty()) return {};
  return compile_program(specialised_program(o, robot.model), precision, width, compiler);
}

BoundKernel any_kernel(const Operation& o, const Robot& robot, Precision precision, const std::string& isa,
                       bool assemble, const Notice& notice) {
  return traced_kernel(specialised_program(o, robot.model, max_assembled_operations), precision, isa, assemble, notice);
}

}  // namespace featherstorm
