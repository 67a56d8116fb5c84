// Store results of the solver.
#pragma once
#include "core/limbs/limb_newton.h"
#include "host/contacts/find_rows.h"

namespace featherstorm {

// Store the acceleration and the iteration counts of some instances.
template <class T>
FS_HD void store_results(const auto& solver, unsigned instances, const auto& a, const NewtonCounts<T>& counts,
                         const auto& out) {
  const auto theirs = where<T>(instances);
  for (int k = 0; k < solver.nv; k++) out.qacc[k] = select(theirs, a[k], out.qacc[k]);
  out.passes[0] = select(theirs, counts.passes, out.passes[0]);
  out.searches[0] = select(theirs, counts.searches, out.searches[0]);
}
template <class T> FS_HD void store_residual(unsigned instances, const T& residual, const auto& out) {
  out.residual[0] = select(where<T>(instances), residual, out.residual[0]);
}
// Store the forces of a block in some instances.
template <class T>
FS_HD void store_forces(const auto& solver, const PresentRows<T>& present, const PresentBlock& c, int rows,
                        const auto& theirs, const auto& force, const auto& out) {
  for (int k = 0; k < rows && c.contact && present.contact; k++)
    present.force[c.row + k] = select(theirs, force[k], T(present.force[c.row + k]));
  if (c.contact && !solver.forces) return;
  for (int k = 0; k < rows; k++) {
    auto& to = c.contact ? out.contact_force[c.output + k] : out.row_force[c.output + k];
    to = select(theirs, force[k], to);
  }
}

}  // namespace featherstorm
