#include "host/rollout/cuda_rollout.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/scalar/scratch.h"
#include "host/engine/cuda_rows.h"
#include "host/memory/cuda_backend.h"
#include "host/memory/device.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

// Same layout as in core/emit/prelude_rollout.inc.
struct Memory {
  void* data;
  long instance, component, step;
};
struct ControlSource {
  const void *mean, *sigma, *lower, *upper, *weights;
  long mean_step, sigma_step, knots;
  Memory given;
  const std::uint32_t* more_draws;
  std::uint32_t seed_low, seed_high, draw, first;
  std::int32_t keep_mean;
};
static_assert(sizeof(Memory) == 32 && sizeof(ControlSource) == 128);

Memory memory_of(const SequenceMemory& m) {
  const ArrayRef& a = m.array;
  if (a.components > 1 &&
      std::abs(a.component_stride) * static_cast<long>(bytes_of(a.precision)) > std::numeric_limits<int>::max())
    throw Error(m.name + " has components " + std::to_string(a.component_stride) +
                " numbers apart, expected less than 2^31 bytes on a device");
  return {a.data, a.instance_stride, a.components > 1 ? a.component_stride : 0, m.every_step ? m.step_stride : 0};
}

RolloutProgram::ControlKind kind_of(const Controls* c) {
  return !c         ? RolloutProgram::ControlKind::none
         : c->given ? RolloutProgram::ControlKind::knots
                    : RolloutProgram::ControlKind::noise;
}

}  // namespace

struct CudaRollout::Variant {
  int device;
  RolloutProgram rollout;
  CudaProgram* program = nullptr;
  int multiprocessors = 0, capability = 0;

  bool serves(const SequenceCall& r) const {
    const auto same = [](const std::vector<RolloutProgram::Transfer>& mine, const SequenceMemory* m, const int* at,
                         int n) {
      if (static_cast<int>(mine.size()) != n) return false;
      for (int k = 0; k < n; k++)
        if (mine[k].array != at[k] || mine[k].every_step != m[k].every_step) return false;
      return true;
    };
    if (device != r.device || rollout.controls != kind_of(r.controls)) return false;
    if (r.controls && rollout.controlled != r.controlled) return false;
    for (std::size_t k = 0; k < rollout.arrays.size(); k++)
      if (rollout.arrays[k].uniform && rollout.arrays[k].every_step != r.every_step[k]) return false;
    return same(rollout.in, r.in, r.in_at, r.in_count) && same(rollout.out, r.out, r.out_at, r.out_count);
  }
};

LoadedKernels::LoadedKernels() = default;
LoadedKernels::~LoadedKernels() { unload(); }
void LoadedKernels::unload() {
  for (const auto& [text, program] : programs_) cuda_backend()->unload_program(program);
  programs_.clear();
}

CudaProgram* LoadedKernels::kernel(const CudaTable& table, int device, int capability,
                                   const std::pair<DeviceForm, std::string>& text,
                                   const std::function<Texts()>& others) {
  std::lock_guard lock(mutex_);
  const std::pair key(device, text.second);
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  if (!compiler_ || !compiler_->missing().empty()) compiler_ = std::make_unique<DeviceCompiler>(nullptr);
  if (!compiler_->missing().empty())
    throw Error("a rollout on a device needs a kernel of its own: " + compiler_->missing());
  Texts texts = others();
  texts.insert(texts.begin(), text);
  const DeviceKernel made = compiler_->kernel(texts, capability);
  CudaProgram* program = nullptr;
  if (!table.load_program(device, made.image.data(), "featherstorm_kernel", &program))
    throw_cuda_error(table, "rollout", device);
  return programs_[key] = program;
}

CudaRollout::CudaRollout(const SequencePlan& plan) : plan_(&plan) {}
CudaRollout::CudaRollout(RolloutProgram program, std::shared_ptr<LoadedKernels> kernels)
    : program_(std::move(program)), kernels_(std::move(kernels)) {}
CudaRollout::~CudaRollout() =
    default;  // kernels owned by this object are destroyed first, and wait for the device; then memory

// Requires the mutex.
const RolloutProgram& CudaRollout::program() {
  if (program_) return *program_;
  RolloutProgram p;
  for (const SequencePlan::Array& a : plan_->arrays)
    p.arrays.push_back({static_cast<int>(a.components), a.uniform, false});
  for (const SequencePlan::Stage& s : plan_->stages) {
    if (!s.program) throw Error("a stage has no program for arrays on a device");
    p.stages.push_back(
        {std::make_shared<const Program>(s.program()), s.in, s.out, s.swaps, s.repeat, s.last, s.needed});
  }
  for (const SequencePlan::Finite& f : plan_->finite) p.checks.push_back({f.array, f.of});
  program_ = std::move(p);
  return *program_;
}

