// What the stand-in's launchers need of its runtime.
#pragma once
#include <cuda_runtime_api.h>

#include <functional>

// Puts a kernel's work at the end of a stream of the current device.
cudaError_t stand_in_launch(cudaStream_t stream, std::function<void()> work);
// The error asked for of this function of the runtime, once.
cudaError_t stand_in_asked(const char* function);
void stand_in_count_programs(int change);
// What a kernel may have in a block: the __launch_bounds__ of a loaded one, else what cuda/kernels/kernels.cuh has.
int stand_in_max_threads(const void* kernel);
