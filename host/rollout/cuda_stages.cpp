#include "host/rollout/cuda_stages.h"

#include <algorithm>

#include "host/engine/cuda_rows.h"
#include "host/memory/device.h"
#include "host/memory/scratch_guard.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

constexpr unsigned long alignment = 256;
unsigned long aligned(unsigned long bytes) { return (bytes + alignment - 1) / alignment * alignment; }

// Address of an array: component c of instance i is at data[i * instance + c * component].
struct Place {
  void* data = nullptr;
  long instance = 0, component = 0;
  bool operator==(const Place&) const = default;
};
Place place_of(const ArrayRef& a) { return {a.data, a.instance_stride, a.components > 1 ? a.component_stride : 0}; }

}  // namespace

CudaStages::CudaStages(const SequencePlan& plan) : plan_(plan) {}
CudaStages::~CudaStages() {
  kernels_->unload();
}  // unload() waits for the device; afterwards memory may be freed on any stream

// Requires the mutex.
std::shared_ptr<const DeviceStage> CudaStages::stage(std::size_t of, int device, void* stream, const CudaTable& table) {
  std::shared_ptr<const DeviceStage>& made = stages_[{device, of}];
  if (!made) require_no_capture(table, rollout_user, device, stream), made = plan_.stages[of].on_device(device);
  return made;
}

// Requires the mutex.
CudaStages::Choice& CudaStages::choice(const SequenceCall& call) {
  std::vector<int> outputs(call.out_at, call.out_at + call.out_count);
  std::sort(outputs.begin(), outputs.end());
  outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
  const int controlled = call.controls ? call.controlled : -1;
  for (const auto& c : choices_)
    if (c->outputs == outputs && c->controlled == controlled) return *c;

  return *choices_.emplace_back(std::make_unique<Choice>(plan_, std::move(outputs), controlled, kernels_));
}

// One run: the addresses of the arrays, step by step.
struct CudaStages::Walk {
  const SequencePlan& plan;
  const SequenceCall& call;
  const CudaTable& table;
  Choice& choice;
  std::vector<Place> at, slot;
  std::vector<std::shared_ptr<const DeviceStage>> stages;  // of the items
  std::vector<char*> uniform;                              // of each uniform array that a stage reads
  void* work = nullptr;                                    // working memory of stages
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
  void store_results(long t) const;
  void step(long t);
};

bool CudaStages::Walk::is_uniform_of_stage(int k) const {
  return plan.arrays[k].uniform && std::any_of(choice.items.begin(), choice.items.end(), [&](const Item& item) {
           const std::vector<int>& in = plan.stages[item.stage].in;
           return !item.rollout && item.arrays.empty() && std::find(in.begin(), in.end(), k) != in.end();
         });
}

// Upload the uniform numbers that stages read from memory. Programs get theirs as parameters of launches.
template <class Real>
void CudaStages::Walk::upload_uniforms(char* to) {
  for (int k = 0; k < static_cast<int>(plan.arrays.size()); k++) {
    if (!is_uniform_of_stage(k) || bytes_of_uniform(k) == 0) continue;
    const unsigned long bytes = bytes_of_uniform(k);
    const ScratchGuard guard;
    Real* const numbers = static_cast<Real*>(scratch_stack.take(bytes));
    std::copy_n(call.uniforms[k], bytes / sizeof(Real), numbers);
    const bool done = table.upload(call.device, call.stream, to, numbers, bytes);
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

// Return where an item writes array k: in the caller's memory, if that is an output and no later item of the step
// changes it.
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

// Return where a stage writes array k. Its arrays are swapped after it, and each component must be contiguous over the
// instances.
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

// Copy outputs that are not in the caller's memory yet. Outputs in other memory of the caller come first, because it
// may be overwritten.
void CudaStages::Walk::store_results(long t) const {
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
  store_results(t);
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
  } catch (const Error&) { throw; } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) { throw Error(e.what()); }
  Choice& c = *chosen;
  Walk walk{plan_, call, table, c, {}, {}, {}, {}};
  for (const Item& item : c.items)
    walk.stages.push_back(item.rollout ? nullptr : stage(item.stage, call.device, call.stream, table));
  walk.place_arrays(memory_);
  if (call.controls) walk.make_controls();
  for (long t = 0; t < call.steps; t++) walk.step(t);
}

}  // namespace featherstorm
