// The axes of bodies, and the numbering of coordinates. z is along the joint's axis; the turn about z is the one that
// makes most numbers zero.
#pragma once
#include "core/model/builder.h"

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

// Choices for the turn of a revolute joint's frame about its axis, which make numbers of the robot zero:
//   axes     the placement of the favourite child becomes a turn about x alone. Building does only this, so that frames
//            depend on the axes of the joints only
//   numbers  where the axes are parallel the child's origin is put on x; where that has no effect either, or there
//            is no child, the centre of mass is put in the plane y = 0
enum class Turns { axes, numbers };

// Turns the frames of bodies, parents first, and finds the shapes of their revolute joints. Returns the turn of each
// body (nb + 1), its new frame in the old one; the robot's named frames are not changed.
std::vector<Mat3d> turn_bodies(Model<double>& m, Turns turns);

// Sizes of a body's joint.
JointSize joint_size(const Model<double>& m, const Body<double>& b);

// Sets what follows from the parents, types and polarities of the joints, and from the shapes of revolute joints
// (turn_bodies): the other shapes, nq, nv, nx, nh, first coordinates of bodies and tables of coordinates.
void number_coordinates(Model<double>& m);

// The same robot with frames turned to zero most numbers: for maps that do not depend on the axes of bodies.
Model<double> turned(Model<double> m);

}  // namespace featherstorm
