// The CUDA library on any machine: without a driver or a device every function fails with a reason and nothing crashes.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "host/memory/cuda_backend.h"
#include "host/table/ops.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::test_backend {
namespace {

class CudaBackend : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef FEATHERSTORM_CUDA_LIBRARY
    GTEST_SKIP() << "built without nvcc";
#else
    void* handle = dlopen(FEATHERSTORM_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(handle) << dlerror();
    auto get = reinterpret_cast<const CudaTable* (*)()>(dlsym(handle, "featherstorm_cuda_backend"));
    ASSERT_TRUE(get);
    table = get();
#endif
  }
  bool has_device() {
    int n = 0;
    return table->device_count(&n) && n > 0;
  }
  const CudaTable* table = nullptr;
};

TEST_F(CudaBackend, HasEveryOperation) {
  EXPECT_EQ(table->version, cuda_table_version);
  ASSERT_EQ(table->op_count, op_count);
  EXPECT_STREQ(table->op_names[0], "rnea");
  const std::set<std::string> names(table->op_names, table->op_names + table->op_count);
  EXPECT_EQ(static_cast<int>(names.size()), table->op_count);
}

TEST_F(CudaBackend, ExplainsWhyThereIsNoDevice) {
  if (has_device()) GTEST_SKIP() << "there is a device";
  int count = 7;
  EXPECT_FALSE(table->device_count(&count));
  EXPECT_EQ(count, 0);
  const std::string reason = table->last_error();
  EXPECT_NE(reason.find("cudaGetDeviceCount"), std::string::npos) << reason;
  EXPECT_NE(reason.find("cuda/runtime/backend.cpp:"), std::string::npos) << reason;
  CudaDevice device;
  EXPECT_FALSE(table->device_info(0, &device));
  void* memory = nullptr;
  EXPECT_FALSE(table->allocate(0, nullptr, 100, &memory));
  EXPECT_FALSE(table->synchronise(0, nullptr));
  CudaModel* model = nullptr;
  const Robot robot = testing::random_robot(1, {.bodies = 3, .types = {JointType::Revolute}});
  EXPECT_FALSE(table->create_model(0, &robot.model, &model));
  EXPECT_EQ(model, nullptr);
}

TEST_F(CudaBackend, RefusesModelsItHasNoKernelsFor) {
  CudaModel* model = nullptr;
  Robot robot = testing::random_robot(1, {.bodies = 70, .types = {JointType::Revolute}, .roots = 0});
  EXPECT_FALSE(table->create_model(0, &robot.model, &model));
  EXPECT_STREQ(table->last_error(),
               "the model has 70 degrees of freedom, the CUDA kernels take at most 64: run it on the CPU");
  robot = testing::random_robot(1, {.bodies = 3, .types = {JointType::UserDefined}});
  EXPECT_FALSE(table->create_model(0, &robot.model, &model));
  EXPECT_STREQ(table->last_error(), "user-defined joints have no CUDA kernels: run the model on the CPU");
}

TEST(CudaBackendLoader, IsNullWithAReasonOrUsable) {
  std::string reason;
  if (const CudaTable* table = cuda_backend(&reason)) {
    int devices = 0;
    EXPECT_TRUE(table->device_count(&devices));
    EXPECT_GT(devices, 0);
  } else {
    EXPECT_FALSE(reason.empty());
  }
}

}  // namespace
}  // namespace featherstorm::test_backend