const CudaRollout::Variant& CudaRollout::variant(const SequenceCall& r, const CudaTable& table) {
  std::lock_guard lock(mutex_);
  const RolloutProgram& sequence = program();
  for (const auto& v : variants_)
    if (v->serves(r)) return *v;
  require_no_capture(table, rollout_user, r.device, r.stream);
  auto v = std::make_unique<Variant>(Variant{r.device, sequence});
  for (int k = 0; k < r.in_count; k++) v->rollout.in.push_back({r.in_at[k], r.in[k].every_step});
  for (int k = 0; k < r.out_count; k++) v->rollout.out.push_back({r.out_at[k], r.out[k].every_step});
  for (std::size_t k = 0; k < sequence.arrays.size(); k++) v->rollout.arrays[k].every_step = r.every_step[k];
  v->rollout.controls = kind_of(r.controls), v->rollout.controlled = r.controlled;
  CudaDevice info;
  if (!table.device_info(r.device, &info)) throw_cuda_error(table, "rollout", r.device);
  v->multiprocessors = std::max(info.multiprocessors, 1), v->capability = 10 * info.major + info.minor;
  const auto text = [&](const char* order) {
    const OrderOf of = [&](const Program& p) { return order_of(p, order); };
    return std::pair{DeviceForm{order, 0},
                     emit_rollout(v->rollout, of, Cuda{r.precision == Precision::float64, device_block_threads, 0})};
  };
  v->program = kernels_->kernel(table, r.device, v->capability, text("trace"),
                                [&] { return LoadedKernels::Texts{text("greedy"), text("sethi_ullman")}; });
  if (!dispatch_) dispatch_ = std::make_unique<const Dispatch>(Dispatch::standard());
  return *variants_.emplace_back(std::move(v));
}

template <class Real>
void CudaRollout::launch(const Variant& v, const SequenceCall& r, const CudaTable& table) {
  const RolloutProgram& rollout = v.rollout;
  const Controls* c = r.controls;
  const long n = c ? rollout.arrays[r.controlled].components : 0,
             knots = c && !c->weights.empty() ? c->count(r.steps) : 0;
  const bool own_mean = c && !c->device_mean;
  std::lock_guard lock(launching_);  // another thread may use the same stream
  // numbers for the device first, then those passed as parameters
  const long mean = own_mean ? (c->mean.empty() ? n : r.steps * n) : 0;
  const long sigma = c ? std::max(static_cast<long>(c->sigma.size()), n) : 0;
  const long count = r.steps * step_numbers(rollout) + mean + sigma + 2 * n + r.steps * knots;
  const ScratchStack::Mark mark = scratch_stack.mark();
  Real* numbers = static_cast<Real*>(scratch_stack.take(sizeof(Real) * (count + uniform_numbers(rollout) + 1)));
  auto* memory = static_cast<Memory*>(scratch_stack.take(sizeof(Memory) * (r.in_count + r.out_count + 1)));
  Real *at = numbers, *uniform = numbers + count;
  for (std::size_t k = 0; k < rollout.arrays.size(); k++) {
    if (!rollout.arrays[k].uniform) continue;
    Real*& to = r.every_step[k] ? at : uniform;
    to = std::copy_n(r.uniforms[k], (r.every_step[k] ? r.steps : 1) * rollout.arrays[k].components, to);
  }
  void* device_numbers = nullptr;
  ControlSource source{};
  try {
    if (count > 0)
      device_numbers =
          memory_.get(table, r.device, r.stream, std::max<unsigned long>(sizeof(Real) * count, 4096)).memory;
    if (c) {
      constexpr double infinite = std::numeric_limits<double>::infinity();
      const auto add = [&](const std::vector<double>& given, long size, double absent) {
        const Real* there = static_cast<Real*>(device_numbers) + (at - numbers);
        for (long k = 0; k < size; k++) *at++ = static_cast<Real>(given.empty() ? absent : given[k]);
        return there;
      };
      source.mean = own_mean ? add(c->mean, mean, 0) : c->device_mean;
      source.mean_step = own_mean && c->mean.empty() ? 0 : n;
      source.sigma = add(c->sigma, sigma, 1), source.sigma_step = sigma == r.steps * n && r.steps > 1 ? n : 0;
      source.lower = add(c->lower, n, -infinite), source.upper = add(c->upper, n, infinite);
      if (knots) source.weights = add(c->weights, r.steps * knots, 1);
      source.knots = knots, source.keep_mean = c->keep_mean, source.more_draws = c->device_draw;
      if (c->given) source.given = memory_of(c->knots);
      source.seed_low = static_cast<std::uint32_t>(c->key.seed), source.seed_high = c->key.seed >> 32;
      source.draw = c->key.draw, source.first = static_cast<std::uint32_t>(c->first_instance);
    }
    for (int k = 0; k < r.in_count; k++) memory[k] = memory_of(r.in[k]);
    for (int k = 0; k < r.out_count; k++) memory[r.in_count + k] = memory_of(r.out[k]);
    if (count > 0 && !table.upload(r.device, r.stream, device_numbers, numbers, sizeof(Real) * count))
      throw_cuda_error(table, "rollout", r.device);
    long steps = r.steps, instances = r.instances;
    void* arguments[] = {memory, numbers + count, &device_numbers, &source, &steps, &instances};
    const int threads =
        dispatch_
            ->choose({"", "rollout", r.precision, v.capability, static_cast<double>(r.instances) / v.multiprocessors})
            .threads;
    if (!table.launch_arguments(v.program, arguments, instances, threads, r.stream))
      throw_cuda_error(table, "rollout", r.device);
  } catch (...) {
    scratch_stack.give_back(mark);
    throw;
  }
  scratch_stack.give_back(mark);
}

void CudaRollout::run(const SequenceCall& r) {
  if (r.instances > max_device_instances)
    throw Error("the batch has " + std::to_string(r.instances) + " instances, on a device expected at most " +
                std::to_string(max_device_instances));
  const CudaTable& table = cuda_for("rollout", r.device);
  const Variant* v = nullptr;
  try {
    v = &variant(r, table);
  } catch (const Error&) { throw; } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) { throw Error(e.what()); }
  if (r.precision == Precision::float32) launch<float>(*v, r, table);
  else launch<double>(*v, r, table);
}

}  // namespace featherstorm
