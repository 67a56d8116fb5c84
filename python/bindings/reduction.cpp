// Reduction: sums over samples, where they lie.
#include <nanobind/stl/string.h>

#include <optional>

#include "arrays.h"
#include "bindings.h"
#include "host/rollout/device_reduce.h"
#include "host/rollout/reduce.h"
#include "host/system/error.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

// On the host numbers are float64 without gaps. An array may have any shape of as many numbers, a Buffer one column.
class HostNumbers {
 public:
  HostNumbers(nb::handle h, const char* name, bool output) {
    if (ArrayRef r; buffer_of(h, &r)) {
      if (r.device != on_host || r.precision != Precision::float64 || r.components != 1) fail(name);
      data = static_cast<double*>(r.data), size = r.instances;
    } else if (output) {
      if (!nb::try_cast(h, out_, false)) fail(name);
      data = out_.data(), size = static_cast<long>(out_.size());
    } else {
      if (!nb::try_cast(h, in_, false)) fail(name);
      data = const_cast<double*>(in_.data()), size = static_cast<long>(in_.size());
    }
  }
  double* data;
  long size;

 private:
  static void fail(const char* name) {
    throw nb::type_error((std::string(name) + ": expected float64 without gaps on the host").c_str());
  }
  nb::ndarray<const double, nb::c_contig, nb::device::cpu> in_;
  nb::ndarray<double, nb::c_contig, nb::device::cpu> out_;
};

class PyReduction {
 public:
  PyReduction(int threads, int device) : threads_(threads) {
    if (device != on_host) device_.emplace(device);
  }

  Least least(nb::handle costs, std::uintptr_t stream) {
    if (!device_) {
      const HostNumbers c(costs, "costs", false);
      return featherstorm::least(c.data, c.size);
    }
    OpenArrays open;
    device_->least(open(costs, "costs", false).memory.array, stream_of(stream));
    return device_->best(stream_of(stream));
  }

  std::optional<Least> softmax_weights(nb::handle costs, double temperature, nb::handle weights,
                                       std::uintptr_t stream) {
    if (!device_) {
      const HostNumbers c(costs, "costs", false), w(weights, "weights", true);
      if (c.size != w.size) throw Error("weights and costs do not have the same size");
      return featherstorm::softmax_weights(c.data, c.size, temperature, w.data);
    }
    OpenArrays open;
    const ArrayRef c = open(costs, "costs", false).memory.array, w = open(weights, "weights", true).memory.array;
    device_->softmax_weights(c, temperature, w, stream_of(stream));
    return {};
  }

  void weighted_mean(nb::handle samples, nb::handle weights, nb::handle mean, std::uintptr_t stream,
                     nb::handle center) {
    OpenArrays open;
    const PyMemory given = open(samples, "samples", false, 3);
    SequenceMemory x = given.memory;
    const long steps = given.steps < 0 ? 1 : given.steps;
    x.every_step = true, x.array.padded = false;
    if (device_) {
      const ArrayRef w = open(weights, "weights", false).memory.array, m = open(mean, "mean", true).memory.array;
      std::optional<ArrayRef> c;
      if (!center.is_none()) c = open(center, "center", false).memory.array;
      return device_->weighted_mean(x, steps, w, m, stream_of(stream), c ? &*c : nullptr);
    }
    if (!center.is_none()) throw Error("there is no center on the host");
    const HostNumbers w(weights, "weights", false), m(mean, "mean", true);
    if (x.array.instances != w.size || m.size != steps * x.array.components)
      throw Error("samples, weights and mean do not fit together, expected (B, T, n), (B,) and (T, n)");
    nb::gil_scoped_release release;
    featherstorm::weighted_mean(x, steps, w.data, threads_, m.data);
  }

 private:
  static void* stream_of(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
  BlockThreads threads_;
  std::optional<DeviceReduction> device_;
};

}  // namespace

void bind_reduction(nb::module_& module) {
  nb::class_<Least>(module, "Least").def_ro("value", &Least::value).def_ro("index", &Least::index);
  nb::class_<PyReduction>(module, "Reduction",
                          "Reductions over samples on the host, or on a device by its number, whose work goes to "
                          "`stream`; results do not depend on the number of threads.\n\n"
                          "Costs and weights: on the host float64 (B,) without gaps, on a device Buffers (B, 1) or "
                          "arrays of that shape; weights are float64. Nothing but least() waits for a device.")
      .def(nb::init<int, int>(), nb::arg("threads"), nb::arg("device") = on_host)
      .def("least", &PyReduction::least, nb::arg("costs"), nb::arg("stream") = 0,
           "The least finite cost and its index, -1 where there is none.")
      .def("softmax_weights", &PyReduction::softmax_weights, nb::arg("costs"), nb::arg("temperature"),
           nb::arg("weights"), nb::arg("stream") = 0,
           "Writes exp(-cost / temperature) / sum of these to weights, 0 where a cost is not finite. Returns the least "
           "cost on the host.")
      .def(
          "weighted_mean", &PyReduction::weighted_mean, nb::arg("samples"), nb::arg("weights"), nb::arg("mean"),
          nb::arg("stream") = 0, nb::arg("center").none() = nb::none(),
          "Writes the weighted sum of samples (B, T, n) or (B, T n) to mean: on the host (T, n) float64; on a device a "
          "Buffer (T n, 1) of the samples' dtype, with a Buffer `center` like it that of the squared distances from it.");
}

}  // namespace featherstorm
