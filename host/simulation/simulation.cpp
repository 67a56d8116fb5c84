#include "host/simulation/simulation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "host/memory/device.h"
#include "host/trace/parameters.h"

namespace featherstorm {
namespace {

// Call f(numbers of the instances, component) for a Buffer in host memory.
template <class F> void for_each_component(const Buffer& b, const F& f) {
  const ArrayRef a = b.ref();
  for (long c = 0; c < a.components; c++)
    if (a.precision == Precision::float64) f(b.component<double>(c), c);
    else f(b.component<float>(c), c);
}

// Return a Buffer with the same numbers on the host; there it is the same memory.
Buffer on_the_host(const Buffer& b, void* stream) {
  const ArrayRef a = b.ref();
  if (a.device == on_host) return b;
  Buffer host(a.precision, a.instances, a.components);
  copy(a, host.ref(), stream);
  return host;
}

template <class Real> void assign_numbers(const ArrayRef& from, const ArrayRef& to) {
  for (long c = 0; c < to.components; c++) {
    const Real* x = static_cast<const Real*>(from.data) + c * from.component_stride;
    Real* y = static_cast<Real*>(to.data) + c * to.component_stride;
    for (long i = 0; i < to.instances; i++) y[i] = x[i * from.instance_stride];
  }
}

// Copy an array to a Buffer of the same shape, precision and device.
void assign(const ArrayRef& from, const Buffer& to, void* stream) {
  const ArrayRef a = to.ref();
  if (a.device != on_host) copy(from, a, stream);
  else if (a.precision == Precision::float32) assign_numbers<float>(from, a);
  else assign_numbers<double>(from, a);
}

double number(const ArrayRef& a, long instance, long component) {
  const long at = component * a.component_stride + (a.instances == 1 ? 0 : instance) * a.instance_stride;
  if (a.precision == Precision::float64) return static_cast<const double*>(a.data)[at];
  return static_cast<const float*>(a.data)[at];
}

// Refer to numbers on the host as one row.
ArrayRef row_of(const std::vector<double>& x) {
  if (x.empty()) return {};
  return {const_cast<double*>(x.data()), Precision::float64, 1, static_cast<long>(x.size()), 1, 1};
}

}  // namespace

Simulation::Simulation(Evaluator& evaluator, long instances, const StepOptions& options, Precision precision,
                       int device, void* stream)
    : evaluator_(&evaluator),
      given_(options),
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
  if (stepping_.op == "world") ctrl_ = buffer(instances, m.world.nu), driven_ = buffer(instances, m.world.nu);
  else zero_ = buffer(instances, m.nv);
  options_ = {{}, 0, stepping_.substeps, stream};
  build();
  use_own_parameters();
  reset();
}

// The sequence of a step, which simulations of an evaluator share. A world's keeps the arrays at_solve_ of its last
// substep.
void Simulation::build() {
  const bool coupled = stepping_.op == "coupled_step";
  if (!coupled && stepping_.op != "world") return;
  const bool all_candidates =
      device_ != on_host && at_solve_.empty() && !stepping_.solver.rigid && few_candidates(evaluator_->robot().model);
  // the evaluator may have been moved
  std::string key = stepping_.op + words(precision_) + std::to_string(stepping_.substeps) +
                    (all_candidates ? "all" : "") + std::to_string(reinterpret_cast<std::uintptr_t>(evaluator_));
  if (const auto& law = stepping_.solver.rigid) key.append(reinterpret_cast<const char*>(&*law), sizeof *law);
  for (const auto& [name, values] : at_solve_) key += " " + name;
  sequence_ = std::static_pointer_cast<const Sequence>(evaluator_->kept(key, [&]() -> std::shared_ptr<const void> {
    return std::make_shared<const Sequence>(coupled ? coupled_sequence() : world_sequence(all_candidates));
  }));
}

Sequence Simulation::coupled_sequence() const {
  Evaluator& e = *evaluator_;
  Sequence s(precision_, e.threads(), e.isa());
  declare_state(s, e, stepping_);
  for (const char* name : {"tau", "target"}) s.array(name, e.robot().model.nv);
  append_start(s, e, stepping_, precision_);
  append_step(s, e, stepping_, precision_, "tau", "target");
  return s;
}

