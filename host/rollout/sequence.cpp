#include "host/rollout/sequence.h"

#include <algorithm>
#include <mutex>

#include "core/program/count.h"
#include "core/program/order.h"
#include "core/scalar/scratch.h"
#include "host/compile/traced_kernel.h"
#include "host/rollout/cpu_rollout.h"
#include "host/rollout/cuda_rollout.h"
#include "host/rollout/cuda_stages.h"

namespace featherstorm {
namespace {

int find(const SequencePlan& plan, const std::string& name) {
  for (std::size_t k = 0; k < plan.arrays.size(); k++)
    if (plan.arrays[k].name == name) return static_cast<int>(k);
  throw Error("the sequence has no array '" + name + "'");
}

// `expected`: components of each array, or empty.
void require_components(const SequencePlan& plan, const std::vector<int>& arrays, const std::vector<long>& expected) {
  for (std::size_t k = 0; k < arrays.size() && k < expected.size(); k++) {
    const SequencePlan::Array& a = plan.arrays[static_cast<std::size_t>(arrays[k])];
    if (a.components != expected[k])
      throw Error("array '" + a.name + "' has " + std::to_string(a.components) + " components, the stage expects " +
                  std::to_string(expected[k]));
  }
}

// Checks of a call's arrays that are common to all kinds of processor.
class Checks {
 public:
  Checks(const SequencePlan& plan, long steps, long instances, const std::vector<SequenceMemory>& in,
         const std::vector<SequenceMemory>& out)
      : plan_(plan), steps_(steps), instances_(instances), in_(in), out_(out) {
    lead_ = !in.empty() ? &in.front() : !out.empty() ? &out.front() : nullptr;
    if (lead_) device = lead_->array.device;
  }

  void controls(const Controls& c) const {
    const SequencePlan::Array& array = plan_.arrays[find(plan_, c.name)];
    if (array.uniform) throw Error(c.name + " has the same numbers for all instances, expected an array");
    check(c, steps_, instances_, array.components, plan_.precision);
    if (c.given) at_the_same_place(c.knots.array, "knots");
  }
  void memories() const {
    for (const auto* all : {&in_, &out_})
      for (const SequenceMemory& m : *all) memory(m);
    for (const SequenceMemory& m : out_) output(m);
  }
  void uniforms(const std::vector<UniformValues>& given) const {
    for (const SequencePlan::Array& array : plan_.arrays) {
      if (!array.uniform) continue;
      const auto at = std::find_if(given.begin(), given.end(), [&](const auto& u) { return u.name == array.name; });
      const long n = at == given.end() ? 0 : static_cast<long>(at->values.size());
      if (n != array.components && n != steps_ * array.components)
        throw Error(array.name + " has " + std::to_string(n) + " numbers, expected " +
                    std::to_string(array.components) + ", or as many for each step");
    }
  }

  int device = on_host;

 private:
  void at_the_same_place(const ArrayRef& a, const std::string& name) const {
    if (a.device != device)
      throw Error(name + " is on " + place(a.device) + ", expected " + place(device) +
                  (lead_ ? " as " + lead_->name + " is" : ""));
  }
  void memory(const SequenceMemory& m) const {
    const SequencePlan::Array& array = plan_.arrays[find(plan_, m.name)];
    if (array.uniform) throw Error(m.name + " is an array, expected numbers that are the same for all instances");
    if (m.array.instances != instances_ || m.array.components != array.components)
      throw Error(m.name + " has shape " + shape_words(m.array.instances, m.array.components) + ", expected " +
                  shape_words(instances_, array.components));
    if (m.array.precision != plan_.precision)
      throw Error(m.name + " is " + words(m.array.precision) + ", expected " + words(plan_.precision));
    at_the_same_place(m.array, m.name);
    if (!m.array.data && instances_ * array.components > 0) throw Error(m.name + " is a null pointer");
  }
  void output(const SequenceMemory& m) const {
    const ArrayRef& a = m.array;
    if (a.instances * a.components == 0) return;
    for (const SequenceMemory& i : in_)
      if (a.data == i.array.data && (m.every_step || i.every_step || m.name != i.name))
        throw Error("output " + m.name + " overlaps input " + i.name);
    if ((a.instances > 1 && a.instance_stride == 0) || (a.components > 1 && a.component_stride == 0) ||
        (m.every_step && steps_ > 1 && m.step_stride == 0))
      throw Error("output " + m.name + " has a stride of 0, expected separate memory for each number");
  }

  const SequencePlan& plan_;
  long steps_, instances_;
  const std::vector<SequenceMemory>&in_, &out_;
  const SequenceMemory* lead_ = nullptr;
};

}  // namespace

struct Sequence::Implementation {
  SequencePlan plan;
  std::mutex mutex;  // protects the next two
  std::unique_ptr<CpuRollout> cpu;
  std::unique_ptr<RolloutBackend> cuda;

