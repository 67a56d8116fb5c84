// Simulation: the state of a batch in the engine's memory, its steps and the readings of its world.
#include "host/simulation/simulation.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "arrays.h"
#include "bindings.h"
#include "gil.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

using Numbers = std::map<std::string, std::vector<double>>;

class PySimulation {
 public:
  PySimulation(nb::object evaluator, long instances, double dt, int substeps, const std::vector<std::string>& ignore,
               const Numbers& numbers, const std::optional<RigidLaw<double>>& rigid, const std::string& dtype,
               int device, std::uintptr_t stream)
      : evaluator_(std::move(evaluator)),
        simulation_(evaluator_of(evaluator_), instances, {dt, substeps, ignore, numbers, rigid}, precision_of(dtype),
                    device, reinterpret_cast<void*>(stream)) {}
  Simulation& operator*() { return simulation_; }

  void step(nb::handle tau, nb::handle q_target, const Numbers& numbers) {
    OpenArrays open;
    Simulation::Drive drive;
    drive.tau = array(open, tau, "step: tau"), drive.q_target = array(open, q_target, "step: q_target");
    drive.numbers = numbers;
    const WithoutGil without_gil;
    simulation_.step(drive);
  }
  void reset(const nb::bytes& mask, nb::handle q, nb::handle v, nb::handle act, nb::handle ctrl) {
    OpenArrays open;
    const Simulation::State state{array(open, q, "reset: q"), array(open, v, "reset: v"),
                                  array(open, act, "reset: act"), array(open, ctrl, "reset: ctrl")};
    const std::vector<bool> chosen(mask.c_str(), mask.c_str() + mask.size());
    const WithoutGil without_gil;
    simulation_.reset(chosen, state);
  }
  nb::bytes finite() const {
    std::string all;
    {
      const WithoutGil without_gil;
      for (const bool one : simulation_.finite()) all.push_back(one ? 1 : 0);
    }
    return nb::bytes(all.data(), all.size());
  }
  void parameter(const std::string& name, nb::handle values) {
    OpenArrays open;
    simulation_.parameter(name, array(open, values, name.c_str()));
    kept_[name] = std::move(open);
  }
  void continue_with(nb::object evaluator) {
    simulation_.continue_with(evaluator_of(evaluator));
    evaluator_ = std::move(evaluator);
  }
  nb::object measure(const WorldReading& reading) {
    Buffer found;
    {
      const WithoutGil without_gil;
      found = simulation_.measure(reading);
    }
    return python_buffer(found);
  }
  nb::list buffers(bool next) const {
    nb::list all;
    for (const Buffer& b : simulation_.buffers(next)) all.append(python_buffer(b));
    return all;
  }

 private:
  static ArrayRef array(OpenArrays& open, nb::handle h, const char* name) {
    return h.is_none() ? ArrayRef{} : open(h, name, false).memory.array;
  }

  nb::object evaluator_;
  Simulation simulation_;
  std::map<std::string, OpenArrays> kept_;  // of parameters
};

}  // namespace

void bind_simulation(nb::module_& module) {
  nb::class_<WorldReading>(module, "WorldReading", "Numbers that a traced program computes from the state of a world.")
      .def(
          "__init__",
          [](WorldReading* self, nb::handle evaluator, const std::string& dtype, nb::handle trace, bool at_solve) {
            new (self) WorldReading(evaluator_of(evaluator), precision_of(dtype), program_of(trace), at_solve);
          },
          nb::arg("evaluator"), nb::arg("dtype"), nb::arg("trace"), nb::arg("at_solve"), nb::keep_alive<1, 2>(),
          "trace: one output; inputs q, v, act, ctrl, parameters of the model and the uniform t. at_solve: these belong "
          "to the beginning of the last substep, and there are qacc, row_force and the arrays of contacts.");
  nb::class_<PySimulation>(module, "Simulation", "The state of a batch and its steps (host/simulation/simulation.h).")
      .def(nb::init<nb::object, long, double, int, const std::vector<std::string>&, const Numbers&,
                    const std::optional<RigidLaw<double>>&, const std::string&, int, std::uintptr_t>(),
           nb::arg("evaluator"), nb::arg("instances"), nb::arg("dt"), nb::arg("substeps"), nb::arg("ignore"),
           nb::arg("numbers"), nb::arg("rigid").none(), nb::arg("dtype"), nb::arg("device"), nb::arg("stream"))
      .def("step", &PySimulation::step, nb::arg("tau").none(), nb::arg("q_target").none(), nb::arg("numbers"),
           "Advance by a step; `buffers()` and `buffers(True)` change places. numbers: gains of this step alone.")
      .def("reset", &PySimulation::reset, nb::arg("mask"), nb::arg("q"), nb::arg("v"), nb::arg("act").none(),
           nb::arg("ctrl").none(), "Set instances to (B, n) or (1, n) numbers on the host; mask: B bytes.")
      .def("finite", &PySimulation::finite, "Return B bytes: whether all numbers of an instance's state are finite.")
      .def("parameter", &PySimulation::parameter, nb::arg("name"), nb::arg("values"))
      .def("continue_with", &PySimulation::continue_with, nb::arg("evaluator"),
           "Go on with another evaluator of the same robot, which has further parameters.")
      .def("measure", &PySimulation::measure, nb::arg("reading"),
           nb::sig("def measure(self, reading: WorldReading) -> Buffer"),
           "Return the numbers of a reading (B, n), a Buffer.")
      .def("buffers", &PySimulation::buffers, nb::arg("next") = false,
           nb::sig("def buffers(self, next: bool = False) -> list[Buffer]"),
           "Return the Buffers of the state, or of the one that the next step writes.")
      .def_prop_ro(
          "controls", [](PySimulation& s) { return python_buffer((*s).controls()); },
          nb::sig("def controls(self) -> Buffer"))
      .def_prop_ro(
          "applied",
          [](PySimulation& s) { return (*s).applied() ? python_buffer(*(*s).applied()) : nb::object(nb::none()); },
          nb::sig("def applied(self) -> Buffer | None"), "The forces at the joints of a world in the last step.")
      .def_prop_rw(
          "time", [](PySimulation& s) { return (*s).time(); }, [](PySimulation& s, double t) { (*s).set_time(t); });
}

}  // namespace featherstorm
