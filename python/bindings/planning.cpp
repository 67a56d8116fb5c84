// Planners: plans by gradients; sampled plans, and their updates on the device where the samples are stored; the thread
// that plans.
#include "host/planning/ilqr.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "gil.h"
#include "host/planning/receding_loop.h"
#include "host/rollout/sequence.h"
#include "prepared_run.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

PlanUpdate kind_of(const std::string& kind) {
  if (kind == "best") return PlanUpdate::Best;
  if (kind == "softmax_mean") return PlanUpdate::SoftmaxMean;
  if (kind == "elite_mean") return PlanUpdate::EliteMean;
  throw Error("kind is '" + kind + "', expected best, softmax_mean or elite_mean");
}

// A PlanUpdater, and what draws the samples that it is given.
class PyPlanUpdater {
  // The rows of one plan's samples in an array for several.
  ArrayRef rows(ArrayRef a, long first, long models = 1) const {
    const long count = models * samples_;
    if (first < 0 || first + count > a.instances)
      throw Error("an array has " + std::to_string(a.instances) + " rows, expected " + std::to_string(first + count));
    a.data = static_cast<char*>(a.data) + first * a.instance_stride * static_cast<long>(bytes_of(a.precision));
    a.instances = count, a.padded = false;
    return a;
  }
  // Copy costs (B, 1) of either precision on the host to a column in double precision.
  static void widen(const ArrayRef& from, const ArrayRef& to) {
    const auto fill = [&](const auto* x) {
      for (long i = 0; i < from.instances; i++)
        static_cast<double*>(to.data)[i * to.instance_stride] = static_cast<double>(x[i * from.instance_stride]);
    };
    if (from.precision == Precision::float32) fill(static_cast<const float*>(from.data));
    else fill(static_cast<const double*>(from.data));
  }

 public:
  PyPlanUpdater(const std::string& kind, double temperature, bool standardised, long elites, bool spread, long samples,
                long steps, long n, const std::string& dtype, int device, int threads, std::uintptr_t stream)
      : updater_({kind_of(kind), temperature, standardised, elites, spread}, samples, steps, n, precision_of(dtype),
                 device, threads, reinterpret_cast<void*>(stream)),
        draw_(precision_of(dtype), threads),
        samples_(samples),
        steps_(steps),
        n_(n) {
    draw_.array("u", n);
  }
  // Improve plans, whose samples lie one after the other, by the iterations of a call. Return false for those for which
  // an iteration found no finite cost. simulate is a PreparedRun, or a function that fills the costs.
  std::vector<bool> iterate(const std::vector<SampledPlan*>& plans, nb::object simulate, nb::object costs,
                            nb::object knots, std::uintptr_t number) {
    OpenArrays open;
    const ArrayRef all_costs = open(costs, "costs", true).memory.array;
    const SequenceMemory all = open.columns(knots, "u", true, 0, n_, steps_);
    PyRun* run = nullptr;
    if (!nb::try_cast(simulate, run, false)) run = nullptr;
    void* stream = reinterpret_cast<void*>(number);
    const long models = plans.at(0)->options().models;
    std::vector<bool> good(plans.size(), true);
    const WithoutGil without_gil;
    const auto samples_of = [&](long first) {
      SequenceMemory of = all;
      of.array = rows(all.array, first);
      return of;
    };
    for (int i = 0; i < plans[0]->iterations() && std::find(good.begin(), good.end(), true) != good.end(); i++) {
      for (std::size_t k = 0; k < plans.size(); k++)
        for (long m = 0; m < models; m++)
          draw_.run(steps_, samples_, {}, {}, {samples_of((static_cast<long>(k) * models + m) * samples_)},
                    &plans[k]->samples(), stream);
      if (run) {
        run->run(stream);
        widen(run->output("total"), all_costs);
      } else {
        with_gil([&] { simulate(); });
      }
      for (std::size_t k = 0; k < plans.size(); k++) {
        const long first = static_cast<long>(k) * models * samples_;
        if (!plans[k]->update(updater_, rows(all_costs, first, models), samples_of(first), stream)) good[k] = false;
      }
    }
    return good;
  }
  NextPlan next_plan(nb::object costs, nb::object samples, std::uintptr_t stream) {
    OpenArrays open;
    const ArrayRef c = rows(open(costs, "costs", false).memory.array, 0);
    SequenceMemory x = open.columns(samples, "samples", false, 0, n_, steps_);
    x.array = rows(x.array, 0);
    const WithoutGil without_gil;
    return updater_.update(c, x, reinterpret_cast<void*>(stream));
  }

