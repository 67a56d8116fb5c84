// A task of a legged robot in a world, as the stages of an environment: what its motors do follows from its action, a fall ends
// an episode, the next one begins at a height that is drawn.
#pragma once
#include "core/trace/program.h"
#include "host/simulation/environment_sequence.h"

namespace featherstorm::testing {

inline constexpr double low = 0.12, high = 0.35;  // of the base: where an episode ends, below what height it begins [m]

// ctrl = action - 0.1 v of the last joints, before each pass
inline Program motors(const Model<double>& m) {
  Program p;
  const int nu = m.world.nu;
  const auto a = p.input("env_action", nu), v = p.input("v", m.nv);
  Tracing scope(p.graph);
  std::vector<Expr> ctrl;
  for (int k = 0; k < nu; k++) ctrl.push_back(a[k] - Expr(0.1) * v[m.nv - nu + k]);
  p.output("ctrl", ctrl);
  return p;
}

// env_sums adds the base's height; env_done: it is low, or the episode has lasted for `steps`.
inline Program judgement(const Model<double>& m, double steps) {
  Program p;
  const auto q = p.input("q", m.nq), step = p.input("env_step", 1), sums = p.input("env_sums", 1);
  Tracing scope(p.graph);
  const Expr next = step[0] + Expr(1.0);
  p.output("env_step_next", {next});
  p.output("env_sums_next", {sums[0] + q[2]});
  p.output("env_done", {select(q[2] < Expr(low) || Expr(steps) <= next, Expr(1.0), Expr(0.0))});
  return p;
}

inline Program beginning_of_fall(const Model<double>& m) {
  Program p;
  const auto u = p.input("env_draw", 2), episode = p.input("env_episode", 1);
  Tracing scope(p.graph);
  std::vector<Expr> q(m.nq, Expr(0.0)), rest(m.nv, Expr(0.0));
  q[2] = Expr(high) * (Expr(0.5) + Expr(0.5) * u[0]), q[3] = Expr(1.0), q[7] = u[1];
  p.output("q_next", q), p.output("v_next", rest), p.output("qacc_next", rest);
  p.output("env_step_next", {Expr(0.0)}), p.output("env_sums_next", {Expr(0.0)});
  p.output("env_episode_next", {episode[0] + Expr(1.0)});
  return p;
}

inline EnvironmentStages falling_task(const Model<double>& m, double steps) {
  EnvironmentStages s;
  s.pass = {{.program = motors(m)}};
  s.after = {{.program = judgement(m, steps), .swaps = {{"env_step", "env_step_next"}, {"env_sums", "env_sums_next"}}},
             {.program = beginning_of_fall(m),
              .swaps = {{"q", "q_next"},
                        {"v", "v_next"},
                        {"qacc", "qacc_next"},
                        {"env_step", "env_step_next"},
                        {"env_sums", "env_sums_next"},
                        {"env_episode", "env_episode_next"}},
              .needed = "env_done",
              .draws = {{"env_draw", 2, 1, true}}}};
  return s;
}

}  // namespace featherstorm::testing
