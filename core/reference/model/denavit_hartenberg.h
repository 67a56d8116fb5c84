// Chains given by Denavit-Hartenberg parameters, in the book's "modified" notation. RBDA section 4.3.
//
//   a_i  from z_{i-1} to z_i along x_{i-1}     alpha_i  from z_{i-1} to z_i about x_{i-1}
//   d_i  from x_{i-1} to x_i along z_i         theta_i  from x_{i-1} to x_i about z_i
//   X_T(i) = xlt([a_i 0 d_i]) rotx(alpha_i),   X_T(1) = xlt([a_1 0 d_1]) rotx(alpha_1) rotz(theta_0) xlt([0 0 d_0])
//
// The variable is theta for a revolute joint, d for a prismatic one, both for a cylindrical one. A helical joint
// rotates by theta and slides by pitch q. The parameter of a variable is its value at q = 0. Reference only: it
// describes a model.
#pragma once
#include "core/model/builder.h"
#include "core/spatial/rotation.h"

namespace featherstorm {

struct DhJoint {
  double a = 0, alpha = 0, d = 0, theta = 0;  // [m, rad, m, rad]
  JointType type = JointType::Revolute;       // Revolute, Prismatic, Helical or Cylindrical
  double pitch = 0;                           // [m/rad] of a helical joint
};
struct DhChain {
  double theta_0 = 0, d_0 = 0;  // the base frame has the z axis z_0
  std::vector<DhJoint> joints;
  DhJoint end;  // end effector's frame after the last link; its type is not read
};

// Placement of z_i, x_i after a and alpha, and the fixed part of d and theta.
inline Placement<double> dh_placement(const DhJoint& j) {
  const Mat3d Rx = matrix(RotationX<double>{std::cos(j.alpha), std::sin(j.alpha)});
  return {Rx * matrix(rotation_z(j.theta)), Rx * Vec3d(j.a, 0, j.d)};
}

// Adds joints "joint1".. to the links and the frame "end". The builder must have the links already. The first joint is
// on the world. A link's frame is its Denavit-Hartenberg frame. Throws ModelError for a joint of another type.
inline void add_chain(ModelBuilder& b, const DhChain& chain, const std::vector<std::string>& links) {
  if (links.size() != chain.joints.size())
    throw ModelError("chain", "",
                     std::to_string(links.size()) + " links for " + std::to_string(chain.joints.size()) + " joints");
  Placement<double> base{matrix(rotation_z(chain.theta_0)), {0, 0, chain.d_0}};
  for (std::size_t i = 0; i < links.size(); i++) {
    const DhJoint& dh = chain.joints[i];
    JointSpec j;
    j.name = "joint" + std::to_string(i + 1);
    if (dh.type != JointType::Revolute && dh.type != JointType::Prismatic && dh.type != JointType::Helical &&
        dh.type != JointType::Cylindrical)
      throw ModelError("joint", j.name, "has no Denavit-Hartenberg parameters");
    j.type = dh.type, j.parameter = dh.pitch;
    j.parent = i == 0 ? "" : links[i - 1], j.child = links[i];
    j.X = base * dh_placement(dh);
    base = identity_placement<double>();
    b.add_joint(j);
  }
  b.add_frame({"end", links.back(), dh_placement(chain.end)});
}

}  // namespace featherstorm
