// Remarks in the source of a traced program: the purpose of the statements that follow.
#pragma once
#include "core/scalar/is_traced.h"
#include "core/trace/expr.h"

namespace featherstorm {

// Does nothing except for traced scalars. `text`: "composite inertias, inward".
template <class T> FS_HD void remark([[maybe_unused]] const char* text) {
  if constexpr (is_traced<T>) mark(text);
}

}  // namespace featherstorm
