#pragma once
// Statements of a program in roles (partition.h), for the CUDA target.
#include <string>

#include "core/program/partition.h"

namespace featherstorm {

// Returns a `case` for each role, for the instance at the pointers; names as in body.h. Outputs are stored only if
// `inside` is true: the instance belongs to the launch. Roles exchange values through exchange[slot][lane], with
// wait_for_all_roles() between phases.
std::string emit_role_cases(const Program& p, const RoleProgram& roles, bool double_precision);

}  // namespace featherstorm
