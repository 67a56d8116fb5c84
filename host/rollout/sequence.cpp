#include "host/rollout/sequence.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>

#include "core/scalar/scratch.h"
#include "host/memory/cpu_library.h"
#include "host/rollout/device_sequence.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

std::string shape(long instances, long components) {
  return "(" + std::to_string(instances) + ", " + std::to_string(components) + ")";
}

std::string place(int device) { return device == on_host ? "the host" : "CUDA device " + std::to_string(device); }

// Gives back what is taken from here on.
struct ScratchGuard {
  ScratchStack::Mark mark = scratch_stack.mark();
  ~ScratchGuard() { scratch_stack.give_back(mark); }
};

}  // namespace

// The programs of the stages, traced once, and their kernels.
struct Sequence::OnDevice {
  std::mutex mutex;
  std::optional<Rollout> rollout;
  DeviceSequence kernels;
};

Sequence::Sequence(Precision precision, int threads, const std::string& isa)
    : precision_(precision),
      threads_(threads),
      noise_(&noise_kernels(isa.empty() ? supported_isas().front() : isa)),
      device_(std::make_unique<OnDevice>()) {}
Sequence::~Sequence() = default;
Sequence::Sequence(Sequence&&) noexcept = default;

int Sequence::find(const std::string& name) const {
  for (std::size_t k = 0; k < arrays_.size(); k++)
    if (arrays_[k].name == name) return static_cast<int>(k);
  throw Error("the sequence has no array '" + name + "'");
}

void Sequence::stage(Stage s) {
  if (s.in.size() > max_arrays || s.out.size() > max_arrays)
    throw Error("a stage has more than " + std::to_string(max_arrays) + " arrays");
  if (s.repeat < 1) throw Error("repeat is " + std::to_string(s.repeat) + ", expected 1 or more");
  Bound b{std::move(s.kernel), {}, {}, {}, s.repeat, s.last, std::move(s.program)};
  for (const auto& name : s.in) b.in.push_back(find(name));
  for (const auto& name : s.out) b.out.push_back(find(name));
  for (const auto& [x, y] : s.swaps) {
    const auto& ax = arrays_[find(x)];
    const auto& ay = arrays_[find(y)];
    if (ax.components != ay.components || ax.uniform || ay.uniform)
      throw Error("arrays '" + x + "' and '" + y + "' cannot change places");
    b.swaps.push_back({find(x), find(y)});
  }
  stages_.push_back(std::move(b));
  device_ = std::make_unique<OnDevice>();
}

void Sequence::finite(const std::string& name, const std::vector<std::string>& of) {
  Finite f{find(name), {}};
  for (const auto& other : of) f.of.push_back(find(other));
  finite_.push_back(std::move(f));
  device_ = std::make_unique<OnDevice>();
}

void Sequence::run(long steps, long instances, const std::vector<SequenceMemory>& in,
                   const std::vector<UniformValues>& uniforms, const std::vector<SequenceMemory>& out,
                   const Controls* controls, void* stream) const {
  if (steps < 1) throw Error("steps is " + std::to_string(steps) + ", expected 1 or more");
  if (controls) {
    const Slot& slot = arrays_[find(controls->name)];
    if (slot.uniform) throw Error(controls->name + " has the same numbers for all instances, expected an array");
    check(*controls, steps, instances, slot.components, precision_);
  }
  const SequenceMemory* lead = !in.empty() ? &in.front() : !out.empty() ? &out.front() : nullptr;
  const int device = lead ? lead->array.device : on_host;
  const auto check_place = [&](const ArrayRef& a, const std::string& name) {
    if (a.device != device)
      throw Error(name + " is on " + place(a.device) + ", expected " + place(device) + " as " + lead->name + " is");
  };
  if (controls && controls->given) check_place(controls->knots.array, "knots");
  if (controls && device == on_host && (controls->device_mean || controls->device_draw))
    throw Error("controls have a mean or a draw on a device, expected it where the arrays are, on the host");
  for (const auto* all : {&in, &out})
    for (const SequenceMemory& m : *all) {
      const Slot& slot = arrays_[find(m.name)];
      if (slot.uniform) throw Error(m.name + " is an array, expected numbers that are the same for all instances");
      if (m.array.instances != instances || m.array.components != slot.components)
        throw Error(m.name + " has shape " + shape(m.array.instances, m.array.components) + ", expected " +
                    shape(instances, slot.components));
      if (m.array.precision != precision_)
        throw Error(m.name + " is " +
                    (precision_ == Precision::float32 ? "float64, expected float32" : "float32, expected float64"));
      check_place(m.array, m.name);
      if (!m.array.data && instances * slot.components > 0) throw Error(m.name + " is a null pointer");
    }
  for (std::size_t k = 0; k < arrays_.size(); k++) {
    if (!arrays_[k].uniform) continue;
    const auto given =
        std::find_if(uniforms.begin(), uniforms.end(), [&](const auto& u) { return u.name == arrays_[k].name; });
    const long n = given == uniforms.end() ? 0 : static_cast<long>(given->values.size());
    if (n != arrays_[k].components && n != steps * arrays_[k].components)
      throw Error(arrays_[k].name + " has " + std::to_string(n) + " numbers, expected " +
                  std::to_string(arrays_[k].components) + ", or as many for each step");
  }
  if (device != on_host) return run_on_device(device, steps, instances, in, uniforms, out, controls, stream);
  for (const Bound& s : stages_)
    if (!s.kernel.kernel) throw Error("a stage has no kernel for arrays on the host");
  if (precision_ == Precision::float32) run_all<float>(steps, instances, in, uniforms, out, controls);
  else run_all<double>(steps, instances, in, uniforms, out, controls);
}

