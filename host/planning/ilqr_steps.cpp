// The batch of changed control steps from which iLQR takes derivatives (ilqr.h).
#include <algorithm>

#include "host/memory/device.h"
#include "host/planning/backward_pass.h"
#include "host/planning/ilqr.h"
#include "host/system/error.h"

namespace featherstorm {

Ilqr::Mirrored Ilqr::array(long instances, long components) const {
  Mirrored a{Buffer(Precision::float64, instances, components), {}};
  if (options_.device != on_host) a.there = Buffer(Precision::float64, instances, components, options_.device);
  return a;
}
void Ilqr::send(const Mirrored& a, void* stream) const {
  if (a.there.memory() && a.here.ref().components > 0) copy(a.here.ref(), a.there.ref(), stream);
}
void Ilqr::fetch(const Mirrored& a, void* stream) const {
  if (a.there.memory() && a.here.ref().components > 0) copy(a.there.ref(), a.here.ref(), stream);
}

std::vector<SequenceMemory> Ilqr::parameters_of(const RolloutArrays& given, long instances) const {
  std::vector<SequenceMemory> found;
  for (const std::string& name : evaluator_.parameters()) {
    const auto at = given.parameters.find(name);
    if (at == given.parameters.end()) throw Error("Ilqr: the parameter " + name + " of the robot is not given");
    ArrayRef row = at->second;
    if (row.instances != 1)
      throw Error("Ilqr: the parameter " + name + " has " + std::to_string(row.instances) + " rows, expected 1");
    row.instances = instances, row.instance_stride = 0, row.padded = false;
    found.push_back({name, row});
  }
  return found;
}

std::vector<QuadraticStep> Ilqr::linearise(const RolloutArrays& given, double t, void* stream) {
  const long T = options_.horizon, each = 1 + n_ + m_, np = stages_.parameters;
  const double h = options_.difference;
  // Row k each + 1 + j: step k with change j of (q, v, act, u); row k each: without one.
  const auto set = [&](const Mirrored& to, const std::vector<double>& all, long per_step, long first) {
    const long count = to.here.ref().components;
    for (long c = 0; c < count; c++)
      for (long k = 0; k < T; k++) {
        double* rows = to.column(c) + k * each;
        std::fill_n(rows, each, all.empty() ? 0.0 : all[static_cast<std::size_t>(k * per_step + c)]);
        if (first >= 0) rows[1 + first + c] += h;
      }
  };
  std::vector<double> times, next;
  for (long k = 0; k < T; k++) {
    times.push_back(t + dt_ * static_cast<double>(k));
    next.push_back(t + dt_ * static_cast<double>(k + 1));
  }
  set(begin_.q, plan_.q, nq_, -1), set(moved_, {}, 0, 0), set(begin_.v, plan_.v, nv_, nv_);
  set(begin_.act, plan_.act, na_, 2 * nv_), set(u_, plan_.u, m_, n_), set(begin_solution_, solutions_, warm_, -1);
  set(p_, given.p, static_cast<long>(given.p.size()) > np ? np : 0, -1);
  set(time_, times, 1, -1), set(time_next_, next, 1, -1);
  for (const Mirrored* a :
       {&begin_.q, &begin_.v, &begin_.act, &moved_, &u_, &p_, &time_, &time_next_, &begin_solution_})
    send(*a, stream);
  RunOptions unit{.uniforms = {1.0}};
  unit.stream = stream;
  std::vector<SequenceMemory> in = parameters_of(given, rows_), out;
  const auto with_parameters = [&, own = in](std::vector<ArrayRef> arrays) {
    for (const SequenceMemory& m : own) arrays.push_back(m.array);
    return arrays;
  };
  evaluator_.run("integrate", with_parameters({begin_.q.ref(), moved_.ref()}), {end_.q.ref()}, unit);
  in.insert(in.end(), {{"q", end_.q.ref()},
                       {"v", begin_.v.ref()},
                       {"u", u_.ref()},
                       {"t", time_.ref()},
                       {"t_next", time_next_.ref()},
                       {"p", p_.ref()}});
  out = {{"q", begin_.q.ref()}, {"v", end_.v.ref()}};
  if (warm_ > 0) in.push_back({warm_name_, begin_solution_.ref()});
  if (na_ > 0) in.push_back({"act", begin_.act.ref()}), out.push_back({"act", end_.act.ref()});
  if (residuals_ > 0) out.push_back({"residual", residual_.ref()});
  if (last_residuals_ > 0) out.push_back({"terminal_residual", last_residual_.ref()});
  steps_.run(1, rows_, in, stepping_.uniforms, out, nullptr, stream);
  fetch(begin_.q, stream);  // the next positions
  for (long c = 0; c < nq_; c++)
    for (long k = 0; k < T; k++) std::fill_n(end_.q.column(c) + k * each, each, begin_.q.column(c)[k * each]);
  send(end_.q, stream);
  RunOptions plain;
  plain.stream = stream;
  evaluator_.run("difference", with_parameters({end_.q.ref(), begin_.q.ref()}), {moved_.ref()}, plain);
  for (const Mirrored* a : {&moved_, &end_.v, &end_.act, &residual_, &last_residual_}) fetch(*a, stream);

  std::vector<QuadraticStep> steps(static_cast<std::size_t>(T));
  for (long k = 0; k < T; k++) {
    QuadraticStep& s = steps[static_cast<std::size_t>(k)];
    const long added = k + 1 == T ? last_residuals_ : 0, first = k * each;
    s.F.resize(n_, n_ + m_), s.J.resize(residuals_ + added, n_ + m_), s.r.resize(residuals_ + added);
    const auto rows_of = [&](const Mirrored& from, long n, auto& to, long row) {
      for (long c = 0; c < n; c++)
        for (long j = 0; j < n_ + m_; j++) to(row + c, j) = (from.column(c)[first + 1 + j] - from.column(c)[first]) / h;
    };
    rows_of(moved_, nv_, s.F, 0), rows_of(end_.v, nv_, s.F, nv_), rows_of(end_.act, na_, s.F, 2 * nv_);
    rows_of(residual_, residuals_, s.J, 0), rows_of(last_residual_, added, s.J, residuals_);
    for (long c = 0; c < residuals_; c++) s.r[c] = residual_.column(c)[first];
    for (long c = 0; c < added; c++) s.r[residuals_ + c] = last_residual_.column(c)[first];
  }
  return steps;
}

}  // namespace featherstorm
