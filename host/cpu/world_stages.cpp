// The stages of a step of a world over packs of instances, with the robot as data (host/simulation/world_data.h).
#include "host/cpu/over_packs.h"
#include "host/memory/cpu_library.h"
#include "host/simulation/world_data.h"

namespace featherstorm {
namespace {

template <class T> void store(const auto& numbers, int n, auto to) {
  for (int k = 0; k < n; k++) to[k] = numbers[k];
}

// in   q, v, act, ctrl, qfrc_applied, xfrc_applied, model_numbers
// out  mass, b, jacobian, row_D, row_aref, row_friction, act_dot, actuator_length, actuator_velocity, damping, weights,
//      turning, factor, qacc_smooth, placement, twist, axis, contact_zones
template <class T> void run_equations(const WorldData& data, const Model<T>& m, const auto& in, const auto& out) {
  const auto& w = m.world;
  Smooth<T> s(m, w);
  Equations<T> e(m, w);
  const Applied applied{in(3), in(4), in(5)};
  step_equations(m, w, data.rigid ? &*data.rigid : nullptr, in(0), in(1), in(2), applied, s, e, out(10), out(11),
                 out(9));
  auto factor = scratch<T>(m.nh), a0 = scratch<T>(m.nv);
  half_factor(m, e.mass, factor.data());
  for (int k = 0; k < m.nv; k++) a0[k] = e.b[k];
  solve_from_tips(m, factor, a0.data()), solve_from_root(m, factor, a0.data());
  for (int k = 0; k < data.weighed; k++) e.D[k] = e.D[k] * in(6)[data.first_weight + k];
  store<T>(e.mass, m.nh, out(0)), store<T>(e.b, m.nv, out(1));
  for (int i = 0; i < data.rows.size(); i++) {
    const PackedBlock& row = data.rows.block[i];
    for (int k = 0; k < row.columns; k++) out(2)[row.entry + k] = e.J[i * m.nv + data.rows.column[row.column + k]];
  }
  const int rows = data.rows.rows();
  store<T>(e.D, rows, out(3)), store<T>(e.aref, rows, out(4)), store<T>(e.friction, rows, out(5));
  store<T>(s.act_dot, w.na, out(6)), store<T>(s.actuator_length, w.n_outputs, out(7));
  store<T>(s.actuator_velocity, w.n_outputs, out(8));
  store<T>(factor, m.nh, out(12)), store<T>(a0, m.nv, out(13));
  const int bodies = data.touches ? m.nb + 1 : 0, axes = data.touches ? m.nv : 0;
  store_placements(s.X, bodies, out(14)), store_motions(e.twist, bodies, out(15)), store_motions(e.axis, axes, out(16));
  store_frames<T>(s.X, data.zone, out(17));
}

// in   q, v, act, act_dot, actuator_length, actuator_velocity, damping, mass, qacc, turning, qacc_smooth, touched,
//      model_numbers
// out  q_next, v_next, act_next, qacc_next, qfrc_constraint
template <class T> void run_advance(const WorldData& data, const Model<T>& m, const auto& in, const auto& out) {
  auto by = scratch<T>(m.nv);
  for (int k = 0; k < m.nv; k++) by[k] = in(8)[k] - in(10)[k];
  mul_h(m, in(7), by, out(4));
  const auto free = [&](int i) { return select(T(0.0) < in(11)[i], T(0.0), in(9)[7 * i]); };
  using View = std::remove_cvref_t<decltype(in(0))>;
  const AdvanceInputs<View> from{in(0), in(1), in(2), in(3), in(4), in(5), in(6), in(7), in(8), in(9)};
  advance<T>(m, m.world, data.damps, data.alone, free, from, AdvanceOutputs<View>{out(0), out(1), out(2), out(3)});
}

// in   q, v, act, u_i, v_i, act_dot, qacc, sum_u, sum_a, sum_rate, actuator_length, actuator_velocity, model_numbers
// out  q, v, act; in stages before the last also u_i, sum_u, sum_a, sum_rate
template <class T> void run_stage(const WorldData& data, const Model<T>& m, const auto& in, const auto& out) {
  using View = std::remove_cvref_t<decltype(in(0))>;
  const StageInputs<View> from{in(0), in(1), in(2), in(3), in(4), in(5), in(6), in(7), in(8), in(9), in(10), in(11)};
  if (data.stage < 3)
    return runge_kutta_stage<T>(m, m.world, data.stage, from,
                                StageOutputs<View>{out(0), out(1), out(2), out(3), out(4), out(5), out(6)});
  constexpr long W = sizeof(T) / sizeof(*View{}.data);
  auto sums = scratch<T>(3 * m.nv + m.world.na);
  const auto part = [&](int first) { return View{reinterpret_cast<decltype(View{}.data)>(sums.data() + first), W}; };
  const StageOutputs<View> to{out(0), out(1), out(2), part(0), part(m.nv), part(2 * m.nv), part(3 * m.nv)};
  runge_kutta_stage<T>(m, m.world, 3, from, to);
}

template <WorldKernel text, class T>
void run(const WorldData& data, const Model<T>& model, const auto& in, const auto& out) {
  if constexpr (text == WorldKernel::equations) run_equations<T>(data, model, in, out);
  else if constexpr (text == WorldKernel::advance) run_advance<T>(data, model, in, out);
  else run_stage<T>(data, model, in, out);
}

constexpr int model_numbers_of(WorldKernel text) { return text == WorldKernel::equations ? 6 : 12; }

template <WorldKernel text, class Real>
void step_packs(const void* of_robot, const Array* in, const Array* out, long, long first, long count) {
  using T = WholePack<Real>;
  const WorldData& data = *static_cast<const WorldData*>(of_robot);
  Model<T> model;
  if (!data.varies) model = cast<T>(data.model);
  over_packs<Real>(in, out, first, count, [&](const auto& from, const auto& to) {
    if (data.varies) {
      const auto numbers = from(model_numbers_of(text));
      ModelNumber::instances = numbers.data, ModelNumber::stride = numbers.stride;
      model = cast<T>(data.model);
    }
    run<text, T>(data, model, from, to);
  });
}

template <WorldKernel text>
constexpr SolverTable table{step_packs<text, float>, step_packs<text, double>, FEATHERSTORM_WIDTH,
                            FEATHERSTORM_WIDTH / 2};

}  // namespace
}  // namespace featherstorm

extern "C" __attribute__((visibility("default"))) const featherstorm::SolverTable* featherstorm_world_step(int text) {
  using namespace featherstorm;
  switch (static_cast<WorldKernel>(text)) {
    case WorldKernel::equations: return &table<WorldKernel::equations>;
    case WorldKernel::advance: return &table<WorldKernel::advance>;
    case WorldKernel::stage: return &table<WorldKernel::stage>;
  }
  return nullptr;
}
