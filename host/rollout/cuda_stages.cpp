#include "host/rollout/cuda_stages.h"

#include <algorithm>

#include "core/program/count.h"
#include "core/program/order.h"
#include "core/scalar/scratch.h"
#include "host/engine/cuda_rows.h"
#include "host/memory/device.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

// Of programs in one kernel: with more of them NVRTC runs out of registers, and then keeps nearly all numbers in memory (decision 53).
constexpr long most_instructions = 4500;

constexpr unsigned long alignment = 256;
unsigned long aligned(unsigned long bytes) { return (bytes + alignment - 1) / alignment * alignment; }

// Where an array is: component c of instance i at data[i * instance + c * component].
struct Place {
  void* data = nullptr;
  long instance = 0, component = 0;
  bool operator==(const Place&) const = default;
};
Place place_of(const ArrayRef& a) { return {a.data, a.instance_stride, a.components > 1 ? a.component_stride : 0}; }

}  // namespace

// Programs in one kernel, or a stage with a kernel of its own.
struct CudaStages::Item {
  bool last = false;                        // runs after the last step alone
  std::vector<int> reads;                   // arrays whose numbers from before it needs
  std::vector<int> changes;                 // and those that have others after it
  std::vector<std::pair<int, int>> places;  // of a stage: arrays that change places behind it
  std::size_t stage = 0;                    // of the plan, where it has a kernel of its own
  std::vector<int> arrays;                  // of programs: the plan's array for each of theirs
  RolloutProgram program;                   // before it is compiled
  std::unique_ptr<CudaRollout> rollout;     // null: a stage
  long length = 0;                          // instructions of programs
  std::vector<int> writes;                  // what it changes and somebody reads
  bool in_place = false;                    // `changes` keep their numbers where its only program does not run
  std::vector<SequenceMemory> in, out;      // of `reads` and `writes`
  std::vector<int> in_at, out_at;           // among `arrays`
  std::vector<const double*> uniforms;      // of `arrays`
  std::unique_ptr<bool[]> every_step;       // of `arrays`: no

  bool changes_array(int k) const { return std::find(changes.begin(), changes.end(), k) != changes.end(); }
  bool reads_array(int k) const {
    return std::find(reads.begin(), reads.end(), k) != reads.end() || (in_place && changes_array(k));
  }
};

struct CudaStages::Choice {
  std::vector<int> outputs;  // arrays that calls want
  std::vector<Item> items;
  std::vector<char> has_slot;             // arrays that need memory of the stream
  std::unique_ptr<CudaRollout> controls;  // makes those of all steps
  int controlled = -1;
};

namespace {

void add_once(std::vector<int>& all, int k) {
  if (std::find(all.begin(), all.end(), k) == all.end()) all.push_back(k);
}

// The number of the plan's array among those of an item.
int local(const SequencePlan& plan, std::vector<int>& arrays, RolloutProgram& program, int k) {
  const auto at = std::find(arrays.begin(), arrays.end(), k);
  if (at != arrays.end()) return static_cast<int>(at - arrays.begin());
  arrays.push_back(k);
  program.arrays.push_back({static_cast<int>(plan.arrays[k].components), plan.arrays[k].uniform, false});
  return static_cast<int>(arrays.size()) - 1;
}

// A stage behind others in one kernel, which needs what `reads` had before it and changes `changes`.
void add_program(const SequencePlan& plan, const SequencePlan::Stage& s, const std::shared_ptr<const Program>& p,
                 std::vector<int>& arrays, RolloutProgram& program, std::vector<int>& reads,
                 std::vector<int>& changes) {
  const auto read = [&](int k) {
    if (!plan.arrays[k].uniform && std::find(changes.begin(), changes.end(), k) == changes.end()) add_once(reads, k);
  };
  RolloutProgram::Stage to{p, {}, {}, {}, s.repeat, false};
  const auto at = [&](int k) { return local(plan, arrays, program, k); };
  for (const int k : s.in) read(k), to.in.push_back(at(k));
  if (s.needed >= 0) {
    read(s.needed), to.needed = at(s.needed);
    // it may run for no instance: then everything stays as it was, but for scratch
    if (!s.swaps.empty())
      for (const int k : s.out) read(k);
  }
  for (const int k : s.out) add_once(changes, k), to.out.push_back(at(k));
  for (const auto& [x, y] : s.swaps) {
    read(x), read(y);
    add_once(changes, x), add_once(changes, y);
    to.swaps.push_back({at(x), at(y)});
  }
  program.stages.push_back(std::move(to));
}

// The same of a stage of one pass that runs where it is needed, in a kernel of its own: it writes what its outputs change places with.
void add_program_in_place(const SequencePlan& plan, const SequencePlan::Stage& s,
                          const std::shared_ptr<const Program>& p, std::vector<int>& arrays, RolloutProgram& program,
                          std::vector<int>& reads, std::vector<int>& changes) {
  const auto at = [&](int k) { return local(plan, arrays, program, k); };
  RolloutProgram::Stage to{p, {}, {}, {}, 1, false, at(s.needed), true};
  add_once(reads, s.needed);
  for (const int k : s.in) {
    if (!plan.arrays[k].uniform) add_once(reads, k);
    to.in.push_back(at(k));
  }
  for (int k : s.out) {
    for (const auto& [x, y] : s.swaps)
      if (y == k) {
        k = x;
        break;
      }
    add_once(changes, k), to.out.push_back(at(k));
  }
  program.stages.push_back(std::move(to));
}

}  // namespace

