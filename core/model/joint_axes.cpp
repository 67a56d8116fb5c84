#include "core/model/joint_axes.h"

#include <Eigen/Geometry>
#include <cmath>

#include "core/model/joints.h"

namespace featherstorm {
namespace {

constexpr double rounding = 5e-15;  // largest error of a zero in products of a few rotations

// The turn about z that puts (x, y) on the x axis; identity where it is zero or on an axis already.
RotationZ<double> turn_to(double x, double y) {
  const double r = std::hypot(x, y);
  if (r < 1e-9 || std::abs(x) < 1e-9 * r || std::abs(y) < 1e-9 * r) return {1, 0};
  return {x / r, y / r};
}

// The turn of a body's frame about its axis that zeroes most of its numbers.
RotationZ<double> own_turn(const Body<double>& b, const Body<double>* child, Turns turns) {
  if (child) {
    const Mat3d& R = child->X_T.R;
    const Vec3d& r = child->X_T.r;
    if (std::hypot(R(0, 2), R(1, 2)) >= rounding) return zxz(R).phi;
    if (turns == Turns::numbers && std::hypot(r.x(), r.y()) > 1e-9) return turn_to(r.x(), r.y());
  }
  return turns == Turns::numbers ? turn_to(b.I.h.x(), b.I.h.y()) : RotationZ<double>{1, 0};
}

// The favourite child of each body: the one with the most descendants; a prismatic one only if none is revolute; 0
// without children.
std::vector<int> favourite_children(const Model<double>& m, const std::vector<int>& subtree_size) {
  std::vector<int> favourite(m.nb + 1, 0);
  for (const JointType type : {JointType::Revolute, JointType::Prismatic}) {
    const std::vector<int> before = favourite;
    for (int i = 1; i <= m.nb; i++) {
      const Body<double>& b = m.body[i];
      if (b.type != type || b.reversed || before[b.parent] > 0) continue;
      int& f = favourite[b.parent];
      if (f == 0 || subtree_size[i] > subtree_size[f]) f = i;
    }
  }
  return favourite;
}

void turn_inertia(Body<double>& b, const Mat3d& turn) {
  b.I = rotate(Mat3d(turn.transpose()), b.I);
  b.I.h = clean(b.I.h);
}

// The shape of a joint that is reversed or not revolute (turn_bodies has the others).
JointShape shape_of(JointType type, int nv, bool reversed) {
  if (!reversed) {
    if (type == JointType::Prismatic) return JointShape::Prismatic;
    if (type == JointType::Free) return JointShape::Free;
  }
  switch (nv) {
    case 1: return JointShape::General1;
    case 2: return JointShape::General2;
    case 3: return JointShape::General3;
    default: return JointShape::General6;
  }
}

}  // namespace

Mat3d z_to(const Vec3d& axis) {
  for (int k = 0; k < 3; k++)
    for (double sign : {1.0, -1.0}) {
      Vec3d e = Vec3d::Zero();
      e(k) = sign;
      if ((axis - e).norm() > 1e-14) continue;
      Mat3d R = Mat3d::Zero();  // columns x', y', z'
      R(k, 2) = sign;
      R((k + 1) % 3, 0) = 1;
      R((k + 2) % 3, 1) = sign;
      return R;
    }
  // The shortest turn, Rz(phi) Ry(theta) Rz(-phi) with phi the direction of the axis in the plane.
  // (1 - c) / s^2 = 1 / (1 + c): the right side keeps its digits near z, the left side near -z.
  const double x = axis.x(), y = axis.y(), c = axis.z();
  const double k = c < 0 ? (1 - c) / (x * x + y * y) : 1 / (1 + c);
  Mat3d R;
  R << 1 - k * x * x, -k * x * y, x, -k * x * y, 1 - k * y * y, y, -x, -y, c;
  return R;
}

Mat3d clean_rotation(const Mat3d& R) {
  Eigen::Quaterniond p(R);
  Mat3d C = p.normalized().toRotationMatrix();
  for (int i = 0; i < 9; i++)
    for (double e : {-1.0, 0.0, 1.0})
      if (std::abs(C(i) - e) < rounding) C(i) = e;
  return C;
}

Zxz zxz(const Mat3d& R) {
  Zxz a;
  const double s = std::hypot(R(0, 2), R(1, 2));
  if (s < rounding) {  // axes parallel or opposite: alpha = 0 or pi
    a.alpha = {R(2, 2) > 0 ? 1.0 : -1.0, 0};
    a.phi = {1, 0};
    a.psi = {R(0, 0), -R(0, 1)};
    return a;
  }
  a.alpha = {R(2, 2), s};
  a.phi = {-R(1, 2) / s, R(0, 2) / s};
  // of the two solutions (phi, alpha), (phi + pi, -alpha) take the one that turns the parent least
  if (a.phi.c < -1e-12 || (std::abs(a.phi.c) <= 1e-12 && a.phi.s < 0)) a.phi = {-a.phi.c, -a.phi.s}, a.alpha.s = -s;
  // On axes that are almost parallel phi has few digits, so psi is computed from the remainder, the first row of
  // Rz(-phi) R.
  const double c = a.phi.c * R(0, 0) + a.phi.s * R(1, 0), d = a.phi.c * R(0, 1) + a.phi.s * R(1, 1);
  a.psi = {c / std::hypot(c, d), -d / std::hypot(c, d)};
  return a;
}

Vec3d clean(const Vec3d& v) {
  const double least = 1e-14 * v.norm();
  return {std::abs(v.x()) < least ? 0 : v.x(), std::abs(v.y()) < least ? 0 : v.y(),
          std::abs(v.z()) < least ? 0 : v.z()};
}

std::vector<Mat3d> turn_bodies(Model<double>& m, Turns turns) {
  std::vector<int> subtree_size(m.nb + 1, 1);
  for (int i = m.nb; i >= 1; i--) subtree_size[m.body[i].parent] += subtree_size[i];
  const std::vector<int> favourite = favourite_children(m, subtree_size);
  std::vector<Mat3d> turn(m.nb + 1, Mat3d::Identity());
  for (int i = 1; i <= m.nb; i++) {
    Body<double>& b = m.body[i];
    const Mat3d& parent = turn[b.parent];  // turned already
    b.X_T = {clean_rotation(parent.transpose() * b.X_T.R), clean(parent.transpose() * b.X_T.r)};
    if (b.type == JointType::Revolute && !b.reversed) {
      const Zxz a = zxz(b.X_T.R);
      const bool tilted = std::abs(a.phi.s) < rounding && a.phi.c > 0;
      b.shape = tilted ? JointShape::RevoluteTilted : JointShape::Revolute;
      if (tilted) b.tilt = a.alpha;
      b.zero = a.psi * b.zero;
      b.X_T.R = clean_rotation(matrix(a.phi) * matrix(a.alpha));
      const RotationZ<double> own = own_turn(b, favourite[i] > 0 ? &m.body[favourite[i]] : nullptr, turns);
      turn[i] = clean_rotation(matrix(own));
      b.zero = own * b.zero;
      turn_inertia(b, turn[i]);
      for (double* x : {&b.tilt.c, &b.tilt.s, &b.zero.c, &b.zero.s})
        for (double e : {-1.0, 0.0, 1.0})
          if (std::abs(*x - e) < rounding) *x = e;
      if (tilted) b.X_T.R = matrix(b.tilt);
    } else if (b.type == JointType::Prismatic && !b.reversed && subtree_size[i] == 1) {
      // the turn about a slider's axis is free: use the turn of the parent's frame
      const RotationZ<double> psi = zxz(b.X_T.R).psi;
      turn[i] = matrix(RotationZ<double>{psi.c, -psi.s});
      b.X_T.R = clean_rotation(b.X_T.R * turn[i]);
      turn_inertia(b, turn[i]);
    }
  }
  return turn;
}

JointSize joint_size(const Model<double>& m, const Body<double>& b) {
  if (b.type != JointType::UserDefined) return joint_size(b.type);
  return {m.user[b.user].nq, m.user[b.user].nv};
}

void number_coordinates(Model<double>& m) {
  m.nq = m.nv = m.nx = m.nh = 0;
  for (auto* table : {&m.dof_q, &m.dof_body, &m.dof_parent, &m.depth, &m.row_start, &m.column}) table->clear();
  for (int i = 1; i <= m.nb; i++) {
    Body<double>& b = m.body[i];
    const JointSize size = joint_size(m, b);
    const bool plain = b.type == JointType::UserDefined ? size.nq == size.nv : joint_traits(b.type).rotation < 0;
    if (b.type != JointType::Revolute || b.reversed) b.shape = shape_of(b.type, size.nv, b.reversed);
    b.q = m.nq, b.v = m.nv, b.x = m.nx;
    m.nq += size.nq, m.nv += size.nv, m.nx += joint_numbers(b.shape);
    for (int k = 0; k < size.nv; k++) {
      m.dof_q.push_back(plain ? b.q + k : -1);
      m.dof_body.push_back(i);
      m.dof_parent.push_back(b.v + k - 1);
    }
  }
  // expanded parent array, RBDA Table 6.4: the parent of a joint's first coordinate is the last of the parent's joint
  std::vector<int> last(m.nb + 1, -1);
  for (int d = 0; d < m.nv; d++) last[m.dof_body[d]] = d;
  for (int d = 0; d < m.nv; d++) {
    const Body<double>& b = m.body[m.dof_body[d]];
    if (d == b.v) m.dof_parent[d] = last[b.parent];
    m.depth.push_back(m.dof_parent[d] < 0 ? 0 : m.depth[m.dof_parent[d]] + 1);
    m.row_start.push_back(m.nh);
    m.nh += m.depth[d] + 1;
    m.column.resize(m.nh);
    for (int j = d; j >= 0; j = m.dof_parent[j]) m.column[m.at(d, j)] = j;
  }
  m.row_start.push_back(m.nh);
}

Model<double> turned(Model<double> m) {
  const std::vector<Mat3d> turn = turn_bodies(m, Turns::numbers);
  for (Body<double>& b : m.body) b.second_moments = second_moments(b.I.I);
  for (Frame<double>& f : m.frame) f.X = Placement<double>{turn[f.body].transpose(), Vec3d::Zero()} * f.X;
  return m;
}

}  // namespace featherstorm