Sequence Simulation::world_sequence(bool all_candidates) const {
  Evaluator& e = *evaluator_;
  Program keep;
  for (const auto& [name, values] : at_solve_) {
    const int size = static_cast<int>(values.ref().components);
    if (size == 0) continue;
    const std::vector<Expr> numbers = keep.input(name, size);
    Tracing scope(keep.graph);
    keep.output("at_solve_" + name, numbers);
  }
  SolverOptions solver = solver_options(e.robot().model, precision_, stepping_.solver.rigid);
  solver.forces = false, solver.all_candidates = all_candidates;
  Sequence s(precision_, e.threads(), e.isa());
  append_world_step(s, e, precision_, solver, [](int) {}, stepping_.substeps, keep);
  return s;
}

void Simulation::use_own_parameters() {
  for (const std::string& name : evaluator_->parameters()) {
    if (parameters_.contains(name)) continue;
    const std::vector<double> numbers = parameter_values(evaluator_->robot(), name);
    Buffer host(precision_, 1, static_cast<long>(numbers.size()));
    for_each_component(host, [&]<class Real>(Real* x, long c) { *x = static_cast<Real>(numbers[c]); });
    own_.push_back(host);
    if (device_ != on_host) {
      own_.back() = Buffer(precision_, 1, static_cast<long>(numbers.size()), device_, stream_);
      copy(host.ref(), own_.back().ref(), stream_);
    }
    parameter(name, own_.back().ref());
  }
}

void Simulation::continue_with(Evaluator& evaluator) {
  evaluator_ = &evaluator;
  at_solve_.clear(), contacts_.clear(), made_.clear(), names_.reset();
  build();
  use_own_parameters();
}

ArrayRef Simulation::impulse() const {
  if (stepping_.op != "contact_step")
    throw Error("Simulation: " + evaluator_->robot().name +
                (evaluator_->robot().model.contacts.nc > 0 ? " ignores its contacts" : " has no contacts"));
  return now_[2].ref();
}

ArrayRef Simulation::of_world(int k) const {
  if (stepping_.op != "world") throw Error("Simulation: " + evaluator_->robot().name + " has no world, or ignores it");
  return now_[k].ref();
}

// Expand one row for all instances to an array of all instances.
ArrayRef Simulation::spread(const ArrayRef& a, const std::string& name, long components) const {
  ArrayRef r = a.data ? a : zero_.ref();  // worlds ask for arrays with data only
  if (r.components != components || (r.instances != 1 && r.instances != instances_))
    throw Error("step: " + name + " has shape " + shape_words(r.instances, r.components) + ", expected " +
                shape_words(instances_, components));
  if (r.precision != precision_)
    throw Error("step: " + name + " is " + words(r.precision) + ", expected " + words(precision_) + " as q is");
  if (r.device != device_)
    throw Error("step: " + name + " is on " + place(r.device) + ", expected " + place(device_) + " as q is");
  if (r.instances != instances_) r.instances = instances_, r.instance_stride = 0, r.padded = false;
  return r;
}

void Simulation::step(const ArrayRef& drive, const ArrayRef& q_target) {
  if (stepping_.op == "world") step({.q_target = q_target, .ctrl = drive});
  else step({.tau = drive, .q_target = q_target});
}

void Simulation::step(const Drive& drive) {
  const long nv = evaluator_->robot().model.nv;
  if (stepping_.op == "world") {
    step_world(drive);
  } else {
    if (drive.ctrl.data) throw Error("step: ctrl is given, and no actuators of a world take it");
    std::vector<UniformValues> uniforms;
    if (!drive.numbers.empty()) {
      StepOptions options = given_;
      for (const auto& [name, values] : drive.numbers) options.numbers[name] = values;
      uniforms = stepping_of(*evaluator_, "step", options).uniforms;
    }
    const std::vector<UniformValues>& numbers = uniforms.empty() ? stepping_.uniforms : uniforms;
    const ArrayRef tau = spread(drive.tau, "tau", nv), target = spread(drive.q_target, "q_target", nv);
    if (sequence_) {
      step_coupled(tau, target, numbers);
    } else {
      std::vector<ArrayRef> in, out;
      for (const Buffer& b : now_) in.push_back(b.ref());
      for (const Buffer& b : next_) out.push_back(b.ref());
      in.push_back(tau), in.push_back(target);
      const OpRow& row = evaluator_->op(stepping_.op);
      while (in.size() < row.in.size()) in.push_back(parameters_.at(std::string(row.in[in.size()].name)));
      options_.uniforms.clear();
      for (const UniformValues& u : numbers)
        options_.uniforms.insert(options_.uniforms.end(), u.values.begin(), u.values.end());
      evaluator_->run(stepping_.op, in, out, options_);
    }
  }
  std::swap(now_, next_);
  time_ += stepping_.pass_time * stepping_.substeps;
}

