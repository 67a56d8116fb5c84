// The kernels of a step on a device, and the arrays that each reads and writes (cuda_stages.h).
#include <algorithm>

#include "core/program/count.h"
#include "core/program/order.h"
#include "host/rollout/cuda_stages.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

// Limit for the programs in one kernel. Beyond it NVRTC runs out of registers, and keeps nearly all numbers in memory
// (decision 53).
constexpr long most_instructions = 4500;

bool is_in(const std::vector<int>& all, int k) { return std::find(all.begin(), all.end(), k) != all.end(); }
void add_once(std::vector<int>& all, int k) {
  if (!is_in(all, k)) all.push_back(k);
}

}  // namespace

bool CudaStages::Item::changes_array(int k) const { return is_in(changes, k); }
bool CudaStages::Item::reads_array(int k) const { return is_in(reads, k) || (in_place && changes_array(k)); }

// Return the item's index of one of the plan's arrays.
int CudaStages::Item::local(const SequencePlan& plan, int k) {
  const auto at = std::find(arrays.begin(), arrays.end(), k);
  if (at != arrays.end()) return static_cast<int>(at - arrays.begin());
  arrays.push_back(k);
  program.arrays.push_back({static_cast<int>(plan.arrays[k].components), plan.arrays[k].uniform, false});
  return static_cast<int>(arrays.size()) - 1;
}

// Append a stage to the kernel.
void CudaStages::Item::add_program(const SequencePlan& plan, const SequencePlan::Stage& s,
                                   std::shared_ptr<const Program> p) {
  const auto read = [&](int k) {
    if (!plan.arrays[k].uniform && !changes_array(k)) add_once(reads, k);
  };
  RolloutProgram::Stage to{std::move(p), {}, {}, {}, s.repeat, false};
  const auto at = [&](int k) { return local(plan, k); };
  for (const int k : s.in) read(k), to.in.push_back(at(k));
  if (s.needed >= 0) {
    read(s.needed), to.needed = at(s.needed);
    // the stage may run for no instance; then all arrays except scratch keep their numbers
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

// Add a conditional stage of one pass, as the only one of its kernel. It writes directly to the arrays that its outputs
// are swapped with.
void CudaStages::Item::add_program_in_place(const SequencePlan& plan, const SequencePlan::Stage& s,
                                            std::shared_ptr<const Program> p) {
  const auto at = [&](int k) { return local(plan, k); };
  RolloutProgram::Stage to{std::move(p), {}, {}, {}, 1, false, at(s.needed), true};
  in_place = true;
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

void CudaStages::Item::add_check(const SequencePlan& plan, const SequencePlan::Finite& f) {
  RolloutProgram::Check check{local(plan, f.array), {}};
  for (const int k : f.of) check.of.push_back(local(plan, k)), add_once(reads, k);
  add_once(reads, f.array), add_once(changes, f.array);
  program.checks.push_back(std::move(check));
}

void CudaStages::Item::set_stage(const SequencePlan& plan, std::size_t k) {
  const SequencePlan::Stage& s = plan.stages[k];
  stage = k, changes = s.out, places = s.swaps;
  for (const int in : s.in)
    if (!plan.arrays[in].uniform) reads.push_back(in);
  for (const auto& [x, y] : s.swaps) add_once(changes, x), add_once(changes, y);
}

// Requires `reads` and `writes`.
void CudaStages::Item::compile(const SequencePlan& plan, const std::shared_ptr<LoadedKernels>& kernels) {
  for (const int k : reads) in.push_back({plan.arrays[k].name, {}}), in_at.push_back(local(plan, k));
  for (const int k : writes) out.push_back({plan.arrays[k].name, {}}), out_at.push_back(local(plan, k));
  uniforms.resize(arrays.size());
  every_step = std::make_unique<bool[]>(arrays.size());
  program.one_step = true;
  rollout = std::make_unique<CudaRollout>(std::move(program), kernels);
}

CudaStages::Choice::Choice(const SequencePlan& plan, std::vector<int> wanted, int of_controls,
                           const std::shared_ptr<LoadedKernels>& kernels)
    : outputs(std::move(wanted)), controlled(of_controls) {
  for (std::size_t k = 0; k < plan.stages.size(); k++) add_stage(plan, k);
  if (!plan.finite.empty()) {
    Item& item = items.emplace_back();
    item.last = true;
    for (const SequencePlan::Finite& f : plan.finite) item.add_check(plan, f);
  }
  has_slot.assign(plan.arrays.size(), 0);
  for (std::size_t i = 0; i < items.size(); i++) {
    Item& item = items[i];
    if (item.arrays.empty()) {
      for (const auto* all : {&item.reads, &item.changes})
        for (const int k : *all) has_slot[k] = 1;
      continue;
    }
    for (const int k : item.changes)
      if (item.in_place || is_read(plan, i, k)) item.writes.push_back(k), has_slot[k] = 1;
    item.compile(plan, kernels);
  }
  if (controlled >= 0) {
    RolloutProgram p;
    p.arrays = {{static_cast<int>(plan.arrays[controlled].components), false, false}};
    controls = std::make_unique<CudaRollout>(std::move(p), kernels);
  }
}

void CudaStages::Choice::add_stage(const SequencePlan& plan, std::size_t k) {
  const SequencePlan::Stage& s = plan.stages[k];
  const bool in_place = !s.on_device && s.needed >= 0 && s.repeat == 1;
  if (!s.on_device && !s.program) throw Error("a stage has no program for arrays on a device");
  const auto program = s.on_device ? nullptr : std::make_shared<const Program>(s.program());
  const long length = program ? count(*program, trace_order(*program)).instructions() : 0;
  const bool goes_on = program && !in_place && !items.empty() && !items.back().arrays.empty() &&
                       !items.back().in_place && items.back().last == s.last &&
                       items.back().length + length <= most_instructions;
  if (!goes_on) items.emplace_back().last = s.last;
  Item& item = items.back();
  item.length += length;
  if (s.on_device) item.set_stage(plan, k);
  else if (in_place) item.add_program_in_place(plan, s, program);
  else item.add_program(plan, s, program);
}

// Return whether anything reads array k after an item, in this step or a later one.
bool CudaStages::Choice::is_read(const SequencePlan& plan, std::size_t i, int k) const {
  const std::size_t n = items.size();
  for (std::size_t step = 1; step <= 4 * n; step++) {
    const std::size_t at = (i + step) % n;
    if (at == 0 && std::binary_search(outputs.begin(), outputs.end(), k)) return true;
    const Item& item = items[at];
    if (item.reads_array(k)) return true;
    const std::vector<int>& given = item.arrays.empty() ? plan.stages[item.stage].out : item.changes;
    if (!item.last && is_in(given, k)) return false;
    for (const auto& [x, y] : item.places)
      if (!item.last && (k == x || k == y)) {
        k = k == x ? y : x;
        break;
      }
  }
  return true;
}

}  // namespace featherstorm
