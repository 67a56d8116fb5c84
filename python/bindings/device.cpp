// Streams of a CUDA device, graphs captured from them, and time measured on the device.
#include "host/memory/device.h"
#include "bindings.h"
#include "gil.h"
#include "host/memory/device_graph.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

void* stream_of(std::uintptr_t number) { return reinterpret_cast<void*>(number); }

// Calls a Python function while the stream is captured, or between two time marks. Its exceptions are passed on.
std::function<void()> calling(nb::callable work) {
  return [work] { work(); };
}

}  // namespace

void bind_device(nb::module_& module) {
  nb::class_<DeviceStream>(module, "DeviceStream",
                           "A stream of a CUDA device that does not wait for the default stream.")
      .def(nb::init<int>(), nb::arg("device"))
      .def_prop_ro("number", [](const DeviceStream& s) { return reinterpret_cast<std::uintptr_t>(s.get()); });
  nb::class_<DeviceGraph>(module, "DeviceGraph", "The work captured on a stream, which runs as one launch.")
      .def(
          "__init__",
          [](DeviceGraph* self, int device, std::uintptr_t stream, nb::callable work) {
            new (self) DeviceGraph(device, stream_of(stream), calling(work));
          },
          nb::arg("device"), nb::arg("stream"), nb::arg("work"))
      .def(
          "launch", [](const DeviceGraph& g, std::uintptr_t stream) { g.launch(stream_of(stream)); }, nb::arg("stream"),
          nb::call_guard<WithoutGil>());
  module.def(
      "elapsed",
      [](int device, std::uintptr_t stream, nb::callable work) {
        DeviceTimer timer(device);
        timer.start(stream_of(stream));
        work();
        timer.stop(stream_of(stream));
        const WithoutGil without_gil;
        return timer.seconds();
      },
      nb::arg("device"), nb::arg("stream"), nb::arg("work"),
      "Seconds on the device that the work submitted by `work` to the stream takes; waits for the stream.");
}

}  // namespace featherstorm
