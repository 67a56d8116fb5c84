// The dense oracle: RBDA's algorithms with 6x6 matrices, on links and joints as the user specified them.
//
// It shares no code with core/: it has its own Pluecker algebra and its own joints (dense_joint.h), treats welded
// links as separate bodies, and uses the frames of the specification. From the Robot it reads only the positions of
// coordinates (joint and body names).
#pragma once
#include <string>
#include <vector>

#include "tests/support/oracles/dense_joint.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::testing::dense {

// RBDA Table 2.2 and (2.24)-(2.34)
Matrix6 rot(const Matrix3& E);
Matrix6 xlt(const Vector3& r);
Matrix6 crm(const Vector6& v);
Matrix6 crf(const Vector6& v);
// motion transform to the frame with this pose, from the frame the pose is given in
Matrix6 transform_to(const Matrix4& T);
// RBDA (2.63)
Matrix6 inertia(double m, const Vector3& c, const Matrix3& Ic);

// One link. Its joint has no coordinates if it is welded or fixed to the world.
struct Node {
  std::string name;
  int parent = -1;  // node, -1 for the world
  JointSpec joint;
  int nv = 0, q = 0, v = 0, body = -1;  // coordinates in the model, body of f_ext
  Matrix6 I;
  double mass;
  Vector3 com;
};

// All quantities that depend on position and velocity.
struct Pose {
  std::vector<Matrix6> X;  // parent to node
  std::vector<MatrixX> S;
  std::vector<Vector6> c;  // c_J
  std::vector<Matrix4> T;  // node in the world
  std::vector<Vector6> v;  // velocity, link axes
};

class Tree {
 public:
  Tree(const RobotSpec& spec, const Robot& robot);

  Pose pose(const std::vector<double>& q, const std::vector<double>& v) const;

  // RBDA Table 5.1; with_gravity and f_ext off for columns of H
  VectorX rnea(const std::vector<double>& q, const std::vector<double>& v, const std::vector<double>& a,
               const std::vector<double>& f_ext, bool with_gravity = true) const;

  // H column by column: inverse dynamics of unit accelerations at rest without gravity. RBDA section 6.1
  MatrixX inertia_by_columns(const std::vector<double>& q) const;

  // RBDA Table 6.2
  MatrixX crba(const std::vector<double>& q) const;

  // RBDA (7.18)-(7.42), three sweeps
  VectorX aba(const std::vector<double>& q, const std::vector<double>& v, const std::vector<double>& tau,
              const std::vector<double>& f_ext) const;

  // Maximal coordinates, RBDA (3.74), world axes, gravity as a force; the constraint rows in the form of (3.44):
  //   [I + P A P^T, P T; T^T P^T, 0] [a; -lambda] = [P T_a tau - p + P A c; T^T c],  A = T_a rotor T_a^T
  VectorX maximal_coordinates(const std::vector<double>& q, const std::vector<double>& v,
                              const std::vector<double>& tau, const std::vector<double>& f_ext) const;

  double kinetic_energy(const std::vector<double>& q, const std::vector<double>& v) const;
  double potential_energy(const std::vector<double>& q) const;

  std::vector<Node> node;
  int nv;
  Vector3 gravity;
  VectorX rotor;

 private:
  static JointSpec welded();
  static VectorX part(const std::vector<double>& x, const Node& n);
  Vector6 base_acceleration(bool with_gravity) const;
  // f_ext of the body at whose frame's origin this link is, in link axes
  static Vector6 external(const Node& n, const Matrix4& T, const std::vector<double>& f_ext);
};

// The packed matrix of the model as a dense symmetric matrix.
MatrixX unpacked(const Model<double>& m, const std::vector<double>& H);

}  // namespace featherstorm::testing::dense
