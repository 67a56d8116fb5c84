// Sources with barriers on the fake CUDA library: their threads run together, with shared memory or without.
#include <gtest/gtest.h>

#include "host/compile/nvrtc.h"
#include "host/memory/cuda_backend.h"
#include "host/memory/device.h"
#include "tests/device/control.h"

namespace featherstorm::test_barriers {
namespace {

using namespace testing;

// Every thread takes the value that its right neighbour wrote to `exchange` in the previous phase.
std::string rotation(const std::string& exchange, const std::string& place) {
  return R"(
namespace featherstorm { namespace vector_math {
struct Array { void* data; long stride; };
struct Arrays { Array array[1]; };
struct Uniforms { float value[1]; };
extern "C" __global__ void featherstorm_kernel(const Arrays in, const Arrays out, const Uniforms, long repeat, long, long) {
)" + exchange +
         R"(
  const int n = blockDim.x, t = threadIdx.x;
  float x = static_cast<const float*>(in.array[0].data)[blockIdx.x * n + t];
  for (long r = 0; r < repeat; r++) {
    )" + place +
         R"([t] = x;
    __syncthreads();
    x = )" +
         place + R"([(t + 1) % n];
    __syncthreads();
  }
  )" + "static_cast<float*>(out.array[0].data)[blockIdx.x * n + t] = x;\n} } }\n";
}

// Thread t ends with the number of thread t + repeat of its block.
void rotates(const std::string& text) {
  constexpr int threads = 64, blocks = 3, count = threads * blocks, repeat = 5;
  const Nvrtc compiler;
  ASSERT_EQ(compiler.missing(), "");
  const CudaTable& table = *cuda_backend();
  CudaProgram* program = nullptr;
  CudaDevice info;
  ASSERT_TRUE(table.device_info(device, &info)) << table.last_error();
  const std::string image = compiler.compile(text, compiler.target(10 * info.major + info.minor)).image;
  ASSERT_TRUE(table.load_program(device, image.data(), "featherstorm_kernel", &program)) << table.last_error();
  Buffer numbers(Precision::float32, count, 1), there(Precision::float32, count, 1, device),
      found(Precision::float32, count, 1, device);
  for (int i = 0; i < count; i++) numbers.component<float>(0)[i] = static_cast<float>(i);
  copy(numbers.ref(), there.ref());
  const Array in{there.ref().data, 0}, out{found.ref().data, 0};
  const float none = 0;
  const ProgramLaunch launch{&in, &out, &none, repeat, count, threads};
  ASSERT_TRUE(table.launch_program(program, &launch, nullptr)) << table.last_error();
  copy(found.ref(), numbers.ref());
  for (int i = 0; i < count; i++)
    EXPECT_EQ(numbers.component<float>(0)[i], i / threads * threads + (i + repeat) % threads) << i;
  table.unload_program(program);
}

TEST(StandInBarriers, ServeTextsWithoutSharedMemory) {
  rotates(rotation("  float* const exchange = static_cast<float*>(out.array[0].data) + blockIdx.x * blockDim.x;",
                   "exchange"));
}
TEST(StandInBarriers, ServeTextsWithSharedMemory) { rotates(rotation("  __shared__ float exchange[64];", "exchange")); }

}  // namespace
}  // namespace featherstorm::test_barriers
