// What the fake CUDA library's launchers need of its runtime.
#pragma once
#include <cuda_runtime_api.h>

#include <functional>

// Puts a kernel's work at the end of a stream of the current device.
cudaError_t fake_cuda_launch(cudaStream_t stream, std::function<void()> work);
// The error asked for of this function of the runtime, once.
cudaError_t fake_cuda_asked(const char* function);
void fake_cuda_count_programs(int change);
// What a kernel may have in a block: the __launch_bounds__ of a loaded one, else what cuda/kernels/kernels.cuh has.
int fake_cuda_max_threads(const void* kernel);
