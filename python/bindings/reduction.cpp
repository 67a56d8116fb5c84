// Reductions over samples, on the device where they are stored.
#include <nanobind/stl/string.h>

#include <optional>

#include "arrays.h"
#include "bindings.h"
#include "host/rollout/reduction.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

class PyReduction {
 public:
  PyReduction(int threads, int device) : reduction_(Reduction::on(device, threads)) {}

  Least least(nb::handle costs, std::uintptr_t stream) {
    OpenArrays open;
    reduction_->least(open(costs, "costs", false).memory.array, stream_of(stream));
    return reduction_->best(stream_of(stream));
  }

  void softmax_weights(nb::handle costs, double temperature, nb::handle weights, std::uintptr_t stream) {
    OpenArrays open;
    const ArrayRef c = open(costs, "costs", false).memory.array, w = open(weights, "weights", true).memory.array;
    reduction_->softmax_weights(c, temperature, w, stream_of(stream));
  }

  void weighted_mean(nb::handle samples, nb::handle weights, nb::handle mean, std::uintptr_t stream,
                     nb::handle center) {
    OpenArrays open;
    const PyMemory given = open(samples, "samples", false, 3);
    SequenceMemory x = given.memory;
    const long steps = given.steps < 0 ? 1 : given.steps;
    x.every_step = true, x.array.padded = false;
    const ArrayRef w = open(weights, "weights", false).memory.array, m = open(mean, "mean", true).memory.array;
    std::optional<ArrayRef> c;
    if (!center.is_none()) c = open(center, "center", false).memory.array;
    nb::gil_scoped_release release;
    reduction_->weighted_mean(x, steps, w, m, stream_of(stream), c ? &*c : nullptr);
  }

 private:
  static void* stream_of(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
  std::unique_ptr<Reduction> reduction_;
};

}  // namespace

void bind_reduction(nb::module_& module) {
  nb::class_<Least>(module, "Least").def_ro("value", &Least::value).def_ro("index", &Least::index);
  nb::class_<PyReduction>(module, "Reduction",
                          "Reductions over samples on the host, or on a device given by its number, on `stream`. "
                          "Results do not depend on the number of threads.\n\n"
                          "Costs and weights: arrays or Buffers (B, 1); weights are float64. Only least() waits for a "
                          "device.")
      .def(nb::init<int, int>(), nb::arg("threads"), nb::arg("device") = on_host)
      .def("least", &PyReduction::least, nb::arg("costs"), nb::arg("stream") = 0,
           "The least finite cost and its index; the index is -1 if there is none.")
      .def("softmax_weights", &PyReduction::softmax_weights, nb::arg("costs"), nb::arg("temperature"),
           nb::arg("weights"), nb::arg("stream") = 0,
           "Writes exp(-cost / temperature), divided by the sum over samples, to weights; 0 where a cost is not "
           "finite.")
      .def("weighted_mean", &PyReduction::weighted_mean, nb::arg("samples"), nb::arg("weights"), nb::arg("mean"),
           nb::arg("stream") = 0, nb::arg("center").none() = nb::none(),
           "Writes the weighted sum of samples (B, T, n) or (B, T n) to mean (T n, 1) of the same dtype. With a "
           "`center` of the shape of mean, writes the weighted sum of the squared distances from it.");
}

}  // namespace featherstorm
