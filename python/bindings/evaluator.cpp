// Evaluator and Buffer: arrays of any library go in by buffer protocol or DLPack, and the interpreter's lock is
// released while the engine works.
#include "host/engine/evaluator.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

#include "bindings.h"
#include "host/memory/device.h"
#include "host/table/ops.h"

namespace nb = nanobind;

namespace featherstorm {

Precision precision_of(const std::string& dtype) {
  if (dtype == "float32") return Precision::float32;
  if (dtype == "float64") return Precision::float64;
  throw nb::type_error(("dtype is '" + dtype + "', expected 'float32' or 'float64'").c_str());
}

namespace {

// A Buffer and its shape, which the engine's Buffer keeps to itself.
struct PyBuffer {
  PyBuffer(const std::string& dtype, long instances, long components, int device, std::uintptr_t stream)
      : buffer(precision_of(dtype), checked(instances), checked(components), device, reinterpret_cast<void*>(stream)) {}
  static long checked(long n) {
    if (n < 0) throw Error("a buffer's sizes may not be negative");
    return n;
  }
  Buffer buffer;

  // A view of shape (instances, *tail); the product of `tail` is the number of components. numpy's on the host, on a
  // device a DLPack capsule.
  nb::object view(const std::vector<long>& tail) const {
    const ArrayRef a = buffer.ref();
    std::vector<std::size_t> shape{static_cast<std::size_t>(a.instances)};
    std::vector<std::int64_t> strides{1};
    long product = 1;
    for (long n : tail) product *= n;
    if (product != a.components) throw Error("a view's shape does not fit its buffer");
    for (long n : tail) {
      product = n > 0 ? product / n : 0;
      shape.push_back(static_cast<std::size_t>(n));
      strides.push_back(product * buffer.stride());
    }
    return array(shape, strides);
  }
  // The memory as it lies, of shape (components, stride).
  nb::object rows() const {
    const std::size_t stride = static_cast<std::size_t>(buffer.stride());
    return array({static_cast<std::size_t>(buffer.ref().components), stride}, {buffer.stride(), 1});
  }

 private:
  nb::object array(const std::vector<std::size_t>& shape, const std::vector<std::int64_t>& strides) const {
    const ArrayRef a = buffer.ref();
    static int nothing;
    auto* owner = new std::shared_ptr<void>(buffer.memory());
    const nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::shared_ptr<void>*>(p); });
    const auto dtype = a.precision == Precision::float32 ? nb::dtype<float>() : nb::dtype<double>();
    void* data = a.data ? a.data : &nothing;
    if (a.device == on_host)
      return nb::cast(nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), capsule, strides.data(), dtype));
    return nb::cast(nb::ndarray<>(data, shape.size(), shape.data(), capsule, strides.data(), dtype,
                                  nb::device::cuda::value, a.device));
  }
};

// What keeps the memory of a call's arguments alive.
struct Keep {
  std::vector<nb::object> buffers;
  std::vector<nb::ndarray<nb::ro>> inputs;
  std::vector<nb::ndarray<>> outputs;
};

template <class NdArray>
ArrayRef reference(const NdArray& a, const std::string& name) {
  ArrayRef r;
  if (a.device_type() == nb::device::cuda::value || a.device_type() == nb::device::cuda_managed::value)
    r.device = a.device_id();
  else if (a.device_type() != nb::device::cpu::value && a.device_type() != nb::device::cuda_host::value)
    throw Error(name + " lies on a device that is neither the CPU nor CUDA (DLPack type " +
                std::to_string(a.device_type()) + "): move it there");
  if (a.dtype() == nb::dtype<float>()) r.precision = Precision::float32;
  else if (a.dtype() == nb::dtype<double>()) r.precision = Precision::float64;
  else throw nb::type_error((name + " is neither float32 nor float64").c_str());
  if (a.ndim() != 2) throw Error(name + " has " + std::to_string(a.ndim()) + " dimensions, expected 2");
  r.data = const_cast<void*>(static_cast<const void*>(a.data()));
  r.instances = static_cast<long>(a.shape(0)), r.components = static_cast<long>(a.shape(1));
  r.instance_stride = a.stride(0), r.component_stride = a.stride(1);
  return r;
}