// All working memory is that of scratch.h, which threads keep.
template <class Real>
void Sequence::run_all(long steps, long instances, const std::vector<SequenceMemory>& in,
                       const std::vector<UniformValues>& uniforms, const std::vector<SequenceMemory>& out,
                       const Controls* controls) const {
  const int n_arrays = static_cast<int>(arrays_.size());
  // uniform numbers in the kernels' precision, and how far they move each step
  auto numbers = scratch<Real*>(n_arrays + 1);
  auto numbers_step = scratch<long>(n_arrays + 1);
  auto in_at = scratch<int>(static_cast<int>(in.size()) + 1), out_at = scratch<int>(static_cast<int>(out.size()) + 1);
  const ScratchGuard guard;
  for (int k = 0; k < n_arrays; k++) numbers[k] = nullptr, numbers_step[k] = 0;
  for (const UniformValues& u : uniforms) {
    const int k = find(u.name);
    numbers[k] = static_cast<Real*>(scratch_stack.take(sizeof(Real) * (u.values.size() + 1)));
    std::copy(u.values.begin(), u.values.end(), numbers[k]);
    numbers_step[k] = static_cast<long>(u.values.size()) == arrays_[k].components ? 0 : arrays_[k].components;
  }
  for (std::size_t k = 0; k < in.size(); k++) in_at[k] = find(in[k].name);
  for (std::size_t k = 0; k < out.size(); k++) out_at[k] = find(out[k].name);
  const int u_at = controls ? find(controls->name) : 0;
  std::optional<PreparedControls<Real>> prepared;
  if (controls) prepared.emplace(*controls, steps, arrays_[u_at].components, *noise_);
  int width = 1;
  for (const Bound& s : stages_) width = std::max(width, s.kernel.width);

  const auto spoil = [&](const Finite& f, long n, long padded, const auto& memory) {
    for (long i = 0; i < n; i++) {
      bool all = true;
      for (int k : f.of)
        for (long c = 0; c < arrays_[k].components; c++) all = all && std::isfinite(memory(k)[c * padded + i]);
      for (long c = 0; !all && c < arrays_[f.array].components; c++)
        memory(f.array)[c * padded + i] = std::numeric_limits<Real>::quiet_NaN();
    }
  };
  const auto block = [&](long first, long n) {
    const long padded = (n + width - 1) / width * width;
    const ScratchGuard block_guard;
    auto table = scratch<Array>(n_arrays + 1);
    for (int k = 0; k < n_arrays; k++) {
      if (arrays_[k].uniform) continue;
      const std::size_t bytes = sizeof(Real) * padded * std::max(arrays_[k].components, 1L);
      table[k] = {std::memset(scratch_stack.take(bytes), 0, bytes), padded};
    }
    const auto memory = [&](int k) { return static_cast<Real*>(table[k].data); };
    for (std::size_t k = 0; k < in.size(); k++)
      if (!in[k].every_step) gather(in[k].array, first, n, padded, memory(in_at[k]));
    Real* z = nullptr;
    long drawn = 0;
    if (prepared) {
      z = static_cast<Real*>(scratch_stack.take(sizeof(Real) * (prepared->room(padded) + 1)));
      prepared->begin(first, n, padded, z);
    }
    for (long t = 0; t < steps; t++) {
      for (int k = 0; k < n_arrays; k++)
        if (arrays_[k].uniform) table[k] = {numbers[k] + t * numbers_step[k], 0};
      for (std::size_t k = 0; k < in.size(); k++)
        if (in[k].every_step) gather(in[k].at(t), first, n, padded, memory(in_at[k]));
      if (prepared) prepared->step(t, first, padded, z, drawn, memory(u_at));
      for (const Bound& s : stages_) {
        if (s.last && t + 1 < steps) continue;
        Array vi[max_arrays], vo[max_arrays];
        for (std::size_t k = 0; k < s.in.size(); k++) vi[k] = table[s.in[k]];
        for (std::size_t k = 0; k < s.out.size(); k++) vo[k] = table[s.out[k]];
        s.kernel.kernel(s.kernel.model, vi, vo, s.repeat, 0, padded);
        for (const auto& [x, y] : s.swaps) std::swap(table[x], table[y]);
      }
      for (const Finite& f : finite_)
        if (t + 1 == steps) spoil(f, n, padded, memory);
      for (std::size_t k = 0; k < out.size(); k++)
        if (out[k].every_step || t + 1 == steps)
          scatter(out[k].at(out[k].every_step ? t : 0), first, n, padded, memory(out_at[k]));
    }
  };
  threads_.for_each(instances, std::ref(block));  // a reference: std::function need not allocate
}