CudaStages::CudaStages(const SequencePlan& plan) : plan_(plan) {}
CudaStages::~CudaStages() {
  kernels_->unload();
}  // it waits for the device: memory may be given back on any stream after it

// With the mutex held.
std::shared_ptr<const DeviceStage> CudaStages::stage(std::size_t of, int device, void* stream, const CudaTable& table) {
  std::shared_ptr<const DeviceStage>& made = stages_[{device, of}];
  if (!made) require_no_capture(table, rollout_user, device, stream), made = plan_.stages[of].on_device(device);
  return made;
}

// With the mutex held.
CudaStages::Choice& CudaStages::choice(const SequenceCall& call) {
  std::vector<int> outputs;
  for (int k = 0; k < call.out_count; k++) add_once(outputs, call.out_at[k]);
  std::sort(outputs.begin(), outputs.end());
  const int controlled = call.controls ? call.controlled : -1;
  for (const auto& c : choices_)
    if (c->outputs == outputs && c->controlled == controlled) return *c;

  auto c = std::make_unique<Choice>();
  c->outputs = outputs, c->controlled = controlled;
  for (std::size_t k = 0; k < plan_.stages.size(); k++) {
    const SequencePlan::Stage& s = plan_.stages[k];
    const bool in_place = !s.on_device && s.needed >= 0 && s.repeat == 1;
    if (!s.on_device && !s.program) throw Error("a stage has no program for arrays on a device");
    const auto program = s.on_device ? nullptr : std::make_shared<const Program>(s.program());
    const long length = program ? count(*program, trace_order(*program)).instructions() : 0;
    const bool goes_on = program && !in_place && !c->items.empty() && !c->items.back().arrays.empty() &&
                         !c->items.back().in_place && c->items.back().last == s.last &&
                         c->items.back().length + length <= most_instructions;
    if (!goes_on) c->items.emplace_back().last = s.last;
    Item& item = c->items.back();
    item.length += length;
    if (in_place) {
      item.in_place = true;
      add_program_in_place(plan_, s, program, item.arrays, item.program, item.reads, item.changes);
      continue;
    }
    if (!s.on_device) {
      add_program(plan_, s, program, item.arrays, item.program, item.reads, item.changes);
      continue;
    }
    item.stage = k, item.changes = s.out, item.places = s.swaps;
    for (const int in : s.in)
      if (!plan_.arrays[in].uniform) item.reads.push_back(in);
    for (const auto& [x, y] : s.swaps) add_once(item.changes, x), add_once(item.changes, y);
  }
  if (!plan_.finite.empty()) {
    Item& item = c->items.emplace_back();
    item.last = true;
    for (const SequencePlan::Finite& f : plan_.finite) {
      RolloutProgram::Check check{local(plan_, item.arrays, item.program, f.array), {}};
      for (const int k : f.of) check.of.push_back(local(plan_, item.arrays, item.program, k)), add_once(item.reads, k);
      add_once(item.reads, f.array), add_once(item.changes, f.array);
      item.program.checks.push_back(std::move(check));
    }
  }

  // whether somebody reads what array k has after item i
  const auto is_read = [&](std::size_t i, int k) {
    const std::size_t n = c->items.size();
    for (std::size_t step = 1; step <= 4 * n; step++) {
      const std::size_t at = (i + step) % n;
      if (at == 0 && std::binary_search(outputs.begin(), outputs.end(), k)) return true;
      const Item& item = c->items[at];
      if (item.reads_array(k)) return true;
      const std::vector<int>& given = item.arrays.empty() ? plan_.stages[item.stage].out : item.changes;
      if (!item.last && std::find(given.begin(), given.end(), k) != given.end()) return false;
      for (const auto& [x, y] : item.places)
        if (!item.last && (k == x || k == y)) {
          k = k == x ? y : x;
          break;
        }
    }
    return true;
  };
  c->has_slot.assign(plan_.arrays.size(), 0);
  for (std::size_t i = 0; i < c->items.size(); i++) {
    Item& item = c->items[i];
    if (item.arrays.empty()) {
      for (const auto* all : {&item.reads, &item.changes})
        for (const int k : *all) c->has_slot[k] = 1;
      continue;
    }
    for (const int k : item.changes)
      if (item.in_place || is_read(i, k)) item.writes.push_back(k), c->has_slot[k] = 1;
    const auto at = [&](int k) { return local(plan_, item.arrays, item.program, k); };
    for (const int k : item.reads) item.in.push_back({plan_.arrays[k].name, {}}), item.in_at.push_back(at(k));
    for (const int k : item.writes) item.out.push_back({plan_.arrays[k].name, {}}), item.out_at.push_back(at(k));
    item.uniforms.resize(item.arrays.size());
    item.every_step = std::make_unique<bool[]>(item.arrays.size());
    item.program.one_step = true;
    item.rollout = std::make_unique<CudaRollout>(std::move(item.program), kernels_);
  }
  if (controlled >= 0) {
    RolloutProgram p;
    p.arrays = {{static_cast<int>(plan_.arrays[controlled].components), false, false}};
    c->controls = std::make_unique<CudaRollout>(std::move(p), kernels_);
  }
  return *choices_.emplace_back(std::move(c));
}

