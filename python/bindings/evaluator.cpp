// Evaluator and the table of operations. Python's lock (GIL) is released while the engine works.
#include "host/engine/evaluator.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

#include "arrays.h"
#include "bindings.h"
#include "gil.h"
#include "host/table/ops.h"
#include "host/world/world_inputs.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

// An Evaluator that stores its notices until Python asks for them, because the engine may give a notice while another
// thread holds Python's lock.
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
    OpenArrays open;
    std::vector<ArrayRef> inputs, outputs;
    auto collect = [&](nb::sequence arrays, const std::vector<OpRow::Argument>& names, std::vector<ArrayRef>& refs,
                       bool output) {
      std::size_t k = 0;
      for (nb::handle h : arrays) {
        const std::string name = k < names.size() ? std::string(names[k].name) : "array " + std::to_string(k);
        refs.push_back(open(h, op + ": " + name, output).memory.array);
        // one row stands for all instances
        if (ArrayRef& a = refs.back(); !output && instances >= 0 && a.instances == 1)
          a.instances = instances, a.instance_stride = 0, a.padded = false;
        k++;
      }
    };
    collect(in, row.in, inputs, false);
    collect(out, row.out, outputs, true);
    const WithoutGil without_gil;
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

nb::list arguments(const std::vector<OpRow::Argument>& row) {
  nb::list r;
  for (const auto& a : row) r.append(nb::make_tuple(std::string(a.name), a.components));
  return r;
}

// The shapes of inputs and outputs without the batch dimension, by name.
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

Evaluator& evaluator_of(nb::handle evaluator) { return *nb::cast<PyEvaluator&>(evaluator); }

