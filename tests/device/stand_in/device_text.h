// What stands around an emitted CUDA text that is compiled for the host: the words of CUDA, and at the end a way to run
// the kernel thread by thread. stand_in/program.cpp splits this file at the line that names the text.
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
struct StandInIndex {
  unsigned x;
};
static thread_local StandInIndex blockIdx, blockDim, threadIdx;
inline void __syncthreads() {}  // threads run one after the other and share nothing
template <class Real> Real __ldg(const Real* p) { return *p; }
//// the text ////
namespace stand_in {
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
}  // namespace stand_in

// Bytes of the kernel's parameters; returns how many there are, at most 16.
extern "C" int stand_in_parameters(unsigned long* sizes) {
  return stand_in::sizes_of(featherstorm::vector_math::featherstorm_kernel, sizes);
}
// All threads of a launch, the last one first.
extern "C" void stand_in_launch_text(void** arguments, unsigned blocks, unsigned threads) {
  blockDim.x = threads;
  for (unsigned b = blocks; b-- > 0;)
    for (unsigned t = threads; t-- > 0;) {
      blockIdx.x = b, threadIdx.x = t;
      stand_in::run(featherstorm::vector_math::featherstorm_kernel, arguments);
    }
}
