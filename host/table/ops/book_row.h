// What the rows of the books (book_ops.h) have in common.
#pragma once
#include <tuple>

#include "host/table/ops/op_row.h"

namespace featherstorm {

// Defaults of a row.
struct BookRow {
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  static constexpr bool host_only = false;  // without CUDA kernels, which would take the compiler minutes
};
// Rows of robots with more than a tree on a fixed base.
struct FloatingRow : BookRow {
  static constexpr Needs needs = Needs::floating_base;
};
struct LoopRow : BookRow {
  static constexpr Needs needs = Needs::loops;
};
struct CouplingRow : BookRow {
  static constexpr Needs needs = Needs::coupling;
};
struct ContactRow : BookRow {
  static constexpr Needs needs = Needs::contacts;
};

inline constexpr OpArray op_u{"q_direction", Size::v}, op_du{"v_direction", Size::v}, op_C{"C", Size::vv},
    op_J{"J", Size::jacobian}, op_Y{"Y", Size::vb10}, op_x{"x", Size::v}, op_y{"y", Size::v}, op_b{"b", Size::v};

}  // namespace featherstorm
