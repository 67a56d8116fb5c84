// Functions of the runtime for the fake CUDA library's launchers.
#pragma once
#include <cuda_runtime_api.h>

#include <functional>

// Appends a kernel's work to a stream of the current device.
cudaError_t fake_cuda_launch(cudaStream_t stream, std::function<void()> work);
// The error requested for this runtime function, once.
cudaError_t fake_cuda_asked(const char* function);
void fake_cuda_count_programs(int change);
// The largest number of threads per block of a kernel: its __launch_bounds__ if it is loaded, else that of
// cuda/kernels/kernels.cuh.
int fake_cuda_max_threads(const void* kernel);
