// Devices, their memory and copies; and the loader of the CUDA library.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "host/memory/cuda_backend.h"
#include "host/memory/device.h"
#include "tests/device/control.h"

namespace featherstorm::test_device {
namespace {

using namespace testing;

// Element (i, c) of an array on the host.
template <class Real>
Real& at(const ArrayRef& a, long i, long c) {
  return static_cast<Real*>(a.data)[i * a.instance_stride + c * a.component_stride];
}
// Arrays of one shape and different strides in one Buffer's memory: by components, by instances, with gaps, backwards.
constexpr long instances = 21, components = 5;
std::vector<ArrayRef> layouts(const Buffer& memory) {
  ArrayRef a = memory.ref();
  a.instances = instances, a.components = components, a.padded = false;
  std::vector<ArrayRef> all;
  for (auto [i, c] : {std::pair{1L, 40L}, {components, 1L}, {3L, 100L}, {2 * components, 2L}})
    a.instance_stride = i, a.component_stride = c, all.push_back(a);
  const long b = static_cast<long>(bytes_of(a.precision));
  a.data = static_cast<char*>(a.data) + b * (instances * components - 1);
  a.instance_stride = -1, a.component_stride = -instances;
  all.push_back(a);
  return all;
}

template <class Real>
void round_trips() {
  const Precision precision = precision_of<Real>();
  Buffer host(precision, 1000, 1), back(precision, 1000, 1), one(precision, 1000, 1, device),
      other(precision, 1000, 1, device);
  for (const ArrayRef& from : layouts(host))
    for (const ArrayRef& first : layouts(one))
      for (const ArrayRef& second : layouts(other))
        for (const ArrayRef& to : layouts(back)) {
          Real number = 0;
          for (long i = 0; i < instances; i++)
            for (long c = 0; c < components; c++) at<Real>(from, i, c) = ++number, at<Real>(to, i, c) = -1;
          copy(from, first);
          copy(first, second);
          copy(second, to);
          for (long i = 0; i < instances; i++)
            for (long c = 0; c < components; c++) ASSERT_EQ(at<Real>(to, i, c), i * components + c + 1);
        }
}
TEST(DeviceCopy, RoundTripsKeepEveryNumberInAnyStrides) {
  round_trips<float>();
  round_trips<double>();
}

// Full tiles, partial tiles and tiles of one row; by components, by instances, with gaps between rows.
TEST(DeviceCopy, OfManyTilesKeepsEveryNumber) {
  for (const auto& [rows, columns] : {std::pair{64L, 16L}, {65L, 17L}, {200L, 1L}, {1L, 50L}, {131L, 37L}}) {
    Buffer host(Precision::float32, rows, columns), back(Precision::float32, rows, columns);
    Buffer there(Precision::float32, rows, columns, device),
        memory(Precision::float32, rows * (columns + 3), 1, device);
    ArrayRef row_major = memory.ref();
    row_major.instances = rows, row_major.components = columns, row_major.padded = false;
    for (const long gap : {0L, 3L}) {
      row_major.instance_stride = columns + gap, row_major.component_stride = 1;
      for (long i = 0; i < rows; i++)
        for (long c = 0; c < columns; c++) at<float>(host.ref(), i, c) = 1 + i * columns + c + gap;
      copy(host.ref(), row_major);
      copy(row_major, there.ref());
      copy(there.ref(), back.ref());
      for (long i = 0; i < rows; i++)
        for (long c = 0; c < columns; c++) ASSERT_EQ(at<float>(back.ref(), i, c), 1 + i * columns + c + gap);
    }
  }
}

// The 32 floats of a warp are one line of 128 bytes.
TEST(DeviceBuffer, ComponentsBeginOnLines) {
  for (const Precision p : {Precision::float32, Precision::float64})
    for (const long n : {1L, 16L, 17L, 33L, 1000L, 1024L, 4096L}) {
      const Buffer b(p, n, 2, 0);
      EXPECT_EQ(b.stride() * bytes_of(p) % 128, 0u) << n;
      EXPECT_NE(b.stride() % 1024, 0) << n;
      EXPECT_GE(b.stride(), n);
    }
}

TEST(DeviceCopy, SaysWhatDoesNotFit) {
  needs_fake_cuda();
  Buffer host(Precision::float32, 4, 3), host_double(Precision::float64, 4, 3), wide(Precision::float32, 4, 4);
  Buffer zero(Precision::float32, 4, 3, 0), one(Precision::float32, 4, 3, 1);
  EXPECT_EQ(message([&] { copy(host_double.ref(), zero.ref()); }),
            "copy: from is (4, 3) float64, to is (4, 3) float32, expected the same");
  EXPECT_EQ(message([&] { copy(wide.ref(), zero.ref()); }),
            "copy: from is (4, 4) float32, to is (4, 3) float32, expected the same");
  EXPECT_EQ(message([&] { copy(host.ref(), host.ref()); }),
            "copy: both arrays are on the host, expected one on a device");
  EXPECT_EQ(message([&] { copy(zero.ref(), one.ref()); }),
            "copy: from is on CUDA device 0, to on CUDA device 1, expected the same device or the host");
}

TEST(DeviceCopy, OfNothingDoesNothing) {
  Buffer host(Precision::float32, 0, 3), device(Precision::float32, 0, 3, 0);
  const int waits = counts().waits;
  copy(host.ref(), device.ref());
  EXPECT_EQ(counts().waits, waits);
}

TEST(DeviceBuffer, IsZeroAndGivesItsMemoryBack) {
  const int before = counts_before().live_blocks;
  Buffer back(Precision::float32, 100, 7);
  {
    const Buffer there(Precision::float32, 100, 7, device);
    EXPECT_EQ(there.device(), device);
    if (!real_gpu) EXPECT_EQ(counts().live_blocks, before + 1);
    for (int c = 0; c < 7; c++) std::fill_n(back.component<float>(c), 100, NAN);
    copy(there.ref(), back.ref());
    for (int c = 0; c < 7; c++)
      for (int i = 0; i < 100; i++) ASSERT_EQ(back.component<float>(c)[i], 0);
  }
  EXPECT_EQ(counts().live_blocks, before);
}

TEST(DeviceBuffer, ErrorsHaveTheWordsOfCuda) {
  const int before = counts().live_blocks;
  fail_next("cudaMallocFromPoolAsync", out_of_memory);
  std::string words = message([] { Buffer(Precision::float32, 1000, 7, 0); });
  EXPECT_EQ(words.find("Buffer: CUDA device 0: cudaErrorMemoryAllocation: out of memory (cudaMallocFromPoolAsync("), 0u)
      << words;
  EXPECT_NE(words.find("cuda/runtime/memory.cpp:"), std::string::npos) << words;
  fail_next("cudaMemsetAsync", illegal_address);
  words = message([] { Buffer(Precision::float32, 1000, 7, 0); });
  EXPECT_EQ(words.find("Buffer: CUDA device 0: cudaErrorIllegalAddress: "), 0u) << words;
  EXPECT_EQ(counts().live_blocks, before);
  Buffer host(Precision::float32, 10, 7), device(Precision::float32, 10, 7, 0);
  fail_next("cudaMemcpy2DAsync", illegal_address);
  words = message([&] { copy(host.ref(), device.ref()); });
  EXPECT_EQ(words.find("copy: CUDA device 0: cudaErrorIllegalAddress: an illegal memory access"), 0u) << words;
  EXPECT_EQ(message([] { Buffer(Precision::float32, 10, 7, 2); }),
            "Buffer: CUDA device 2 does not exist, expected 0 to 1");
  EXPECT_EQ(message([] { Buffer(Precision::float32, 10, 7, -2); }),
            "Buffer: CUDA device -2 does not exist, expected 0 to 1");
}

TEST(Devices, AreListed) {
  std::string reason;
  const std::vector<CudaDevice> all = devices(&reason);
  ASSERT_GT(all.size(), static_cast<std::size_t>(device)) << reason;
  needs_fake_cuda();
  ASSERT_EQ(all.size(), 2u) << reason;
  EXPECT_STREQ(all[1].name, "fake-cuda without a GPU");
  EXPECT_TRUE(reason.empty());
}

TEST(LoadCudaBackend, SaysWhyThereIsNone) {
  const std::filesystem::path fake_cuda = FEATHERSTORM_FAKE_CUDA;
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "featherstorm_no_library";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder / "libfeatherstorm_cuda.so");
  std::string reason;
  EXPECT_FALSE(load_cuda_backend({folder}, reason));
  EXPECT_EQ(reason, "libfeatherstorm_cuda.so is not installed");
  std::ofstream(folder / "libfeatherstorm_cuda.so") << "no library";
  EXPECT_FALSE(load_cuda_backend({folder}, reason));
  EXPECT_NE(reason.find("libfeatherstorm_cuda.so"), std::string::npos) << reason;
  EXPECT_FALSE(load_cuda_backend({fake_cuda / "old_version"}, reason));
  EXPECT_NE(reason.find("belongs to another version of featherstorm"), std::string::npos) << reason;
  set_devices(0);
  EXPECT_FALSE(load_cuda_backend({fake_cuda}, reason));
  EXPECT_TRUE(reason.find("no NVIDIA driver") == 0 || reason.find("cudaErrorNoDevice") == 0) << reason;
  set_devices(2);
  EXPECT_TRUE(load_cuda_backend({fake_cuda}, reason));
}

TEST(Devices, ThatWentAwayAreAnError) {
  synchronise(0);  // to load the library
  fail_next("cudaGetDeviceCount", 100);
  const std::string words = message([] { synchronise(0); });
  EXPECT_EQ(words.find("synchronise: CUDA device 0 cannot be used: cudaErrorNoDevice: no CUDA-capable device"), 0u)
      << words;
}

}  // namespace
}  // namespace featherstorm::test_device
