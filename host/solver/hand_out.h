// What the ways to solve have in common: passes of Newton's method, and what is handed out.
#pragma once
#include "host/solver/slots.h"

namespace featherstorm {

// Results of some instances.
template <class T>
FS_HD void hand_out(const auto& solver, unsigned instances, const auto& a, const T& passes, const auto& out) {
  const auto theirs = where<T>(instances);
  for (int k = 0; k < solver.nv; k++) out.qacc[k] = select(theirs, a[k], out.qacc[k]);
  out.passes[0] = select(theirs, passes, out.passes[0]);
}
template <class T> FS_HD void hand_out_residual(unsigned instances, const T& residual, const auto& out) {
  out.residual[0] = select(where<T>(instances), residual, out.residual[0]);
}
// The forces of a block in some instances.
template <class T>
FS_HD void hand_out_forces(const auto& solver, const PresentRows<T>& present, const PresentBlock& c, int rows,
                           const auto& theirs, const auto& force, const auto& out) {
  for (int k = 0; k < rows && c.contact && present.contact; k++)
    present.force[c.row + k] = select(theirs, force[k], T(present.force[c.row + k]));
  if (c.contact && !solver.forces) return;
  for (int k = 0; k < rows; k++) {
    auto& to = c.contact ? out.contact_force[c.output + k] : out.row_force[c.output + k];
    to = select(theirs, force[k], to);
  }
}

// Passes of Newton's method until every instance is done; how many each took.
//
// in      step   row_newton_step or coordinate_newton_step
// in-out  r (n)  a guess
// out     x (nv), f (n)  before: zero
template <class T>
FS_HD T newton_until_done(const auto& solver, const auto& problem, unsigned instances, auto&& step, ScratchArray<T> r,
                          ScratchArray<T> x, ScratchArray<T> f) {
  const int n = problem.rows.rows(), nv = solver.nv;
  const T zero(0.0);
  auto r_next = scratch<T>(n), f_next = scratch<T>(n), x_next = scratch<T>(nv);
  for (int k = 0; k < nv; k++) x[k] = zero;
  T more = select(where<T>(instances), T(1.0), zero), passes(0.0);
  for (int i = 0; i < solver.iterations && some(more); i++) {
    for (int k = 0; k < n; k++) r_next[k] = r[k];
    for (int k = 0; k < nv; k++) x_next[k] = x[k];
    const T done = step(problem, i == 0, solver.tolerance, r_next.data(), x_next.data(), f_next.data());
    const auto goes_on = zero < more;
    for (int k = 0; k < n; k++) r[k] = select(goes_on, r_next[k], r[k]), f[k] = select(goes_on, f_next[k], f[k]);
    for (int k = 0; k < nv; k++) x[k] = select(goes_on, x_next[k], x[k]);
    passes = passes + more, more = select(goes_on, T(T(1.0) - done), zero);
  }
  return passes;
}

}  // namespace featherstorm
