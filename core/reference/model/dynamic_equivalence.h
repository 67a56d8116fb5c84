// Inertia that can move across a joint without changing the equations of motion. RBDA section 9.7, (9.30), Table 9.7.
//
//   I_D S = 0,  I_D = X_J^T I_D X_J,  S^T v x* I_D v = 0 for all q, v
//     revolute   mass on the axis z, with its moments along z: m, h_z, int z^2 dm
//     prismatic  a disembodied rotational inertia
//     spherical  a particle at the centre of rotation
//
// Reference only: it edits a model. The result may be unphysical (m may be 0 with nonzero h). Only algorithms that
// invert the inertias of single bodies are affected. regroup.h has only the revolute case, which traced kernels use.
#pragma once
#include "core/model/joints.h"

namespace featherstorm {

// Returns the I_D of Table 9.7 that leaves most zeros in the body's inertia. Zero for joints that are not in the table.
template <class P> RigidBodyInertia<P> equivalent_inertia(const Body<P>& b) {
  const P o(0.0), a = (b.I.I.xx + b.I.I.yy - b.I.I.zz) * P(0.5);
  switch (joint_traits(b.type).group) {
    case JointGroup::turns_about_z: return {b.I.m, {o, o, b.I.h.z()}, {a, o, o, a, o, o}};
    case JointGroup::slides_along_z: return {o, {o, o, o}, b.I.I};
    case JointGroup::turns_about_origin: return {b.I.m, {o, o, o}, {o, o, o, o, o, o}};
    case JointGroup::other: break;
  }
  return {o, {o, o, o}, {o, o, o, o, o, o}};
}

// Returns the model with I_D moved from every body to its parent, leaves first.
template <class P> Model<P> simplified(Model<P> m) {
  for (int i = m.nb; i >= 1; i--) {
    Body<P>&b = m.body[i], &parent = m.body[b.parent];
    const RigidBodyInertia<P> D = equivalent_inertia(b);
    b.I = {b.I.m - D.m, b.I.h - D.h, b.I.I - D.I};
    b.second_moments = second_moments(b.I.I);
    if (b.parent > 0) parent.I = parent.I + apply_transpose(b.X_T, D);
  }
  return m;
}

}  // namespace featherstorm
