#include "host/simulation/simulation.h"

#include <algorithm>
#include <cmath>

#include "host/memory/device.h"
#include "host/trace/parameters.h"

namespace featherstorm {
namespace {

// Call f(component, instance, number&) for all numbers of a Buffer in host memory.
template <class F> void for_each_number(const Buffer& b, const F& f) {
  const ArrayRef a = b.ref();
  for (long c = 0; c < a.components; c++)
    for (long i = 0; i < a.instances; i++) {
      if (a.precision == Precision::float64) {
        f(c, i, b.component<double>(c)[i]);
        continue;
      }
      double x = b.component<float>(c)[i];
      f(c, i, x);
      b.component<float>(c)[i] = static_cast<float>(x);
    }
}

// Return a Buffer with the same numbers on the host.
Buffer on_the_host(const Buffer& b, void* stream) {
  const ArrayRef a = b.ref();
  if (a.device == on_host) return b;  // the same memory
  Buffer host(a.precision, a.instances, a.components);
  copy(a, host.ref(), stream);
  return host;
}

}  // namespace

Simulation::Simulation(Evaluator& evaluator, long instances, const StepOptions& options, Precision precision,
                       int device, void* stream)
    : evaluator_(evaluator),
      stepping_(stepping_of(evaluator, "Simulation", options)),
      instances_(instances),
      precision_(precision),
      device_(device),
      stream_(stream) {
  if (instances < 0) throw Error("Simulation: instances is " + std::to_string(instances) + ", expected 0 or more");
  const Model<double>& m = evaluator.robot().model;
  const auto buffer = [&](long rows, long n) { return Buffer(precision, rows, n, device, stream); };
  for (std::vector<Buffer>* state : {&now_, &next_}) {
    state->push_back(buffer(instances, m.nq)), state->push_back(buffer(instances, m.nv));
    if (stepping_.op == "contact_step") state->push_back(buffer(instances, 3L * m.contacts.nc));
    if (stepping_.op == "world")
      state->push_back(buffer(instances, m.world.na)), state->push_back(buffer(instances, m.nv));
  }
  zero_ = buffer(1, m.nv);
  options_ = {{}, 0, stepping_.substeps, stream};
  for (const UniformValues& u : stepping_.uniforms)
    options_.uniforms.insert(options_.uniforms.end(), u.values.begin(), u.values.end());
  if (stepping_.op == "coupled_step") {
    sequence_.emplace(precision, evaluator.threads(), evaluator.isa());
    declare_state(*sequence_, evaluator, stepping_);
    sequence_->array("tau", m.nv), sequence_->array("target", m.nv);
    append_start(*sequence_, evaluator, stepping_, precision);
    append_step(*sequence_, evaluator, stepping_, precision, "tau", "target");
  }
  if (stepping_.op == "world") {
    SolverOptions solver = solver_options(m, precision, stepping_.solver.rigid);
    solver.forces = false;
    solver.all_candidates = device != on_host && few_candidates(m);
    sequence_.emplace(precision, evaluator.threads(), evaluator.isa());
    append_world_step(*sequence_, evaluator, precision, solver, [](int) {}, stepping_.substeps, {});
    if (device == on_host) driven_ = buffer(instances, m.world.nu);
  }
  for (const std::string& name : evaluator.parameters()) {
    const std::vector<double> numbers = parameter_values(evaluator.robot(), name);
    Buffer host(precision, 1, static_cast<long>(numbers.size()));
    for_each_number(host, [&](long c, long, double& x) { x = numbers[c]; });
    if (device != on_host) {
      own_.push_back(buffer(1, static_cast<long>(numbers.size())));
      copy(host.ref(), own_.back().ref(), stream);
    } else {
      own_.push_back(host);
    }
    parameter(name, own_.back().ref());
  }
  reset();
}

ArrayRef Simulation::impulse() const {
  if (stepping_.op != "contact_step")
    throw Error("Simulation: " + evaluator_.robot().name +
                (evaluator_.robot().model.contacts.nc > 0 ? " ignores its contacts" : " has no contacts"));
  return now_[2].ref();
}

ArrayRef Simulation::of_world(int k) const {
  if (stepping_.op != "world") throw Error("Simulation: " + evaluator_.robot().name + " has no world, or ignores it");
  return now_[k].ref();
}

// Expand one row for all instances to an array of all instances.
ArrayRef Simulation::spread(const ArrayRef& a, const std::string& name, long components) const {
  ArrayRef r = a.data ? a : zero_.ref();
  if (r.components != components || (r.instances != 1 && r.instances != instances_))
    throw Error("step: " + name + " has shape " + shape_words(r.instances, r.components) + ", expected " +
                shape_words(instances_, components));
  if (r.instances != instances_ || !a.data) r.instances = instances_, r.instance_stride = 0, r.padded = false;
  return r;
}

void Simulation::step(const ArrayRef& tau, const ArrayRef& q_target) {
  const long nv = evaluator_.robot().model.nv;
  if (stepping_.op == "world") {
    if (q_target.data) throw Error("step: q_target is given, but the world of a model file has actuators of its own");
    step_world(tau);
    std::swap(now_, next_);
    time_ += stepping_.pass_time * stepping_.substeps;
    return;
  }
  const ArrayRef drive = spread(tau, "tau", nv), target = spread(q_target, "q_target", nv);
  if (sequence_) {
    step_coupled(drive, target);
  } else {
    std::vector<ArrayRef> in, out;
    for (const Buffer& b : now_) in.push_back(b.ref());
    for (const Buffer& b : next_) out.push_back(b.ref());
    in.push_back(drive), in.push_back(target);
    const OpRow& row = evaluator_.op(stepping_.op);
    while (in.size() < row.in.size()) in.push_back(parameters_.at(std::string(row.in[in.size()].name)));
    evaluator_.run(stepping_.op, in, out, options_);
  }
  std::swap(now_, next_);
  time_ += stepping_.pass_time * stepping_.substeps;
}

void Simulation::step_coupled(const ArrayRef& tau, const ArrayRef& target) {
  std::vector<SequenceMemory> in = {{"q", q()}, {"v", v()}, {"tau", tau}, {"target", target}};
  for (const std::string& name : evaluator_.parameters()) in.push_back({name, parameters_.at(name)});
  sequence_->run(1, instances_, in, stepping_.uniforms, {{"q", next_[0].ref()}, {"v", next_[1].ref()}}, nullptr,
                 stream_);
}

// Run from one state to another. Without `to`, only the kept arrays of the last substep are computed.
void Simulation::run_world(const std::vector<Buffer>& from, const std::vector<Buffer>* to, const ArrayRef& ctrl) const {
  std::vector<SequenceMemory> in, out;
  std::size_t k = 0;
  for (const char* name : {"q", "v", "act", "qacc"}) {
    in.push_back({name, from[k].ref()});
    if (to) out.push_back({name, (*to)[k].ref()});
    k++;
  }
  for (const std::string& name : evaluator_.parameters()) in.push_back({name, parameters_.at(name)});
  if (ctrl.data) in.push_back({"ctrl", spread(ctrl, "ctrl", evaluator_.robot().model.world.nu)});
  for (const auto& [name, values] : at_solve_)
    if (values.ref().components > 0) out.push_back({"at_solve_" + name, values.ref()});
  sequence_->run(1, instances_, in, {}, out, nullptr, stream_);
}

void Simulation::step_world(const ArrayRef& ctrl) {
  run_world(now_, &next_, ctrl);
  fresh_.assign(fresh_.size(), false);
  if (device_ != on_host || driven_.ref().components == 0) return;
  // keep ctrl, because readings of the last substep may be requested later
  const ArrayRef given = ctrl.data ? spread(ctrl, "ctrl", driven_.ref().components) : ArrayRef{};
  for_each_number(driven_, [&](long c, long i, double& x) {
    const long at = c * given.component_stride + i * given.instance_stride;
    if (!given.data) x = 0;
    else if (precision_ == Precision::float64) x = static_cast<const double*>(given.data)[at];
    else x = static_cast<const float*>(given.data)[at];
  });
}

const WorldReadings& Simulation::readings() const {
  of_world(0);
  if (device_ != on_host) throw Error("Simulation: readings of a world exist only on the host");
  if (!readings_) readings_.emplace(evaluator_);
  return *readings_;
}

WorldMoment Simulation::now() const {
  return {now_[0].ref(), now_[1].ref(), now_[2].ref(), driven_.ref(), now_[3].ref(), {}, {}, {}, time_, parameters_};
}

// Return the moment at the beginning of the last substep. The first call makes all later steps keep it, with the
// contact forces in their arrays.
WorldMoment Simulation::at_solve(const std::string& selection) {
  const bool is_new = !selection.empty() && selections_.insert(selection).second;
  if (at_solve_.empty() || is_new) {
    Program keep;
    at_solve_.clear();
    for (const auto& [name, size] : moment_arrays(evaluator_.robot(), selections_)) {
      at_solve_.emplace(name, Buffer(precision_, instances_, size));
      if (size == 0) continue;
      const std::vector<Expr> values = keep.input(name, size);
      Tracing scope(keep.graph);
      keep.output("at_solve_" + name, values);
    }
    SolverOptions solver = solver_options(evaluator_.robot().model, precision_, stepping_.solver.rigid);
    solver.forces = false;
    sequence_.emplace(precision_, evaluator_.threads(), evaluator_.isa());
    append_world_step(*sequence_, evaluator_, precision_, solver, [](int) {}, stepping_.substeps, keep);
    if (std::find(fresh_.begin(), fresh_.end(), false) != fresh_.end())
      run_world(next_, nullptr, driven_.ref().components > 0 ? driven_.ref() : ArrayRef{});
  }
  const auto of = [&](const char* name) { return at_solve_.at(name).ref(); };
  return {of("q"),
          of("v"),
          of("act"),
          of("ctrl"),
          of("qacc"),
          of("row_force"),
          of("contact_link"),
          of("contact_sensor"),
          time_ - stepping_.pass_time,
          parameters_};
}

// Set the values of instances that were not stepped yet to zero.
Buffer Simulation::without_fresh(Buffer values) const {
  for_each_number(values, [&](long, long i, double& x) {
    if (fresh_[static_cast<std::size_t>(i)]) x = 0;
  });
  return values;
}

Buffer Simulation::sensor(const std::string& name) {
  const WorldReadings& r = readings();
  const int k = r.sensor(name);
  return r.is_at_solve(k) ? without_fresh(r.measure(k, at_solve())) : r.measure(k, now());
}

Buffer Simulation::site(const std::string& name) const {
  const WorldReadings& r = readings();
  return r.place(r.site(name), now());
}

Buffer Simulation::contact_force(const std::string& name) {
  const WorldReadings& r = readings();
  const std::string array = WorldReadings::array_of(r.touched(name));
  at_solve(array);
  const Buffer& from = at_solve_.at(array);
  Buffer force(precision_, instances_, 3);
  for_each_number(force, [&](long c, long i, double& x) {
    x = precision_ == Precision::float64 ? from.component<double>(c)[i] : from.component<float>(c)[i];
  });
  return without_fresh(std::move(force));
}

void Simulation::parameter(const std::string& name, const ArrayRef& values) {
  const std::vector<std::string>& known = evaluator_.parameters();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error("Simulation: " + name + " is no parameter of the evaluator");
  const std::vector<double> own = parameter_values(evaluator_.robot(), name);
  parameters_[name] = spread(values, name, static_cast<long>(own.size()));
}

void Simulation::reset(const std::vector<bool>& mask, const std::vector<double>& q, const std::vector<double>& v) {
  const Robot& robot = evaluator_.robot();
  const std::vector<double> zero(std::max({robot.model.nv, 3 * robot.model.contacts.nc, robot.model.world.na}));
  const std::vector<double>* values[] = {q.empty() ? &robot.q0 : &q, v.empty() ? &zero : &v, &zero, &zero};
  if (!mask.empty() && static_cast<long>(mask.size()) != instances_)
    throw Error("reset: mask has " + std::to_string(mask.size()) + " instances, expected " +
                std::to_string(instances_));
  const auto require = [&](const char* name, const std::vector<double>& x, int n) {
    if (!x.empty() && static_cast<int>(x.size()) != n)
      throw Error(std::string("reset: ") + name + " has " + std::to_string(x.size()) + " numbers, expected " +
                  std::to_string(n));
  };
  require("q", q, robot.model.nq), require("v", v, robot.model.nv);
  fresh_.resize(static_cast<std::size_t>(instances_));
  for (std::size_t i = 0; i < fresh_.size(); i++) fresh_[i] = fresh_[i] || mask.empty() || mask[i];
  for (std::size_t k = 0; k < now_.size(); k++) {
    const Buffer host = on_the_host(now_[k], stream_);
    for_each_number(host, [&](long c, long i, double& x) {
      if (mask.empty() || mask[i]) x = (*values[k])[c];
    });
    if (device_ != on_host) copy(host.ref(), now_[k].ref(), stream_);
  }
}

std::vector<bool> Simulation::finite() const {
  std::vector<bool> all(instances_, true);
  for (int k : {0, 1})
    for_each_number(on_the_host(now_[k], stream_), [&](long, long i, double& x) {
      if (!std::isfinite(x)) all[i] = false;
    });
  return all;
}

}  // namespace featherstorm