// One run: where the arrays are, step by step.
struct CudaStages::Walk {
  const SequencePlan& plan;
  const SequenceCall& call;
  const CudaTable& table;
  Choice& choice;
  std::vector<Place> at, slot;
  std::vector<std::shared_ptr<const DeviceStage>> stages;  // of the items
  std::vector<char*> uniform;  // of each array that a stage takes and that is the same for all instances
  void* work = nullptr;        // of stages
  char* made_controls = nullptr;
  long size = static_cast<long>(bytes_of(plan.precision)),
       stride = padded_stride(call.instances, plan.precision, call.device);

  ArrayRef array(int k, const Place& p) const {
    return {p.data,     plan.precision, call.instances, plan.arrays[k].components,
            p.instance, p.component,    false,          call.device};
  }
  void check(bool done) const {
    if (!done) throw_cuda_error(table, "rollout", call.device);
  }
  void copy(int k, const Place& from, const Place& to) const {
    const StridedArray a{from.data, from.instance, from.component}, b{to.data, to.instance, to.component};
    check(table.copy_strided(call.device, call.stream, size == 8, &b, &a, call.instances, plan.arrays[k].components));
  }

  void place_arrays(StreamMemory& memory);
  bool is_uniform_of_stage(int k) const;
  unsigned long bytes_of_uniform(int k) const {
    return static_cast<unsigned long>(size * (call.every_step[k] ? call.steps : 1) * plan.arrays[k].components);
  }
  template <class Real> void upload_uniforms(char* to);
  void make_controls();
  bool is_due(const SequenceMemory& m, long t) const { return m.every_step || t + 1 == call.steps; }
  bool is_last_change(std::size_t item, int k, long t) const;
  Place target(std::size_t item, int k, long t) const;
  void run_programs(std::size_t item, long t);
  Place target_of_stage(std::size_t item, int k, long t) const;
  void run_stage(std::size_t item, long t);
  void hand_out(long t) const;
  void step(long t);
};

bool CudaStages::Walk::is_uniform_of_stage(int k) const {
  return plan.arrays[k].uniform && std::any_of(choice.items.begin(), choice.items.end(), [&](const Item& item) {
           const std::vector<int>& in = plan.stages[item.stage].in;
           return !item.rollout && item.arrays.empty() && std::find(in.begin(), in.end(), k) != in.end();
         });
}

// Programs take such numbers as parameters of launches, stages find them in memory.
template <class Real>
void CudaStages::Walk::upload_uniforms(char* to) {
  for (int k = 0; k < static_cast<int>(plan.arrays.size()); k++) {
    if (!is_uniform_of_stage(k) || bytes_of_uniform(k) == 0) continue;
    const unsigned long bytes = bytes_of_uniform(k);
    const ScratchStack::Mark mark = scratch_stack.mark();
    Real* const numbers = static_cast<Real*>(scratch_stack.take(bytes));
    std::copy_n(call.uniforms[k], bytes / sizeof(Real), numbers);
    const bool done = table.upload(call.device, call.stream, to, numbers, bytes);
    scratch_stack.give_back(mark);
    check(done);
    uniform[static_cast<std::size_t>(k)] = to, to += aligned(bytes);
  }
}

