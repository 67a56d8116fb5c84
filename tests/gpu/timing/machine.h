// What device 0 can do at best, as far as benches need it to say how much of it a kernel takes.
#pragma once
#include <cmath>

#include "tests/gpu/timing/program.h"
#include "tests/gpu/timing/timing.h"

namespace featherstorm::testing {

// Words without a pattern, which memory cannot make shorter. Floats of them are finite and of both signs.
class RandomBits {
 public:
  RandomBits()
      : kernel_("unsigned* data, unsigned seed",
                "  unsigned x = unsigned(i) * 0x9E3779B9u + seed;\n"
                "  x = (x ^ (x >> 16)) * 0x7FEB352Du, x = (x ^ (x >> 15)) * 0x846CA68Bu, x = x ^ (x >> 16);\n"
                "  data[i] = (x & 0x80FFFFFFu) | 0x3F000000u;\n") {}
  void fill(const Buffer& b, unsigned seed, void* stream) const {
    const ArrayRef a = b.ref();
    const long words = b.stride() * a.components * static_cast<long>(bytes_of(a.precision)) / 4;
    if (words) kernel_.launch(words, 256, stream, static_cast<unsigned*>(a.data), seed);
  }

 private:
  SmallKernel kernel_;
};

// 16 bytes a thread.
inline constexpr const char* copy_parameters = "const Sixteen* from, Sixteen* to";
inline constexpr const char* copy_body = "  to[i] = from[i];\n";

struct Machine {
  int multiprocessors = 1;
  double cache = 0;        // L2 [bytes]
  double memory_rate = 0;  // read and written by a copy in memory [bytes/s]
  double cache_rate = 0;   // by one that stays in the L2

  // The least time that so many bytes and instructions of warps take. A scheduler, of which a multiprocessor has four,
  // gives out one instruction of a warp in a cycle.
  double least_seconds(double bytes, double instructions, const Time& t) const {
    const double memory = bytes / (bytes <= cache ? cache_rate : memory_rate);
    const double issue = t.fastest ? instructions / (4.0 * multiprocessors * t.fastest * 1e6) : 0;
    return std::max(memory, issue);
  }
};

inline double cache_bytes(const CudaDevice& d) {
  const double megabytes = d.major == 8 && d.minor == 0 ? 40 : d.major == 9 ? 50 : d.major >= 10 ? 96 : 32;
  return megabytes * (1 << 20);
}

// The rate of copying `bytes` from one array to another [bytes/s].
inline Time copy_time(long bytes, Stopwatch& watch, void* stream) {
  const SmallKernel kernel(copy_parameters, copy_body);
  const Buffer from(Precision::float32, bytes / 4, 1, 0, stream), to(Precision::float32, bytes / 4, 1, 0, stream);
  RandomBits().fill(from, 1, stream);
  const auto launch = [&](void* s) {
    kernel.launch(bytes / 16, 256, s, static_cast<const void*>(from.ref().data), to.ref().data);
  };
  launch(stream);
  return watch.in_graph(launch);
}

inline Machine machine(Stopwatch& watch, void* stream, bool quick) {
  const CudaDevice d = device_info();
  Machine m{d.multiprocessors, cache_bytes(d)};
  const long large = quick ? 1 << 16 : 1L << 28, small = quick ? 1 << 14 : static_cast<long>(m.cache / 5) / 4096 * 4096;
  m.memory_rate = 2.0 * large / copy_time(large, watch, stream).median;
  m.cache_rate = 2.0 * small / copy_time(small, watch, stream).median;
  return m;
}

}  // namespace featherstorm::testing
