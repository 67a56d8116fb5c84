// The contact solver on a device, one thread for an instance: the algorithms of host/solver/solver_algorithms.h.
//
// A launch has as many threads as its working memory allows, and each thread processes one instance after the other. A
// source that includes this header must define FEATHERSTORM_LAUNCHED_SCRATCH first.
#pragma once
#ifndef FEATHERSTORM_LAUNCHED_SCRATCH
#error "FEATHERSTORM_LAUNCHED_SCRATCH is not defined"
#endif
#include "cuda/kernels/device_solver.h"
#include "cuda/kernels/launcher.h"
#include "host/solver/solver_algorithms.h"

namespace featherstorm {

inline constexpr int solver_threads = launched_threads;

template <class Real, SolverAlgorithm text> SolverArguments<Real, text> solver_arguments(const SolverLaunch& l) {
  SolverArguments<Real, text> a;
  const auto view = [](const Array& x) {
    return InstanceView<Real>{static_cast<Real*>(x.data), static_cast<int>(x.stride)};
  };
  for (int k = 0; k < arrays_of(text).in; k++) a.in[k] = view(l.in[k]);
  for (int k = 0; k < arrays_of(text).out; k++) a.out[k] = view(l.out[k]);
  a.numbers = static_cast<Real*>(l.numbers), a.bytes = l.bytes;
  a.most_numbers = l.most_numbers, a.most_bytes = l.most_bytes, a.count = l.count;
  return a;
}

// The work of thread `thread` of block `block` of `blocks`.
template <class Real, SolverAlgorithm text>
FS_HD void solver_body(const DeviceSolver<Real>& solver, const SolverArguments<Real, text>& a, int block, int blocks,
                       int thread) {
  const long first = static_cast<long>(block) * solver_threads + thread, warp = first / launched_lanes;
  LaunchedStack& stack = launched_stack();
  stack.number = a.numbers + (warp * launched_lanes * a.most_numbers + first % launched_lanes);
  stack.byte = a.bytes + first * a.most_bytes;
  stack.numbers = stack.bytes = 0, stack.most_numbers = a.most_numbers, stack.most_bytes = a.most_bytes;
  for (long i = first; i < a.count; i += static_cast<long>(blocks) * solver_threads) {
    const auto at = [i](const InstanceView<Real>* all) {
      return [all, i](int k) { return InstanceView<Real>{all[k].data + i, all[k].stride}; };
    };
    run_solver<text, Real>(solver, at(a.in), at(a.out));
  }
}

}  // namespace featherstorm