void bind_evaluator(nb::module_& module) {
  nb::class_<OpRow>(module, "OpRow", "An operation of the table with the sizes for a robot.")
      .def_prop_ro("name", [](const OpRow& r) { return std::string(r.name); })
      .def_prop_ro("summary", [](const OpRow& r) { return std::string(r.summary); })
      .def_prop_ro(
          "inputs", [](const OpRow& r) { return arguments(r.in); }, "(name, components) of each input.")
      .def_prop_ro("outputs", [](const OpRow& r) { return arguments(r.out); })
      .def_prop_ro("shapes", &shapes, "The shape of each input and output without the batch dimension, by name.")
      .def_prop_ro(
          "uniforms", [](const OpRow& r) { return arguments(r.uniforms); },
          "(name, components) of each array that is the same for all instances.")
      .def_prop_ro(
          "given", [](const OpRow& r) { return std::string(r.given); },
          "The operation with the optional inputs, if that has kernels of its own.")
      .def_prop_ro(
          "optional",
          [](const OpRow& r) {
            nb::list names;
            for (const OpRow::Argument& a : r.in)
              if (a.optional) names.append(std::string(a.name));
            return nb::tuple(names);
          },
          "Names of the inputs that may be left out.")
      .def_prop_ro(
          "refused", [](const OpRow& r) { return std::string(r.refused); },
          "The reason why the robot does not have the operation; empty if it has it.")
      .def_ro("uses_frame", &OpRow::uses_frame)
      .def_ro("carried", &OpRow::carried)
      .def_ro("on_device", &OpRow::on_device,
              "True if it runs on CUDA devices without specialise(); if false, specialise() must have made a kernel.");

  nb::class_<PyEvaluator>(module, "Evaluator", "Evaluates the operations for one robot.")
      .def(nb::init<const Robot&, int, std::string, bool, std::vector<std::string>>(), nb::arg("robot"),
           nb::arg("threads") = 0, nb::arg("isa") = "", nb::arg("assemble") = true,
           nb::arg("parameters") = std::vector<std::string>{})
      .def_prop_ro("ops", [](PyEvaluator& e) { return (*e).ops(); })
      .def(
          "row", [](PyEvaluator& e, const std::string& op) { return (*e).op(op); }, nb::arg("op"),
          "The table entry of an operation or of its derivative, NAME_vjp or NAME_jvp.")
      .def_prop_ro("isa", [](PyEvaluator& e) { return (*e).isa(); })
      .def_prop_ro("threads", [](PyEvaluator& e) { return (*e).threads(); })
      .def("run", &PyEvaluator::run, nb::arg("op"), nb::arg("inputs"), nb::arg("outputs"),
           nb::arg("uniforms") = std::vector<double>{}, nb::arg("frame") = 0, nb::arg("repeat") = 1,
           nb::arg("stream") = 0, nb::arg("instances") = -1,
           "Runs an operation on arrays (instances, components), their DLPack capsules, or Buffers. If `instances` is "
           "given, inputs of one row stand for that many rows. stream: the number of a CUDA stream, for arrays on a "
           "device.")
      .def(
          "specialise",
          [](PyEvaluator& e, const std::string& op, const std::string& dtype, int frame, int device) {
            return (*e).specialise(op, precision_of(dtype), frame, device);
          },
          nb::arg("op"), nb::arg("dtype"), nb::arg("frame") = 0, nb::arg("device") = on_host,
          nb::call_guard<WithoutGil>())
      .def(
          "specialised",
          [](PyEvaluator& e, const std::string& op, const std::string& dtype, int frame, int device) {
            return (*e).specialised(op, precision_of(dtype), frame, device);
          },
          nb::arg("op"), nb::arg("dtype"), nb::arg("frame") = 0, nb::arg("device") = on_host,
          nb::call_guard<WithoutGil>())
      .def_prop_ro(
          "checks",
          [](PyEvaluator& e) {
            nb::list all;
            for (const CheckedKernel& c : (*e).checks())
              all.append(nb::make_tuple(c.op, c.precision == Precision::float32 ? "float32" : "float64", c.device,
                                        c.result.array, c.result.error, c.result.bound, c.result.passed));
            return all;
          },
          "(op, dtype, device, array, error, bound, passed) of each kernel that was compared with the algorithm in "
          "double.")
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
            array["range"] = text(a.range());
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
        const auto add_rows = [&]<class... Op>(std::string_view subject, List<Op...>) {
          (add(Op::info, subject), ...);
        };
        [&]<class... Subject>(List<Subject...>) {
          (add_rows(Subject::title, typename Subject::Rows{}), ...);
        }(Subjects{});
        return table;
      },
      "Every operation by name: its subject, summary, equation, source, arrays (name, shape of an instance, unit, "
      "meaning, range, optional), cost on a chain of n joints, required properties of the robot.");
  module.def(
      "parameters",
      [] {
        nb::list names;
        for (std::string_view name : parameter_names()) names.append(std::string(name));
        return names;
      },
      "Names of the numbers of a robot that can differ between instances.");
  module.def(
      "parameter_shape",
      [](const Robot& robot, const std::string& name) {
        nb::list shape;
        for (int n : parameter_shape(robot, name)) shape.append(n);
        return nb::tuple(shape);
      },
      nb::arg("robot"), nb::arg("name"), "The shape of a parameter for one instance.");
  module.def(
      "parameter_values", [](const Robot& robot, const std::string& name) { return parameter_values(robot, name); },
      nb::arg("robot"), nb::arg("name"), "The robot's own numbers, one after another.");
  module.def(
      "world_inputs",
      [] {
        nb::dict all;
        for (const WorldInput& i : world_inputs()) all[nb::str(i.name.data(), i.name.size())] = i.decides;
        return all;
      },
      "Tables of a model file that are parameters of a robot with its world, by MuJoCo's names. True if nonzero "
      "numbers decide the elements of the world, so that zeros of the model must be zeros of every instance.");
  module.def("instruction_sets", available_isas, "The instruction sets this machine can run, widest first.");
}

}  // namespace featherstorm
