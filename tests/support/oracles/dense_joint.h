// Joints for the dense oracle, defined only by the pose of the child's joint frame as a product of elementary motions.
//
// A pose is followed along the motion of constant velocity coordinates as a Taylor polynomial of degree 2 in time,
// T(t) = T0 + T1 t + T2 t^2 (4x4 homogeneous matrices). Velocity, motion subspace and bias follow from T^-1 dT/dt, so
// the code contains no S and no c_J. Exact up to rounding.
#pragma once
#include <Eigen/Dense>

#include "core/model/builder.h"

namespace featherstorm::testing::dense {

using Vector3 = Eigen::Vector3d;
using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix3 = Eigen::Matrix3d;
using Matrix4 = Eigen::Matrix4d;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
using MatrixX = Eigen::MatrixXd;
using VectorX = Eigen::VectorXd;

struct Curve { Matrix4 T0 = Matrix4::Identity(), T1 = Matrix4::Zero(), T2 = Matrix4::Zero(); };
Curve operator*(const Curve& a, const Curve& b);
Curve inverse(const Curve& a);
Matrix4 homogeneous(const Matrix3& R, const Vector3& r);
Matrix3 skew(const Vector3& a);
// R exp(w t)
Curve turning(const Matrix3& R, const Vector3& w);
// rotation by q + v t about a unit axis
Curve turn(const Vector3& axis, double q, double v);
// translation by p + u t
Curve shift(const Vector3& p, const Vector3& u);

// The axes x y z of a joint in its joint frame. z is the given axis. x and y matter for planar, universal and
// rack-and-pinion joints: cyclic for coordinate axes, otherwise those of the shortest rotation that moves z there.
Matrix3 joint_axes(const JointSpec& j);

// The child's joint frame in the parent's, for a joint that runs forwards, at position q and velocity v.
Curve forward_pose(const JointSpec& j, const double* q, const double* v);

// The child link's frame in the parent link's.
Curve pose(const JointSpec& j, const double* q, const double* v);

// Velocity of the child relative to the parent in the child's axes, (angular; linear), and its derivative in these
// axes.
Vector6 vee(const Matrix4& W);
struct JointMotion {
  Matrix4 T;  // pose of the child in the parent
  MatrixX S;  // (6, nv)
  Vector6 c;  // S-ring v
};
JointMotion motion(const JointSpec& j, int nv, const double* q, const double* v);

}  // namespace featherstorm::testing::dense
