#include "core/assembly.h"

#include "core/jacobian.h"

namespace featherstorm {

JointSpaces joint_spaces(const Eigen::MatrixXd& S, const Vector6d& c) {
  const Eigen::MatrixXd Q = Eigen::HouseholderQR<Eigen::MatrixXd>(S).householderQ();
  return {S, Q.rightCols(6 - S.cols()), S * (S.transpose() * S).inverse(), c};
}
InverseHandle inverse(const Handle& h) {
  const Matrix6d Phi = h.I.inverse();
  return {Phi, -Phi * h.p};
}
Handle assemble(const Handle& h1, const Handle& h2, const JointSpaces& J, const Eigen::VectorXd& tau) {
  const Eigen::MatrixXd U = h2.I * J.S, Dinv = (J.S.transpose() * U).inverse();
  const Matrix6d Ia = h2.I - U * Dinv * U.transpose();
  return {h1.I + Ia, h1.p + h2.p + Ia * J.c + U * (Dinv * (tau - J.S.transpose() * h2.p))};
}
InverseHandle assemble_inverse(const InverseHandle& h1, const InverseHandle& h2, const JointSpaces& J,
                               const Eigen::VectorXd& tau) {
  const Matrix6d W = J.T * (J.T.transpose() * (h1.Phi + h2.Phi) * J.T).inverse() * J.T.transpose();
  const Vector6d f = J.Ta * tau, z = J.c + h1.b - h2.b - (h1.Phi + h2.Phi) * f;
  return {h1.Phi - h1.Phi * W * h1.Phi, h1.b - h1.Phi * f - h1.Phi * W * z};
}
Handle assemble_implicit(const Handle& h1, const Handle& h2, const JointSpaces& J, const Eigen::VectorXd& tau) {
  const Matrix6d Phi = h2.I.inverse();
  const Matrix6d W = J.T * (J.T.transpose() * Phi * J.T).inverse() * J.T.transpose();
  const Vector6d f = J.Ta * tau;
  return {h1.I + W, h1.p + f + W * (J.c - Phi * (f - h2.p))};
}

namespace {

// An articulated body with several handles, (7.57).
struct ArticulatedBody {
  Eigen::MatrixXd Phi;      // (6h, 6h)
  Eigen::VectorXd b;        // (6h)
  std::vector<int> handle;  // which handle each six belong to
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

// A joint to be assembled: from handle `from` to handle `to`; Tc = T^T c, f = T_a tau.
struct Connection {
  int from, to;
  Eigen::MatrixXd T;
  Eigen::VectorXd Tc;
  Vector6d f;
};
// What back-substitution needs: lambda = Y^+ (T^T (c + b_2 - b_3) - R^T f_rest).
struct Assembled {
  Eigen::MatrixXd Yinv, R;  // R = (Phi(:, 3) - Phi(:, 2)) T over the handles before
  Eigen::VectorXd z;
  std::vector<int> before;
};

// Consumes both handles of a joint. With them in two bodies laid side by side it is (7.63), within one body it closes a
// loop. Y may be singular there (a redundant constraint): the pseudo-inverse serves, section 7.5.
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
  // Phi^A = Phi - D W D^T,  b^A = b + D W beta; the two handles leave
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

}  // namespace

AssemblyResult fd_assembly(const Model<double>& m, const Loops<double>& loops, const double* q, const double* qd,
                           const double* tau) {
  auto x = scratch<double>(m.nx);
  auto X = scratch<Placement<double>>(m.nb + 1);
  auto v = scratch<Motion<double>>(m.nb + 1);
  for (int i = 1; i <= m.nb; i++) update_joint(m, i, q, qd, x);
  body_placements(m, x, X);
  const auto vector = [](const auto& a) -> Vector6d {
    Vector6d r;
    for (int k = 0; k < 6; k++) r(k) = component(a, k);
    return r;
  };
  // motions and forces of body i in world coordinates
  const auto to_world = [&](int i, const Motion<double>& a) { return apply_inverse(X[i], a); };
  std::vector<JointSpaces> J(m.nb + 1);
  std::vector<Connection> joints;
  std::vector<std::vector<int>> handles(m.nb + 1);
  int handle = 0;
  v[0] = zero_motion<double>();
  const auto join = [&](int p, int s, Eigen::MatrixXd T, Eigen::VectorXd Tc, Vector6d f) {
    handles[p].push_back(handle), handles[s].push_back(handle + 1);
    joints.push_back({handle, handle + 1, std::move(T), std::move(Tc), f});
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
      J[i] = joint_spaces(axes, vector(to_world(i, c)));
    });
    assert(!b.rotor);
    const Eigen::VectorXd tau_i = Eigen::Map<const Eigen::VectorXd>(tau + b.v, J[i].S.cols());
    join(b.parent, i, J[i].T, J[i].T.transpose() * J[i].c, J[i].Ta * tau_i);
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
  const auto inertia = [&](int i) {
    const RigidBodyInertia<double> I = apply_transpose(X[i], m.body[i].I);
    Matrix6d M;
    for (int k = 0; k < 6; k++) {
      Motion<double> e = zero_motion<double>();
      (k < 3 ? e.w(k) : e.v(k - 3)) = 1;
      M.col(k) = vector(I * e);
    }
    return M;
  };
  const auto bias_force = [&](int i) {
    const Motion<double> vi = to_world(i, v[i]);
    return vector(cross_dual(vi, apply_transpose(X[i], m.body[i].I) * vi));
  };
  // every body alone, one handle a joint: Phi = I^-1 in all its blocks, b = -I^-1 (v x* I v); the world cannot be moved
  std::vector<ArticulatedBody> part(m.nb + 1);
  std::vector<int> where(handle);
  for (int i = 0; i <= m.nb; i++) {
    Matrix6d Phi = Matrix6d::Zero();
    Vector6d b = vector(Motion<double>{zero3<double>(), -m.gravity});
    if (i > 0) {
      Phi = inertia(i).inverse();
      b = -Phi * bias_force(i);
    }
    const Eigen::Index h = handles[i].size();
    part[i] = {Phi.replicate(h, h), b.replicate(h, 1), handles[i]};
    for (int id : handles[i]) where[id] = i;
  }
  const auto merge = [&](int a, int b) {
    part[a] = side_by_side(part[a], part[b]);
    for (int& w : where)
      if (w == b) w = a;
  };
  std::vector<Assembled> step(joints.size());
  std::vector<int> order;
  std::vector<char> done(joints.size(), 0);
  AssemblyResult r{Eigen::VectorXd(m.nv), 0};
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
  // back: forces at all handles of a part are known when those inside it are asked for
  std::vector<Vector6d> f(handle, Vector6d::Zero());
  for (auto k = order.rbegin(); k != order.rend(); ++k) {
    const Connection& j = joints[*k];
    const Assembled& s = step[*k];
    Eigen::VectorXd rhs = s.z;
    for (std::size_t h = 0; h < s.before.size(); h++)
      if (s.before[h] != j.from && s.before[h] != j.to) rhs -= s.R.middleRows<6>(6 * h).transpose() * f[s.before[h]];
    f[j.to] = j.T * (s.Yinv * rhs) + j.f;
    f[j.from] = -f[j.to];
  }
  // a of each body, qdd = T_a^T (a_i - a_parent - c)
  std::vector<Vector6d> a(m.nb + 1);
  a[0] = vector(Motion<double>{zero3<double>(), -m.gravity});
  for (int i = 1; i <= m.nb; i++) {
    Vector6d force = -bias_force(i);
    for (int id : handles[i]) force += f[id];
    a[i] = inertia(i).ldlt().solve(force);
    r.qdd.segment(m.body[i].v, J[i].S.cols()) = J[i].Ta.transpose() * (a[i] - a[m.body[i].parent] - J[i].c);
  }
  return r;
}

}  // namespace featherstorm
