// Sequence: stages of kernels over a horizon, and the controls that it generates.
#include "host/rollout/sequence.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.h"
#include "bindings.h"
#include "gil.h"
#include "host/gradients/gradient_sequence.h"
#include "host/gradients/world_gradients.h"
#include "host/memory/task_threads.h"
#include "host/simulation/environment_sequence.h"
#include "host/simulation/rollout.h"
#include "host/simulation/world_sequence.h"
#include "prepared_run.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

PyControls noise(const std::string& name, const NumberArray& mean, const NumberArray& sigma, const NumberArray& lower,
                 const NumberArray& upper, const NumberArray& weights, std::uint64_t seed, std::uint32_t draw,
                 long first_instance, bool keep_mean) {
  const auto list = [](const NumberArray& a) { return std::vector<double>(a.data(), a.data() + a.size()); };
  Controls c;
  c.name = name, c.mean = list(mean), c.sigma = list(sigma), c.lower = list(lower), c.upper = list(upper);
  c.weights = list(weights), c.key = {seed, draw}, c.first_instance = first_instance, c.keep_mean = keep_mean;
  return {std::move(c)};
}

PyControls knots(const std::string& name, nb::object array, long columns, const NumberArray& weights, long instances,
                 const std::vector<double>& lower, const std::vector<double>& upper) {
  if (weights.ndim() != 2) throw Error("weights have " + std::to_string(weights.ndim()) + " dimensions, expected 2");
  PyControls c;
  c.controls.knots = c.open.columns(array, "knots", false, 0, columns, static_cast<long>(weights.shape(1)), instances);
  c.controls.name = name, c.controls.given = true, c.controls.lower = lower, c.controls.upper = upper;
  c.controls.weights.assign(weights.data(), weights.data() + weights.size());
  return c;
}

std::vector<double> weights_of_knots(long steps, long knots, int interpolation) {
  return interpolation_weights(steps, knots, static_cast<Interpolation>(interpolation));
}

// Generates controls alone, without kernels.
void draw(const PyControls& c, nb::object out, int threads) {
  OpenArrays open;
  const PyMemory given = open(out, "u", true, 3);
  if (given.steps < 0) throw Error("u has 2 dimensions, expected 3");
  const long steps = given.steps;
  SequenceMemory m = given.memory;
  m.name = "u", m.every_step = true;
  Controls controls = c.controls;
  controls.name = "u";
  const WithoutGil without_gil;
  Sequence s(m.array.precision, threads);
  s.array("u", m.array.components);
  s.run(steps, m.array.instances, {}, {}, {m}, &controls);
}

// A rollout's sequence (host/simulation/rollout.h).
class PySequence {
 public:
  PySequence(nb::object evaluator, Sequence sequence)
      : evaluator_(std::move(evaluator)), sequence_(std::move(sequence)) {}

  PyRun prepare(long steps, long instances, const PyRun::Arrays& in, nb::dict uniforms, const PyRun::Arrays& out,
                const PyControls* controls) const {
    return {sequence_, steps, instances, in, uniforms, out, controls};
  }
  void run(long steps, long instances, const PyRun::Arrays& in, nb::dict uniforms, const PyRun::Arrays& out,
           const PyControls* controls, std::uintptr_t stream) const {
    const PyRun run = prepare(steps, instances, in, uniforms, out, controls);
    const WithoutGil without_gil;
    run.run(reinterpret_cast<void*>(stream));
  }
  long components(const std::string& name) const { return sequence_.components(name); }
  void measure() { sequence_.measure(); }
  std::vector<std::tuple<std::string, long, double>> costs() const {
    std::vector<std::tuple<std::string, long, double>> found;
    for (const StageCost& c : sequence_.costs()) found.emplace_back(c.name, c.operations, c.seconds);
    return found;
  }

 private:
  nb::object evaluator_;  // its kernels are used by the stages
  Sequence sequence_;
};

