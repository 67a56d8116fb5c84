// The candidates of all pairs of geoms.
#pragma once
#include "core/collision/contact_frame.h"
#include "core/world/world.h"

namespace featherstorm {

// A slot of a pair; without a contact its distance is `no_contact`.
template <class T> struct Candidate {
  ContactPoint<T> contact;
  ContactFrame<T> frame;  // e[0] is the contact's normal
};

}  // namespace featherstorm
