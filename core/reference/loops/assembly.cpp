#include "core/reference/loops/assembly.h"

#include <Eigen/Sparse>

#include "core/kinematics/jacobian.h"

namespace featherstorm {

namespace {
// Inverts any expression; Eigen's own function would be compiled for each type of expression.
Eigen::MatrixXd inverted(const Eigen::MatrixXd& A) { return A.inverse(); }
}  // namespace

JointSpaces joint_spaces(const Eigen::MatrixXd& S, const Vector6d& c) {
  const Eigen::MatrixXd Q = Eigen::HouseholderQR<Eigen::MatrixXd>(S).householderQ();
  return {S, Q.rightCols(6 - S.cols()), S * inverted(S.transpose() * S), c};
}
InverseHandle inverse(const Handle& h) {
  const Matrix6d Phi = h.I.inverse();
  return {Phi, -Phi * h.p};
}
Handle assemble(const Handle& h1, const Handle& h2, const JointSpaces& J, const Eigen::VectorXd& tau) {
  const Eigen::MatrixXd U = h2.I * J.S, Dinv = inverted(J.S.transpose() * U);
  const Matrix6d Ia = h2.I - U * Dinv * U.transpose();
  return {h1.I + Ia, h1.p + h2.p + Ia * J.c + U * (Dinv * (tau - J.S.transpose() * h2.p))};
}
InverseHandle assemble_inverse(const InverseHandle& h1, const InverseHandle& h2, const JointSpaces& J,
                               const Eigen::VectorXd& tau) {
  const Matrix6d W = J.T * inverted(J.T.transpose() * (h1.Phi + h2.Phi) * J.T) * J.T.transpose();
  const Vector6d f = J.Ta * tau, z = J.c + h1.b - h2.b - (h1.Phi + h2.Phi) * f;
  return {h1.Phi - h1.Phi * W * h1.Phi, h1.b - h1.Phi * f - h1.Phi * W * z};
}
Handle assemble_implicit(const Handle& h1, const Handle& h2, const JointSpaces& J, const Eigen::VectorXd& tau) {
  const Matrix6d Phi = h2.I.inverse();
  const Matrix6d W = J.T * inverted(J.T.transpose() * Phi * J.T) * J.T.transpose();
  const Vector6d f = J.Ta * tau;
  return {h1.I + W, h1.p + f + W * (J.c - Phi * (f - h2.p))};
}

namespace {

// An articulated body with several handles, (7.57).
struct ArticulatedBody {
  Eigen::MatrixXd Phi;      // (6h, 6h)
  Eigen::VectorXd b;        // (6h)
  std::vector<int> handle;  // handle of each group of six numbers
  int place(int id) const {
    for (std::size_t i = 0; i < handle.size(); i++)
      if (handle[i] == id) return 6 * static_cast<int>(i);
    return -1;
  }
};
ArticulatedBody side_by_side(const ArticulatedBody& a, const ArticulatedBody& b) {
  const Eigen::Index n = a.b.size(), m = b.b.size();
  ArticulatedBody r{Eigen::MatrixXd::Zero(n + m, n + m), Eigen::VectorXd(n + m), a.handle};
  r.Phi.topLeftCorner(n, n) = a.Phi, r.Phi.bottomRightCorner(m, m) = b.Phi;
  r.b << a.b, b.b;
  r.handle.insert(r.handle.end(), b.handle.begin(), b.handle.end());
  return r;
}

// A joint to assemble: from handle `from` of body p to handle `to` of body s; Tc = T^T c, f = T_a tau.
struct Connection {
  int from, to, p, s;
  Eigen::MatrixXd T;
  Eigen::VectorXd Tc;
  Vector6d f;
};
// Data for back-substitution: lambda = Y^+ (T^T (c + b_2 - b_3) - R^T f_rest).
struct Assembled {
  Eigen::MatrixXd Yinv, R;  // R = (Phi(:, 3) - Phi(:, 2)) T over the handles before
  Eigen::VectorXd z;
  std::vector<int> before;
};

// Consumes both handles of a joint. If they belong to two bodies laid side by side, this is (7.63); within one body it
// closes a loop. Y may then be singular (a redundant constraint), so the pseudo-inverse is used, section 7.5.
Assembled connect(ArticulatedBody& A, const Connection& j) {
  const Eigen::Index n = A.b.size();
  const int i2 = A.place(j.from), i3 = A.place(j.to);
  const Eigen::MatrixXd D = A.Phi.middleCols<6>(i3) - A.Phi.middleCols<6>(i2);
  // the active force acts on 3, its reaction on 2
  A.b += D * j.f;
  Assembled s;
  s.before = A.handle;
  s.R = D * j.T;
  const Eigen::MatrixXd Y = j.T.transpose() * (s.R.middleRows<6>(i3) - s.R.middleRows<6>(i2));
  s.Yinv = Y;
  if (Y.size() > 0) {  // a free joint has no constraint
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> orthogonal;
    orthogonal.setThreshold(1e-9);
    orthogonal.compute(Y);
    s.Yinv = orthogonal.pseudoInverse();
  }
  s.z = j.Tc - j.T.transpose() * (A.b.segment<6>(i3) - A.b.segment<6>(i2));
  // Phi^A = Phi - D W D^T,  b^A = b + D W beta; both handles are removed
  ArticulatedBody r;
  std::vector<Eigen::Index> keep;
  for (Eigen::Index k = 0; k < n; k++)
    if (k / 6 != i2 / 6 && k / 6 != i3 / 6) keep.push_back(k);
  for (std::size_t h = 0; h < A.handle.size(); h++)
    if (A.handle[h] != j.from && A.handle[h] != j.to) r.handle.push_back(A.handle[h]);
  r.Phi = (A.Phi - s.R * s.Yinv * s.R.transpose())(keep, keep);
  r.b = (A.b + s.R * (s.Yinv * s.z))(keep);
  A = r;
  return s;
}

// Bodies and joints in world coordinates, tree joints first.
struct System {
  std::vector<JointSpaces> J;  // (nb + 1)
  std::vector<Matrix6d> I;     // (nb + 1)
  std::vector<Vector6d> p;     // (nb + 1) v x* I v
  std::vector<Vector6d> a;     // (nb + 1) to be computed; a_0 = -a_g
  std::vector<Connection> joints;
  std::vector<std::vector<int>> handles;  // (nb + 1) of each body
};
System system_at(const Model<double>& m, const Loops<double>& loops, const double* q, const double* qd,
                 const double* tau) {
  const std::size_t n = m.nb + 1;
  System y;
  y.J.resize(n), y.I.resize(n), y.p.resize(n), y.a.resize(n), y.handles.resize(n);
  auto x = scratch<double>(m.nx);
  auto X = scratch<Placement<double>>(m.nb + 1);
  auto v = scratch<Motion<double>>(m.nb + 1);
  update_joints(m, q, qd, x);
  body_placements(m, x, X);
  const auto vector = [](const auto& a) -> Vector6d {
    Vector6d r;
    for (int k = 0; k < 6; k++) r(k) = component(a, k);
    return r;
  };
  // motions and forces of body i in world coordinates
  const auto to_world = [&](int i, const Motion<double>& a) { return apply_inverse(X[i], a); };
  int handle = 0;
  v[0] = zero_motion<double>();
  const auto join = [&](int p, int s, Eigen::MatrixXd T, Eigen::VectorXd Tc, Vector6d f) {
    y.handles[p].push_back(handle), y.handles[s].push_back(handle + 1);
    y.joints.push_back({handle, handle + 1, p, s, std::move(T), std::move(Tc), f});
    handle += 2;
  };
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& joint) {
      const Motion<double> vJ = zero_motion<double>() + joint.velocity(slice(qd, b.v));
      v[i] = apply(joint, v[b.parent]) + vJ;
      const Motion<double> c = zero_motion<double>() + joint.bias(slice(qd, b.v)) + cross(v[i], vJ);
      Eigen::MatrixXd axes(6, joint.nv);
      for (int k = 0; k < joint.nv; k++)
        axes.col(k) = vector(to_world(i, zero_motion<double>() + joint.velocity(UnitArray<double>{k})));
      y.J[i] = joint_spaces(axes, vector(to_world(i, c)));
    });
    assert(!b.rotor);
    const Eigen::VectorXd tau_i = Eigen::Map<const Eigen::VectorXd>(tau + b.v, y.J[i].S.cols());
    join(b.parent, i, y.J[i].T, y.J[i].T.transpose() * y.J[i].c, y.J[i].Ta * tau_i);
  }
  for (const Loop<double>& l : loops.loop) {
    // T^T (a_s - a_p) = -T^T (v_s x v_p) - T'^T (v_s - v_p), from (8.47)
    const Placement<double> XS = X[l.s] * l.X_S, P = loop_placement(m, l, x);
    const Motion<double> vs = apply(l.X_S, v[l.s]), vp = apply(P, apply(l.X_P, v[l.p]));
    const LoopJointAt<double> at = loop_joint(l, P, vs - vp);
    Eigen::MatrixXd T(6, at.n);
    Eigen::VectorXd Tc(at.n);
    for (int k = 0; k < at.n; k++) {
      T.col(k) = vector(apply_transpose(XS, at.T[k]));
      Tc(k) = -dot(cross(vs, vp), at.T[k]) - at.rate[k];
    }
    join(l.p, l.s, T, Tc, Vector6d::Zero());
  }
  y.a[0] = vector(Motion<double>{zero3<double>(), -m.gravity});
  for (int i = 1; i <= m.nb; i++) {
    const RigidBodyInertia<double> I = apply_transpose(X[i], m.body[i].I);
    for (int k = 0; k < 6; k++) {
      Motion<double> e = zero_motion<double>();
      (k < 3 ? e.w(k) : e.v(k - 3)) = 1;
      y.I[i].col(k) = vector(I * e);
    }
    const Motion<double> vi = to_world(i, v[i]);
    y.p[i] = vector(cross_dual(vi, I * vi));
  }
  return y;
}
// qdd = T_a^T (a_i - a_parent - c). RBDA section 7.4, footnote
Eigen::VectorXd accelerations(const Model<double>& m, const System& y) {
  Eigen::VectorXd qdd(m.nv);
  for (int i = 1; i <= m.nb; i++)
    qdd.segment(m.body[i].v, y.J[i].S.cols()) = y.J[i].Ta.transpose() * (y.a[i] - y.a[m.body[i].parent] - y.J[i].c);
  return qdd;
}

}  // namespace

