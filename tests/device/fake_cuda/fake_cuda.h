// A fake CUDA library, for tests on machines without a GPU: the sources of cuda/ with the kernels' text
// compiled for the host, over a small imitation of the CUDA runtime in host memory.
//
// What it imitates: two devices; streams whose work is done only when somebody waits for them, in order; a pool that
// keeps what it was given; fresh memory full of NaN; errors on request; graphs captured from streams, during which calls of the same
// thread that take memory or wait fail; events; a run-time compiler (nvrtc.cpp) whose machine
// code is the text that it was given, which the runtime compiles for the host when it is loaded (program.cpp).
// What it cannot show: anything about nvcc's code, speed, or the order of work on different streams.
#pragma once

// Counts since the process began.
struct StandInCounts {
  int driver_allocations;  // pool allocations that no kept block served, and cudaMalloc
  int pool_allocations;
  int live_blocks;  // of the pool and of cudaMalloc
  int launches;
  int live_programs;  // loaded by cudaLibraryLoadData
  int waits;          // calls that synchronised
  int device;         // of the last launch
  void* stream;       // of the last launch
};

// The last launch of a contact solver: blocks, what a thread was given and what one used at most; 1 where a launch before wanted more.
struct StandInSolver { int blocks, most_numbers, most_bytes, numbers, bytes, out_of_room; };

extern "C" {
void fake_cuda_solver(StandInSolver* solver);
void fake_cuda_counts(StandInCounts* counts);
// The next call of this function of the runtime fails with this error, once. "launch" is the launch of a kernel;
// "kernel" is the work itself, whose failure shows at the next wait.
void fake_cuda_fail(const char* function, int error);
// Kernels say from now on that a thread keeps so many bytes in memory.
void fake_cuda_set_local_bytes(unsigned long bytes);
// Devices say from now on that they have so much memory.
void fake_cuda_set_memory(unsigned long bytes);
// A machine with so many devices from now on.
void fake_cuda_set_devices(int count);

// Of the fake CUDA library's libnvrtc.so: texts compiled since the process began; the next is refused; threads that the last
// launch of a loaded program had in a block.
int fake_cuda_nvrtc_compiled();
void fake_cuda_nvrtc_refuse();
int fake_cuda_program_threads();
int fake_cuda_program_launches();  // of loaded programs, since the process began
}
