// libFuzzer target: whatever the text, the URDF loader returns a robot or throws Error.
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined ... -o fuzz_urdf
//   mkdir -p new && ./fuzz_urdf -max_len=20000 -max_total_time=300 new tests/host/load/fuzz_corpus host/robots
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "host/load/load_urdf.h"
#include "host/system/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    featherstorm::UrdfOptions options;
    options.floating_base = size % 2 == 0;
    if (size % 4 < 2) options.world = featherstorm::UrdfWorld{.ground = true, .motors = true};
    featherstorm::load_urdf_text({reinterpret_cast<const char*>(data), size}, "fuzz.urdf", options);
  } catch (const featherstorm::Error&) {}
  return 0;
}
