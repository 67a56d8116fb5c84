// A run of a sequence that may be repeated, and controls that a sequence generates.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "host/rollout/sequence.h"

namespace featherstorm {

using NumberArray = nanobind::ndarray<const double, nanobind::c_contig, nanobind::device::cpu>;

// Controls, and the array of knots that they use.
struct PyControls {
  Controls controls;
  OpenArrays open{};
};

// A run of a sequence, its arrays open, that may be repeated.
class PyRun {
 public:
  // (name, array, first column, columns, true if there is one for each step)
  using Arrays = std::vector<std::tuple<std::string, nanobind::object, long, long, bool>>;
  PyRun(const Sequence& sequence, long steps, long instances, const Arrays& in, nanobind::dict uniforms,
        const Arrays& out, const PyControls* controls)
      : sequence_(sequence), steps_(steps), instances_(instances), controls_(controls ? &controls->controls : nullptr) {
    for (const auto& [name, a, first, count, each] : in)
      in_.push_back(open_.columns(a, name, false, first, count, each ? steps : 0, instances));
    for (const auto& [name, a, first, count, each] : out)
      out_.push_back(open_.columns(a, name, true, first, count, each ? steps : 0));
    for (auto [k, v] : uniforms) set(nanobind::cast<std::string>(k), v);
  }
  void set(const std::string& uniform, nanobind::handle numbers) {
    const auto same = [&](const UniformValues& u) { return u.name == uniform; };
    auto found = std::find_if(uniforms_.begin(), uniforms_.end(), same);
    if (found == uniforms_.end()) found = uniforms_.insert(found, {uniform, {}});
    if (NumberArray a; nanobind::try_cast(numbers, a, false)) found->values.assign(a.data(), a.data() + a.size());
    else found->values = nanobind::cast<std::vector<double>>(numbers);
  }
  // Without the interpreter's lock.
  void run(void* stream) const { sequence_.run(steps_, instances_, in_, uniforms_, out_, controls_, stream); }
  // The memory of an output.
  const ArrayRef& output(const std::string& name) const {
    const auto same = [&](const SequenceMemory& m) { return m.name == name; };
    return std::find_if(out_.begin(), out_.end(), same)->array;
  }

 private:
  const Sequence& sequence_;
  long steps_, instances_;
  const Controls* controls_;
  OpenArrays open_;
  std::vector<SequenceMemory> in_, out_;
  std::vector<UniformValues> uniforms_;
};

}  // namespace featherstorm
