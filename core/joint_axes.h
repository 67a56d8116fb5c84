// The axes that ModelBuilder gives to bodies: z along the joint's axis, and of the turns about it that are left free
// the one that makes most numbers zero.
#pragma once
#include "core/builder.h"

namespace featherstorm {

// A rotation that takes z to the unit vector `axis`, exact (zeros and ones) for coordinate axes.
Mat3d z_to(const Vec3d& axis);

// The nearest rotation, with entries that are 0 or +-1 up to rounding made exactly so.
Mat3d clean_rotation(const Mat3d& R);
// The vector with components that are zero up to rounding made exactly so.
Vec3d clean(const Vec3d& v);

// R = Rz(phi) Rx(alpha) Rz(psi), the angles as (cos, sin); exact for axis-aligned R.
struct Zxz {
  RotationZ<double> phi, psi;
  RotationX<double> alpha;
};
Zxz zxz(const Mat3d& R);

// The turn about its own axis z of the frame of a body for which little else asks: the placement of its favourite child
// becomes a turn about x alone; where the axes are parallel the child's origin comes to lie on x; where that does not
// matter either, or there is no child, the centre of mass comes to lie in the plane y = 0. More numbers are zero so.
RotationZ<double> own_turn(const Body<double>& b, const Body<double>* child);

}  // namespace featherstorm
