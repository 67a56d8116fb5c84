// The frame around an emitted CUDA source that is compiled for the host: CUDA's keywords, and at the end a function
// that runs the kernel thread by thread. fake_cuda/program.cpp splits this file at the line that marks the text, and
// defines FAKE_CUDA_BARRIERS: 1 if the source has barriers, else 0.
//
// Threads that wait for each other are coroutines. Each runs to its barrier before the next one continues, first to
// last in one phase and last to first in the next, so that reading a value before it is written is detected. Shared
// memory is NaN when a block begins.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#define __global__
#define __shared__ static __attribute__((section("fake_cuda_shared")))
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
struct StandInIndex { unsigned x; };
static thread_local StandInIndex blockIdx, blockDim, threadIdx;
namespace fake_cuda {
constexpr unsigned stack_bytes = 1 << 19;  // unoptimised code keeps every value in memory
struct Thread {
  ucontext_t at;
  bool done;
};
static Thread* threads;
static ucontext_t scheduler;
static unsigned current;
}  // namespace fake_cuda
inline void __syncthreads() { swapcontext(&fake_cuda::threads[fake_cuda::current].at, &fake_cuda::scheduler); }
template <class Real> Real __ldg(const Real* p) { return *p; }
//// the text ////
namespace fake_cuda {
template <class... P> struct Call {
  template <int n, int... k> struct Make : Make<n - 1, n - 1, k...> {};
  template <int... k> struct Make<0, k...> {
    static void run(void (*kernel)(P...), void** arguments) { kernel(*static_cast<P*>(arguments[k])...); }
  };
};
template <class... P> int sizes_of(void (*)(P...), unsigned long* sizes) {
  const unsigned long all[] = {sizeof(P)...};
  for (unsigned k = 0; k < sizeof...(P); k++) sizes[k] = all[k];
  return sizeof...(P);
}
template <class... P> void run(void (*kernel)(P...), void** arguments) {
  Call<P...>::template Make<sizeof...(P)>::run(kernel, arguments);
}
}  // namespace fake_cuda

// Writes the sizes of the kernel's parameters in bytes; returns their number, at most 16.
extern "C" int fake_cuda_parameters(unsigned long* sizes) {
  return fake_cuda::sizes_of(featherstorm::vector_math::featherstorm_kernel, sizes);
}
// The linker defines the address of the kernel's shared memory; null if it has none.
extern "C" __attribute__((weak, visibility("hidden"))) char __start_fake_cuda_shared[], __stop_fake_cuda_shared[];

namespace fake_cuda {
static void** parameters;
static void body() {
  run(featherstorm::vector_math::featherstorm_kernel, parameters);
  threads[current].done = true;
}

// Runs a block whose threads wait for each other at barriers.
static void run_together(unsigned count) {
  if (__start_fake_cuda_shared)
    memset(__start_fake_cuda_shared, 0xff, size_t(__stop_fake_cuda_shared - __start_fake_cuda_shared));
  char* stacks = static_cast<char*>(malloc(size_t(count) * stack_bytes));
  threads = static_cast<Thread*>(calloc(count, sizeof(Thread)));
  for (unsigned t = 0; t < count; t++) {
    getcontext(&threads[t].at);
    threads[t].at.uc_stack.ss_sp = stacks + size_t(t) * stack_bytes;
    threads[t].at.uc_stack.ss_size = stack_bytes;
    threads[t].at.uc_link = &scheduler;
    makecontext(&threads[t].at, body, 0);
  }
  unsigned done = 0;
  for (unsigned phase = 0; done < count; phase++) {
    for (unsigned k = 0; k < count; k++) {
      current = phase % 2 ? k : count - 1 - k;
      if (threads[current].done) {
        fprintf(stderr, "fake-cuda: thread %u has ended, others wait for it at a barrier\n", current);
        abort();
      }
      threadIdx.x = current;
      swapcontext(&scheduler, &threads[current].at);
      done += threads[current].done;
    }
  }
  free(threads);
  free(stacks);
}
}  // namespace fake_cuda

// Runs all threads of a launch, the last one first.
extern "C" void fake_cuda_launch_source(void** arguments, unsigned blocks, unsigned threads) {
  blockDim.x = threads;
  fake_cuda::parameters = arguments;
  for (unsigned b = blocks; b-- > 0;) {
    blockIdx.x = b;
    if (FAKE_CUDA_BARRIERS || __start_fake_cuda_shared != __stop_fake_cuda_shared) {
      fake_cuda::run_together(threads);
      continue;
    }
    for (unsigned t = threads; t-- > 0;) {
      threadIdx.x = t;
      fake_cuda::run(featherstorm::vector_math::featherstorm_kernel, arguments);
    }
  }
}
