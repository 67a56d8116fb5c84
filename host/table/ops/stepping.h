// What rows that step in time have in common: arrays, and their uniforms, after inputs q, v, tau, target.
#pragma once
#include "core/step/step.h"
#include "host/table/ops/op_row.h"

namespace featherstorm {

inline constexpr OpArray op_target{"target", {nv}}, op_q_next{"q_next", {nq}}, op_v_next{"v_next", {nv}};
inline constexpr std::array<OpArray, 6> step_uniforms{{{"dt", {1}},
                                                       {"kp", {nv}},
                                                       {"kd", {nv}},
                                                       {"limit_stiffness", {1}},
                                                       {"limit_damping", {1}},
                                                       {"friction_velocity", {1}}}};
// Those and more.
template <std::size_t n>
constexpr std::array<OpArray, 6 + n> step_uniforms_and(const std::array<OpArray, n>& more) {
  std::array<OpArray, 6 + n> all{};
  for (std::size_t k = 0; k < 6 + n; k++) all[k] = k < 6 ? step_uniforms[k] : more[k - 6];
  return all;
}
template <class T, class U>
FS_HD StepParameters<T> step_parameters(const U* u) {
  return {u[0][0], u[3][0], u[4][0], u[5][0]};
}

}  // namespace featherstorm
