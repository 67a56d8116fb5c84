#include "host/rollout/cpu_rollout.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "host/memory/cpu_library.h"
#include "host/memory/scratch_guard.h"
#include "host/system/error.h"
#include "host/system/interruption.h"

namespace featherstorm {
namespace {

// Adds its lifetime to a total; null: nothing.
class Stopwatch {
 public:
  explicit Stopwatch(std::atomic<long>* total) : total_(total) {
    if (total_) start_ = std::chrono::steady_clock::now();
  }
  ~Stopwatch() {
    if (!total_) return;
    const auto passed = std::chrono::steady_clock::now() - start_;
    total_->fetch_add(std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count(), std::memory_order_relaxed);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::atomic<long>* total_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace

CpuRollout::CpuRollout(const SequencePlan& plan)
    : plan_(plan),
      nanoseconds_(plan.measured ? plan.stages.size() : 0),
      threads_(plan.threads),
      noise_(noise_kernels(plan.isa.empty() ? supported_isas().front() : plan.isa)) {
  carried_ = carried();
}

std::vector<double> CpuRollout::seconds() const {
  std::vector<double> seconds;
  for (const std::atomic<long>& t : nanoseconds_) seconds.push_back(1e-9 * static_cast<double>(t));
  return seconds;
}

std::vector<char> CpuRollout::carried() const {
  // Carried arrays are those that a stage reads before any stage of the step has written them, and those that no stage
  // writes, which may be outputs as they are. A repeated stage with swaps leaves some instances unchanged, so its
  // arrays are carried. A conditional stage without swaps writes scratch, which no stage reads for other instances.
  const std::size_t n = plan_.arrays.size();
  std::vector<char> carried(n), written(n);
  for (const SequencePlan::Stage& s : plan_.stages) {
    const auto read = [&](int k) { carried[k] |= !written[k]; };
    for (const int k : s.in) read(k);
    if (s.needed >= 0) {
      read(s.needed);
      if (!s.swaps.empty()) {
        for (const int k : s.out) read(k);
        for (const auto& [x, y] : s.swaps) read(x), read(y);
        continue;
      }
    }
    for (const int k : s.out)
      if (!s.last) written[k] = 1;
    for (const auto& [x, y] : s.swaps) std::swap(written[x], written[y]);
  }
  for (std::size_t k = 0; k < n; k++) carried[k] |= !written[k];
  if (plan_.order >= 0) carried[static_cast<std::size_t>(plan_.order)] = 1;
  return carried;
}

const std::vector<BoundKernel>& CpuRollout::kernels() {
  std::lock_guard lock(mutex_);
  if (kernels_.size() == plan_.stages.size()) return kernels_;
  std::vector<BoundKernel> made;
  for (const SequencePlan::Stage& s : plan_.stages) {
    made.push_back(s.kernel ? s.kernel() : BoundKernel{});
    if (!made.back().kernel) throw Error("a stage has no kernel for arrays on the host");
  }
  return kernels_ = std::move(made);
}

void CpuRollout::run(const SequenceCall& call) {
  if (call.controls && (call.controls->device_mean || call.controls->device_draw))
    throw Error("controls: device_mean or device_draw is set for arrays on the host, expected null");
  if (plan_.precision == Precision::float32) run_all<float>(call, kernels());
  else run_all<double>(call, kernels());
}

template <class Real>
void CpuRollout::run_all(const SequenceCall& call, const std::vector<BoundKernel>& kernels) const {
  const auto& arrays = plan_.arrays;
  const int n_arrays = static_cast<int>(arrays.size());
  const long steps = call.steps;
  // uniform numbers in the kernels' precision
  auto numbers = scratch<Real*>(n_arrays + 1);
  const ScratchGuard guard;
  for (int k = 0; k < n_arrays; k++) {
    numbers[k] = nullptr;
    if (!call.uniforms[k]) continue;
    const long count = (call.every_step[k] ? steps : 1) * arrays[k].components;
    numbers[k] = static_cast<Real*>(scratch_stack.take(sizeof(Real) * (count + 1)));
    std::copy_n(call.uniforms[k], count, numbers[k]);
  }
  std::optional<PreparedControls<Real>> prepared;
  if (call.controls) prepared.emplace(*call.controls, steps, arrays[call.controlled].components, noise_);
  int width = 1;
  for (const BoundKernel& k : kernels) width = std::max(width, k.width);

  const auto spoil = [&](const SequencePlan::Finite& f, long n, long padded, const auto& memory) {
    for (long i = 0; i < n; i++) {
      bool all = true;
      for (int k : f.of)
        for (long c = 0; c < arrays[k].components; c++) all = all && std::isfinite(memory(k)[c * padded + i]);
      for (long c = 0; !all && c < arrays[f.array].components; c++)
        memory(f.array)[c * padded + i] = std::numeric_limits<Real>::infinity();
    }
  };
  // Repeat the stage for one pack of instances at a time, until none of them needs it. In instances that need it, the
  // first array of a swap takes the numbers of the second.
  const auto repeat_where_needed = [&](const SequencePlan::Stage& s, const BoundKernel& kernel, const Array* in,
                                       const Array* out, long n, long padded, const auto& memory) {
    for (long first = 0; first < n; first += width) {
      const long end = std::min(first + width, n);
      auto needs = scratch<char>(width);
      for (long pass = 0; pass < s.repeat; pass++) {
        bool any = false;
        for (long i = first; i < end; i++) any |= needs[i - first] = memory(s.needed)[i] > 0;
        if (!any) break;
        kernel.kernel(kernel.model, in, out, 1, first, width);
        for (const auto& [x, y] : s.swaps)
          for (long c = 0; c < arrays[x].components; c++)
            for (long i = first; i < end; i++)
              if (needs[i - first]) memory(x)[c * padded + i] = memory(y)[c * padded + i];
      }
    }
  };
  // Sort the instances of a block by the plan's array, and move the numbers that their lanes hold.
  const auto put_in_order = [&](long n, long stride, const auto& memory, int* order) {
    auto lane = scratch<int>(static_cast<int>(n));
    auto taken = scratch<Real>(static_cast<int>(stride));
    auto held = scratch<int>(static_cast<int>(n));
    for (int i = 0; i < n; i++) lane[i] = i, held[i] = order[i];
    const Real* key = memory(plan_.order);
    std::sort(lane.data(), lane.data() + n, [&](int a, int b) { return key[a] != key[b] ? key[a] < key[b] : a < b; });
    for (int i = 0; i < n; i++) order[i] = held[lane[i]];
    for (int k = 0; k < n_arrays; k++) {
      if (arrays[k].uniform || !carried_[k]) continue;
      for (long c = 0; c < arrays[k].components; c++) {
        Real* const x = memory(k) + c * stride;
        std::copy_n(x, n, taken.data());
        for (long i = 0; i < n; i++) x[i] = taken[lane[i]];
        for (long i = n; i < stride; i++) x[i] = x[n - 1];
      }
    }
  };
  // In an array with instance_stride 1 a cache line holds neighbouring instances. A block in sorted order uses a few
  // instances of each line, so several blocks load the same line. The group is so small that its lines stay in cache.
  long scattered = 0;  // bytes of an instance
  const auto add_scattered = [&](const ArrayRef& a) {
    if (a.instance_stride == 1) scattered += a.components * static_cast<long>(sizeof(Real));
  };
  for (int k = 0; k < call.in_count; k++) add_scattered(call.in[k].array);
  for (int k = 0; k < call.out_count; k++) add_scattered(call.out[k].array);
  long group = most_group;
  while (group > block_size && group * scattered > second_cache / 4) group /= 2;
  const auto sort_group = [&](long first, long) {
    if (first % group != 0) return;
    const long n = std::min(group, call.instances - first);
    auto sorted = scratch<std::uint64_t>(static_cast<int>(n));
    const unsigned* key = &key_[static_cast<std::size_t>(first)];
    for (long i = 0; i < n; i++) sorted[i] = std::uint64_t{key[i]} << 32 | static_cast<std::uint64_t>(i);
    std::sort(sorted.data(), sorted.data() + n);
    for (long i = 0; i < n; i++) at_[static_cast<std::size_t>(first + i)] = static_cast<int>(sorted[i] & 0xffffffffu);
  };
  const bool orders = plan_.order >= 0 && !prepared;
  // The keys of the last run, by which the instances of each group of blocks are sorted at the beginning of this one.
  // Concurrent runs do not sort.
  std::unique_lock keys(keys_mutex_, std::defer_lock);
  if (orders && keys.try_lock()) {
    if (static_cast<long>(key_.size()) != call.instances) {
      at_.resize(static_cast<std::size_t>(call.instances));  // before key_, whose size says that both have it
      key_.assign(at_.size(), 0);
    }
    threads_.for_each(call.instances, std::ref(sort_group));
  }
  LongCall running;
  const auto block = [&](long begin, long n) {
    if (running.ends()) return;
    const bool sorted = keys.owns_lock();
    const long first = sorted ? begin / group * group : begin;
    const long padded = (n + width - 1) / width * width, stride = padded_stride(padded, plan_.precision, on_host);
    const ScratchGuard block_guard;
    auto table = scratch<Array>(n_arrays + 1);
    for (int k = 0; k < n_arrays; k++) {
      if (arrays[k].uniform) continue;
      const std::size_t bytes = sizeof(Real) * stride * std::max(arrays[k].components, 1L);
      table[k] = {scratch_stack.take(bytes), stride};
      if (carried_[k]) std::memset(table[k].data, 0, bytes);
    }
    const auto memory = [&](int k) { return static_cast<Real*>(table[k].data); };
    int held[block_size];  // index, from `first`, of the instance in each lane
    if (sorted) std::copy_n(&at_[static_cast<std::size_t>(begin)], n, held);
    else std::iota(held, held + n, 0);
    const int* order = orders ? held : nullptr;
    for (int k = 0; k < call.in_count; k++)
      if (!call.in[k].every_step) gather(call.in[k].array, first, n, stride, memory(call.in_at[k]), order);
    Real* z = nullptr;
    long drawn = 0;
    if (prepared) {
      z = static_cast<Real*>(scratch_stack.take(sizeof(Real) * (prepared->room(stride) + 1)));
      prepared->begin(first, n, stride, z);
    }
    for (long t = 0; t < steps; t++) {
      if (running.ends()) return;
      if (orders && t % order_period == 1) put_in_order(n, stride, memory, held);
      for (int k = 0; k < n_arrays; k++)
        if (arrays[k].uniform) table[k] = {numbers[k] + (call.every_step[k] ? t * arrays[k].components : 0), 0};
      for (int k = 0; k < call.in_count; k++)
        if (call.in[k].every_step) gather(call.in[k].at(t), first, n, stride, memory(call.in_at[k]), order);
      if (prepared) prepared->step(t, first, stride, z, drawn, memory(call.controlled));
      for (std::size_t k = 0; k < kernels.size(); k++) {
        const SequencePlan::Stage& s = plan_.stages[k];
        if (s.last && t + 1 < steps) continue;
        const Stopwatch stopwatch(nanoseconds_.empty() ? nullptr : &nanoseconds_[k]);
        Array vi[max_arrays], vo[max_arrays];
        const auto arrays_of = [&](const SequencePlan::Stage& stage) {
          for (std::size_t j = 0; j < stage.in.size(); j++) vi[j] = table[stage.in[j]];
          for (std::size_t j = 0; j < stage.out.size(); j++) vo[j] = table[stage.out[j]];
        };
        arrays_of(s);
        if (s.needed >= 0) {
          repeat_where_needed(s, kernels[k], vi, vo, n, stride, memory);
          continue;
        }
        LoopParts parts(s.repeat);
        while (parts.left() > 0) {
          kernels[k].kernel(kernels[k].model, vi, vo, s.swaps.empty() ? s.repeat : parts.next(), 0, padded);
          for (const auto& [x, y] : s.swaps) std::swap(table[x], table[y]);
          if (s.swaps.empty() || parts.left() == 0) break;
          if (running.ends()) return;
          arrays_of(s);
        }
      }
      for (const SequencePlan::Finite& f : plan_.finite)
        if (t + 1 == steps) spoil(f, n, stride, memory);
      for (int k = 0; k < call.out_count; k++)
        if (call.out[k].every_step || t + 1 == steps)
          scatter(call.out[k].at(call.out[k].every_step ? t : 0), first, n, stride, memory(call.out_at[k]), order);
    }
    for (long i = 0; sorted && i < n; i++) {
      const Real key = memory(plan_.order)[i];  // 0 for a NaN
      key_[static_cast<std::size_t>(first + held[i])] = key > 0 ? static_cast<unsigned>(std::min(key, Real(1e9))) : 0;
    }
  };
  long bytes = 0;  // of an instance
  for (const SequencePlan::Array& array : arrays)
    bytes += array.uniform ? 0 : array.components * static_cast<long>(sizeof(Real));
  long part = block_size;
  while (part > 32 && part * bytes > second_cache) part /= 2;
  const auto parts = [&](long begin, long n) {
    for (long i = 0; i < n; i += part) block(begin + i, std::min(part, n - i));
  };
  threads_.for_each(call.instances, std::ref(parts));  // a reference, so that std::function does not allocate
  running.rethrow();
}

}  // namespace featherstorm