void Simulation::step_coupled(const ArrayRef& tau, const ArrayRef& target, const std::vector<UniformValues>& numbers) {
  std::vector<SequenceMemory> in = {{"q", q()}, {"v", v()}, {"tau", tau}, {"target", target}};
  for (const std::string& name : evaluator_->parameters()) in.push_back({name, parameters_.at(name)});
  sequence_->run(1, instances_, in, numbers, {{"q", next_[0].ref()}, {"v", next_[1].ref()}}, nullptr, stream_);
}

// Run from one state to another. Without `to`, only the kept arrays of the last substep are computed.
void Simulation::run_world(const std::vector<Buffer>& from, const std::vector<Buffer>* to) const {
  std::vector<SequenceMemory> in, out;
  std::size_t k = 0;
  for (const char* name : {"q", "v", "act", "qacc"}) {
    in.push_back({name, from[k].ref()});
    if (to) out.push_back({name, (*to)[k].ref()});
    k++;
  }
  for (const std::string& name : evaluator_->parameters()) in.push_back({name, parameters_.at(name)});
  in.push_back({"ctrl", driven_.ref()});
  if (is_pushed_) in.push_back({"qfrc_applied", pushed_.ref()});
  for (const auto& [name, values] : at_solve_)
    if (values.ref().components > 0) out.push_back({"at_solve_" + name, values.ref()});
  sequence_->run(1, instances_, in, {}, out, nullptr, stream_);
}

void Simulation::step_world(const Drive& drive) {
  const Model<double>& m = evaluator_->robot().model;
  if (drive.q_target.data)
    throw Error("step: q_target is given, but the world of a model file has actuators of its own");
  if (!drive.numbers.empty())
    throw Error("step: " + drive.numbers.begin()->first + " is given, but a world takes its numbers from the file");
  const ArrayRef ctrl = drive.ctrl.data ? spread(drive.ctrl, "ctrl", m.world.nu) : ArrayRef{};
  const ArrayRef tau = drive.tau.data ? spread(drive.tau, "tau", m.nv) : ArrayRef{};
  // readings of this step may be requested later
  if (ctrl.data) assign(ctrl, ctrl_, stream_);
  assign(ctrl_.ref(), driven_, stream_);
  is_pushed_ = tau.data != nullptr;
  if (is_pushed_) {
    if (!pushed_.memory()) pushed_ = Buffer(precision_, instances_, m.nv, device_, stream_);
    assign(tau, pushed_, stream_);
  }
  run_world(now_, &next_);
  fresh_.assign(fresh_.size(), false);
}

const WorldReadings& Simulation::readings() {
  of_world(0);
  if (!names_) names_.emplace(*evaluator_);
  return *names_;
}

WorldMoment Simulation::now() const {
  WorldMoment at{parameters_, time_};
  std::size_t k = 0;
  for (const char* name : {"q", "v", "act", "qacc"}) at.arrays[name] = now_[k++].ref();
  at.arrays["ctrl"] = ctrl_.ref();
  return at;
}

// Return the moment at the beginning of the last substep, with these arrays of contact_readings.h. The first call makes
// all later steps keep it.
WorldMoment Simulation::at_solve(const std::set<std::string>& contacts) {
  if (at_solve_.empty() || !std::includes(contacts_.begin(), contacts_.end(), contacts.begin(), contacts.end())) {
    contacts_.insert(contacts.begin(), contacts.end());
    at_solve_.clear();
    try {
      for (const auto& [name, size] : moment_arrays(evaluator_->robot(), contacts_))
        at_solve_.emplace(name, Buffer(precision_, instances_, size, device_, stream_));
      build();
      if (std::find(fresh_.begin(), fresh_.end(), false) != fresh_.end()) run_world(next_, nullptr);
    } catch (...) {
      at_solve_.clear();  // the next call begins anew
      throw;
    }
  }
  WorldMoment at{parameters_, time_ - stepping_.pass_time};
  for (const auto& [name, values] : at_solve_) at.arrays[name] = values.ref();
  return at;
}

// Set the values of instances that were not stepped yet to zero.
Buffer Simulation::without_fresh(Buffer values) const {
  if (std::find(fresh_.begin(), fresh_.end(), true) == fresh_.end()) return values;
  const Buffer host = on_the_host(values, stream_);
  for_each_component(host, [&](auto* x, long) {
    for (std::size_t i = 0; i < fresh_.size(); i++)
      if (fresh_[i]) x[i] = 0;
  });
  if (device_ != on_host) copy(host.ref(), values.ref(), stream_);
  return values;
}

