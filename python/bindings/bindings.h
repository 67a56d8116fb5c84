// The parts of the extension module, and how its numbers become Python lists and arrays.
#pragma once
#include <nanobind/nanobind.h>

namespace featherstorm {

void bind_robot(nanobind::module_& module);      // Robot, RobotBuilder, load, robots
void bind_evaluator(nanobind::module_& module);  // Buffer, Evaluator, operations, instruction_sets

}  // namespace featherstorm
