// Planners: plans by gradients; sampled plans, and their updates on the device where the samples are stored.
#include "host/planning/ilqr.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "host/rollout/sequence.h"

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
  auto with_arrays(nb::object costs, nb::object samples, long first, long models, const auto& f) {
    OpenArrays open;
    const ArrayRef c = rows(open(costs, "costs", false).memory.array, first, models);
    SequenceMemory x = open.columns(samples, "samples", false, 0, n_, steps_);
    x.array = rows(x.array, first);
    nb::gil_scoped_release release;
    return f(c, x);
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
  void draw(SampledPlan& plan, nb::object out, long first, std::uintptr_t stream) {
    OpenArrays open;
    SequenceMemory knots = open.columns(out, "u", true, 0, n_, steps_);
    knots.array = rows(knots.array, first);
    const Controls& samples = plan.samples();
    nb::gil_scoped_release release;
    draw_.run(steps_, samples_, {}, {}, {knots}, &samples, reinterpret_cast<void*>(stream));
  }
  NextPlan next_plan(nb::object costs, nb::object samples, std::uintptr_t stream) {
    return with_arrays(costs, samples, 0, 1, [&](const ArrayRef& c, const SequenceMemory& x) {
      return updater_.update(c, x, reinterpret_cast<void*>(stream));
    });
  }
  bool update(SampledPlan& plan, nb::object costs, nb::object knots, long first, std::uintptr_t stream) {
    return with_arrays(costs, knots, first, plan.options().models, [&](const ArrayRef& c, const SequenceMemory& x) {
      return plan.update(updater_, c, x, reinterpret_cast<void*>(stream));
    });
  }

 private:
  PlanUpdater updater_;
  Sequence draw_;
  long samples_, steps_, n_;
};

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
    nb::gil_scoped_release release;
    return ilqr_.improve(given, u, t, reinterpret_cast<void*>(stream));
  }
  const IlqrPlan& last() const { return ilqr_.last(); }

 private:
  nb::object evaluator_;
  Ilqr ilqr_;
};

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
      .def(
          "draw", &PyPlanUpdater::draw, nb::arg("plan"), nb::arg("out"), nb::arg("first") = 0, nb::arg("stream") = 0,
          "Write the samples of a SampledPlan's iteration, as knots, to an array (B, K, n) or (B, K n), from row `first` on.")
      .def(
          "update", &PyPlanUpdater::update, nb::arg("plan"), nb::arg("costs"), nb::arg("knots"), nb::arg("first") = 0,
          nb::arg("stream") = 0,
          "Improve a SampledPlan by the costs (models B, 1) of its samples and their knots (B, K, n). Return False if no "
          "cost is finite.");
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
      .def(
          "acting",
          [](const SampledPlan& plan, double t, double dt) {
            std::vector<double> u(static_cast<std::size_t>(plan.control_size()));
            plan.acting(t, dt, u.data());
            return u;
          },
          nb::arg("t"), nb::arg("dt"), "The control that acts at a time [s]; dt: time of a control step.")
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
  module.def("annealed_sigma", &annealed_sigma, nb::arg("sigma"), nb::arg("iterations"), nb::arg("knots"),
             nb::arg("iteration_decay"), nb::arg("knot_decay"),
             "Noise (iterations K n) that decreases over the iterations and towards the beginning of the plan.");
}

}  // namespace featherstorm
