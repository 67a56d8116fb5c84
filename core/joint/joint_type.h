// The joint types, one file each in this folder, and the few shapes the algorithms distinguish.
#pragma once

namespace featherstorm {

// RBDA Table 4.1 and section 4.4. q has nq numbers, v has nv; the header of each joint states their conventions.
enum class JointType {
  Fixed,      // no freedom; merged when the model is built
  Revolute,   // about z
  Prismatic,  // along z
  Helical,    // about z, with translation pitch * q along z
  Cylindrical,
  Planar,
  Ball,     // quaternion
  BallYpr,  // yaw, pitch, roll
  BallExp,  // rotation vector
  Universal,
  RackPinion,
  Free,  // floating base
  UserDefined,
};

// The form of a joint in an algorithm's sweeps: by the sparsity of its motion subspace.
enum class JointShape {
  RevoluteTilted,  // S = e3, placement a turn about x: chains in Denavit-Hartenberg form
  Revolute,        // S = e3, any placement
  Prismatic,       // S = e6
  Free,            // S = [0 1; E 0]
  General1,        // S any 6 x n, from the joint's own file
  General2,
  General3,
  General6,
};

struct JointSize { int nq, nv; };

// Free motions of a joint: RBDA Table 9.7.
enum class JointGroup { other, turns_about_z, slides_along_z, turns_about_origin };

// Properties of a joint type other than its motion. Each structure of this folder defines them in traits();
// joint_traits (model/joints.h) returns them by type.
struct JointTraits {
  const char* name;                   // in descriptions of robots
  bool has_axis = false;              // JointSpec::axis turns z; other joints use their frame as given
  bool constant_subspace = false;     // S does not depend on q, in the axes of the body
  bool symmetric = false;             // seen from its other side it is a joint of the same type, along -z
  int quaternion = -1;                // index in q of a unit quaternion (w x y z); -1: none
  int rotation = -1;                  // index in v of an angular velocity that is not a derivative of q; -1: none
  int first_length = 0, lengths = 0;  // numbers of q that are lengths [m]; others but a quaternion's: angles [rad]
  JointGroup group = JointGroup::other;
};

}  // namespace featherstorm
