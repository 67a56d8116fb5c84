// Kernels for any robot: every operation of host/table/ops.h, one thread for each instance, generated from the table.
//
// All index arithmetic is in kernel_body, which is also compiled for the host and tested there.
#pragma once
#include "cuda/kernels/device_model.h"
#include "cuda/kernels/instance_view.h"
#include "host/memory/cuda_table.h"
#include "host/table/ops.h"
#ifdef __CUDACC__
#include "cuda/kernels/launcher.h"
#endif

namespace featherstorm {

inline constexpr int threads_per_block = 64;
inline constexpr int max_uniform = 64;  // components of a uniform array; no device model has more coordinates

// Arguments of a launch besides the model: the arrays in the order of the operation's row, inputs then outputs.
template <class Op, class Real> struct Arguments {
  static constexpr int inputs = Op::info.in.size(), outputs = Op::info.out.size(), uniforms = Op::info.uniform.size();
  void* data[inputs + outputs];
  int stride[inputs + outputs];
  Real uniform[uniforms + 1][uniforms == 0 ? 1 : max_uniform];
  int frame, repeat, count;
};

// Return the number of components of all carried arrays of an operation.
template <class Op, class M, int k = 0> FS_HD int carried_size(const M& m) {
  if constexpr (k == static_cast<int>(Op::info.out.size())) return 0;
  else {
    constexpr Shape shape = Op::info.out[k].shape;
    return size_of(m, shape) + carried_size<Op, M, k + 1>(m);
  }
}
// Copy output k and those after it to `state`, and make them the inputs of the next pass.
template <class Op, int k = 0, class M, class Real>
FS_HD void carry(const M& m, Real* state, InstanceView<Real>* in, const InstanceView<Real>* out) {
  if constexpr (k < static_cast<int>(Op::info.out.size())) {
    constexpr Shape shape = Op::info.out[k].shape;
    const int size = size_of(m, shape);
    for (int c = 0; c < size; c++) state[c] = out[k][c];
    in[k] = {state, 1};
    carry<Op, k + 1>(m, state + size, in, out);
  }
}

// The work of thread `thread` of block `block`.
template <class Op, class Real, class M>
FS_HD void kernel_body(const M& m, const Arguments<Op, Real>& a, int block, int thread) {
  using A = Arguments<Op, Real>;
  const int i = block * threads_per_block + thread;
  if (i >= a.count) return;
  InstanceView<Real> in[A::inputs], out[A::outputs];
  for (int k = 0; k < A::inputs; k++) in[k] = {static_cast<Real*>(a.data[k]) + i, a.stride[k]};
  for (int k = 0; k < A::outputs; k++)
    out[k] = {static_cast<Real*>(a.data[A::inputs + k]) + i, a.stride[A::inputs + k]};
  if constexpr (Op::info.carried) {
    // An output may not be read while it is written, so later passes read copies. There is only one call of run,
    // because ptxas gives each call its own code and working memory.
    auto state = scratch<Real>(Bounded<M::max_carried>{carried_size<Op>(m)});
    for (int r = 0; r < a.repeat; r++) {
      if (r > 0) carry<Op>(m, state.data(), in, out);
      Op::template run<0>(m, a.frame, in, a.uniform, out);
    }
  } else {
    Op::template run<0>(m, a.frame, in, a.uniform, out);
  }
}

// Return the arguments of a launch. Uniforms are read here, on the host.
template <class Op, class Real, class M>
Arguments<Op, Real> arguments(const M& m, const Array* in, const Array* out, const LaunchOptions& o) {
  using A = Arguments<Op, Real>;
  A a;
  for (int k = 0; k < A::inputs; k++) a.data[k] = in[k].data, a.stride[k] = static_cast<int>(in[k].stride);
  for (int k = 0; k < A::outputs; k++)
    a.data[A::inputs + k] = out[k].data, a.stride[A::inputs + k] = static_cast<int>(out[k].stride);
  for (int k = 0; k < A::uniforms; k++) {
    const int n = size_of(m, Op::info.uniform[k].shape);
    for (int c = 0; c < n; c++) a.uniform[k][c] = static_cast<const Real*>(in[A::inputs + k].data)[c];
  }
  a.frame = o.frame, a.repeat = o.repeat, a.count = o.count;
  return a;
}

#ifdef __CUDACC__

// The model as raw bytes, because a kernel's parameter may not have Eigen's constructors.
template <class M> struct ModelBytes { alignas(16) unsigned char bytes[sizeof(M)]; };

template <class Op, class Real, class M>
__global__ void __launch_bounds__(threads_per_block)
    op_kernel(const __grid_constant__ ModelBytes<M> model, const __grid_constant__ Arguments<Op, Real> a) {
  kernel_body(reinterpret_cast<const M&>(model), a, blockIdx.x, threadIdx.x);
}

// Launch one operation. The caller has checked the arguments.
template <class Op, class Real, int limit>
cudaError_t launch(const void* model, const Array* in, const Array* out, const LaunchOptions& o, cudaStream_t stream) {
  using M = DeviceModel<Real, limit>;
  const auto& bytes = *static_cast<const ModelBytes<M>*>(model);
  const Arguments<Op, Real> a = arguments<Op, Real>(reinterpret_cast<const M&>(bytes), in, out, o);
  const int blocks = (a.count + threads_per_block - 1) / threads_per_block;
  op_kernel<Op, Real, M><<<blocks, threads_per_block, 0, stream>>>(bytes, a);
  return cudaGetLastError();
}
template <class Op, class Real, int limit> KernelLauncher launcher() {
  return {launch<Op, Real, limit>, reinterpret_cast<const void*>(op_kernel<Op, Real, DeviceModel<Real, limit>>)};
}

#endif

}  // namespace featherstorm