AssemblyResult fd_assembly(const Model<double>& m, const Loops<double>& loops, const double* q, const double* qd,
                           const double* tau) {
  System y = system_at(m, loops, q, qd, tau);
  // start with single bodies, one handle per joint: Phi = I^-1 in all blocks, b = -I^-1 (v x* I v); the world cannot
  // move
  std::vector<ArticulatedBody> part(m.nb + 1);
  std::vector<int> where(2 * y.joints.size());
  for (int i = 0; i <= m.nb; i++) {
    Matrix6d Phi = Matrix6d::Zero();
    Vector6d b = y.a[0];
    if (i > 0) {
      Phi = y.I[i].inverse();
      b = -Phi * y.p[i];
    }
    const Eigen::Index h = y.handles[i].size();
    part[i] = {Phi.replicate(h, h), b.replicate(h, 1), y.handles[i]};
    for (int id : y.handles[i]) where[id] = i;
  }
  const auto merge = [&](int a, int b) {
    part[a] = side_by_side(part[a], part[b]);
    for (int& w : where)
      if (w == b) w = a;
  };
  const std::vector<Connection>& joints = y.joints;
  std::vector<Assembled> step(joints.size());
  std::vector<int> order;
  std::vector<char> done(joints.size(), 0);
  AssemblyResult r{{}, 0};
  for (bool more = true; more; r.rounds += more) {
    more = false;
    std::vector<char> busy(m.nb + 1, 0);
    for (int i = 0; i < m.nb; i++) {
      const int a = where[joints[i].from], b = where[joints[i].to];
      if (done[i] || busy[a] || busy[b]) continue;
      busy[a] = busy[b] = done[i] = 1, more = true;
      merge(a, b);
      step[i] = connect(part[a], joints[i]);
      order.push_back(i);
    }
  }
  for (std::size_t l = m.nb; l < joints.size(); l++) {
    step[l] = connect(part[where[joints[l].from]], joints[l]);
    order.push_back(static_cast<int>(l));
  }
  // back-substitution: forces at all handles of a part are known before those inside it are computed
  std::vector<Vector6d> f(where.size(), Vector6d::Zero());
  for (auto k = order.rbegin(); k != order.rend(); ++k) {
    const Connection& j = joints[*k];
    const Assembled& s = step[*k];
    Eigen::VectorXd rhs = s.z;
    for (std::size_t h = 0; h < s.before.size(); h++)
      if (s.before[h] != j.from && s.before[h] != j.to) rhs -= s.R.middleRows<6>(6 * h).transpose() * f[s.before[h]];
    f[j.to] = j.T * (s.Yinv * rhs) + j.f;
    f[j.from] = -f[j.to];
  }
  for (int i = 1; i <= m.nb; i++) {
    Vector6d force = -y.p[i];
    for (int id : y.handles[i]) force += f[id];
    y.a[i] = y.I[i].ldlt().solve(force);
  }
  r.qdd = accelerations(m, y);
  return r;
}

