// Sequence: stages of kernels over a horizon; arrays come by buffer protocol or DLPack, (B, n) or (B, T, n).
#include "host/sequence.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "host/traced_kernel.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

using Names = std::vector<std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

template <class NdArray>
SequenceMemory memory(const NdArray& a, const std::string& name, long steps) {
  SequenceMemory m{name, {}, a.ndim() == 3};
  ArrayRef& r = m.array;
  if (a.device_type() != nb::device::cpu::value) throw Error(name + " lies on a device: move it to the CPU");
  if (a.dtype() == nb::dtype<float>()) r.precision = Precision::float32;
  else if (a.dtype() == nb::dtype<double>()) r.precision = Precision::float64;
  else throw nb::type_error((name + " is neither float32 nor float64").c_str());
  if (a.ndim() != 2 && a.ndim() != 3)
    throw Error(name + " has " + std::to_string(a.ndim()) + " dimensions, expected 2 or 3");
  if (m.every_step && static_cast<long>(a.shape(1)) != steps)
    throw Error(name + " has " + std::to_string(a.shape(1)) + " steps, expected " + std::to_string(steps));
  r.data = const_cast<void*>(static_cast<const void*>(a.data()));
  r.instances = static_cast<long>(a.shape(0)), r.components = static_cast<long>(a.shape(a.ndim() - 1));
  r.instance_stride = a.stride(0), r.component_stride = a.stride(a.ndim() - 1);
  if (m.every_step) m.step_stride = a.stride(1);
  return m;
}

class PySequence {
 public:
  PySequence(nb::object evaluator, const std::string& dtype)
      : evaluator_(std::move(evaluator)),
        precision_(precision_of(dtype)),
        sequence_(precision_, evaluator_of(evaluator_).threads()) {}

  void array(const std::string& name, long components) { sequence_.array(name, components); }
  void uniform(const std::string& name, long components) { sequence_.uniform(name, components); }
  void op(const std::string& name, Names in, Names out, Pairs swaps, long repeat) {
    const OpRow& row = evaluator_of(evaluator_).op(name);
    if (in.size() != row.in.size() + row.uniforms.size() || out.size() != row.out.size())
      throw Error(name + ": wrong number of arrays");
    sequence_.stage({evaluator_of(evaluator_).kernel(name, precision_), std::move(in), std::move(out), std::move(swaps),
                     repeat, false});
  }
  void trace(nb::handle trace, Pairs swaps, bool last) {
    const Program& p = program_of(trace);
    const Evaluator& e = evaluator_of(evaluator_);
    Stage s;
    s.kernel =
        traced_kernel(p, precision_, e.isa(), e.assembles(), [&](const std::string& n) { notices_.push_back(n); });
    for (const auto& a : p.inputs) s.in.push_back(a.name);
    for (const auto& a : p.outputs) s.out.push_back(a.name);
    s.swaps = std::move(swaps), s.last = last;
    sequence_.stage(std::move(s));
  }
  void run(long steps, long instances, const std::vector<std::pair<std::string, nb::ndarray<nb::ro>>>& in,
           nb::dict uniforms, const std::vector<std::pair<std::string, nb::ndarray<>>>& out) {
    std::vector<SequenceMemory> mi, mo;
    std::vector<UniformValues> values;
    for (const auto& [name, a] : in) mi.push_back(memory(a, name, steps));
    for (const auto& [name, a] : out) mo.push_back(memory(a, name, steps));
    for (auto [k, v] : uniforms) values.push_back({nb::cast<std::string>(k), nb::cast<std::vector<double>>(v)});
    nb::gil_scoped_release release;
    sequence_.run(steps, instances, mi, values, mo);
  }
  std::vector<std::string> take_notices() { return std::exchange(notices_, {}); }

 private:
  nb::object evaluator_;  // its kernels run in the stages
  Precision precision_;
  Sequence sequence_;
  std::vector<std::string> notices_;
};

}  // namespace

void bind_sequence(nb::module_& module) {
  nb::class_<PySequence>(module, "Sequence", "Stages of kernels over named arrays, run over a horizon.")
      .def(nb::init<nb::object, std::string>(), nb::arg("evaluator"), nb::arg("dtype"))
      .def("array", &PySequence::array, nb::arg("name"), nb::arg("components"))
      .def("uniform", &PySequence::uniform, nb::arg("name"), nb::arg("components"))
      .def("op", &PySequence::op, nb::arg("name"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("swaps"),
           nb::arg("repeat") = 1, "Appends an operation of the table.")
      .def("trace", &PySequence::trace, nb::arg("trace"), nb::arg("swaps") = Pairs{}, nb::arg("last") = false,
           "Appends a traced function; its arrays are those of the sequence with the same names.")
      .def("run", &PySequence::run, nb::arg("steps"), nb::arg("instances"), nb::arg("inputs"), nb::arg("uniforms"),
           nb::arg("outputs"),
           "Inputs and outputs: (name, array) with arrays (B, n), read before the first or written after the last "
           "step, or (B, T, n). "
           "Uniforms: lists of n or T n numbers.")
      .def("take_notices", &PySequence::take_notices);
}

}  // namespace featherstorm