void Sequence::run_on_device(int device, long steps, long instances, const std::vector<SequenceMemory>& in,
                             const std::vector<UniformValues>& uniforms, const std::vector<SequenceMemory>& out,
                             const Controls* controls, void* stream) const {
  if (instances == 0) return;
  {
    std::lock_guard lock(device_->mutex);
    if (!device_->rollout) {
      Rollout r;
      for (const Slot& a : arrays_) r.arrays.push_back({static_cast<int>(a.components), a.uniform, false});
      for (const Bound& s : stages_) {
        if (!s.program) throw Error("a stage has no program for arrays on a device");
        r.stages.push_back({std::make_shared<const Program>(s.program()), s.in, s.out, s.swaps, s.repeat, s.last});
      }
      for (const Finite& f : finite_) r.checks.push_back({f.array, f.of});
      device_->rollout = std::move(r);
    }
  }
  const int n = static_cast<int>(arrays_.size());
  auto numbers = scratch<const double*>(n + 1);
  auto every_step = scratch<bool>(n + 1);
  auto in_at = scratch<int>(static_cast<int>(in.size()) + 1), out_at = scratch<int>(static_cast<int>(out.size()) + 1);
  for (int k = 0; k < n; k++) numbers[k] = nullptr, every_step[k] = false;
  for (const UniformValues& u : uniforms) {
    const int k = find(u.name);
    numbers[k] = u.values.data(), every_step[k] = static_cast<long>(u.values.size()) != arrays_[k].components;
  }
  for (std::size_t k = 0; k < in.size(); k++) in_at[k] = find(in[k].name);
  for (std::size_t k = 0; k < out.size(); k++) {
    out_at[k] = find(out[k].name);
    for (std::size_t j = 0; j < in.size(); j++)
      if (out[k].array.data == in[j].array.data && arrays_[out_at[k]].components > 0 &&
          (out[k].every_step || in[j].every_step || out_at[k] != in_at[j]))
        throw Error("output " + out[k].name + " overlaps input " + in[j].name);
    const ArrayRef& a = out[k].array;
    if ((instances > 1 && a.instance_stride == 0) || (a.components > 1 && a.component_stride == 0) ||
        (out[k].every_step && steps > 1 && a.components > 0 && out[k].step_stride == 0))
      throw Error("output " + out[k].name + " has a stride of 0, so that several numbers have one place");
  }
  device_->kernels.run(*device_->rollout,
                       {precision_, device, steps, instances, in.data(), out.data(), in_at.data(), out_at.data(),
                        static_cast<int>(in.size()), static_cast<int>(out.size()), numbers.data(), every_step.data(),
                        controls, controls ? find(controls->name) : 0, stream});
}

}  // namespace featherstorm
