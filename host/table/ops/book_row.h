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

inline constexpr OpArray op_u{"q_direction", {nv}}, op_du{"v_direction", {nv}}, op_C{"C", {nv, nv}},
    op_J{"J", {6, nv}}, op_Y{"Y", {nv, 10 * nb}}, op_x{"x", {nv}}, op_y{"y", {nv}}, op_b{"b", {nv}};

}  // namespace featherstorm
