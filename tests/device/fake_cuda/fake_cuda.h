// A fake CUDA library, for tests on machines without a GPU: the sources of cuda/, with the kernels compiled for the
// host, on a small imitation of the CUDA runtime in host memory.
//
// It imitates:
// - two devices;
// - streams that do their work in order, only when someone waits for them;
// - a pool that keeps released memory;
// - fresh memory full of NaN;
// - errors on request;
// - graphs captured from streams; during capture, calls of the same thread that allocate memory or wait fail;
// - events;
// - a run-time compiler (nvrtc.cpp) whose machine code is the source itself, which the runtime compiles for the host
//   when it is loaded (program.cpp).
//
// It cannot test nvcc's code, speed, or the order of work on different streams.
#pragma once

// Counts since the process began.
struct StandInCounts {
  int driver_allocations;  // pool allocations without a kept block, and cudaMalloc
  int pool_allocations;
  int live_blocks;  // in use, of the pool and of cudaMalloc
  int launches;
  int live_programs;  // loaded by cudaLibraryLoadData
  int waits;          // calls that synchronised
  int device;         // of the last launch
  void* stream;       // of the last launch
};

// The last launch of a contact solver: blocks, memory available to a thread, and the largest amount one used; 1 if an
// earlier launch needed more.
struct StandInSolver { int blocks, most_numbers, most_bytes, numbers, bytes, out_of_room; };

extern "C" {
void fake_cuda_solver(StandInSolver* solver);
void fake_cuda_counts(StandInCounts* counts);
// Makes the next call of this runtime function fail with this error, once. "launch" is the launch of a kernel;
// "kernel" is its execution, whose failure is reported at the next wait.
void fake_cuda_fail(const char* function, int error);
// Sets the local memory per thread that kernels report.
void fake_cuda_set_local_bytes(unsigned long bytes);
// Sets the memory that devices report.
void fake_cuda_set_memory(unsigned long bytes);
// Sets the number of devices.
void fake_cuda_set_devices(int count);

// Functions of the fake libnvrtc.so: number of sources compiled since the process began; refuse the next source;
// threads per block in the last launch of a loaded program.
int fake_cuda_nvrtc_compiled();
void fake_cuda_nvrtc_refuse();
int fake_cuda_program_threads();
int fake_cuda_program_launches();  // launches of loaded programs since the process began
}