Buffer Simulation::measure(const WorldReading& reading) {
  of_world(0);
  if (!reading.at_solve()) return reading.measure(now(), instances_, device_, stream_);
  return without_fresh(reading.measure(at_solve(reading.contacts()), instances_, device_, stream_));
}

Buffer Simulation::reading(const std::string& name, const std::function<Program(const WorldReadings&)>& program,
                           bool at_solve) {
  auto made = made_.find(name);
  if (made == made_.end())
    made = made_.emplace(name, WorldReading(*evaluator_, precision_, program(readings()), at_solve)).first;
  return measure(made->second);
}

Buffer Simulation::sensor(const std::string& name) {
  const int k = readings().sensor(name);
  if (!readings().is_apart(k))
    return reading(
        "sensor " + name, [k](const WorldReadings& r) { return r.sensor_program(k); }, readings().is_at_solve(k));
  Buffer found = readings().measure_apart(k, on_the_host(now_[0], stream_).ref());
  if (device_ == on_host) return found;
  Buffer there(precision_, instances_, found.ref().components, device_, stream_);
  copy(found.ref(), there.ref(), stream_);
  return there;
}

Buffer Simulation::site(const std::string& name) {
  const int k = readings().site(name);
  return reading("site " + name, [k](const WorldReadings& r) { return r.site_program(k); }, false);
}

Buffer Simulation::contact_force(const std::string& name) {
  const WorldReadings::Touched what = readings().touched(name);
  return reading("force " + name, [what](const WorldReadings& r) { return r.force_program(what); }, true);
}

void Simulation::parameter(const std::string& name, const ArrayRef& values) {
  const std::vector<std::string>& known = evaluator_->parameters();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error("Simulation: " + name + " is no parameter of the evaluator");
  const std::vector<double> own = parameter_values(evaluator_->robot(), name);
  parameters_[name] = spread(values, name, static_cast<long>(own.size()));
}

void Simulation::reset(const std::vector<bool>& mask, const std::vector<double>& q, const std::vector<double>& v) {
  reset(mask, {.q = row_of(q), .v = row_of(v)});
}

void Simulation::reset(const std::vector<bool>& mask, const State& state) {
  const Robot& robot = evaluator_->robot();
  if (!mask.empty() && static_cast<long>(mask.size()) != instances_)
    throw Error("reset: mask has " + std::to_string(mask.size()) + " instances, expected " +
                std::to_string(instances_));
  const auto require = [&](const char* name, const ArrayRef& x, long n) {
    if (x.data && (x.components != n || (x.instances != 1 && x.instances != instances_)))
      throw Error(std::string("reset: ") + name + " has " + std::to_string(x.components) + " numbers, expected " +
                  std::to_string(n));
  };
  const World<double>& w = robot.model.world;
  require("q", state.q, robot.model.nq), require("v", state.v, robot.model.nv);
  require("act", state.act, w.na), require("ctrl", state.ctrl, w.nu);
  fresh_.resize(static_cast<std::size_t>(instances_));
  for (std::size_t i = 0; i < fresh_.size(); i++) fresh_[i] = fresh_[i] || mask.empty() || mask[i];
  const auto set = [&](const Buffer& array, const ArrayRef& values) {
    const Buffer host = on_the_host(array, stream_);
    for_each_component(host, [&]<class Real>(Real* x, long c) {
      const double same = values.data ? number(values, 0, c) : 0;
      for (long i = 0; i < instances_; i++)
        if (mask.empty() || mask[static_cast<std::size_t>(i)])
          x[i] = static_cast<Real>(values.instances > 1 ? number(values, i, c) : same);
    });
    if (device_ != on_host) copy(host.ref(), array.ref(), stream_);
  };
  set(now_[0], state.q.data ? state.q : row_of(robot.q0));
  set(now_[1], state.v);
  if (now_.size() > 2) set(now_[2], state.act);  // zero for impulses
  if (now_.size() > 3) set(now_[3], {}), set(ctrl_, state.ctrl);
}

std::vector<bool> Simulation::finite() const {
  std::vector<char> all(static_cast<std::size_t>(instances_), 1);
  for (int k : {0, 1})
    for_each_component(on_the_host(now_[k], stream_), [&](const auto* x, long) {
      for (std::size_t i = 0; i < all.size(); i++) all[i] &= static_cast<char>(x[i] - x[i] == 0);
    });
  return {all.begin(), all.end()};
}

}  // namespace featherstorm