 private:
  PlanUpdater updater_;
  Sequence draw_;
  long samples_, steps_, n_;
};

nb::ndarray<nb::numpy, double> acting(const std::vector<const SampledPlan*>& plans, double t, double dt, double step,
                                      long count) {
  const auto R = plans.size(), n = static_cast<std::size_t>(plans.at(0)->control_size()),
             steps = static_cast<std::size_t>(count);
  auto* u = new std::vector<double>(R * steps * n);
  const nb::capsule owner(u, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  for (std::size_t k = 0; k < R * steps; k++)
    plans[k / steps]->acting(t + step * static_cast<double>(k % steps), dt, u->data() + k * n);
  return {u->data(), {R, steps, n}, owner};
}

// An Ilqr, and the object whose engine it uses.
class PyIlqr {
 public:
  PyIlqr(nb::object evaluator, const RolloutPrograms& r, IlqrOptions options)
      : evaluator_(std::move(evaluator)), ilqr_(evaluator_of(evaluator_), r.stepping, r.stages, options) {}

  // state: (name, array (1, n)) of q, v, act and the robot's parameters
  bool improve(const std::vector<std::pair<std::string, nb::object>>& state, const std::vector<double>& u,
               const std::vector<double>& p, double t, std::uintptr_t stream) {
    OpenArrays open;
    RolloutArrays given{.p = p};
    for (const auto& [name, array] : state) {
      const ArrayRef row = open(array, name, false).memory.array;
      if (name == "q") given.q = row;
      else if (name == "v") given.v = row;
      else if (name == "act") given.act = row;
      else given.parameters[name] = row;
    }
    const WithoutGil without_gil;
    return ilqr_.improve(given, u, t, reinterpret_cast<void*>(stream));
  }
  const IlqrPlan& last() const { return ilqr_.last(); }

 private:
  nb::object evaluator_;
  Ilqr ilqr_;
};

// A RecedingLoop whose plans and clock are Python functions. The thread has the interpreter's lock only within them.
class PyRecedingLoop {
 public:
  explicit PyRecedingLoop(std::optional<double> latency)
      : loop_({.plan = [this](const MeasuredState& m, double expected, double) { return plan(m, expected); }},
              {.clock = [this] { return call([&] { return nb::cast<double>(clock_()); }); },
               .latency = latency,
               .log = [this](const PlanRecord& r) { note(r); }}) {}
  ~PyRecedingLoop() { stop(); }

  // plan(x, t, latency) returns false for a plan that failed.
  void start(nb::object plan, nb::object clock, std::optional<double> begins) {
    stop();
    plan_ = std::move(plan), clock_ = std::move(clock);
    loop_.start(begins);
  }
  void stop() {
    {
      const WithoutGil without_gil;
      loop_.stop();
    }
    plan_.reset(), clock_.reset();
  }
  void submit(const nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>& x, double t) {
    if (error_.is_valid()) {
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error_.ptr())), error_.ptr());
      nb::raise_python_error();
    }
    loop_.submit({x.data(), x.size()}, t);
  }
  double expected_latency() const { return loop_.expected_latency(); }
  // The Python objects that it holds, for the garbage collector.
  std::array<nb::object*, 3> held() { return {&plan_, &clock_, &error_}; }
  // Times of the plans but the first, and numbers of late and failed ones.
  std::tuple<std::vector<double>, std::vector<double>, long, long> times() const {
    const RecedingStats s = loop_.stats();
    return {spent_, ages_, s.late, s.failed};
  }

 private:
  // Call f with the interpreter's lock. Its Python error is kept for submit().
  template <class F> std::invoke_result_t<F> call(const F& f) {
    return with_gil([&] {
      try {
        return f();
      } catch (nb::python_error& e) {
        error_ = nb::borrow(e.value());
        throw Error("Receding: a function has raised an error");
      }
    });
  }
  int plan(const MeasuredState& m, double latency) {
    const bool done = call([&] {
      auto* x = new std::vector<double>(m.x);
      const nb::capsule owner(x, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
      return nb::cast<bool>(plan_(nb::ndarray<nb::numpy, double>(x->data(), {x->size()}, owner), m.t, latency));
    });
    if (!done) throw PlanningError("Receding: no sample has a finite cost");
    return 1;
  }
  void note(const PlanRecord& r) {
    if (r.failed) return;
    if (!std::exchange(first_, false)) call([&] { spent_.push_back(r.spent), ages_.push_back(r.age); });
  }

  nb::object plan_, clock_, error_;
  bool first_ = true;
  std::vector<double> spent_, ages_;
  RecedingLoop loop_;
};

