// Forces of contacts on the two geoms that touch, world axes, from what the solver finds [mj_contactForce].
//
//   f = sum over k < 3 of lambda_k e_k,   n = sum over k >= 3 of lambda_k e_(k - 3)
//
// act on the second geom at the contact's point; -f and -n act on the first.
#pragma once
#include "core/collision/candidates.h"

namespace featherstorm {

template <class T> struct ContactWrench {
  Vec3<T> point, force, torque;  // on the second geom [m], [N], [N m]
  Vec3<T> normal;                // from the first geom to the second
  T pressure;                    // the force along the normal [N]
  int geom[2];
};

// in   contacts  of the world
// in   found (slots)   where the geoms touch (contact_candidates)
// in   lambda (rows_of(contacts))  forces along the axes of each slot, zero where nothing touches [contact_force]
// visit(ContactWrench) for every slot
template <class T> FS_HD void for_each_contact(const auto& contacts, const Candidate<T>* found, const auto& lambda,
                                               auto&& visit) {
  int slot = 0, row = 0;
  for (const auto& pair : contacts.pair)
    for (int k = 0; k < pair.slots; k++, slot++, row += pair.dimension) {
      const Candidate<T>& c = found[slot];
      ContactWrench<T> w{c.contact.point, zero3<T>(),     zero3<T>(),
                         c.frame.e[0],    T(lambda[row]), {pair.geom[0], pair.geom[1]}};
      for (int i = 0; i < pair.dimension; i++) {
        Vec3<T>& along = i < 3 ? w.force : w.torque;
        along = along + c.frame.e[i % 3] * T(lambda[row + i]);
      }
      visit(w);
    }
}

}  // namespace featherstorm