void CudaStages::Walk::place_arrays(StreamMemory& memory) {
  const int n = static_cast<int>(plan.arrays.size());
  const auto bytes_of_slot = [&](int k) {
    return aligned(static_cast<unsigned long>(size * stride * plan.arrays[k].components));
  };
  unsigned long bytes = alignment, of_stages = 0;  // a zero, then the slots
  for (int k = 0; k < n; k++)
    if (choice.has_slot[k]) bytes += bytes_of_slot(k);
  unsigned long of_uniforms = 0;
  for (int k = 0; k < n; k++)
    if (is_uniform_of_stage(k)) of_uniforms += aligned(bytes_of_uniform(k));
  const unsigned long of_controls = call.controls ? call.steps * bytes_of_slot(call.controlled) : 0;
  for (const auto& s : stages)
    if (s) of_stages = std::max(of_stages, s->work_bytes(call.instances));
  char* const begin = static_cast<char*>(
      memory.get(table, call.device, call.stream, bytes + of_uniforms + of_controls + aligned(of_stages)).memory);
  check(table.fill(call.device, call.stream, begin, 0, alignment));
  at.assign(n, {begin, 0, 0}), slot.assign(n, {});
  char* free = begin + alignment;
  for (int k = 0; k < n; k++)
    if (choice.has_slot[k]) slot[k] = {free, 1, plan.arrays[k].components > 1 ? stride : 0}, free += bytes_of_slot(k);
  uniform.assign(n, nullptr);
  if (size == 4) upload_uniforms<float>(free);
  else upload_uniforms<double>(free);
  made_controls = free + of_uniforms, work = made_controls + of_controls;
  for (int k = 0; k < call.in_count; k++)
    if (!call.in[k].every_step) at[call.in_at[k]] = place_of(call.in[k].array);
}

void CudaStages::Walk::make_controls() {
  const SequencePlan::Array& a = plan.arrays[call.controlled];
  const long of_step = static_cast<long>(aligned(static_cast<unsigned long>(size * stride * a.components))) / size;
  const SequenceMemory out{a.name, array(call.controlled, {made_controls, 1, stride}), true, of_step};
  const int zero = 0;
  const double* none = nullptr;
  const bool every_step = false;
  choice.controls->run({plan.precision, call.device, call.steps, call.instances, nullptr, &out, nullptr, &zero, 0, 1,
                        &none, &every_step, call.controls, 0, call.stream});
}

bool CudaStages::Walk::is_last_change(std::size_t item, int k, long t) const {
  for (std::size_t i = item + 1; i < choice.items.size(); i++)
    if (const Item& later = choice.items[i];
        (!later.last || t + 1 == call.steps) && !later.in_place && later.changes_array(k))
      return false;
  return true;
}

// Where an item writes array k: to the caller, if that is an output and nobody changes it before the end of the step.
Place CudaStages::Walk::target(std::size_t item, int k, long t) const {
  if (!is_last_change(item, k, t)) return slot[k];
  for (int o = 0; o < call.out_count; o++) {
    if (call.out_at[o] != k || !is_due(call.out[o], t)) continue;
    const Place p = place_of(call.out[o].at(call.out[o].every_step ? t : 0));
    for (std::size_t j = 0; j < at.size(); j++)
      if (static_cast<int>(j) != k && at[j].data == p.data) return slot[k];
    return p;
  }
  return slot[k];
}

void CudaStages::Walk::run_programs(std::size_t i, long t) {
  Item& item = choice.items[i];
  for (std::size_t j = 0; j < item.reads.size(); j++) item.in[j].array = array(item.reads[j], at[item.reads[j]]);
  for (std::size_t j = 0; j < item.writes.size(); j++) {
    const int k = item.writes[j];
    const Place to = target(i, k, t);
    if (item.in_place && to != at[k]) copy(k, at[k], to);
    item.out[j].array = array(k, to), at[k] = to;
  }
  for (std::size_t j = 0; j < item.arrays.size(); j++) {
    const int k = item.arrays[j];
    item.uniforms[j] = call.uniforms[k];
    if (call.uniforms[k] && call.every_step[k]) item.uniforms[j] += t * plan.arrays[k].components;
  }
  item.rollout->run({plan.precision, call.device, 1, call.instances, item.in.data(), item.out.data(), item.in_at.data(),
                     item.out_at.data(), static_cast<int>(item.in.size()), static_cast<int>(item.out.size()),
                     item.uniforms.data(), item.every_step.get(), nullptr, 0, call.stream});
}

