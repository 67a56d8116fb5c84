// Clocks of the first device, told by the driver's management library where it is installed; 0 where it is not.
#pragma once
#include <dlfcn.h>

namespace featherstorm::testing {

class Clocks {
 public:
  Clocks() {
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    int (*start)();
    int (*handle)(unsigned, void**);
    if (!find(start, "nvmlInit_v2") || !find(handle, "nvmlDeviceGetHandleByIndex_v2") ||
        !find(clock_, "nvmlDeviceGetClockInfo") || start() != 0 || handle(0, &device_) != 0)
      clock_ = nullptr;
  }
  int multiprocessors() const { return now(1); }  // [MHz]
  int memory() const { return now(2); }           // [MHz]

 private:
  int now(int which) const {
    unsigned mhz = 0;
    return clock_ && clock_(device_, which, &mhz) == 0 ? static_cast<int>(mhz) : 0;
  }
  int (*clock_)(void*, int, unsigned*) = nullptr;
  void* device_ = nullptr;
};

}  // namespace featherstorm::testing
