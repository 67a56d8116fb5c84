// Sequence: stages of kernels over a horizon, and the controls that it makes itself.
#include "host/rollout/sequence.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "host/compile/traced_kernel.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

using Names = std::vector<std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

// Controls, and the array of knots that they refer to.
struct PyControls {
  Controls controls;
  OpenArrays open{};
};

PyControls noise(const std::string& name, const Numbers& mean, const Numbers& sigma, const Numbers& lower,
                 const Numbers& upper, const Numbers& weights, std::uint64_t seed, std::uint32_t draw,
                 long first_instance, bool keep_mean) {
  const auto list = [](const Numbers& a) { return std::vector<double>(a.data(), a.data() + a.size()); };
  Controls c;
  c.name = name, c.mean = list(mean), c.sigma = list(sigma), c.lower = list(lower), c.upper = list(upper);
  c.weights = list(weights), c.key = {seed, draw}, c.first_instance = first_instance, c.keep_mean = keep_mean;
  return {std::move(c)};
}

PyControls knots(const std::string& name, nb::object array, long columns, const Numbers& weights, long instances) {
  if (weights.ndim() != 2) throw Error("weights have " + std::to_string(weights.ndim()) + " dimensions, expected 2");
  PyControls c;
  c.controls.knots = c.open.columns(array, "knots", false, 0, columns, static_cast<long>(weights.shape(1)), instances);
  c.controls.name = name, c.controls.given = true;
  c.controls.weights.assign(weights.data(), weights.data() + weights.size());
  return c;
}

// What has no kernels: the controls themselves.
void draw(const PyControls& c, nb::object out, int threads) {
  OpenArrays open;
  const PyMemory given = open(out, "u", true, 3);
  if (given.steps < 0) throw Error("u has 2 dimensions, expected 3");
  const long steps = given.steps;
  SequenceMemory m = given.memory;
  m.name = "u", m.every_step = true;
  Controls controls = c.controls;
  controls.name = "u";
  nb::gil_scoped_release release;
  Sequence s(m.array.precision, threads);
  s.array("u", m.array.components);
  s.run(steps, m.array.instances, {}, {}, {m}, &controls);
}

class PySequence {
 public:
  PySequence(nb::object evaluator, const std::string& dtype)
      : evaluator_(std::move(evaluator)),
        precision_(precision_of(dtype)),
        sequence_(precision_, evaluator_of(evaluator_).threads(), evaluator_of(evaluator_).isa()) {}

  void array(const std::string& name, long components) { sequence_.array(name, components); }
  void uniform(const std::string& name, long components) { sequence_.uniform(name, components); }
  void op(const std::string& name, Names in, Names out, Pairs swaps, long repeat) {
    const OpRow& row = evaluator_of(evaluator_).op(name);
    if (in.size() != row.in.size() + row.uniforms.size() || out.size() != row.out.size())
      throw Error(name + ": wrong number of arrays");
    Stage s{{}, std::move(in), std::move(out), std::move(swaps), repeat, false};
    s.program = [&e = evaluator_of(evaluator_), name] { return e.program(name); };
    s.kernel = evaluator_of(evaluator_).kernel(name, precision_);
    sequence_.stage(std::move(s));
  }
  void trace(nb::handle trace, Pairs swaps, bool last) {
    const Program& p = program_of(trace);
    const Evaluator& e = evaluator_of(evaluator_);
    Stage s;
    s.program = [p] { return p; };
    s.kernel =
        traced_kernel(p, precision_, e.isa(), e.assembles(), [&](const std::string& n) { notices_.push_back(n); });
    for (const auto& a : p.inputs) s.in.push_back(a.name);
    for (const auto& a : p.outputs) s.out.push_back(a.name);
    s.swaps = std::move(swaps), s.last = last;
    sequence_.stage(std::move(s));
  }
  void finite(const std::string& name, const Names& of) { sequence_.finite(name, of); }
  // (name, array, first column, columns, whether there is one for each step)
  using Arrays = std::vector<std::tuple<std::string, nb::object, long, long, bool>>;
  void run(long steps, long instances, const Arrays& in, nb::dict uniforms, const Arrays& out,
           const PyControls* controls, std::uintptr_t stream) {
    OpenArrays open;
    std::vector<SequenceMemory> mi, mo;
    std::vector<UniformValues> values;
    for (const auto& [name, a, first, count, each] : in)
      mi.push_back(open.columns(a, name, false, first, count, each ? steps : 0, instances));
    for (const auto& [name, a, first, count, each] : out)
      mo.push_back(open.columns(a, name, true, first, count, each ? steps : 0));
    for (auto [k, v] : uniforms) values.push_back({nb::cast<std::string>(k), nb::cast<std::vector<double>>(v)});
    nb::gil_scoped_release release;
    sequence_.run(steps, instances, mi, values, mo, controls ? &controls->controls : nullptr,
                  reinterpret_cast<void*>(stream));
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
  nb::class_<PyControls>(module, "Controls", "Controls that a sequence makes itself.");
  module.def(
      "noise", &noise, nb::arg("name"), nb::arg("mean"), nb::arg("sigma"), nb::arg("lower"), nb::arg("upper"),
      nb::arg("weights"), nb::arg("seed"), nb::arg("draw"), nb::arg("first_instance"), nb::arg("keep_mean"),
      "Controls clip(mean + sigma * weights z) for the array `name`: mean (T, n), sigma (n) or (T, n), lower and "
      "upper (n), weights (T, K) or none, z standard normal numbers.");
  module.def("knots", &knots, nb::arg("name"), nb::arg("knots"), nb::arg("columns"), nb::arg("weights"),
             nb::arg("instances"),
             "Controls weights (T, K) times knots (B, K, n) or (B, K n), n = columns, for the array `name`. One row of "
             "knots stands for all instances.");
  module.def("draw", &draw, nb::arg("controls"), nb::arg("out"), nb::arg("threads") = 1,
             "Writes controls to an array (B, T, n).");
  nb::class_<PySequence>(module, "Sequence", "Stages of kernels over named arrays, run over a horizon.")
      .def(nb::init<nb::object, std::string>(), nb::arg("evaluator"), nb::arg("dtype"))
      .def("finite", &PySequence::finite, nb::arg("name"), nb::arg("of"),
           "After the last step an array's numbers become NaN where a number of others is not finite.")
      .def("array", &PySequence::array, nb::arg("name"), nb::arg("components"))
      .def("uniform", &PySequence::uniform, nb::arg("name"), nb::arg("components"))
      .def("op", &PySequence::op, nb::arg("name"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("swaps"),
           nb::arg("repeat") = 1, "Appends an operation of the table.")
      .def("trace", &PySequence::trace, nb::arg("trace"), nb::arg("swaps") = Pairs{}, nb::arg("last") = false,
           "Appends a traced function; its arrays are those of the sequence with the same names.")
      .def(
          "run", &PySequence::run, nb::arg("steps"), nb::arg("instances"), nb::arg("inputs"), nb::arg("uniforms"),
          nb::arg("outputs"), nb::arg("controls").none() = nb::none(), nb::arg("stream") = 0,
          "Inputs and outputs: (name, array, first column, columns, each step) of arrays of any library, their DLPack "
          "capsules, or Buffers, all on the host or on one device. each step: read before or written after each, (B, T, "
          "n) or (B, T n); else (B, n), read before the first or written after the last. An input of one row stands for "
          "all instances. Uniforms: lists of n or T n numbers. Controls: of noise() or knots(), for one array; or None. "
          "stream: the number of a device's stream, on which the work is put.")
      .def("take_notices", &PySequence::take_notices);
}

}  // namespace featherstorm
