#include "tests/support/oracles/dense.h"

#include <map>

namespace featherstorm::testing::dense {

Matrix6 rot(const Matrix3& E) {
  Matrix6 X = Matrix6::Zero();
  X.topLeftCorner<3, 3>() = E, X.bottomRightCorner<3, 3>() = E;
  return X;
}

Matrix6 xlt(const Vector3& r) {
  Matrix6 X = Matrix6::Identity();
  X.bottomLeftCorner<3, 3>() = -skew(r);
  return X;
}

Matrix6 crm(const Vector6& v) {
  Matrix6 C = Matrix6::Zero();
  C.topLeftCorner<3, 3>() = skew(v.head<3>()), C.bottomRightCorner<3, 3>() = skew(v.head<3>());
  C.bottomLeftCorner<3, 3>() = skew(v.tail<3>());
  return C;
}

Matrix6 crf(const Vector6& v) { return -crm(v).transpose(); }
Matrix6 transform_to(const Matrix4& T) {
  const Vector3 r = T.topRightCorner<3, 1>();
  return rot(T.topLeftCorner<3, 3>()).transpose() * xlt(r);
}

Matrix6 inertia(double m, const Vector3& c, const Matrix3& Ic) {
  const Matrix3 C = skew(c);
  return (Matrix6() << Ic + m * C * C.transpose(), m * C, m * C.transpose(), m * Matrix3::Identity()).finished();
}

Tree::Tree(const RobotSpec& spec, const Robot& robot) : nv(robot.model.nv), gravity(spec.gravity) {
  std::map<std::string, JointSpec> to;
  for (const JointSpec& j : spec.joints) to[j.child] = j;
  for (const std::string& l : spec.floating) {
    JointSpec j;
    j.type = JointType::Free, j.child = l, j.name = spec.floating.size() == 1 ? "root" : "root_" + l;
    to[l] = j;
  }
  std::map<std::string, int> index;
  while (node.size() < spec.links.size())  // parents first
    for (const LinkSpec& l : spec.links) {
      const JointSpec j = to.count(l.name) ? to[l.name] : welded();
      if (index.count(l.name) || (!j.parent.empty() && !index.count(j.parent))) continue;
      Node n;
      n.name = l.name, n.parent = j.parent.empty() ? -1 : index[j.parent], n.joint = j;
      n.mass = l.mass, n.com = l.com, n.I = inertia(l.mass, l.com, l.inertia);
      if (j.type != JointType::Fixed) {
        const Body<double>& b = robot.model.body.at(robot.joint(j.name));
        n.body = robot.joint(j.name), n.q = b.q, n.v = b.v;
        n.nv = (n.body < robot.model.nb ? robot.model.body[n.body + 1].v : nv) - b.v;
      }
      index[l.name] = static_cast<int>(node.size());
      node.push_back(n);
    }
  rotor = VectorX::Zero(nv);
  for (const Node& n : node)
    for (std::size_t k = 0; k < n.joint.armature.size(); k++) rotor(n.v + k) = n.joint.armature[k];
}

Pose Tree::pose(const std::vector<double>& q, const std::vector<double>& v) const {
  Pose p;
  for (const Node& n : node) {
    const JointMotion J = motion(n.joint, n.nv, q.data() + n.q, v.data() + n.v);
    p.X.push_back(transform_to(J.T)), p.S.push_back(J.S), p.c.push_back(J.c);
    p.T.push_back(n.parent < 0 ? J.T : Matrix4(p.T[n.parent] * J.T));
    Vector6 vi = J.S * part(v, n);
    if (n.parent >= 0) vi += p.X.back() * p.v[n.parent];
    p.v.push_back(vi);
  }
  return p;
}

VectorX Tree::rnea(const std::vector<double>& q, const std::vector<double>& v, const std::vector<double>& a,
                   const std::vector<double>& f_ext, bool with_gravity) const {
  const Pose p = pose(q, v);
  std::vector<Vector6> acc, f;
  for (std::size_t i = 0; i < node.size(); i++) {
    const Node& n = node[i];
    const Vector6 vJ = p.S[i] * part(v, n);
    Vector6 ai = n.parent < 0 ? Vector6(p.X[i] * base_acceleration(with_gravity)) : Vector6(p.X[i] * acc[n.parent]);
    ai += p.S[i] * part(a, n) + p.c[i] + crm(p.v[i]) * vJ;
    acc.push_back(ai);
    f.push_back(n.I * ai + crf(p.v[i]) * n.I * p.v[i] - external(n, p.T[i], f_ext));
  }
  VectorX tau = VectorX::Zero(nv);
  for (int i = static_cast<int>(node.size()) - 1; i >= 0; i--) {
    const Node& n = node[i];
    for (int k = 0; k < n.nv; k++) tau(n.v + k) = p.S[i].col(k).dot(f[i]) + rotor(n.v + k) * a[n.v + k];
    if (n.parent >= 0) f[n.parent] += p.X[i].transpose() * f[i];
  }
  return tau;
}

MatrixX Tree::inertia_by_columns(const std::vector<double>& q) const {
  MatrixX H(nv, nv);
  const std::vector<double> rest(nv, 0.0);
  for (int k = 0; k < nv; k++) {
    std::vector<double> a(nv, 0.0);
    a[k] = 1;
    H.col(k) = rnea(q, rest, a, {}, false);
  }
  return H;
}

MatrixX Tree::crba(const std::vector<double>& q) const {
  const Pose p = pose(q, std::vector<double>(nv, 0.0));
  std::vector<Matrix6> Ic;
  for (const Node& n : node) Ic.push_back(n.I);
  MatrixX H = MatrixX::Zero(nv, nv);
  for (int i = static_cast<int>(node.size()) - 1; i >= 0; i--) {
    if (node[i].parent >= 0) Ic[node[i].parent] += p.X[i].transpose() * Ic[i] * p.X[i];
    MatrixX F = Ic[i] * p.S[i];
    for (int j = i; j >= 0; j = node[j].parent) {
      if (j != i) H.block(node[i].v, node[j].v, node[i].nv, node[j].nv) = F.transpose() * p.S[j];
      else H.block(node[i].v, node[i].v, node[i].nv, node[i].nv) = p.S[i].transpose() * F;
      H.block(node[j].v, node[i].v, node[j].nv, node[i].nv) =
          H.block(node[i].v, node[j].v, node[i].nv, node[j].nv).transpose().eval();
      F = (p.X[j].transpose() * F).eval();
    }
  }
  H.diagonal() += rotor;
  return H;
}

VectorX Tree::aba(const std::vector<double>& q, const std::vector<double>& v, const std::vector<double>& tau,
                  const std::vector<double>& f_ext) const {
  const Pose p = pose(q, v);
  const int N = static_cast<int>(node.size());
  std::vector<Matrix6> IA(N);
  std::vector<Vector6> pA(N), c(N), a(N);
  for (int i = 0; i < N; i++) {
    c[i] = p.c[i] + crm(p.v[i]) * (p.S[i] * part(v, node[i]));
    IA[i] = node[i].I;
    pA[i] = crf(p.v[i]) * node[i].I * p.v[i] - external(node[i], p.T[i], f_ext);
  }
  auto eliminate = [&](int i) {  // D = S^T I^A S + rotor
    MatrixX D = p.S[i].transpose() * IA[i] * p.S[i];
    D.diagonal() += rotor.segment(node[i].v, node[i].nv);
    return D;
  };
  for (int i = N - 1; i >= 0; i--) {
    const Node& n = node[i];
    if (n.parent < 0) continue;
    Matrix6 Ia = IA[i];
    Vector6 pa = pA[i] + IA[i] * c[i];
    if (n.nv > 0) {
      const MatrixX U = IA[i] * p.S[i], Dinv = eliminate(i).inverse();
      Ia = IA[i] - U * Dinv * U.transpose();
      pa = pA[i] + Ia * c[i] + U * (Dinv * (part(tau, n) - p.S[i].transpose() * pA[i]));
    }
    IA[n.parent] += p.X[i].transpose() * Ia * p.X[i];
    pA[n.parent] += p.X[i].transpose() * pa;
  }
  VectorX qdd(nv);
  for (int i = 0; i < N; i++) {
    const Node& n = node[i];
    a[i] = p.X[i] * (n.parent < 0 ? base_acceleration(true) : a[n.parent]) + c[i];
    if (n.nv == 0) continue;
    const VectorX x = eliminate(i).ldlt().solve(part(tau, n) - p.S[i].transpose() * (IA[i] * a[i] + pA[i]));
    qdd.segment(n.v, n.nv) = x;
    a[i] += p.S[i] * x;
  }
  return qdd;
}

VectorX Tree::maximal_coordinates(const std::vector<double>& q, const std::vector<double>& v,
                                  const std::vector<double>& tau, const std::vector<double>& f_ext) const {
  const Pose p = pose(q, v);
  const int N = static_cast<int>(node.size());
  int constraints = 0;
  for (const Node& n : node) constraints += 6 - n.nv;
  MatrixX K = MatrixX::Zero(6 * N + constraints, 6 * N + constraints);
  VectorX rhs = VectorX::Zero(6 * N + constraints);
  std::vector<MatrixX> Ta(N);
  std::vector<Vector6> c(N);
  int row = 6 * N;
  Vector6 g = Vector6::Zero();
  g.tail<3>() = gravity;
  for (int i = 0; i < N; i++) {
    const Node& n = node[i];
    const Matrix6 to_world = transform_to(p.T[i]).inverse(), from_world = transform_to(p.T[i]);
    const MatrixX S = to_world * p.S[i];
    const Matrix6 I = from_world.transpose() * n.I * from_world;
    const Vector6 vi = to_world * p.v[i], vJ = S * part(v, n);
    c[i] = to_world * p.c[i] + crm(vi) * vJ;
    MatrixX T = MatrixX::Identity(6, 6);
    Ta[i] = MatrixX(6, n.nv);
    if (n.nv > 0) {
      const MatrixX Q = Eigen::HouseholderQR<MatrixX>(S).householderQ();
      T = Q.rightCols(6 - n.nv);
      Ta[i] = S * (S.transpose() * S).inverse();
    }
    const Matrix6 A = Ta[i] * rotor.segment(n.v, n.nv).asDiagonal() * Ta[i].transpose();
    const Vector6 active = Ta[i] * part(tau, n) + A * c[i];
    // f_i = I a + v x* I v - (external and gravity), in the world
    K.block<6, 6>(6 * i, 6 * i) += I;
    rhs.segment<6>(6 * i) += from_world.transpose() * external(n, p.T[i], f_ext) + I * g - crf(vi) * I * vi;
    for (int s : {i, n.parent}) {  // incidence: + on the body, - on its parent
      if (s < 0) continue;
      const double e = s == i ? 1 : -1;
      rhs.segment<6>(6 * s) += e * active;
      K.block(6 * s, row, 6, 6 - n.nv) += e * T;
      K.block(row, 6 * s, 6 - n.nv, 6) += e * T.transpose();
      for (int t : {i, n.parent})
        if (t >= 0) K.block<6, 6>(6 * s, 6 * t) += e * (t == i ? 1 : -1) * A;
    }
    rhs.segment(row, 6 - n.nv) = T.transpose() * c[i];
    row += 6 - n.nv;
  }
  const VectorX x = K.partialPivLu().solve(rhs);
  VectorX qdd(nv);
  for (int i = 0; i < N; i++) {
    Vector6 relative = x.segment<6>(6 * i) - c[i];
    if (node[i].parent >= 0) relative -= x.segment<6>(6 * node[i].parent);
    qdd.segment(node[i].v, node[i].nv) = Ta[i].transpose() * relative;
  }
  return qdd;
}

double Tree::kinetic_energy(const std::vector<double>& q, const std::vector<double>& v) const {
  const Pose p = pose(q, v);
  double T = 0;
  for (std::size_t i = 0; i < node.size(); i++) T += 0.5 * p.v[i].dot(node[i].I * p.v[i]);
  for (int k = 0; k < nv; k++) T += 0.5 * rotor(k) * v[k] * v[k];
  return T;
}

double Tree::potential_energy(const std::vector<double>& q) const {
  const Pose p = pose(q, std::vector<double>(nv, 0.0));
  double V = 0;
  for (std::size_t i = 0; i < node.size(); i++)
    V -= node[i].mass * gravity.dot((p.T[i] * node[i].com.homogeneous()).head<3>());
  return V;
}

JointSpec Tree::welded() {
  JointSpec j;
  j.type = JointType::Fixed;
  return j;
}

VectorX Tree::part(const std::vector<double>& x, const Node& n) {
  return Eigen::Map<const VectorX>(x.data() + n.v, n.nv);
}

Vector6 Tree::base_acceleration(bool with_gravity) const {
  Vector6 a = Vector6::Zero();
  if (with_gravity) a.tail<3>() = -gravity;
  return a;
}

Vector6 Tree::external(const Node& n, const Matrix4& T, const std::vector<double>& f_ext) {
  if (n.body < 0 || f_ext.empty()) return Vector6::Zero();
  return rot(T.topLeftCorner<3, 3>()).transpose() * Eigen::Map<const Vector6>(f_ext.data() + 6 * (n.body - 1));
}

MatrixX unpacked(const Model<double>& m, const std::vector<double>& H) {
  MatrixX A = MatrixX::Zero(m.nv, m.nv);
  for (int i = 0; i < m.nv; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j]) A(i, j) = A(j, i) = H[m.at(i, j)];
  return A;
}

}  // namespace featherstorm::testing::dense
