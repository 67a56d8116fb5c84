// Limbs of a robot, and which coordinates the rows of constraints and contacts move (LimbTables of solver_data.h).
#pragma once
#include "host/contacts/solver_data.h"

namespace featherstorm {

inline RowKind kind_of(const GeomContacts<double>& contacts, const ContactPair<double>& pair) {
  return pair.dimension == 1 ? RowKind::Unilateral : contacts.elliptic ? RowKind::Cone : RowKind::Pyramid;
}

// Set s.limbs. The rows and pairs of `s` must be set before.
template <class P> void add_limb_tables(const Model<double>& m, ContactSolver<P>& s);

}  // namespace featherstorm
