// What a GPU can do at best, and what straight-line code costs its instruction cache, as CSV lines.
//
//   copy bandwidth and multiply-adds a second: the ceilings of any kernel
//   fd of two robots with 1, 2, 4, 8 warps on each multiprocessor, in blocks of as many warps, without barriers and
//   with one after each 64 statements, which keeps a block's warps at the same place of the code
//
// If the code does not fit the instruction cache, warps that drift apart wait for it: the time of 2 and 8 warps without
// barriers then grows against that of one, and barriers help. If neither is seen, the cache is no limit.
//
//   gpu_ceilings          gpu_ceilings quick    small, for a test without a GPU
#include <cstring>
#include <sstream>

#include "core/emit/emit.h"
#include "core/trace/order.h"
#include "host/specialised_program.h"
#include "tests/gpu/program.h"

namespace featherstorm::testing {
namespace {

bool quick = false;

// The parameters of emitted kernels, so that launch_program launches these as well.
const char* const head = R"(
namespace featherstorm { namespace vector_math {
struct Array { void* data; long stride; };
struct Arrays { Array array[1]; };
struct Uniforms { float value[1]; };
extern "C" __global__ void featherstorm_kernel(const Arrays in, const Arrays out, const Uniforms uniform, long repeat, long first, long count) {
  const long i = first + long(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
)";
const char* const tail = "\n} } }\n";
// 16 bytes a thread
const char* const copy_text = R"(
  struct alignas(16) Aligned { float x[4]; };
  static_cast<Aligned*>(out.array[0].data)[i] = static_cast<const Aligned*>(in.array[0].data)[i];
)";
// 16 chains of `repeat` times 16 multiply-adds
const char* const fma_text = R"(
  float x[16];
  for (int k = 0; k < 16; k++) x[k] = static_cast<const float*>(in.array[0].data)[k];
  const float a = uniform.value[0];
  for (long r = 0; r < repeat; r++) {
#pragma unroll
    for (int u = 0; u < 16; u++)
#pragma unroll
      for (int k = 0; k < 16; k++) x[k] = x[k] * a + 0.25f;
  }
  float sum = 0;
  for (int k = 0; k < 16; k++) sum += x[k];
  static_cast<float*>(out.array[0].data)[i] = sum;
)";

void ceilings() {
  const CudaDevice device = device_info();
  const long bytes = quick ? 1 << 16 : 1 << 28;
  void *from = nullptr, *to = nullptr;
  require(gpu().allocate(0, nullptr, bytes, &from) && gpu().allocate(0, nullptr, bytes, &to));
  require(gpu().fill(0, nullptr, from, 0, bytes));
  const float a = 0.999f;
  {
    const GpuProgram p(nvrtc().compile(std::string(head) + copy_text + tail, device_target()).image);
    const Time t = time_of([&] { p.launch({{from, 0}}, {{to, 0}}, &a, 1, bytes / 16, 256); });
    std::printf("copy,GB/s read and written,%.1f,%.1f,%.1f\n", 2e-9 * bytes / t.median, 2e-9 * bytes / t.most,
                2e-9 * bytes / t.least);
  }
  {
    const GpuProgram p(nvrtc().compile(std::string(head) + fma_text + tail, device_target()).image);
    const long threads = quick ? 64 : 2048L * device.multiprocessors, repeat = quick ? 2 : 1000;
    const Time t = time_of([&] { p.launch({{from, 0}}, {{to, 0}}, &a, repeat, threads, 256); });
    const double n = 256.0 * repeat * threads;
    std::printf("fma,1e12/s in float,%.3f,%.3f,%.3f\n", 1e-12 * n / t.median, 1e-12 * n / t.most, 1e-12 * n / t.least);
  }
  require(gpu().release(0, nullptr, from) && gpu().release(0, nullptr, to));
}

// A barrier after each `distance` statements. All threads of the launch must have an instance.
std::string with_barriers(const std::string& text, int distance) {
  std::istringstream lines(text);
  std::string s;
  int statements = 0;
  for (std::string line; std::getline(lines, line);) {
    s += line + "\n";
    if (line.starts_with("    const T ") && ++statements % distance == 0) s += "    __syncthreads();\n";
  }
  return s;
}

void probe(const NamedRobot& robot) {
  const CudaDevice device = device_info();
  const Model<double>& m = robot.robot.model;
  for_every_op([&](auto row, int op) {
    using Op = decltype(row);
    if constexpr (Op::info.name == "fd") {
      const Program p = specialised_program({op}, m);
      std::vector<std::vector<std::vector<double>>> inputs;
      for (int i = 0; i < 64; i++) inputs.push_back(op_inputs<Op>(m, 1000 + i));
      for (int warps : {1, 2, 4, 8})
        for (bool barriers : {false, true}) {
          std::string text = emit(p, greedy_order(p), Cuda{false, 256, 0});
          if (barriers) text = with_barriers(text, 64);
          const DeviceCode code = nvrtc().compile(text, device_target());
          const GpuProgram program(code.image);
          const int count = 32 * warps * device.multiprocessors;
          Batch<Op, float> batch(m, count, inputs);
          std::vector<Array> in, out;
          for (const auto& x : batch.device_in) in.push_back(x->array());
          for (auto& x : batch.device_out) out.push_back(x->array());
          const float none = 0;
          const Time t = time_of([&] { program.launch(in, out, &none, 1, count, 32 * warps); });
          std::printf(
              "instruction cache/fd/%s/%d bytes of code/%d warps per multiprocessor/%s,us a launch,%.3f,%.3f,%.3f\n",
              robot.name.c_str(), code.cost.code, warps, barriers ? "barriers" : "no barriers", t.median * 1e6,
              t.least * 1e6, t.most * 1e6);
          std::fflush(stdout);
        }
    }
  });
}

}  // namespace
}  // namespace featherstorm::testing

int main(int argc, char** argv) try {
  using namespace featherstorm::testing;
  quick = argc > 1 && !std::strcmp(argv[1], "quick");
  std::printf("what,unit,median,least,most\n");
  ceilings();
  const auto robots = gpu_robots();
  probe(robots[0]);
  if (!quick) probe(robots[1]), probe(robots[2]);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
