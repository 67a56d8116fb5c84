// The acceleration under all rows that are present, by Newton's method in the space of coordinates: for instances with many rows.
#pragma once
#include "host/solver/find_rows.h"

namespace featherstorm {

// Passes of Newton's method until every instance is done: pass(a, a_next, force) -> T, above zero where another is needed.
//
// in   instances  that it is for; the others stay as they are
// in-out  a (nv)
// out  force (rows)  as the last pass of an instance leaves it
// returns how many passes each instance took
template <class T>
FS_HD T until_done(int iterations, unsigned instances, int nv, int rows, ScratchArray<T> a, ScratchArray<T> force,
                   auto&& pass) {
  const T zero(0.0);
  auto next = scratch<T>(nv), found = scratch<T>(rows + 1);
  T more = select(where<T>(instances), T(1.0), zero), passes(0.0);
  for (int i = 0; i < iterations && some(more); i++) {
    const T needed = pass(a, next.data(), found.data());
    const auto goes_on = zero < more;
    for (int k = 0; k < nv; k++) a[k] = select(goes_on, next[k], a[k]);
    for (int k = 0; k < rows; k++) force[k] = select(goes_on, found[k], force[k]);
    passes = passes + more;
    more = select(goes_on, needed, zero);
  }
  return passes;
}

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
FS_HD void hand_out_forces(const auto& solver, const PresentBlock& c, int rows, const auto& theirs, const auto& force,
                           const auto& out) {
  if (c.contact && !solver.forces) return;
  for (int k = 0; k < rows; k++) {
    auto& to = c.contact ? out.contact_force[c.output + k] : out.row_force[c.output + k];
    to = select(theirs, force[k], to);
  }
}

template <class T>
FS_HD void solve_by_coordinates(const auto& solver, const PresentRows<T>& present, unsigned instances, const auto& in,
                                const auto& out) {
  const auto& fixed = solver.constraints;
  auto blocks = scratch<PackedBlock>(present.count + 1);
  auto J = scratch<T>(present.entries + 1);
  const int most = present.rows + 1;
  auto D = scratch<T>(most), aref = scratch<T>(most), friction = scratch<T>(most), force = scratch<T>(most);
  RowPatternOf<BlockList, const int*> rows{{blocks.data()}, solver.column.data()};
  bool coupled = false;
  for (int i = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    if ((c.instances & instances) == 0) continue;
    const RowGroup& group = solver.group[solver.group_of[c.contact][c.source]];
    const int first = c.contact ? static_cast<int>(fixed.column.size()) + solver.pairs.start[c.source]
                                : fixed.block[c.source].column,
              n = c.contact ? solver.pairs.columns(c.source) : fixed.block[c.source].columns;
    const PackedBlock& at = rows.add(group.kind, group.rows, first, n);
    for (int k = 0; k < group.rows * n; k++) J[at.entry + k] = present.J[c.J + k];
    for (int k = 0; k < group.rows; k++) {
      const int row = at.first + k, from = c.row + k;
      D[row] = present.D[from], aref[row] = present.aref[from], friction[row] = present.friction[from];
    }
    coupled = coupled || (c.contact && solver.couples[c.source] != 0);
  }
  const auto& tree = solver.tree[coupled];
  auto mass = scratch<T>(tree.nh), b = scratch<T>(solver.nv), a = scratch<T>(solver.nv);
  for (int k = 0; k < tree.nh; k++) mass[k] = T(0.0);
  const int entries = static_cast<int>(solver.entry[coupled].size());
  for (int k = 0; k < entries; k++) mass[solver.entry[coupled][k]] = in.mass[k];
  for (int k = 0; k < solver.nv; k++) b[k] = in.b[k], a[k] = in.qacc[k];
  const NewtonProblem problem{tree, rows, mass.data(), b.data(), J.data(), D.data(), aref.data(), friction.data()};
  const int n = rows.rows();
  for (int i = 0; i < n; i++) force[i] = T(0.0);
  const T passes = until_done<T>(solver.iterations, instances, solver.nv, n, a.data(), force.data(),
                                 [&](const auto& x, auto next, auto found) {
                                   const NewtonOutcome<T> o = newton_step(problem, x, next, found);
                                   return T(select(T(solver.tolerance) < o.left, T(1.0) - o.exact, T(0.0)));
                                 });
  hand_out(solver, instances, a.data(), passes, out);
  if (solver.report) {
    auto next = scratch<T>(solver.nv), at_next = scratch<T>(n + 1);
    hand_out_residual(instances, T(newton_step(problem, a.data(), next.data(), at_next.data()).left), out);
  }
  for (int i = 0, row = 0; i < present.count; i++) {
    const PresentBlock& c = present.block[i];
    if ((c.instances & instances) == 0) continue;
    const int rows_of_it = solver.group[solver.group_of[c.contact][c.source]].rows;
    hand_out_forces<T>(solver, c, rows_of_it, where<T>(c.instances & instances), force.data() + row, out);
    row += rows_of_it;
  }
}

}  // namespace featherstorm
