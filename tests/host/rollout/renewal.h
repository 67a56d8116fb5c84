// A toy environment: x grows by a at each step; where it is above 5 the next episode begins, at a place that is drawn. For stages that run
// for the instances that need it, and stages that draw.
#pragma once
#include <functional>

#include "core/trace/program.h"
#include "host/compile/traced_kernel.h"
#include "host/rollout/draw_stage.h"
#include "host/rollout/noise.h"

namespace featherstorm::testing {

// A program as a stage, interpreted on the host, its arrays those of its names.
inline Stage interpreted(const Program& p, Precision precision) {
  Stage s{[p, precision] { return interpret_program(p, precision); }};
  s.program = [p] { return p; };
  for (const auto& a : p.inputs) s.in.push_back(a.name);
  for (const auto& a : p.outputs) s.out.push_back(a.name);
  return s;
}

inline Program growth() {
  Program p;
  const auto x = p.input("x", 1), a = p.input("a", 1);
  Tracing scope(p.graph);
  const Expr grown = x[0] + a[0];
  p.output("grown", {grown});
  p.output("done", {select(Expr(5.0) < grown, Expr(1.0), Expr(0.0))});
  return p;
}
// What an episode begins with, of two numbers in (0, 1); scratch.
inline Program beginning() {
  Program p;
  const auto a = p.input("a", 1), u = p.input("u", 2);
  Tracing scope(p.graph);
  p.output("fresh", {a[0] - Expr(3.0) + u[0], u[1]});
  return p;
}
inline Program settlement() {
  Program p;
  const auto grown = p.input("grown", 1), done = p.input("done", 1), fresh = p.input("fresh", 2),
             mark = p.input("mark", 1);
  const auto episode = p.input("episode", 1), step = p.input("step", 1);
  Tracing scope(p.graph);
  const auto where_done = [&](const Expr& yes, const Expr& no) { return select(Expr(0.0) < done[0], yes, no); };
  p.output("x_next", {where_done(fresh[0], grown[0])});
  p.output("mark_next", {where_done(fresh[1], mark[0])});
  p.output("episode_next", {where_done(episode[0] + Expr(1.0), episode[0])});
  p.output("step_next", {where_done(Expr(0.0), step[0] + Expr(1.0))});
  return p;
}

constexpr std::uint64_t renewal_seed = 0x123456789abcdefull;
constexpr std::uint32_t renewal_function = 4;

// Arrays key, x, a, mark, episode, step begin with what they are given; u as well where nothing is drawn.
// stage: a traced program as one, its arrays those of its names.
inline Sequence renewal_sequence(Precision precision, const std::string& isa, int threads, bool draws,
                                 const std::function<Stage(const Program&)>& stage) {
  Sequence s(precision, threads, isa);
  s.array("key", 6), s.array("u", 2), s.array("fresh", 2);
  for (const char* name :
       {"a", "grown", "done", "x", "mark", "episode", "step", "x_next", "mark_next", "episode_next", "step_next"})
    s.array(name, 1);
  s.stage(stage(growth()));
  if (draws)
    s.stage(draw_stage(precision, isa,
                       {.count = 2, .function = renewal_function, .next_episode = true, .needed = "done"}, "u"));
  Stage begin = stage(beginning()), settle = stage(settlement());
  begin.needed = "done";
  s.stage(begin);
  settle.swaps = {{"x", "x_next"}, {"mark", "mark_next"}, {"episode", "episode_next"}, {"step", "step_next"}};
  s.stage(settle);
  return s;
}
// a of instance i: eighths, so that all sums are exact
inline double renewal_growth(long i) { return static_cast<double>(1 + i % 13) / 8; }
// u of instance i where nothing is drawn
inline double renewal_number(long i, int slot) { return static_cast<double>(1 + (3 * i + slot) % 7) / 8; }

struct Renewed {
  double x = 0, mark = 0;
  long episode = 0, step = 0;
};
// Instance i after so many steps from zeros, in double.
inline Renewed renewal(long i, long steps, bool draws) {
  Renewed r;
  const double a = renewal_growth(i);
  const auto u = [&](int slot) {
    if (!draws) return renewal_number(i, slot);
    std::uint32_t w[4];
    noise_kernels("base").words(w, 1, 1, {renewal_seed, renewal_function << 16}, static_cast<std::uint32_t>(i),
                                static_cast<std::uint32_t>(r.episode + 1), 0);
    return (static_cast<double>(w[slot] / 512) + 0.5) / 8388608;
  };
  for (long t = 0; t < steps; t++) {
    r.x += a, r.step++;
    if (r.x > 5) r.x = a - 3 + u(0), r.mark = u(1), r.episode++, r.step = 0;
  }
  return r;
}

}  // namespace featherstorm::testing
