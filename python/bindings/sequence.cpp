// Sequence: stages of kernels over a horizon; arrays come by buffer protocol or DLPack, (B, n) or (B, T, n), on a
// device also as Buffers. Reductions over samples.
#include "host/rollout/sequence.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.h"
#include "host/compile/traced_kernel.h"
#include "host/rollout/cpu_reduction.h"
#include "host/rollout/cuda_reduction.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

using Names = std::vector<std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

template <class NdArray>
SequenceMemory memory(const NdArray& a, const std::string& name, long steps) {
  SequenceMemory m{name, {}, a.ndim() == 3};
  ArrayRef& r = m.array;
  if (a.device_type() == nb::device::cuda::value || a.device_type() == nb::device::cuda_managed::value)
    r.device = a.device_id();
  else if (a.device_type() != nb::device::cpu::value && a.device_type() != nb::device::cuda_host::value)
    throw Error(name + " lies on a device that is neither the CPU nor CUDA: move it there");
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

// Columns of an array on a device: a Buffer or anything with DLPack, of (instances, columns), or of (instances, steps,
// columns). steps 0: one array for all steps; else there is one for each, and columns are those of a step.
struct Columns {
  nb::object array;
  nb::ndarray<nb::ro> keep;
  SequenceMemory memory;
  // known: a capsule can be opened once, so one that is there already is not opened again
  Columns(nb::object from, const std::string& name, long first, long count, long steps, long instances,
          const std::vector<Columns>& known = {})
      : array(std::move(from)) {
    ArrayRef& r = memory.array;
    if (buffer_of(array, &r)) {
      memory.name = name;
    } else {
      const auto same = std::find_if(known.begin(), known.end(), [&](const Columns& c) { return c.array.is(array); });
      if (same != known.end()) keep = same->keep;
      else if (!nb::try_cast(array, keep, false)) throw nb::type_error((name + " is not an array").c_str());
      memory = featherstorm::memory(keep, name, keep.ndim() == 3 ? static_cast<long>(keep.shape(1)) : 0);
    }
    if (steps > 0 && !memory.every_step) {
      if (r.components % steps != 0)
        throw Error(name + " has " + std::to_string(r.components) + " columns, expected a multiple of " +
                    std::to_string(steps) + " steps");
      r.components /= steps, memory.step_stride = r.components * r.component_stride;
    } else if (memory.every_step && static_cast<long>(keep.shape(1)) != steps) {
      throw Error(name + " has " + std::to_string(keep.shape(1)) + " steps, expected " + std::to_string(steps));
    }
    memory.every_step = steps > 0;
    if (first < 0 || count < 0 || first + count > r.components)
      throw Error(name + " has " + std::to_string(r.components) + " columns, expected " +
                  std::to_string(first + count));
    r.data = static_cast<char*>(r.data) + first * r.component_stride * static_cast<long>(bytes_of(r.precision));
    r.components = count, r.padded = false;
    if (r.instances == 1 && instances >= 0) r.instances = instances, r.instance_stride = 0;  // one row for all
  }
};

using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Costs = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutNumbers = nb::ndarray<double, nb::c_contig, nb::device::cpu>;

// Controls, and the array of knots that it refers to.
struct PyControls {
  Controls controls;
  nb::ndarray<nb::ro> knots;
  nb::object keep{};
};

PyControls noise(const std::string& name, const Numbers& mean, const Numbers& sigma, const Numbers& lower,
                 const Numbers& upper, const Numbers& weights, std::uint64_t seed, std::uint32_t draw,
                 long first_instance, bool keep_mean) {
  const auto list = [](const Numbers& a) { return std::vector<double>(a.data(), a.data() + a.size()); };
  Controls c;
  c.name = name, c.mean = list(mean), c.sigma = list(sigma), c.lower = list(lower), c.upper = list(upper);
  c.weights = list(weights), c.key = {seed, draw}, c.first_instance = first_instance, c.keep_mean = keep_mean;
  return {std::move(c), {}};
}

PyControls knots(const std::string& name, nb::ndarray<nb::ro> array, const Numbers& weights) {
  if (array.ndim() != 3 || weights.ndim() != 2 || weights.shape(1) != array.shape(1))
    throw Error("knots and weights do not fit together, expected (B, K, n) and (T, K)");
  Controls c;
  c.name = name, c.given = true;
  c.weights.assign(weights.data(), weights.data() + weights.size());
  c.knots = memory(array, "knots", static_cast<long>(array.shape(1)));
  return {std::move(c), std::move(array)};
}

PyControls device_knots(const std::string& name, nb::object array, long columns, const Numbers& weights,
                        long instances) {
  if (weights.ndim() != 2) throw Error("weights have " + std::to_string(weights.ndim()) + " dimensions, expected 2");
  const Columns at(array, "knots", 0, columns, static_cast<long>(weights.shape(1)), instances);
  Controls c;
  c.name = name, c.given = true, c.knots = at.memory;
  c.weights.assign(weights.data(), weights.data() + weights.size());
  return {std::move(c), at.keep, std::move(array)};
}

// What has no kernels: the controls themselves.
void draw(const PyControls& c, nb::ndarray<> out, int threads) {
  const SequenceMemory m = memory(out, "u", out.ndim() == 3 ? static_cast<long>(out.shape(1)) : 0);
  if (!m.every_step) throw Error("u has " + std::to_string(out.ndim()) + " dimensions, expected 3");
  Controls controls = c.controls;
  controls.name = "u";
  nb::gil_scoped_release release;
  Sequence s(m.array.precision, threads);
  s.array("u", m.array.components);
  s.run(static_cast<long>(out.shape(1)), m.array.instances, {}, {}, {m}, &controls);
}

class PyReduction {
 public:
  explicit PyReduction(int threads) : reduction_(threads) {}
  Least least(const Costs& costs) {
    reduction_.least(column(costs));
    return reduction_.best();
  }
  Least softmax_weights(const Costs& costs, double temperature, OutNumbers weights) {
    reduction_.softmax_weights(column(costs), temperature, column(weights));
    if (const Least best = reduction_.best(); best.index >= 0) return best;
    throw Error("no cost is finite");
  }
  void weighted_mean(nb::ndarray<nb::ro> samples, const Costs& weights, OutNumbers mean) {
    if (samples.ndim() != 3 || samples.shape(0) != weights.shape(0) ||
        mean.size() != samples.shape(1) * samples.shape(2))
      throw Error("samples, weights and mean do not fit together, expected (B, T, n), (B,) and (T, n)");
    const long steps = static_cast<long>(samples.shape(1));
    const SequenceMemory m = memory(samples, "samples", steps);
    nb::gil_scoped_release release;
    const long n = static_cast<long>(mean.size());
    if (m.array.precision == Precision::float64)
      return reduction_.weighted_mean(m, steps, column(weights), {mean.data(), Precision::float64, n, 1});
    std::vector<float> single(n);
    reduction_.weighted_mean(m, steps, column(weights), {single.data(), Precision::float32, n, 1});
    std::copy(single.begin(), single.end(), mean.data());
  }

 private:
  template <class Array> static ArrayRef column(const Array& a) {
    return {const_cast<double*>(a.data()), Precision::float64, static_cast<long>(a.size()), 1};
  }
  CpuReduction reduction_;
};

class PyDeviceReduction {
 public:
  explicit PyDeviceReduction(int device) : reduction_(device) {}
  void least(nb::object costs, std::uintptr_t stream) {
    const Columns c(costs, "costs", 0, 1, 0, -1);
    reduction_.least(c.memory.array, reinterpret_cast<void*>(stream));
  }
  void softmax_weights(nb::object costs, double temperature, nb::object weights, std::uintptr_t stream) {
    const Columns c(costs, "costs", 0, 1, 0, -1), w(weights, "weights", 0, 1, 0, -1);
    reduction_.softmax_weights(c.memory.array, temperature, w.memory.array, reinterpret_cast<void*>(stream));
  }
  void weighted_mean(nb::object samples, long steps, long columns, nb::object weights, nb::object mean,
                     std::uintptr_t stream, nb::object center) {
    const Columns x(samples, "samples", 0, columns, steps, -1), w(weights, "weights", 0, 1, 0, -1),
        m(mean, "mean", 0, 1, 0, -1);
    ArrayRef c;
    const bool centered = buffer_of(center, &c);
    reduction_.weighted_mean(x.memory, steps, w.memory.array, m.memory.array, reinterpret_cast<void*>(stream),
                             centered ? &c : nullptr);
  }
  Least best(std::uintptr_t stream) { return reduction_.best(reinterpret_cast<void*>(stream)); }

 private:
  CudaReduction reduction_;
};

class PySequence {
 public:
  PySequence(nb::object evaluator, const std::string& dtype, bool on_device)
      : evaluator_(std::move(evaluator)),
        on_device_(on_device),
        precision_(precision_of(dtype)),
        sequence_(precision_, evaluator_of(evaluator_).threads(), evaluator_of(evaluator_).isa()) {}

  void array(const std::string& name, long components) { sequence_.array(name, components); }
  void uniform(const std::string& name, long components) { sequence_.uniform(name, components); }
  void op(const std::string& name, Names in, Names out, Pairs swaps, long repeat) {
    const OpRow& row = evaluator_of(evaluator_).op(name);
    if (in.size() != row.in.size() + row.uniforms.size() || out.size() != row.out.size())
      throw Error(name + ": wrong number of arrays");
    Stage s{{}, std::move(in), std::move(out), std::move(swaps), repeat, false};
    if (on_device_) s.program = [&e = evaluator_of(evaluator_), name] { return e.program(name); };
    else s.kernel = [k = evaluator_of(evaluator_).kernel(name, precision_)] { return k; };
    sequence_.stage(std::move(s));
  }
  void trace(nb::handle trace, Pairs swaps, bool last) {
    const Program& p = program_of(trace);
    const Evaluator& e = evaluator_of(evaluator_);
    Stage s;
    if (on_device_) s.program = [p] { return p; };
    else
      s.kernel = [k = traced_kernel(p, precision_, e.isa(), e.assembles(),
                                    [&](const std::string& n) { notices_.push_back(n); })] { return k; };
    for (const auto& a : p.inputs) s.in.push_back(a.name);
    for (const auto& a : p.outputs) s.out.push_back(a.name);
    s.swaps = std::move(swaps), s.last = last;
    sequence_.stage(std::move(s));
  }
  void finite(const std::string& name, const Names& of) { sequence_.finite(name, of); }
  // (name, array, first column, columns, whether there is one for each step)
  using OnDevice = std::vector<std::tuple<std::string, nb::object, long, long, bool>>;
  void run_on_device(long steps, long instances, const OnDevice& in, nb::dict uniforms, const OnDevice& out,
                     const PyControls* controls, std::uintptr_t stream) {
    std::vector<Columns> keep;
    std::vector<SequenceMemory> mi, mo;
    std::vector<UniformValues> values;
    for (const auto& [name, a, first, count, each] : in)
      mi.push_back(keep.emplace_back(Columns(a, name, first, count, each ? steps : 0, instances, keep)).memory);
    for (const auto& [name, a, first, count, each] : out)
      mo.push_back(keep.emplace_back(Columns(a, name, first, count, each ? steps : 0, -1, keep)).memory);
    for (auto [k, v] : uniforms) values.push_back({nb::cast<std::string>(k), nb::cast<std::vector<double>>(v)});
    nb::gil_scoped_release release;
    sequence_.run(steps, instances, mi, values, mo, controls ? &controls->controls : nullptr,
                  reinterpret_cast<void*>(stream));
  }
  void run(long steps, long instances, const std::vector<std::pair<std::string, nb::ndarray<nb::ro>>>& in,
           nb::dict uniforms, const std::vector<std::pair<std::string, nb::ndarray<>>>& out,
           const PyControls* controls) {
    std::vector<SequenceMemory> mi, mo;
    std::vector<UniformValues> values;
    for (const auto& [name, a] : in) mi.push_back(memory(a, name, steps));
    for (const auto& [name, a] : out) mo.push_back(memory(a, name, steps));
    for (auto [k, v] : uniforms) values.push_back({nb::cast<std::string>(k), nb::cast<std::vector<double>>(v)});
    nb::gil_scoped_release release;
    sequence_.run(steps, instances, mi, values, mo, controls ? &controls->controls : nullptr);
  }
  std::vector<std::string> take_notices() { return std::exchange(notices_, {}); }

 private:
  nb::object evaluator_;  // its kernels run in the stages
  bool on_device_;
  Precision precision_;
  Sequence sequence_;
  std::vector<std::string> notices_;
};

}  // namespace