PySequence sequence_of_rollout(nb::object evaluator, const std::string& dtype, const RolloutPrograms& r) {
  Sequence s = rollout_sequence(evaluator_of(evaluator), r.stepping, precision_of(dtype), r.stages);
  return {std::move(evaluator), std::move(s)};
}

// (trace, [(array, array that replaces it)], array that selects the instances of a stage or "", [(function, array,
// count, true for numbers of the next episode)] for random numbers, [(output that it reads, input that it makes,
// uniform array of its numbers, sizes, activation, bound of its normalised input or None)] for networks)
using Draws = std::vector<std::tuple<std::uint32_t, std::string, int, bool>>;
using Networks = std::vector<
    std::tuple<std::string, std::string, std::string, std::vector<int>, std::string, std::optional<double>>>;
using StageList =
    std::vector<std::tuple<nb::object, std::vector<std::pair<std::string, std::string>>, std::string, Draws, Networks>>;

PySequence environment_of(nb::object evaluator, const std::string& dtype, const std::string& op, int substeps,
                          const StageList& before, const StageList& pass, const StageList& after, nb::handle at_solve,
                          nb::handle at_last_stage, bool steps, int iterations, double tolerance,
                          const std::optional<RigidLaw<double>>& rigid, const std::vector<std::string>& readings) {
  const auto stages = [](const StageList& list) {
    std::vector<EnvironmentStage> all;
    for (const auto& [trace, swaps, needed, draws, networks] : list) {
      all.push_back({program_of(trace), swaps, needed, {}, {}});
      for (const auto& [in, to, weights, sizes, activation, clip] : networks)
        all.back().networks.push_back({in, to, weights,
                                       clip ? dense_network(sizes, activation_of(activation), true, *clip)
                                            : dense_network(sizes, activation_of(activation))});
      for (const auto& [function, to, count, next] : draws) all.back().draws.push_back({to, count, function, next});
    }
    return all;
  };
  const EnvironmentStages all{stages(before),
                              stages(pass),
                              stages(after),
                              at_solve.is_none() ? Program{} : program_of(at_solve),
                              at_last_stage.is_none() ? Program{} : program_of(at_last_stage),
                              steps};
  Evaluator& e = evaluator_of(evaluator);
  SolverOptions solver{iterations, tolerance, false, rigid};
  solver.readings = {readings.begin(), readings.end()};
  Sequence s = environment_sequence(e, {op, substeps, 0, {}, false, solver}, precision_of(dtype), all);
  return {std::move(evaluator), std::move(s)};
}

// The sequence of one traced function. Its inputs and outputs have their own names.
PySequence traced_sequence(nb::object evaluator, const std::string& dtype, nb::handle trace) {
  Sequence s = sequence_of(evaluator_of(evaluator), precision_of(dtype), program_of(trace));
  return {std::move(evaluator), std::move(s)};
}

// Calls Python's functions, which release the interpreter's lock while the engine works.
void call_together(const std::vector<nb::callable>& functions, int threads) {
  const WithoutGil without_gil;
  run_together(threads, static_cast<long>(functions.size()),
               [&](long k) { with_gil([&] { functions[static_cast<std::size_t>(k)](); }); });
}

}  // namespace

