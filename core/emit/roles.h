#pragma once
// The statements of a program in roles (partition.h), for the CUDA target.
#include <string>

#include "core/program/partition.h"

namespace featherstorm {

// A `case` for each role, for the instance that the pointers stand at; names as in body.h. Outputs are stored where
// `inside` says that the instance is one of the launch's. Values go through exchange[slot][lane], and
// wait_for_all_roles() stands between phases.
std::string emit_role_cases(const Program& p, const RoleProgram& roles, bool double_precision);

}  // namespace featherstorm