void bind_sequence(nb::module_& module) {
  nb::class_<PyControls>(module, "Controls", "Controls that a sequence makes itself.");
  module.def("device_knots", &device_knots, nb::arg("name"), nb::arg("knots"), nb::arg("columns"), nb::arg("weights"),
             nb::arg("instances"), "The same as knots() of an array on a device, (B, K, n) or (B, K n).");
  module.def(
      "noise", &noise, nb::arg("name"), nb::arg("mean"), nb::arg("sigma"), nb::arg("lower"), nb::arg("upper"),
      nb::arg("weights"), nb::arg("seed"), nb::arg("draw"), nb::arg("first_instance"), nb::arg("keep_mean"),
      "Controls clip(mean + sigma * weights z) for the array `name`: mean (T, n), sigma (n) or (T, n), lower and "
      "upper (n), weights (T, K) or none, z standard normal numbers.");
  module.def("knots", &knots, nb::arg("name"), nb::arg("knots"), nb::arg("weights"),
             "Controls weights (T, K) times knots (B, K, n) for the array `name`.");
  module.def("draw", &draw, nb::arg("controls"), nb::arg("out"), nb::arg("threads") = 1,
             "Writes controls to an array (B, T, n).");
  nb::class_<Least>(module, "Least").def_ro("value", &Least::value).def_ro("index", &Least::index);
  nb::class_<PyReduction>(module, "Reduction",
                          "Reductions over samples; results do not depend on the number of threads.")
      .def(nb::init<int>(), nb::arg("threads"))
      .def("least", &PyReduction::least, nb::arg("costs"),
           "The least finite cost and its index, -1 where there is none.")
      .def("softmax_weights", &PyReduction::softmax_weights, nb::arg("costs"), nb::arg("temperature"),
           nb::arg("weights"),
           "Writes exp(-cost / temperature) / sum of these to weights, 0 where a cost is not finite.")
      .def("weighted_mean", &PyReduction::weighted_mean, nb::arg("samples"), nb::arg("weights"), nb::arg("mean"),
           "Writes the weighted sum of samples (B, T, n) to mean (T, n), float64.");
  nb::class_<PyDeviceReduction>(module, "DeviceReduction", "The same on a CUDA device; nothing but best() waits.")
      .def(nb::init<int>(), nb::arg("device"))
      .def("least", &PyDeviceReduction::least, nb::arg("costs"), nb::arg("stream"))
      .def("softmax_weights", &PyDeviceReduction::softmax_weights, nb::arg("costs"), nb::arg("temperature"),
           nb::arg("weights"), nb::arg("stream"))
      .def("weighted_mean", &PyDeviceReduction::weighted_mean, nb::arg("samples"), nb::arg("steps"), nb::arg("columns"),
           nb::arg("weights"), nb::arg("mean"), nb::arg("stream"), nb::arg("center").none() = nb::none(),
           "The weighted mean, or with a Buffer `center` like the mean that of the squared distances from it. Samples "
           "(B, T n) or (B, T, n); mean: a Buffer (T n, 1) of the same dtype.")
      .def("best", &PyDeviceReduction::best, nb::arg("stream"), "The least cost found last on this stream; waits.");
  nb::class_<PySequence>(module, "Sequence", "Stages of kernels over named arrays, run over a horizon.")
      .def(nb::init<nb::object, std::string, bool>(), nb::arg("evaluator"), nb::arg("dtype"),
           nb::arg("on_device") = false, "on_device: its arrays lie on CUDA devices, and it is run by run_on_device.")
      .def("finite", &PySequence::finite, nb::arg("name"), nb::arg("of"),
           "After the last step an array's numbers become NaN where a number of others is not finite.")
      .def("run_on_device", &PySequence::run_on_device, nb::arg("steps"), nb::arg("instances"), nb::arg("inputs"),
           nb::arg("uniforms"), nb::arg("outputs"), nb::arg("controls").none(), nb::arg("stream"),
           "Inputs and outputs: (name, array, first column, columns, each step) of Buffers or arrays with DLPack.")
      .def("array", &PySequence::array, nb::arg("name"), nb::arg("components"))
      .def("uniform", &PySequence::uniform, nb::arg("name"), nb::arg("components"))
      .def("op", &PySequence::op, nb::arg("name"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("swaps"),
           nb::arg("repeat") = 1, "Appends an operation of the table.")
      .def("trace", &PySequence::trace, nb::arg("trace"), nb::arg("swaps") = Pairs{}, nb::arg("last") = false,
           "Appends a traced function; its arrays are those of the sequence with the same names.")
      .def("run", &PySequence::run, nb::arg("steps"), nb::arg("instances"), nb::arg("inputs"), nb::arg("uniforms"),
           nb::arg("outputs"), nb::arg("controls").none() = nb::none(),
           "Inputs and outputs: (name, array) with arrays (B, n), read before the first or written after the last "
           "step, or (B, T, n). "
           "Uniforms: lists of n or T n numbers. Controls: of noise() or knots(), for one array; or None.")
      .def("take_notices", &PySequence::take_notices);
}

}  // namespace featherstorm
