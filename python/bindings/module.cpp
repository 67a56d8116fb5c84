// The extension module `_featherstorm`, a thin and strict interface. The Python package handles shapes, broadcasting,
// array libraries and defaults. In this module, arrays are (instances, components) or Buffers, and everything is
// checked again.
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "core/model/builder.h"
#include "core/trace/work_check.h"
#include "host/compile/compile.h"
#include "host/system/cache.h"
#include "host/system/error.h"
#include "host/system/interruption.h"

namespace nb = nanobind;

namespace {

unsigned long main_thread = 0;

// Raises what a signal handler raises, KeyboardInterrupt after Ctrl-C. Handlers run on the main thread only.
void raise_signals() {
  if (PyThread_get_thread_ident() != main_thread) return;
  const nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace

NB_MODULE(_featherstorm, module) {
  using namespace featherstorm;
  // threads that are at work when the interpreter ends keep objects alive
  nb::set_leak_warnings(false);
  main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  set_interruption_check(raise_signals);
  set_work_check(end_if_interrupted);
  module.doc() = "The engine of featherstorm. Use the package `featherstorm`.";
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error& e) { PyErr_SetString(PyExc_ValueError, e.what()); } catch (const ModelError& e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    } catch (const Interruption& i) {
      try {
        std::rethrow_exception(i.cause);
      } catch (nb::python_error& e) { e.restore(); }
    }
  });
  module.attr("__version__") = FEATHERSTORM_VERSION;
  module.attr("built_with") = FEATHERSTORM_COMPILER;
  module.def(
      "cache_folder", [] { return default_cache_folder().string(); },
      "The folder of compiled kernels; empty if there is no such folder.");
  module.def(
      "host_compiler",
      [] {
        const HostCompiler compiler;
        std::string words;
        for (const std::string& w : compiler.command()) words += (words.empty() ? "" : " ") + w;
        return nb::make_tuple(words, compiler.missing());
      },
      "The compiler of specialised kernels, and the reason if there is none; one of the two is empty.");
  bind_robot(module);
  bind_buffer(module);
  bind_evaluator(module);
  bind_trace(module);
  bind_sequence(module);
  bind_simulation(module);
  bind_planning(module);
  bind_device(module);
  bind_rays(module);
}
