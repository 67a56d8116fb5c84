// Inverse inertia of bodies and joints at q0, from which MuJoCo computes the softness of constraints.
#pragma once

#include <vector>

#include "core/model/builder.h"

namespace featherstorm {

class InverseInertia {
 public:
  // Throws Error if the inertia matrix at q0 is not positive definite.
  explicit InverseInertia(const Robot& robot);

  // The mean of the diagonal of J M^-1 J^T over three directions of translation, and over three of rotation, for J at
  // a point of a body: [1/kg], [1/(kg m^2)]. MuJoCo's body_invweight0.
  struct OfBody { double translation, rotation; };
  OfBody of_body(int body, const Vec3d& point) const;  // in the axes of the body [m]

  // The mean of the diagonal of M^-1 over coordinates v .. v + n. MuJoCo's dof_invweight0.
  double of_coordinates(int v, int n) const;
  // The length of column v of M^-1. MuJoCo's actuator_acc0 of a motor at a joint.
  double acceleration(int v) const;
  // The placement of a body in the world at q0.
  const Placement<double>& placement(int body) const { return X_[static_cast<std::size_t>(body)]; }

 private:
  double square(std::vector<double> row) const;  // row M^-1 row^T

  const Model<double>& m_;
  std::vector<double> x_, factor_;
  std::vector<Placement<double>> X_;
};

}  // namespace featherstorm
