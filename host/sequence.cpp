#include "host/sequence.h"

#include <algorithm>
#include <cstring>

#include "core/scratch.h"
#include "host/error.h"

namespace featherstorm {
namespace {

std::string shape(long instances, long components) {
  return "(" + std::to_string(instances) + ", " + std::to_string(components) + ")";
}

}  // namespace

int Sequence::find(const std::string& name) const {
  for (std::size_t k = 0; k < arrays_.size(); k++)
    if (arrays_[k].name == name) return static_cast<int>(k);
  throw Error("the sequence has no array '" + name + "'");
}

void Sequence::stage(Stage s) {
  if (s.in.size() > max_arrays || s.out.size() > max_arrays)
    throw Error("a stage has more than " + std::to_string(max_arrays) + " arrays");
  if (s.repeat < 1) throw Error("repeat is " + std::to_string(s.repeat) + ", expected 1 or more");
  Bound b{std::move(s.kernel), {}, {}, {}, s.repeat, s.last};
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
}

void Sequence::run(long steps, long instances, const std::vector<SequenceMemory>& in,
                   const std::vector<UniformValues>& uniforms, const std::vector<SequenceMemory>& out) const {
  if (steps < 1) throw Error("steps is " + std::to_string(steps) + ", expected 1 or more");
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
  if (precision_ == Precision::float32) run_all<float>(steps, instances, in, uniforms, out);
  else run_all<double>(steps, instances, in, uniforms, out);
}

template <class Real>
void Sequence::run_all(long steps, long instances, const std::vector<SequenceMemory>& in,
                       const std::vector<UniformValues>& uniforms, const std::vector<SequenceMemory>& out) const {
  // uniform numbers in the kernels' precision, and how far they move each step
  std::vector<std::vector<Real>> numbers(arrays_.size());
  std::vector<long> numbers_step(arrays_.size());
  for (const UniformValues& u : uniforms) {
    const int k = find(u.name);
    numbers[k].assign(u.values.begin(), u.values.end());
    numbers_step[k] = static_cast<long>(u.values.size()) == arrays_[k].components ? 0 : arrays_[k].components;
  }
  std::vector<int> in_at, out_at;
  for (const SequenceMemory& m : in) in_at.push_back(find(m.name));
  for (const SequenceMemory& m : out) out_at.push_back(find(m.name));
  int width = 1;
  for (const Bound& s : stages_) width = std::max(width, s.kernel.width);
  const auto at_step = [](const SequenceMemory& m, long t) {
    ArrayRef a = m.array;
    a.data = static_cast<Real*>(a.data) + t * m.step_stride;
    return a;
  };

  threads_.for_each(instances, [&](long first, long n) {
    const long padded = (n + width - 1) / width * width;
    const ScratchStack::Mark mark = scratch_stack.mark();
    auto* table = static_cast<Array*>(scratch_stack.take(sizeof(Array) * std::max<std::size_t>(arrays_.size(), 1)));
    for (std::size_t k = 0; k < arrays_.size(); k++) {
      if (arrays_[k].uniform) continue;
      const std::size_t bytes = sizeof(Real) * padded * std::max(arrays_[k].components, 1L);
      table[k] = {std::memset(scratch_stack.take(bytes), 0, bytes), padded};
    }
    const auto memory = [&](int k) { return static_cast<Real*>(table[k].data); };
    for (std::size_t k = 0; k < in.size(); k++)
      if (!in[k].every_step) gather(in[k].array, first, n, padded, memory(in_at[k]));
    for (long t = 0; t < steps; t++) {
      for (std::size_t k = 0; k < arrays_.size(); k++)
        if (arrays_[k].uniform) table[k] = {const_cast<Real*>(numbers[k].data()) + t * numbers_step[k], 0};
      for (std::size_t k = 0; k < in.size(); k++)
        if (in[k].every_step) gather(at_step(in[k], t), first, n, padded, memory(in_at[k]));
      for (const Bound& s : stages_) {
        if (s.last && t + 1 < steps) continue;
        Array vi[max_arrays], vo[max_arrays];
        for (std::size_t k = 0; k < s.in.size(); k++) vi[k] = table[s.in[k]];
        for (std::size_t k = 0; k < s.out.size(); k++) vo[k] = table[s.out[k]];
        s.kernel.kernel(s.kernel.model, vi, vo, s.repeat, 0, padded);
        for (const auto& [x, y] : s.swaps) std::swap(table[x], table[y]);
      }
      for (std::size_t k = 0; k < out.size(); k++)
        if (out[k].every_step || t + 1 == steps)
          scatter(at_step(out[k], out[k].every_step ? t : 0), first, n, padded, memory(out_at[k]));
    }
    scratch_stack.give_back(mark);
  });
}

}  // namespace featherstorm
