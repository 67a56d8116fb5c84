// Kernels for any robot of one instruction set: every operation of ops.h over packs of instances.
//
// They are compiled once for each instruction set into a library of its own with hidden symbols, so that no function
// compiled for a wider machine can be called on a narrower one. FEATHERSTORM_WIDTH is the number of floats in a vector.
#pragma once
#include "host/cpu/pack_view.h"
#include "host/memory/kernel.h"
#include "host/table/ops.h"

namespace featherstorm {

template <class Op, class Real>
inline void run_packs(const void* model, const Array* in, const Array* out, long repeat, long first, long count) {
  constexpr int W = FEATHERSTORM_WIDTH * static_cast<int>(sizeof(float)) / static_cast<int>(sizeof(Real));
  using T = Pack<Real, W>;
  using View = PackView<T, Real>;
  constexpr int ni = Op::info.in.size(), nu = Op::info.uniform.size(), no = Op::info.out.size();
  const auto& run_time = *static_cast<const RunTimeModel*>(model);
  const auto& m = *static_cast<const Model<Real>*>(run_time.model);
  int uniforms = 0;
  for (const OpArray& a : Op::info.uniform) uniforms += size_of(m, a.shape);
  Scratch<T> uniform(uniforms);
  T* u[nu + 1] = {uniform.data()};
  for (int k = 0; k < nu; k++) {
    const int n = size_of(m, Op::info.uniform[k].shape);
    for (int c = 0; c < n; c++) u[k][c] = T(static_cast<const Real*>(in[ni + k].data)[c]);
    u[k + 1] = u[k] + n;
  }
  for (long i = first; i < first + count; i += W) {
    View vi[ni], vo[no];
    for (int k = 0; k < ni; k++) vi[k] = {static_cast<Real*>(in[k].data) + i, in[k].stride};
    for (int k = 0; k < no; k++) vo[k] = {static_cast<Real*>(out[k].data) + i, out[k].stride};
    Op::template run<0>(m, run_time.frame, vi, u, vo);
    if constexpr (Op::info.carried) {
      // later passes read the outputs of the last one through a copy: an output may not be read while it is written
      int size[no], total = 0;
      for (int k = 0; k < no; k++) size[k] = size_of(m, Op::info.out[k].shape), total += size[k];
      auto state = scratch<T>(repeat > 1 ? total : 0);
      for (long r = 1; r < repeat; r++) {
        int at = 0;
        for (int k = 0; k < no; k++) {
          for (int c = 0; c < size[k]; c++) state[at + c] = vo[k][c];
          vi[k] = {reinterpret_cast<Real*>(state.data() + at), W};
          at += size[k];
        }
        Op::template run<0>(m, run_time.frame, vi, u, vo);
      }
    }
  }
}

template <class Op, class Real>
__attribute__((flatten)) void flat_kernel(const void* model, const Array* in, const Array* out, long repeat, long first,
                                          long count) {
  run_packs<Op, Real>(model, in, out, repeat, first, count);
}
template <class Op, class Real> constexpr Kernel pack_kernel() {
#ifdef FEATHERSTORM_FLATTEN
  if constexpr (Op::info.inlined) return flat_kernel<Op, Real>;
#endif
  return run_packs<Op, Real>;
}

}  // namespace featherstorm