  RolloutBackend& backend(int device) {
    std::lock_guard lock(mutex);
    if (device == on_host) {
      if (!cpu) cpu = std::make_unique<CpuRollout>(plan);
      return *cpu;
    }
    if (cuda) return *cuda;
    const bool own = std::any_of(plan.stages.begin(), plan.stages.end(), [](const auto& s) { return !!s.on_device; });
    if (own) cuda = std::make_unique<CudaStages>(plan);
    else cuda = std::make_unique<CudaRollout>(plan);
    return *cuda;
  }
  void changed() { cpu.reset(), cuda.reset(); }
};

Stage stage_of(Evaluator& e, const std::string& op, Precision precision, std::vector<std::string> in,
               std::vector<std::string> out, std::vector<std::pair<std::string, std::string>> swaps, long repeat) {
  const OpRow& row = e.op(op);
  if (in.size() != row.in.size() + row.uniforms.size() || out.size() != row.out.size())
    throw Error(op + ": wrong number of arrays");
  return {[&e, op, precision] { return e.kernel(op, precision); },
          std::move(in),
          std::move(out),
          std::move(swaps),
          repeat,
          false,
          [&e, op] { return e.program(op); },
          {},
          op,
          {}};
}

Stage stage_of(const Evaluator& e, Precision precision, const Program& program) {
  const auto p = std::make_shared<const Program>(program);
  Stage s{[p, precision, &e] {
    return traced_kernel(*p, precision, e.isa(), e.assembles(), [&e](const std::string& what) { e.notify(what); });
  }};
  for (const auto& a : p->inputs) s.in.push_back(a.name);
  for (const auto& a : p->outputs) s.out.push_back(a.name);
  s.program = [p] { return *p; };
  return s;
}

Stage shared(Stage stage) {
  const auto made = std::make_shared<BoundKernel>();
  stage.kernel = [make = std::move(stage.kernel), made] {
    if (!made->kernel) *made = make();
    return *made;
  };
  return stage;
}

Sequence::Sequence(Precision precision, int threads, const std::string& isa)
    : self_(new Implementation{{precision, threads, isa, {}, {}, {}, -1}, {}, {}, {}}) {}
Sequence::~Sequence() = default;
Sequence::Sequence(Sequence&&) noexcept = default;
Sequence& Sequence::operator=(Sequence&&) noexcept = default;

void Sequence::array(const std::string& name, long components) {
  self_->plan.arrays.push_back({name, components, false}), self_->changed();
}
void Sequence::uniform(const std::string& name, long components) {
  self_->plan.arrays.push_back({name, components, true}), self_->changed();
}

long Sequence::components(const std::string& name) const {
  for (const SequencePlan::Array& a : self_->plan.arrays)
    if (a.name == name) return a.components;
  return -1;
}

void Sequence::stage(const Stage& s) {
  if (s.in.size() > max_arrays || s.out.size() > max_arrays)
    throw Error("a stage has more than " + std::to_string(max_arrays) + " arrays");
  if (s.repeat < 1) throw Error("repeat is " + std::to_string(s.repeat) + ", expected 1 or more");
  SequencePlan& plan = self_->plan;
  SequencePlan::Stage to{s.kernel, s.program, {}, {}, {}, s.repeat, s.last, -1, s.on_device, s.name, s.operations};
  for (const auto& name : s.in) to.in.push_back(find(plan, name));
  for (const auto& name : s.out) to.out.push_back(find(plan, name));
  require_components(plan, to.in, s.in_components), require_components(plan, to.out, s.out_components);
  if (s.on_device && (s.repeat != 1 || !s.needed.empty()))
    throw Error("a stage with a kernel for devices is repeated, expected one pass");
  for (std::size_t j = 0; j < to.in.size(); j++) {
    const SequencePlan::Array& a = plan.arrays[static_cast<std::size_t>(to.in[j])];
    const bool expected = j < s.in_uniform.size() && s.in_uniform[j];
    if (expected && !a.uniform)
      throw Error("array '" + a.name + "' differs among instances, the stage expects a uniform array");
    if (!s.in_uniform.empty() && a.uniform && !expected)
      throw Error("array '" + a.name + "' is uniform, the stage expects numbers for each instance");
    if (s.on_device && a.uniform && !expected)
      throw Error("array '" + a.name +
                  "' is uniform, a stage with a kernel for devices expects numbers for each instance");
  }
  for (const auto& [x, y] : s.swaps) {
    const int a = find(plan, x), b = find(plan, y);
    if (plan.arrays[a].components != plan.arrays[b].components || plan.arrays[a].uniform || plan.arrays[b].uniform)
      throw Error("arrays '" + x + "' and '" + y +
                  "' cannot be swapped, expected equal numbers of components and no uniform array");
    to.swaps.push_back({a, b});
  }
  if (!s.needed.empty()) {
    to.needed = find(plan, s.needed);
    if (plan.arrays[to.needed].uniform || plan.arrays[to.needed].components < 1)
      throw Error("array '" + s.needed +
                  "' cannot select instances, expected an array with components that is not uniform");
    if (to.swaps.empty() && s.repeat != 1)
      throw Error("a stage that depends on array '" + s.needed + "' has no swaps and " + std::to_string(s.repeat) +
                  " passes, expected one pass");
    for (std::size_t k = 0; k < to.out.size() && !to.swaps.empty(); k++)
      if (std::none_of(to.swaps.begin(), to.swaps.end(), [&](const auto& pair) { return pair.second == to.out[k]; }))
        throw Error("array '" + s.out[k] +
                    "' of a stage that is repeated for some instances has no swap, expected one");
  }
  plan.stages.push_back(std::move(to));
  self_->changed();
}

void Sequence::finite(const std::string& name, const std::vector<std::string>& of) {
  SequencePlan::Finite f{find(self_->plan, name), {}};
  for (const auto& other : of) f.of.push_back(find(self_->plan, other));
  self_->plan.finite.push_back(std::move(f));
  self_->changed();
}

void Sequence::order_by(const std::string& name) {
  const int k = find(self_->plan, name);
  const SequencePlan::Array& array = self_->plan.arrays[k];
  if (array.uniform || array.components < 1)
    throw Error("array '" + name + "' cannot order instances, expected an array with components that is not uniform");
  self_->plan.order = k;
  self_->changed();
}

void Sequence::measure() { self_->plan.measured = true, self_->changed(); }

std::vector<StageCost> Sequence::costs() const {
  if (!self_->plan.measured) throw Error("the sequence is not measured; call measure() before run()");
  std::lock_guard lock(self_->mutex);
  const std::vector<double> seconds = self_->cpu ? self_->cpu->seconds() : std::vector<double>();
  std::vector<StageCost> costs;
  for (std::size_t k = 0; k < self_->plan.stages.size(); k++) {
    const SequencePlan::Stage& stage = self_->plan.stages[k];
    long operations = stage.operations;
    if (stage.program) {
      const Program p = stage.program();
      operations = stage.repeat * count(p, trace_order(p)).instructions();
    }
    costs.push_back({stage.name, operations, k < seconds.size() ? seconds[k] : 0});
  }
  return costs;
}

void Sequence::run(long steps, long instances, const std::vector<SequenceMemory>& in,
                   const std::vector<UniformValues>& uniforms, const std::vector<SequenceMemory>& out,
                   const Controls* controls, void* stream) const {
  const SequencePlan& plan = self_->plan;
  if (steps < 1) throw Error("steps is " + std::to_string(steps) + ", expected 1 or more");
  const Checks checks(plan, steps, instances, in, out);
  if (controls) checks.controls(*controls);
  checks.memories(), checks.uniforms(uniforms);
  if (instances == 0) return;

  const int n = static_cast<int>(plan.arrays.size());
  auto numbers = scratch<const double*>(n + 1);
  auto every_step = scratch<bool>(n + 1);
  auto in_at = scratch<int>(static_cast<int>(in.size()) + 1), out_at = scratch<int>(static_cast<int>(out.size()) + 1);
  for (int k = 0; k < n; k++) numbers[k] = nullptr, every_step[k] = false;
  for (const UniformValues& u : uniforms) {
    const int k = find(plan, u.name);
    numbers[k] = u.values.data();
    every_step[k] = static_cast<long>(u.values.size()) != plan.arrays[k].components;
  }
  for (std::size_t k = 0; k < in.size(); k++) in_at[k] = find(plan, in[k].name);
  for (std::size_t k = 0; k < out.size(); k++) out_at[k] = find(plan, out[k].name);
  self_->backend(checks.device)
      .run({plan.precision, checks.device, steps, instances, in.data(), out.data(), in_at.data(), out_at.data(),
            static_cast<int>(in.size()), static_cast<int>(out.size()), numbers.data(), every_step.data(), controls,
            controls ? find(plan, controls->name) : 0, stream});
}

Sequence sequence_of(const Evaluator& e, Precision precision, const Program& program) {
  Sequence s(precision, e.threads(), e.isa());
  for (const auto* arrays : {&program.inputs, &program.outputs})
    for (const Program::Array& a : *arrays) a.uniform ? s.uniform(a.name, a.size) : s.array(a.name, a.size);
  s.stage(stage_of(e, precision, program));
  return s;
}

}  // namespace featherstorm