void bind_sequence(nb::module_& module) {
  nb::class_<PyControls>(module, "Controls", "Controls that a sequence generates.");
  module.def(
      "noise", &noise, nb::arg("name"), nb::arg("mean"), nb::arg("sigma"), nb::arg("lower"), nb::arg("upper"),
      nb::arg("weights"), nb::arg("seed"), nb::arg("draw"), nb::arg("first_instance"), nb::arg("keep_mean"),
      "Controls clip(mean + sigma * weights z) for the array `name`: mean (T, n), sigma (n) or (T, n), lower and "
      "upper (n), weights (T, K) or none, z standard normal numbers.");
  module.def(
      "knots", &knots, nb::arg("name"), nb::arg("knots"), nb::arg("columns"), nb::arg("weights"), nb::arg("instances"),
      nb::arg("lower") = std::vector<double>(), nb::arg("upper") = std::vector<double>(),
      "Controls clip(weights (T, K) times knots (B, K, n) or (B, K n), lower, upper), n = columns, for the array "
      "`name`. One row of knots stands for all instances.");
  module.def("interpolation_weights", &weights_of_knots, nb::arg("steps"), nb::arg("knots"), nb::arg("interpolation"),
             "Return the weights (T K) of K knots in T steps; interpolation 0: linear, 1: cubic, 2: hold.");
  module.def("draw", &draw, nb::arg("controls"), nb::arg("out"), nb::arg("threads") = 1,
             "Writes controls to an array (B, T, n).");
  nb::class_<PyRun>(module, "PreparedRun",
                    "A run of a sequence that may be repeated; its arrays are read anew each time.")
      .def("set", &PyRun::set, nb::arg("uniform"), nb::arg("numbers"), "Sets the numbers of a uniform array.")
      .def(
          "run", [](const PyRun& r, std::uintptr_t stream) { r.run(reinterpret_cast<void*>(stream)); },
          nb::arg("stream") = 0, nb::call_guard<WithoutGil>(), "Runs the sequence.");
  nb::class_<PySequence>(module, "Sequence", "Stages of kernels over named arrays, run over a horizon.")
      .def("run", &PySequence::run, nb::arg("steps"), nb::arg("instances"), nb::arg("inputs"), nb::arg("uniforms"),
           nb::arg("outputs"), nb::arg("controls").none() = nb::none(), nb::arg("stream") = 0,
           "Inputs and outputs: (name, array, first column, columns, each step) for arrays of any library, their "
           "DLPack capsules, or Buffers, all on the host or on one device. each step: true if read before or written "
           "after each step, (B, T, n) or (B, T n); false for (B, n), read before the first step or written after the "
           "last. An input of one row stands for all instances. Uniforms: lists or arrays of n or T n numbers. "
           "Controls: from noise() or knots(), for one array, or None. stream: the number of a device's stream, on "
           "which the work is submitted.")
      .def("prepare", &PySequence::prepare, nb::arg("steps"), nb::arg("instances"), nb::arg("inputs"),
           nb::arg("uniforms"), nb::arg("outputs"), nb::arg("controls").none() = nb::none(), nb::keep_alive<0, 1>(),
           nb::keep_alive<0, 7>(), "Returns a run with such arguments that may be repeated.")
      .def("components", &PySequence::components, nb::arg("name"),
           "The number of components of an array; -1 if there is none of that name.")
      .def("measure", &PySequence::measure, "Measures the time of each stage in later runs on the host, for costs().")
      .def("costs", &PySequence::costs,
           "(name, operations of an instance, seconds) of each stage. Operations: those of its program, a multiply-add "
           "counted once; 0 without a program. Seconds: all threads together, in all runs since measure().");
  using Law = RigidLaw<double>;
  nb::class_<Law>(module, "RigidLaw", "Numbers of the rigid law (core/rigid/rigid_rows.h).")
      .def(nb::init<>())
      .def_rw("frequency", &Law::frequency)
      .def_rw("damping_ratio", &Law::damping_ratio)
      .def_rw("hold_soft", &Law::hold_soft)
      .def_rw("restitution", &Law::restitution)
      .def_rw("rebound", &Law::rebound)
      .def_rw("push", &Law::push)
      .def_rw("look_ahead", &Law::look_ahead)
      .def_rw("tolerance", &Law::tolerance)
      .def_rw("sweeps", &Law::sweeps)
      .def_rw("polishes", &Law::polishes);
  module.def(
      "solver_options",
      [](nb::object evaluator, const std::string& dtype) {
        const SolverOptions o = solver_options(evaluator_of(evaluator).robot().model, precision_of(dtype));
        return std::pair(o.iterations, o.tolerance);
      },
      nb::arg("evaluator"), nb::arg("dtype"),
      "Return the solver's greatest number of iterations, that of the model file, and its tolerance for a dtype.");
  module.def(
      "world_sequence",
      [](nb::object evaluator, const std::string& dtype, int iterations, double tolerance, bool all_candidates,
         const std::optional<RigidLaw<double>>& rigid, bool report, bool forces, int most_traced,
         const std::vector<std::string>& readings) {
        SolverOptions options{iterations, tolerance, all_candidates, rigid, report, forces, most_traced};
        options.readings = {readings.begin(), readings.end()};
        Sequence s = world_sequence(evaluator_of(evaluator), precision_of(dtype), options);
        return PySequence(std::move(evaluator), std::move(s));
      },
      nb::arg("evaluator"), nb::arg("dtype"), nb::arg("iterations") = 100, nb::arg("tolerance") = 1e-6,
      nb::arg("all_candidates") = false, nb::arg("rigid").none() = nb::none(), nb::arg("report") = false,
      nb::arg("forces") = true, nb::arg("most_traced") = most_traced_nodes,
      nb::arg("readings") = std::vector<std::string>(),
      "Steps of a model file's world with its constraints. Arrays: q, v, act, qacc (initial value of the solver, and "
      "its result), ctrl, qfrc_applied, xfrc_applied, and qfrc_constraint, row_force, passes, residual, gap of the "
      "solver. rigid: a RigidLaw instead of MuJoCo's law. report: compute residual and gap. forces: compute "
      "contact_force. most_traced: with more nodes in a program, kernels that take the robot as data are used; 0: "
      "always use these. readings: names of the arrays of contacts to compute (host/simulation/contact_readings.h).");
  module.def(
      "no_derivatives",
      [](nb::object evaluator) {
        const Model<double>& m = evaluator_of(evaluator).robot().model;
        return no_derivatives(m.world, derives_all_candidates(m, false));
      },
      nb::arg("evaluator"), "Return why a step of a model file's world has no derivatives; an empty text: it has.");
  module.def(
      "gradient_sequence",
      [](nb::object evaluator, const std::string& dtype, bool reverse, int iterations, double tolerance, bool on_device,
         bool is_solved, std::optional<bool> all_candidates) {
        Evaluator& e = evaluator_of(evaluator);
        const bool all = all_candidates.value_or(derives_all_candidates(e.robot().model, on_device));
        Sequence s = gradient_sequence(e, precision_of(dtype), reverse ? Derivative::vjp : Derivative::jvp,
                                       {iterations, tolerance, all}, is_solved);
        return PySequence(std::move(evaluator), std::move(s));
      },
      nb::arg("evaluator"), nb::arg("dtype"), nb::arg("reverse"), nb::arg("iterations") = 100,
      nb::arg("tolerance") = 1e-6, nb::arg("on_device") = false, nb::arg("is_solved") = false,
      nb::arg("all_candidates").none() = nb::none(),
      "Derivatives of one substep of a model file's world. Arrays: those of world_sequence and of the model's "
      "parameters. With reverse, also cotangents q_next_bar, ... of the next state and q_bar, ... of all inputs; "
      "otherwise tangents q_tan, ... and q_next_tan, ... is_solved: qacc is already the solution. all_candidates: "
      "true: the rows of all possible contacts are in one program; false: contacts are found; None: the faster of the "
      "two.");
  module.def("run_together", &call_together, nb::arg("functions"), nb::arg("threads"),
             "Call functions without arguments on threads that the engine's runs share (host/memory/task_threads.h).");
  module.def("traced_sequence", &traced_sequence, nb::arg("evaluator"), nb::arg("dtype"), nb::arg("trace"),
             "The sequence of one traced function; its arrays have the names of the function's inputs and outputs.");
  module.def("step_defaults", &step_defaults, nb::arg("op"), nb::arg("pass_time"),
             "(name, value) of the default numbers of an operation that steps; NaN: the number must be given.");
  nb::class_<RolloutPrograms>(
      module, "RolloutPrograms",
      "The traced functions of a rollout around the substeps of the operation `op`, and its solver. drives: controls are target "
      "positions if no function computes torques from them. op \"world\": substeps of a model file's world "
      "(world_sequence), with the arrays that at_solve computes from the last one. uniforms: of the operation.")
      .def(
          "__init__",
          [](RolloutPrograms* self, const std::string& op, int substeps, double pass_time, bool drives, int controls,
             int parameters, bool shared, const std::map<std::string, std::vector<double>>& uniforms,
             nb::handle control, nb::handle cost, nb::handle terminal, nb::handle observe, nb::handle residual,
             nb::handle terminal_residual, nb::handle at_solve, int iterations, double tolerance,
             const std::optional<RigidLaw<double>>& rigid) {
            const auto program = [](nb::handle trace) { return trace.is_none() ? Program{} : program_of(trace); };
            new (self)
                RolloutPrograms{{op, substeps, pass_time, {}, drives, {iterations, tolerance, false, rigid}},
                                {controls, parameters, shared, program(control), program(cost), program(terminal),
                                 program(observe), program(at_solve), program(residual), program(terminal_residual)}};
            for (const auto& [name, values] : uniforms) self->stepping.uniforms.push_back({name, values});
          },
          nb::arg("op"), nb::arg("substeps"), nb::arg("pass_time"), nb::arg("drives"), nb::arg("controls"),
          nb::arg("parameters"), nb::arg("shared"), nb::arg("uniforms"), nb::arg("control").none() = nb::none(),
          nb::arg("cost").none() = nb::none(), nb::arg("terminal").none() = nb::none(),
          nb::arg("observe").none() = nb::none(), nb::arg("residual").none() = nb::none(),
          nb::arg("terminal_residual").none() = nb::none(), nb::arg("at_solve").none() = nb::none(),
          nb::arg("iterations") = 100, nb::arg("tolerance") = 1e-6, nb::arg("rigid").none() = nb::none());
  module.def("rollout_sequence", &sequence_of_rollout, nb::arg("evaluator"), nb::arg("dtype"), nb::arg("programs"),
             "The stages of a rollout.");
  module.def(
      "environment_sequence", &environment_of, nb::arg("evaluator"), nb::arg("dtype"), nb::arg("op"),
      nb::arg("substeps"), nb::arg("before"), nb::arg("each_pass"), nb::arg("after"),
      nb::arg("at_solve").none() = nb::none(), nb::arg("at_last_stage").none() = nb::none(), nb::arg("steps") = true,
      nb::arg("iterations") = 100, nb::arg("tolerance") = 1e-6, nb::arg("rigid").none() = nb::none(),
      nb::arg("readings") = std::vector<std::string>(),
      "A step of an environment: stages (trace, pairs of arrays that are exchanged, array that selects the instances, "
      "random numbers, networks) before the substeps of the operation `op`, before each substep, and after them. "
      "steps: false without substeps. readings: as in world_sequence.");
  module.def(
      "pack_network",
      [](const std::vector<int>& sizes, bool normalised, const NumberArray& mean, const NumberArray& rate,
         const std::vector<NumberArray>& W, const std::vector<NumberArray>& b) {
        const auto list = [](const NumberArray& a) { return std::vector<double>(a.data(), a.data() + a.size()); };
        DenseWeights w{list(mean), list(rate), {}, {}};
        for (const NumberArray& x : W) w.W.push_back(list(x));
        for (const NumberArray& x : b) w.b.push_back(list(x));
        const DenseNetwork network = dense_network(sizes, DenseActivation::identity, normalised);
        auto* all = new std::vector<double>(packed(network, w));
        nb::capsule owner(all, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
        return nb::ndarray<nb::numpy, double>(all->data(), {all->size()}, owner);
      },
      nb::arg("sizes"), nb::arg("normalised"), nb::arg("mean"), nb::arg("rate"), nb::arg("W"), nb::arg("b"),
      "The numbers of a network in the order of its stage (core/network/dense.h), from mean and rate (n_0) or none, "
      "and W (out, in) and b (out) of each layer.");
}

}  // namespace featherstorm
