// Reductions over samples, on the device where they are stored.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "host/rollout/plan_updater.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

// A PlanUpdater that keeps the stream of its memory.
class PyPlanUpdater {
 public:
  PyPlanUpdater(const std::string& kind, double temperature, long elites, long samples, long steps, long n,
                const std::string& dtype, int device, int threads, std::uintptr_t stream)
      : updater_({kind_of(kind), temperature, elites}, samples, steps, n, precision_of(dtype), device, threads,
                 reinterpret_cast<void*>(stream)) {}
  NextPlan update(nb::handle costs, nb::handle samples, std::uintptr_t stream) {
    OpenArrays open;
    const ArrayRef c = open(costs, "costs", false).memory.array;
    SequenceMemory x = open(samples, "samples", false, 3).memory;
    x.every_step = true, x.array.padded = false;
    nb::gil_scoped_release release;
    return updater_.update(c, x, reinterpret_cast<void*>(stream));
  }

 private:
  static PlanUpdate kind_of(const std::string& kind) {
    if (kind == "best") return PlanUpdate::Best;
    return kind == "elite_mean" ? PlanUpdate::EliteMean : PlanUpdate::SoftmaxMean;
  }
  PlanUpdater updater_;
};

}  // namespace

void bind_reduction(nb::module_& module) {
  nb::class_<Least>(module, "Least").def_ro("value", &Least::value).def_ro("index", &Least::index);
  nb::class_<NextPlan>(module, "NextPlan")
      .def_ro("best", &NextPlan::best)
      .def_ro("mean", &NextPlan::mean)
      .def_ro("deviation", &NextPlan::deviation);
  nb::class_<PyPlanUpdater>(module, "PlanUpdater",
                            "The update of a planner: kind is best, softmax_mean or elite_mean; see "
                            "host/rollout/plan_updater.h.")
      .def(nb::init<const std::string&, double, long, long, long, long, const std::string&, int, int, std::uintptr_t>(),
           nb::arg("kind"), nb::arg("temperature"), nb::arg("elites"), nb::arg("samples"), nb::arg("steps"),
           nb::arg("n"), nb::arg("dtype"), nb::arg("device") = on_host, nb::arg("threads") = 1, nb::arg("stream") = 0)
      .def("update", &PyPlanUpdater::update, nb::arg("costs"), nb::arg("samples"), nb::arg("stream") = 0,
           "Return the best sample, and mean and deviation (T n), from costs (B, 1) and samples (B, T, n).");
}

}  // namespace featherstorm
