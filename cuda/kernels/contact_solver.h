// The contact solver on a device, one thread for an instance: the text of host/solver/contact_solve.h.
//
// A launch has as many threads as its working memory is for; each takes one instance after the other. A source that includes this
// begins with FEATHERSTORM_LAUNCHED_SCRATCH defined.
#pragma once
#ifndef FEATHERSTORM_LAUNCHED_SCRATCH
#error "FEATHERSTORM_LAUNCHED_SCRATCH is not defined"
#endif
#include "cuda/kernels/device_solver.h"
#include "cuda/kernels/launcher.h"

namespace featherstorm {

inline constexpr int solver_threads = launched_threads;

template <class Real> SolverArguments<Real> solver_arguments(const SolverLaunch& l) {
  SolverArguments<Real> a;
  const auto view = [](const Array& x) {
    return InstanceView<Real>{static_cast<Real*>(x.data), static_cast<int>(x.stride)};
  };
  for (int k = 0; k < solver_inputs; k++) a.in[k] = view(l.in[k]);
  for (int k = 0; k < solver_outputs; k++) a.out[k] = view(l.out[k]);
  a.numbers = static_cast<Real*>(l.numbers), a.bytes = l.bytes;
  a.most_numbers = l.most_numbers, a.most_bytes = l.most_bytes, a.count = l.count;
  return a;
}

// What thread `thread` of block `block` of `blocks` does.
template <class Real>
FS_HD void solver_body(const DeviceSolver<Real>& solver, const SolverArguments<Real>& a, int block, int blocks,
                       int thread) {
  const long first = static_cast<long>(block) * solver_threads + thread, warp = first / launched_lanes;
  LaunchedStack& stack = launched_stack();
  stack.number = a.numbers + (warp * launched_lanes * a.most_numbers + first % launched_lanes);
  stack.byte = a.bytes + first * a.most_bytes;
  stack.numbers = stack.bytes = 0, stack.most_numbers = a.most_numbers, stack.most_bytes = a.most_bytes;
  for (long i = first; i < a.count; i += static_cast<long>(blocks) * solver_threads) {
    using View = InstanceView<Real>;
    const auto at = [&](const View& v) { return View{v.data + i, v.stride}; };
    const SolverInputs<View> in{at(a.in[0]), at(a.in[1]), at(a.in[2]), at(a.in[3]), at(a.in[4]),  at(a.in[5]),
                                at(a.in[6]), at(a.in[7]), at(a.in[8]), at(a.in[9]), at(a.in[10]), at(a.in[11])};
    const SolverOutputs<View> out{at(a.out[0]), at(a.out[3]), at(a.out[6]), at(a.out[1]),
                                  at(a.out[2]), at(a.out[4]), at(a.out[5]), at(a.out[7])};
    solve_contacts<Real>(solver, in, out);
  }
}

}  // namespace featherstorm