int visit_loop(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self))
    for (const nb::object* x : nb::inst_ptr<PyRecedingLoop>(self)->held()) Py_VISIT(x->ptr());
  return 0;
}
int clear_loop(PyObject* self) {
  for (nb::object* x : nb::inst_ptr<PyRecedingLoop>(self)->held()) x->reset();
  return 0;
}
PyType_Slot loop_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_loop)},
                            {Py_tp_clear, reinterpret_cast<void*>(clear_loop)},
                            {0, nullptr}};

}  // namespace

void bind_planning(nb::module_& module) {
  nb::class_<Least>(module, "Least").def_ro("value", &Least::value).def_ro("index", &Least::index);
  nb::class_<NextPlan>(module, "NextPlan")
      .def_ro("best", &NextPlan::best)
      .def_ro("mean", &NextPlan::mean)
      .def_ro("deviation", &NextPlan::deviation);
  nb::class_<PyPlanUpdater>(module, "PlanUpdater",
                            "The update of a planner: kind is best, softmax_mean or elite_mean; see "
                            "host/planning/plan_updater.h.")
      .def(nb::init<const std::string&, double, bool, long, bool, long, long, long, const std::string&, int, int,
                    std::uintptr_t>(),
           nb::arg("kind"), nb::arg("temperature"), nb::arg("standardised"), nb::arg("elites"), nb::arg("spread"),
           nb::arg("samples"), nb::arg("steps"), nb::arg("n"), nb::arg("dtype"), nb::arg("device") = on_host,
           nb::arg("threads") = 1, nb::arg("stream") = 0)
      .def("next_plan", &PyPlanUpdater::next_plan, nb::arg("costs"), nb::arg("samples"), nb::arg("stream") = 0,
           "Return the best sample, and mean and deviation (T n), from costs (B, 1) and samples (B, T, n).")
      .def("iterate", &PyPlanUpdater::iterate, nb::arg("plans"), nb::arg("simulate"), nb::arg("costs"),
           nb::arg("knots"), nb::arg("stream") = 0,
           "Improve SampledPlans by the iterations of a call: draw the knots (R models B, K, n) of samples, simulate "
           "them, update. simulate: a PreparedRun on the host, or a function that fills the costs (R models B, 1). "
           "Return for each plan False if an iteration found no finite cost.");
  nb::class_<SampledPlan>(module, "SampledPlan",
                          "A plan of controls given by knots, and the samples about it (host/planning/sampled_plan.h).")
      .def(
          "__init__",
          [](SampledPlan* self, long horizon, long samples, long n, const std::string& dtype, const std::string& kind,
             const std::vector<double>& sigma, const std::vector<double>& lower, const std::vector<double>& upper,
             int iterations, int first_iterations, long knots, int interpolation, std::uint64_t seed,
             const std::vector<double>& sigma_min, double adapt, double noise_cost, int models, double worst) {
            PlannerOptions o;
            o.horizon = horizon, o.samples = samples, o.update.kind = kind_of(kind), o.sigma = sigma, o.lower = lower,
            o.upper = upper, o.iterations = iterations, o.first_iterations = first_iterations, o.knots = knots,
            o.interpolation = static_cast<Interpolation>(interpolation), o.seed = seed, o.sigma_min = sigma_min,
            o.adapt = adapt, o.noise_cost = noise_cost, o.models = models, o.worst = worst;
            new (self) SampledPlan(std::move(o), n, precision_of(dtype));
          },
          nb::arg("horizon"), nb::arg("samples"), nb::arg("n"), nb::arg("dtype"), nb::arg("kind"), nb::arg("sigma"),
          nb::arg("lower"), nb::arg("upper"), nb::arg("iterations"), nb::arg("first_iterations"), nb::arg("knots"),
          nb::arg("interpolation"), nb::arg("seed"), nb::arg("sigma_min"), nb::arg("adapt"), nb::arg("noise_cost"),
          nb::arg("models"), nb::arg("worst"))
      .def("reset", &SampledPlan::reset, nb::arg("plan") = std::vector<double>(),
           "Begin anew with controls (T n) or knots (K n); without numbers with the controls nearest to zero.")
      .def("begin", &SampledPlan::begin, nb::arg("elapsed"), "Begin a call, so many control steps after the last one.")
      .def("commit", &SampledPlan::commit, nb::arg("begins"), nb::arg("acts"),
           "End a call: times of the plan's beginning, and from which it acts [s]; NaN: the plan has no time.")
      .def("cancel", &SampledPlan::cancel, "End a call and take its changes back.")
      .def_prop_ro(
          "controls",
          [](const SampledPlan& plan) {
            std::vector<double> u(static_cast<std::size_t>(plan.options().horizon * plan.control_size()));
            plan.controls(u.data());
            return u;
          },
          "(T n)")
      .def_prop_ro("knots", &SampledPlan::knots, "(K n)")
      .def_prop_ro("sigma", &SampledPlan::sigma, "(K n), noise of the iteration")
      .def_prop_ro("iterations", &SampledPlan::iterations, "of this call")
      .def_prop_ro("cost", &SampledPlan::cost, "of the best sample of the last iteration")
      .def_prop_ro("calls", &SampledPlan::calls)
      .def_prop_ro(
          "draws", [](const SampledPlan& plan) { return plan.state().draws; }, "iterations of all calls")
      .def(
          "restore",
          [](SampledPlan& plan, const std::vector<double>& knots, double cost, long calls, long draws) {
            plan.restore({knots, cost, calls, draws});
          },
          nb::arg("knots"), nb::arg("cost"), nb::arg("calls"), nb::arg("draws"),
          "Go on from another plan of this kind.");
  module.def(
      "acting", &acting, nb::arg("plans"), nb::arg("t"), nb::arg("dt"), nb::arg("step"), nb::arg("count") = 1,
      "Return the controls (R, count, n) of plans that act at times t, t + step, ... [s]; dt: time of a control step.");
  nb::class_<PyIlqr>(module, "Ilqr", "Plans by gradients (host/planning/ilqr.h).")
      .def(
          "__init__",
          [](PyIlqr* self, nb::object evaluator, const RolloutPrograms& programs, long horizon, int iterations,
             const std::vector<double>& lower, const std::vector<double>& upper, double tolerance, int step_sizes,
             double difference, int device) {
            new (self) PyIlqr(std::move(evaluator), programs,
                              {horizon, iterations, lower, upper, tolerance, step_sizes, difference, device});
          },
          nb::arg("evaluator"), nb::arg("programs"), nb::arg("horizon"), nb::arg("iterations"), nb::arg("lower"),
          nb::arg("upper"), nb::arg("tolerance"), nb::arg("step_sizes"), nb::arg("difference"),
          nb::arg("device") = on_host)
      .def(
          "improve", &PyIlqr::improve, nb::arg("state"), nb::arg("u"), nb::arg("p"), nb::arg("t"),
          nb::arg("stream") = 0,
          "Improve controls (T m) for a state, named arrays (1, n), at the time t. Return False if their cost is not finite.")
      .def_prop_ro("u", [](const PyIlqr& i) { return i.last().u; })
      .def_prop_ro("q", [](const PyIlqr& i) { return i.last().q; })
      .def_prop_ro("v", [](const PyIlqr& i) { return i.last().v; })
      .def_prop_ro("act", [](const PyIlqr& i) { return i.last().act; })
      .def_prop_ro("gains", [](const PyIlqr& i) { return i.last().gains; })
      .def_prop_ro("cost", [](const PyIlqr& i) { return i.last().cost; })
      .def_prop_ro("iterations", [](const PyIlqr& i) { return i.last().iterations; })
      .def_prop_ro("converged", [](const PyIlqr& i) { return i.last().converged; });
  nb::class_<PyRecedingLoop>(module, "RecedingLoop", nb::type_slots(loop_slots),
                             "A thread that plans again and again (host/planning/receding_loop.h).")
      .def(nb::init<std::optional<double>>(), nb::arg("latency").none())
      .def("start", &PyRecedingLoop::start, nb::arg("plan"), nb::arg("clock"), nb::arg("begins").none(),
           "Start the thread. plan(x, t, latency) returns False for a plan that failed; begins: time of the last plan "
           "[s].")
      .def("stop", &PyRecedingLoop::stop, "End the thread after its present plan.")
      .def("submit", &PyRecedingLoop::submit, nb::arg("x"), nb::arg("t"),
           "Give a state and its time. Raises the error that has ended the thread.")
      .def_prop_ro("expected_latency", &PyRecedingLoop::expected_latency)
      .def("times", &PyRecedingLoop::times,
           "Return times and ages of plans [s] in their order, and the numbers of late and of failed ones.");
  module.def("annealed_sigma", &annealed_sigma, nb::arg("sigma"), nb::arg("iterations"), nb::arg("knots"),
             nb::arg("iteration_decay"), nb::arg("knot_decay"),
             "Noise (iterations K n) that decreases over the iterations and towards the beginning of the plan.");
}

}  // namespace featherstorm
