// Remarks in the text of a traced program: what the next stretch of statements computes.
#pragma once
#include "core/scalar/is_traced.h"
#include "core/trace/expr.h"

namespace featherstorm {

// Nothing but for traced scalars. `text`: "composite inertias, inward".
template <class T> FS_HD void remark([[maybe_unused]] const char* text) {
  if constexpr (is_traced<T>) mark(text);
}

}  // namespace featherstorm