// The same of a stage, whose arrays change places behind it and have their instances side by side.
Place CudaStages::Walk::target_of_stage(std::size_t item, int k, long t) const {
  int name = k;
  for (const auto& [x, y] : choice.items[item].places) name = name == x ? y : name == y ? x : name;
  const Place to = target(item, name, t);
  if (to == slot[name] || !by_components(array(k, to))) return slot[k];
  for (const int j : choice.items[item].reads)
    if (at[static_cast<std::size_t>(j)].data == to.data) return slot[k];
  return to;
}

void CudaStages::Walk::run_stage(std::size_t i, long t) {
  const Item& item = choice.items[i];
  const SequencePlan::Stage& s = plan.stages[item.stage];
  Array in[max_arrays], out[max_arrays];
  for (std::size_t j = 0; j < s.in.size(); j++) {
    const int k = s.in[j];
    if (plan.arrays[k].components == 0) {
      in[j] = {nullptr, 0};
      continue;
    }
    if (plan.arrays[k].uniform) {
      in[j] = {uniform[static_cast<std::size_t>(k)] +
                   (call.every_step[k] ? t * static_cast<long>(size) * plan.arrays[k].components : 0),
               0};
      continue;
    }
    if (!by_components(array(k, at[k]))) copy(k, at[k], slot[k]), at[k] = slot[k];
    in[j] = {at[k].data, at[k].component};
  }
  for (std::size_t j = 0; j < s.out.size(); j++) {
    const int k = s.out[j];
    const Place to = target_of_stage(i, k, t);
    out[j] = {plan.arrays[k].components == 0 ? nullptr : to.data, to.component};
    at[k] = to;
  }
  stages[i]->launch(in, out, call.instances, work, call.stream);
  for (const auto& [x, y] : item.places) std::swap(at[x], at[y]), std::swap(slot[x], slot[y]);
}

// Outputs that are not where they are wanted; those in memory of the caller first, which others may be copied over.
void CudaStages::Walk::hand_out(long t) const {
  for (const bool from_caller : {true, false})
    for (int o = 0; o < call.out_count; o++) {
      const SequenceMemory& m = call.out[o];
      const int k = call.out_at[o];
      const Place to = place_of(m.at(m.every_step ? t : 0));
      if (!is_due(m, t) || plan.arrays[k].components == 0 || at[k] == to || (at[k] != slot[k]) != from_caller) continue;
      copy(k, at[k], to);
    }
}

void CudaStages::Walk::step(long t) {
  for (int k = 0; k < call.in_count; k++)
    if (call.in[k].every_step) at[call.in_at[k]] = place_of(call.in[k].at(t));
  if (call.controls) {
    const int k = call.controlled;
    const unsigned long of_step = aligned(static_cast<unsigned long>(size * stride * plan.arrays[k].components));
    at[k] = {made_controls + t * of_step, 1, plan.arrays[k].components > 1 ? stride : 0};
  }
  for (std::size_t i = 0; i < choice.items.size(); i++) {
    if (choice.items[i].last && t + 1 < call.steps) continue;
    if (choice.items[i].rollout) run_programs(i, t);
    else run_stage(i, t);
  }
  hand_out(t);
}

void CudaStages::run(const SequenceCall& call) {
  if (call.instances > max_device_instances)
    throw Error("the batch has " + std::to_string(call.instances) + " instances, on a device expected at most " +
                std::to_string(max_device_instances));
  const CudaTable& table = cuda_for("rollout", call.device);
  std::lock_guard lock(mutex_);
  Choice* chosen = nullptr;
  try {
    chosen = &choice(call);
  } catch (const Error&) { throw; } catch (const std::exception& e) {
    throw Error(e.what());
  }
  Choice& c = *chosen;
  Walk walk{plan_, call, table, c, {}, {}, {}, {}};
  for (const Item& item : c.items)
    walk.stages.push_back(item.rollout ? nullptr : stage(item.stage, call.device, call.stream, table));
  walk.place_arrays(memory_);
  if (call.controls) walk.make_controls();
  for (long t = 0; t < call.steps; t++) walk.step(t);
}

}  // namespace featherstorm
