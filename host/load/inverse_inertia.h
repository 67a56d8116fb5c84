// Inverse inertia of bodies and joints at q0, from which MuJoCo computes the softness of constraints.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/model/builder.h"

namespace featherstorm {

// The inverse of the operational-space inertia of each body, by recursion over articulated bodies, RBDA section 7.1:
// M and its inverse are never formed.
class InverseInertia {
 public:
  // Throws Error if the inertia matrix at q0 is not positive definite. Cost O(nb).
  explicit InverseInertia(const Robot& robot);

  // The mean of the diagonal of J M^-1 J^T over three directions of translation, and over three of rotation, for J at
  // a point of a body: [1/kg], [1/(kg m^2)]. MuJoCo's body_invweight0.
  struct OfBody { double translation, rotation; };
  OfBody of_body(int body, const Vec3d& point) const;  // in the axes of the body [m]

  // The mean of the diagonal of M^-1 over coordinates v .. v + n of one joint. MuJoCo's dof_invweight0.
  double of_coordinates(int v, int n) const;
  // The length of column v of M^-1. MuJoCo's actuator_acc0 of a motor at a joint.
  double acceleration(int v) const;
  // The placement of a body in the world at q0.
  const Placement<double>& placement(int body) const { return X_[static_cast<std::size_t>(body)]; }

 private:
  // Spatial motions are (angular, linear), forces (moment, force).
  using Matrix6 = Eigen::Matrix<double, 6, 6>;
  using Columns = Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, 6>;
  using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;
  struct Body {
    Matrix6 X;       // motions of the parent, in the axes of the body
    Columns S, G;    // axes of the joint;  G = I^A S D^-1
    Square inverse;  // of D = S^T I^A S + armature
    Matrix6 Omega;   // acceleration of the body by a force on it
    // Sums of squares of accelerations of coordinates:
    Matrix6 beyond;  // a^T beyond a: of the joints beyond the body, if it is accelerated by a
    Matrix6 before;  // f^T before f: of all others but the joint, if force f is transmitted by the joint to the parent
  };
  const Body& joint_of(int v) const {
    return body_[static_cast<std::size_t>(m_.dof_body[static_cast<std::size_t>(v)])];
  }
  Square block(const Body& b) const;  // of M^-1, of the coordinates of the joint

  const Model<double>& m_;
  std::vector<Placement<double>> X_;
  std::vector<Body> body_;
};

}  // namespace featherstorm
