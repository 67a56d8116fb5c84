// The interpreter's lock (GIL), released while the engine works.
#pragma once
#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace featherstorm {

// A thread that asks for the lock after the interpreter has ended waits for the end of the process. Python before 3.14
// ends such a thread by unwinding its stack, which C++ destructors do not allow: std::terminate would be called.
[[noreturn]] inline void wait_for_exit() {
  for (;;) ::pause();
}

// Releases the lock until the end of the scope.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) { wait_for_exit(); }
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// Return f(), called with the lock. f calls Python, on a thread that may not have the lock.
template <class F> auto with_gil(const F& f) {
  struct Lock {
    PyGILState_STATE state;
    ~Lock() { PyGILState_Release(state); }
  };
  try {
    const Lock lock{PyGILState_Ensure()};
    try {
      return f();
    } catch (abi::__forced_unwind&) { wait_for_exit(); }  // before the destructor, because the thread lost the lock
  } catch (abi::__forced_unwind&) { wait_for_exit(); }
}

}  // namespace featherstorm
