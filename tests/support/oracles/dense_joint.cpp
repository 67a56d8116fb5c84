#include "tests/support/oracles/dense_joint.h"

namespace featherstorm::testing::dense {

namespace {

// C += s A B, element by element. Without optimisation, Eigen's code consists of many calls: with sanitizers three
// tests took 17 s of processor time with it, 12 with this.
void add_product(Matrix4& C, const Matrix4& A, const Matrix4& B, double s = 1) {
  const double *a = A.data(), *b = B.data();  // by columns
  double* c = C.data();
  for (int j = 0; j < 4; j++)
    for (int k = 0; k < 4; k++) {
      const double x = s * b[4 * j + k];
      for (int i = 0; i < 4; i++) c[4 * j + i] += a[4 * k + i] * x;
    }
}

Matrix4 product(const Matrix4& A, const Matrix4& B) {
  Matrix4 C = Matrix4::Zero();
  add_product(C, A, B);
  return C;
}

}  // namespace

Curve operator*(const Curve& a, const Curve& b) {
  Curve c{product(a.T0, b.T0), product(a.T0, b.T1), product(a.T0, b.T2)};
  add_product(c.T1, a.T1, b.T0);
  add_product(c.T2, a.T1, b.T1), add_product(c.T2, a.T2, b.T0);
  return c;
}

Curve inverse(const Curve& a) {
  Curve b;
  b.T0 = a.T0.inverse();
  b.T1 = Matrix4::Zero(), b.T2 = Matrix4::Zero();
  add_product(b.T1, product(b.T0, a.T1), b.T0, -1);  // -B0 A1 B0
  Matrix4 sum = product(a.T1, b.T1);
  add_product(sum, a.T2, b.T0);
  add_product(b.T2, b.T0, sum, -1);  // -B0 (A1 B1 + A2 B0)
  return b;
}

Matrix4 homogeneous(const Matrix3& R, const Vector3& r) {
  Matrix4 T = Matrix4::Identity();
  T.topLeftCorner<3, 3>() = R, T.topRightCorner<3, 1>() = r;
  return T;
}

Matrix3 skew(const Vector3& a) {
  return (Matrix3() << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0).finished();
}

Curve turning(const Matrix3& R, const Vector3& w) {
  const Matrix4 W = (Matrix4() << skew(w), Vector3::Zero(), 0, 0, 0, 0).finished(), T = homogeneous(R, Vector3::Zero());
  Curve c{T, product(T, W), Matrix4::Zero()};
  add_product(c.T2, c.T1, W, 0.5);
  return c;
}

Curve turn(const Vector3& axis, double q, double v) {
  return turning(Eigen::AngleAxisd(q, axis).toRotationMatrix(), axis * v);
}

Curve shift(const Vector3& p, const Vector3& u) {
  Curve c;
  c.T0 = homogeneous(Matrix3::Identity(), p);
  c.T1.topRightCorner<3, 1>() = u;
  return c;
}

Matrix3 joint_axes(const JointSpec& j) {
  switch (j.type) {
    case JointType::Fixed:
    case JointType::Ball:
    case JointType::BallYpr:
    case JointType::BallExp:
    case JointType::Free:
    case JointType::UserDefined: return Matrix3::Identity();
    case JointType::Revolute:
    case JointType::Prismatic:
    case JointType::Helical:
    case JointType::Cylindrical:
    case JointType::Planar:
    case JointType::Universal:
    case JointType::RackPinion: break;
  }
  const Vector3 u = j.axis.normalized();
  for (int k = 0; k < 3; k++)
    if ((u.cwiseAbs() - Vector3::Unit(k)).norm() < 1e-14) {
      const Vector3 z = Vector3::Unit(k) * (u(k) > 0 ? 1 : -1), x = Vector3::Unit((k + 1) % 3);
      return (Matrix3() << x, z.cross(x), z).finished();
    }
  // I + K + K^2 / (1 + u_z), where 1 + u_z = |K z|^2 / (1 - u_z) keeps its digits near -z too
  const Vector3 n = Vector3::UnitZ().cross(u);
  const Matrix3 K = skew(n);
  return Matrix3::Identity() + K + K * K * (u.z() < 0 ? (1 - u.z()) / n.squaredNorm() : 1 / (1 + u.z()));
}

Curve forward_pose(const JointSpec& j, const double* q, const double* v) {
  const Matrix3 A = joint_axes(j);
  const Vector3 x = A.col(0), y = A.col(1), z = A.col(2), X = Vector3::UnitX(), Y = Vector3::UnitY(),
                Z = Vector3::UnitZ();
  auto attitude = [](const double* p) { return Eigen::Quaterniond(p[0], p[1], p[2], p[3]).toRotationMatrix(); };
  auto vector = [](const double* p) { return Vector3(p[0], p[1], p[2]); };
  switch (j.type) {
    case JointType::Fixed: return {};
    case JointType::Revolute: return turn(z, q[0], v[0]);
    case JointType::Prismatic: return shift(z * q[0], z * v[0]);
    case JointType::Helical: return shift(z * j.parameter * q[0], z * j.parameter * v[0]) * turn(z, q[0], v[0]);
    case JointType::Cylindrical: return turn(z, q[0], v[0]) * shift(z * q[1], z * v[1]);
    case JointType::Planar: return shift(x * q[1] + y * q[2], x * v[1] + y * v[2]) * turn(z, q[0], v[0]);
    case JointType::Ball: return turning(attitude(q), vector(v));
    case JointType::BallYpr: return turn(Z, q[0], v[0]) * turn(Y, q[1], v[1]) * turn(X, q[2], v[2]);
    case JointType::BallExp: {
      const Vector3 e = vector(q);
      const double angle = e.norm();
      const Vector3 axis = angle > 0 ? Vector3(e / angle) : Z;
      return turning(Eigen::AngleAxisd(angle, axis).toRotationMatrix(), vector(v));
    }
    case JointType::Universal: return turn(z, q[0], v[0]) * turn(x, q[1], v[1]);
    case JointType::RackPinion: return shift(x * j.parameter * q[0], x * j.parameter * v[0]) * turn(z, q[0], v[0]);
    case JointType::Free: return shift(vector(q), vector(v)) * turning(attitude(q + 3), vector(v + 3));
    case JointType::UserDefined:  // both are in user_joints.h
      if (j.user.nv == 1) return shift(X * j.parameter * q[0], X * j.parameter * v[0]) * turn(Z, q[0], v[0]);
      return shift(X * q[0], X * v[0]) * turn(Y, q[1], v[1]) * shift(Z * q[2], Z * v[2]);
  }
  return {};
}

Curve pose(const JointSpec& j, const double* q, const double* v) {
  const Curve J = forward_pose(j, q, v);
  Curve fixed;
  fixed.T0 = homogeneous(j.X.R, j.X.r);
  return fixed * (j.reversed ? inverse(J) : J);
}

Vector6 vee(const Matrix4& W) { return (Vector6() << W(2, 1), W(0, 2), W(1, 0), W(0, 3), W(1, 3), W(2, 3)).finished(); }

JointMotion motion(const JointSpec& j, int nv, const double* q, const double* v) {
  const Curve T = pose(j, q, v), I = inverse(T);
  Matrix4 rate = product(I.T1, T.T1);
  add_product(rate, I.T0, T.T2, 2);
  JointMotion m{T.T0, MatrixX(6, nv), vee(rate)};
  for (int k = 0; k < nv; k++) {
    const VectorX unit = VectorX::Unit(nv, k);
    m.S.col(k) = vee(product(I.T0, pose(j, q, unit.data()).T1));  // the pose at q does not depend on velocities
  }
  return m;
}

}  // namespace featherstorm::testing::dense