ArrayRef argument(nb::handle h, const std::string& name, bool output, Keep& keep) {
  if (PyBuffer* b; nb::try_cast(h, b) && b) {
    keep.buffers.push_back(nb::borrow(h));
    return b->buffer.ref();
  }
  if (output) {
    nb::ndarray<> a;
    if (!nb::try_cast(h, a, false)) throw nb::type_error((name + " is not a writable array").c_str());
    return reference(keep.outputs.emplace_back(std::move(a)), name);
  }
  nb::ndarray<nb::ro> a;
  if (!nb::try_cast(h, a, false)) throw nb::type_error((name + " is not an array").c_str());
  return reference(keep.inputs.emplace_back(std::move(a)), name);
}

// An Evaluator whose notices wait until Python asks: the engine may tell them while another thread holds the
// interpreter's lock.
class PyEvaluator {
 public:
  PyEvaluator(const Robot& robot, int threads, const std::string& isa, bool assemble,
              const std::vector<std::string>& parameters)
      : evaluator_(robot, {threads, isa, assemble, parameters, [this](const std::string& what) {
                             std::lock_guard lock(mutex_);
                             notices_.push_back(what);
                           }}) {}
  Evaluator& operator*() { return evaluator_; }

  void run(const std::string& op, nb::sequence in, nb::sequence out, const std::vector<double>& uniforms, int frame,
           long repeat, std::uintptr_t stream, long instances) {
    const OpRow& row = evaluator_.op(op);
    Keep keep;
    std::vector<ArrayRef> inputs, outputs;
    auto collect = [&](nb::sequence arrays, const std::vector<OpRow::Argument>& names, std::vector<ArrayRef>& refs,
                       bool output) {
      std::size_t k = 0;
      for (nb::handle h : arrays) {
        const std::string name = k < names.size() ? std::string(names[k].name) : "array " + std::to_string(k);
        refs.push_back(argument(h, op + ": " + name, output, keep));
        // a row that stands for all instances
        if (ArrayRef& a = refs.back(); !output && instances >= 0 && a.instances == 1)
          a.instances = instances, a.instance_stride = 0, a.padded = false;
        k++;
      }
    };
    collect(in, row.in, inputs, false);
    collect(out, row.out, outputs, true);
    nb::gil_scoped_release release;
    evaluator_.run(op, inputs, outputs, {uniforms, frame, repeat, reinterpret_cast<void*>(stream)});
  }
  std::vector<std::string> take_notices() {
    std::lock_guard lock(mutex_);
    return std::exchange(notices_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> notices_;
  Evaluator evaluator_;
};

void py_copy(nb::object from, nb::object to, std::uintptr_t stream) {
  Keep keep;
  const ArrayRef a = argument(from, "copy: from", false, keep), b = argument(to, "copy: to", true, keep);
  nb::gil_scoped_release release;
  copy(a, b, reinterpret_cast<void*>(stream));
}

nb::tuple py_devices() {
  std::string reason;
  nb::list all;
  for (const CudaDevice& d : devices(&reason))
    all.append(nb::make_tuple(std::string(d.name), d.major, d.minor, d.multiprocessors, d.memory));
  return nb::make_tuple(all, reason);
}

nb::list arguments(const std::vector<OpRow::Argument>& row) {
  nb::list r;
  for (const auto& a : row) r.append(nb::make_tuple(std::string(a.name), a.components));
  return r;
}

// The shapes of inputs and outputs behind the batch, by name.
nb::dict shapes(const OpRow& row) {
  nb::dict all;
  for (const auto* arrays : {&row.in, &row.out})
    for (const auto& a : *arrays) {
      nb::list shape;
      for (int n : a.shape) shape.append(n);
      all[nb::str(a.name.data(), a.name.size())] = nb::tuple(shape);
    }
  return all;
}

}  // namespace

bool buffer_of(nb::handle h, ArrayRef* memory) {
  PyBuffer* b;
  if (!nb::try_cast(h, b) || !b) return false;
  *memory = b->buffer.ref();
  return true;
}

Evaluator& evaluator_of(nb::handle evaluator) { return *nb::cast<PyEvaluator&>(evaluator); }

void bind_evaluator(nb::module_& module) {
  nb::class_<PyBuffer>(module, "Buffer", "Memory of a batch, [component][instance] with a padded stride, zero-filled.")
      .def(nb::init<std::string, long, long, int, std::uintptr_t>(), nb::arg("dtype"), nb::arg("instances"),
           nb::arg("components"), nb::arg("device") = on_host, nb::arg("stream") = 0)
      .def("view", &PyBuffer::view, nb::arg("tail"),
           "A writable view of shape (instances, *tail), without a copy; it keeps the memory alive. numpy's on the "
           "host, on a device a DLPack capsule.")
      .def("rows", &PyBuffer::rows, "The same of the whole memory as it lies: (components, stride), contiguous.")
      .def_prop_ro("stride", [](const PyBuffer& b) { return b.buffer.stride(); });

  nb::class_<OpRow>(module, "OpRow", "One row of the table of operations with the sizes for a robot.")
      .def_prop_ro("name", [](const OpRow& r) { return std::string(r.name); })
      .def_prop_ro("summary", [](const OpRow& r) { return std::string(r.summary); })
      .def_prop_ro(
          "inputs", [](const OpRow& r) { return arguments(r.in); }, "(name, components) of each input.")
      .def_prop_ro("outputs", [](const OpRow& r) { return arguments(r.out); })
      .def_prop_ro("shapes", &shapes, "The shape of each input and output behind the batch, by name.")
      .def_prop_ro(
          "uniforms", [](const OpRow& r) { return arguments(r.uniforms); },
          "(name, components) of what is the same for all instances.")
      .def_prop_ro(
          "given", [](const OpRow& r) { return std::string(r.given); },
          "The row that is given the optional inputs too, where it has kernels of its own.")
      .def_prop_ro(
          "optional",
          [](const OpRow& r) {
            nb::list names;
            for (const OpRow::Argument& a : r.in)
              if (a.optional) names.append(std::string(a.name));
            return nb::tuple(names);
          },
          "Inputs that may be left out.")
      .def_prop_ro(
          "refused", [](const OpRow& r) { return std::string(r.refused); },
          "Why the robot has no such operation; empty where it has.")
      .def_ro("uses_frame", &OpRow::uses_frame)
      .def_ro("carried", &OpRow::carried)
      .def_ro("on_device", &OpRow::on_device,
              "Whether arrays on a CUDA device are served; else only once specialise() has made the row's kernel.");

  nb::class_<PyEvaluator>(module, "Evaluator", "Evaluates the operations for one robot.")
      .def(nb::init<const Robot&, int, std::string, bool, std::vector<std::string>>(), nb::arg("robot"),
           nb::arg("threads") = 0, nb::arg("isa") = "", nb::arg("assemble") = true,
           nb::arg("parameters") = std::vector<std::string>{})
      .def_prop_ro("ops", [](PyEvaluator& e) { return (*e).ops(); })
      .def(
          "row", [](PyEvaluator& e, const std::string& op) { return (*e).op(op); }, nb::arg("op"),
          "The row of an operation or of a derivative of one, NAME_vjp and NAME_jvp.")
      .def_prop_ro("isa", [](PyEvaluator& e) { return (*e).isa(); })
      .def_prop_ro("threads", [](PyEvaluator& e) { return (*e).threads(); })
      .def("run", &PyEvaluator::run, nb::arg("op"), nb::arg("inputs"), nb::arg("outputs"),
           nb::arg("uniforms") = std::vector<double>{}, nb::arg("frame") = 0, nb::arg("repeat") = 1,
           nb::arg("stream") = 0, nb::arg("instances") = -1,
           "Runs an operation on arrays (instances, components), their DLPack capsules, or Buffers; inputs of one row "
           "stand for `instances` rows where that is given. stream: a CUDA stream's number, for arrays on a device.")
      .def(
          "specialise",
          [](PyEvaluator& e, const std::string& op, const std::string& dtype, int frame, int device) {
            return (*e).specialise(op, precision_of(dtype), frame, device);
          },
          nb::arg("op"), nb::arg("dtype"), nb::arg("frame") = 0, nb::arg("device") = on_host,
          nb::call_guard<nb::gil_scoped_release>())
      .def(
          "specialised",
          [](PyEvaluator& e, const std::string& op, const std::string& dtype, int frame, int device) {
            return (*e).specialised(op, precision_of(dtype), frame, device);
          },
          nb::arg("op"), nb::arg("dtype"), nb::arg("frame") = 0, nb::arg("device") = on_host,
          nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro(
          "checks",
          [](PyEvaluator& e) {
            nb::list all;
            for (const CheckedKernel& c : (*e).checks())
              all.append(nb::make_tuple(c.op, c.precision == Precision::float32 ? "float32" : "float64", c.device,
                                        c.result.array, c.result.error, c.result.bound, c.result.passed));
            return all;
          },
          "(op, dtype, device, array, error, bound, passed) of each kernel that was compared with the text in double.")
      .def("take_notices", &PyEvaluator::take_notices);

  module.def(
      "operation_table",
      [] {
        nb::dict table;
        const auto text = [](std::string_view s) { return std::string(s); };
        const auto arrays = [&](const OpArrays& row) {
          nb::list all;
          for (const OpArray& a : row) {
            nb::dict array;
            array["name"] = text(a.name), array["shape"] = words(a.shape), array["unit"] = text(a.unit);
            array["meaning"] = text(a.meaning), array["optional"] = a.optional();
            all.append(array);
          }
          return nb::tuple(all);
        };
        const auto add = [&](const OpInfo& info, std::string_view subject) {
          nb::dict row;
          row["subject"] = text(subject), row["summary"] = text(info.summary);
          row["equation"] = text(info.equation), row["source"] = text(info.source);
          row["inputs"] = arrays(info.in), row["uniforms"] = arrays(info.uniform), row["outputs"] = arrays(info.out);
          row["uses_frame"] = info.uses_frame, row["common"] = info.common;
          row["needs"] = needs_words[static_cast<int>(info.needs)];
          row["cost"] = cost_words[static_cast<int>(info.cost)];
          table[text(info.name).c_str()] = row;
        };
        const auto add_subject = [&]<class Subject>(Subject) {
          std::apply([&](auto... op) { (add(op.info, Subject::title), ...); }, typename Subject::Rows{});
        };
        std::apply([&](auto... subject) { (add_subject(subject), ...); }, Subjects{});
        return table;
      },
      "Every operation by name: its subject, summary, equation, source, arrays (name, shape of an instance, unit, meaning, "
      "whether it may be left out), cost on a chain of n joints, what the robot must have.");
  module.def(
      "parameters",
      [] {
        nb::list names;
        for (std::string_view name : parameter_names()) names.append(std::string(name));
        return names;
      },
      "Names of the numbers of a robot that can differ from instance to instance.");
  module.def(
      "parameter_shape",
      [](const Robot& robot, const std::string& name) {
        nb::list shape;
        for (int n : parameter_shape(robot, name)) shape.append(n);
        return nb::tuple(shape);
      },
      nb::arg("robot"), nb::arg("name"), "The shape of a parameter of one instance.");
  module.def(
      "parameter_values", [](const Robot& robot, const std::string& name) { return parameter_values(robot, name); },
      nb::arg("robot"), nb::arg("name"), "The robot's own numbers, one behind the other.");
  module.def("copy", py_copy, nb::arg("source"), nb::arg("target"), nb::arg("stream") = 0,
             "Copies an array (instances, components), its DLPack capsule or a Buffer to another: from the host to a "
             "CUDA device, back, or within a device; waits for the stream where one of them is on the host.");
  module.def(
      "synchronise", [](int device, std::uintptr_t stream) { synchronise(device, reinterpret_cast<void*>(stream)); },
      nb::arg("device"), nb::arg("stream") = 0, nb::call_guard<nb::gil_scoped_release>(),
      "Waits for a stream of a CUDA device, and raises what went wrong there.");
  module.def("cuda_devices", py_devices,
             "([(name, major, minor, multiprocessors, bytes), ...], why there is none); one of the two is empty.");
  module.def("instruction_sets", available_isas, "What this machine can run, widest first.");
}

}  // namespace featherstorm