Eigen::VectorXd fd_whole_system(const Model<double>& m, const Loops<double>& loops, const double* q, const double* qd,
                                const double* tau) {
  System y = system_at(m, loops, q, qd, tau);
  int rows = 6 * m.nb;
  for (const Connection& j : y.joints) rows += static_cast<int>(j.T.cols());
  std::vector<Eigen::Triplet<double>> entries;
  Eigen::VectorXd b = Eigen::VectorXd::Zero(rows);
  const auto add = [&](int row, int column, const Eigen::MatrixXd& A) {
    for (int r = 0; r < A.rows(); r++)
      for (int c = 0; c < A.cols(); c++)
        if (A(r, c) != 0) entries.push_back({row + r, column + c, A(r, c)});
  };
  for (int i = 1; i <= m.nb; i++) {
    add(6 * (i - 1), 6 * (i - 1), y.I[i]);
    b.segment<6>(6 * (i - 1)) = -y.p[i];
  }
  int row = 6 * m.nb;
  for (const Connection& j : y.joints) {
    b.segment(row, j.T.cols()) = j.Tc;
    for (int side : {1, -1}) {
      const int i = side > 0 ? j.s : j.p, at = 6 * (i - 1);
      if (i == 0) {  // a_0 is known
        b.segment(row, j.T.cols()) -= side * j.T.transpose() * y.a[0];
        continue;
      }
      b.segment<6>(at) += side * j.f;
      add(at, row, side * j.T);
      add(row, at, side * j.T.transpose());
    }
    row += static_cast<int>(j.T.cols());
  }
  Eigen::SparseMatrix<double> A(rows, rows);
  A.setFromTriplets(entries.begin(), entries.end());
  Eigen::SparseQR<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> qr(A);
  const Eigen::VectorXd x = qr.solve(b);
  for (int i = 1; i <= m.nb; i++) y.a[i] = x.segment<6>(6 * (i - 1));
  return accelerations(m, y);
}

}  // namespace featherstorm
