// The quadratic models of a plan's steps for iLQR: a batch of changed control steps, and the costs' derivatives (ilqr.h).
#include <algorithm>

#include "host/memory/device.h"
#include "host/planning/cost_derivatives.h"
#include "host/planning/ilqr.h"
#include "host/system/error.h"

namespace featherstorm {

// The derivatives of a cost, the kernel that computes them, and its arrays, whose rows are the last steps of a plan.
struct Ilqr::Cost {
  CostDerivatives derivatives;
  long steps;
  Sequence kernel;
  std::map<std::string, Mirrored> in{};
  Mirrored value{}, slopes{};
};

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

// The array of the batch of steps, as it is at the end of the steps.
const Ilqr::Mirrored& Ilqr::of_batch(const std::string& name) const {
  if (name == "q") return begin_.q;  // linearise() computes the next positions there
  if (name == "v") return end_.v;
  if (name == "act") return end_.act;
  if (name == "u") return u_;
  if (name == "p") return p_;
  if (name == "t_next") return time_next_;
  return read_.at(name);
}

std::shared_ptr<const Ilqr::Cost> Ilqr::cost_of(const Program& cost, const Program& residual, long steps) {
  if (cost.outputs.empty()) return nullptr;
  const std::vector<std::string> parameters = evaluator_.parameters();
  std::vector<std::string> fixed = parameters;
  fixed.insert(fixed.end(), {"p", "t_next"});
  const bool squares = !residual.outputs.empty();
  auto made =
      std::make_shared<Cost>(Cost{.derivatives = CostDerivatives(evaluator_.robot(), squares ? residual : cost, squares,
                                                                 static_cast<int>(m_), static_cast<int>(na_), fixed),
                                  .steps = steps,
                                  .kernel = Sequence(Precision::float64, evaluator_.threads(), evaluator_.isa())});
  const CostDerivatives& d = made->derivatives;
  for (const Program::Array& a : d.read())
    if (!read_.contains(a.name)) read_.emplace(a.name, array(rows_, a.size));
  for (const Program::Array& a : d.program().inputs) {
    made->kernel.array(a.name, a.size);
    if (!std::ranges::count(parameters, a.name)) made->in.emplace(a.name, array(steps, a.size));
  }
  for (const Program::Array& a : d.program().outputs) made->kernel.array(a.name, a.size);
  made->kernel.stage(stage_of(evaluator_, Precision::float64, d.program()));
  made->value = array(steps, d.values()), made->slopes = array(steps, d.slopes());
  return made;
}

void Ilqr::evaluate(const Cost& cost, const RolloutArrays& given, void* stream) const {
  const long each = 1 + n_ + m_, first = options_.horizon - cost.steps;
  std::vector<SequenceMemory> in = parameters_of(given, cost.steps), out = {{"value", cost.value.ref()}};
  std::erase_if(in, [&](const SequenceMemory& m) { return cost.kernel.components(m.name) < 0; });
  for (const auto& [name, array] : cost.in) {
    const Mirrored& from = of_batch(name);
    for (long c = 0; c < array.here.ref().components; c++)
      for (long k = 0; k < cost.steps; k++) array.column(c)[k] = from.column(c)[(first + k) * each];
    send(array, stream);
    in.push_back({name, array.ref()});
  }
  if (cost.derivatives.slopes() > 0) out.push_back({"slopes", cost.slopes.ref()});
  cost.kernel.run(1, cost.steps, in, {}, out, nullptr, stream);
  fetch(cost.value, stream), fetch(cost.slopes, stream);
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
  for (const auto& [name, array] : read_) out.push_back({name, array.ref()});
  steps_.run(1, rows_, in, stepping_.uniforms, out, nullptr, stream);
  fetch(begin_.q, stream);  // the next positions
  for (long c = 0; c < nq_; c++)
    for (long k = 0; k < T; k++) std::fill_n(end_.q.column(c) + k * each, each, begin_.q.column(c)[k * each]);
  send(end_.q, stream);
  RunOptions plain;
  plain.stream = stream;
  evaluator_.run("difference", with_parameters({end_.q.ref(), begin_.q.ref()}), {moved_.ref()}, plain);
  for (const Mirrored* a : {&moved_, &end_.v, &end_.act}) fetch(*a, stream);
  for (const auto& [name, array] : read_) fetch(array, stream);

  for (const Cost* cost : {cost_.get(), last_cost_.get()})
    if (cost) evaluate(*cost, given, stream);

  std::vector<QuadraticStep> steps(static_cast<std::size_t>(T));
  for (long k = 0; k < T; k++) {
    QuadraticStep& s = steps[static_cast<std::size_t>(k)];
    const long first = k * each;
    const auto set_rows = [&](const Mirrored& from, Eigen::MatrixXd& to, long row) {
      for (long c = 0; c < from.here.ref().components; c++) {
        const double* x = from.column(c) + first;
        for (long j = 0; j < n_ + m_; j++) to(row + c, j) = (x[1 + j] - x[0]) / h;
      }
    };
    s.F.resize(n_, n_ + m_), s.J.resize(0, n_ + m_), s.g.setZero(n_ + m_);
    set_rows(moved_, s.F, 0), set_rows(end_.v, s.F, nv_), set_rows(end_.act, s.F, 2 * nv_);
    for (const Cost* cost : {cost_.get(), last_cost_.get()}) {
      const long row = cost ? k - (T - cost->steps) : -1;
      if (row < 0) continue;
      // dw / d(x, u) of what the cost reads
      long width = n_ + m_;
      for (const Program::Array& a : cost->derivatives.read()) width += a.size;
      Eigen::MatrixXd W = Eigen::MatrixXd::Zero(width, n_ + m_);
      W.topRows(n_) = s.F;
      W.block(n_, n_, m_, m_).setIdentity();
      long next = n_ + m_;
      for (const Program::Array& a : cost->derivatives.read()) set_rows(read_.at(a.name), W, next), next += a.size;
      const auto row_of = [&](const Mirrored& from) {
        std::vector<double> x;
        for (long c = 0; c < from.here.ref().components; c++) x.push_back(from.column(c)[row]);
        return x;
      };
      cost->derivatives.add(row_of(cost->value), row_of(cost->slopes), W, s);
    }
  }
  return steps;
}

}  // namespace featherstorm
