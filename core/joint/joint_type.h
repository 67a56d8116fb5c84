// The joint types, one file each in this folder, and the few shapes the algorithms distinguish.
#pragma once

namespace featherstorm {

// RBDA Table 4.1 and section 4.4. q has nq numbers, v has nv; conventions of each stand at the head of its file.
enum class JointType {
  Fixed,      // no freedom; merged when the model is built
  Revolute,   // about z
  Prismatic,  // along z
  Helical,    // about z, with translation pitch * q along z
  Cylindrical,
  Planar,
  Ball,          // quaternion
  BallYpr,       // yaw, pitch, roll
  BallExp,       // rotation vector
  Universal,
  RackPinion,
  Free,          // floating base
  UserDefined,
};

// How the passes of an algorithm see a joint: by the sparsity of its motion subspace.
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

struct JointSize {
  int nq, nv;
};

}  // namespace featherstorm
