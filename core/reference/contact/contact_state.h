// States of an inequality constraint phi(q) >= 0, and the closed form of a single contact. RBDA Figure 11.4, (11.10).
//
//   1   phi > 0                   apart: no effect
//   2a  phi = 0 and phid < 0      collision: lasts an instant, an impulse follows
//   2b  phi = 0 and phid > 0      separation: lasts an instant, like 1
//   3   phi = 0 and phid = 0      contact: phidd >= 0, maintained by a force if needed
#pragma once
#include "core/scalar/scalar.h"

namespace featherstorm {

enum ContactState { Apart = 1, Parting = 2, Colliding = 3, Touching = 4 };

// Returns the number of a ContactState as a scalar, because instances differ.
//
// in  phi [m], zeta [m/s]  gap and its rate; a penetration counts as phi = 0
// in  at_rest [m], slow [m/s]  values below these count as zero
template <class T, class S> FS_HD T contact_state(const T& phi, const T& zeta, const S& at_rest, const S& slow) {
  const T moving = select(zeta < T(-slow), T(double(Colliding)), T(double(Parting)));
  return select(T(at_rest) < phi, T(double(Apart)), select(abs(zeta) <= T(slow), T(double(Touching)), moving));
}
// Returns 1 in state 3, else 0: input of fd_contacts. margin as in contact_kinematics.h.
template <class T, class S>
FS_HD T is_touching(const T& phi, const T& margin, const T& zeta, const S& at_rest, const S& slow) {
  const T zero(0.0), one(1.0);
  return select(phi <= T(at_rest), select(abs(zeta) <= T(slow), select(zero <= margin, one, zero), zero), zero);
}

// Force of a single contact: zetad = M lambda + d, lambda = max(0, -d / M).
// in  M [1/kg] > 0, d [m/s^2]
template <class T> FS_HD T single_contact(const T& M, const T& d) { return max(-(d * rcp(M)), T(0.0)); }

}  // namespace featherstorm
