// Inverse dynamics of planar mechanisms with planar vectors, three numbers each. RBDA section 2.16, Table 5.1.
//
// The same map as rnea.h, for robots whose revolute axes are along the world's z and whose slides lie in the x-y plane.
// Reference only: in traced kernels of such robots, the zeros of the spatial algorithm fold away by themselves.
#pragma once
#include "core/kinematics/kinematics.h"
#include "core/model/builder.h"
#include "core/model/joints.h"
#include "core/reference/spatial/planar.h"

namespace featherstorm {

// A planar tree; all body frames are parallel to the world's at q = 0.
struct PlanarBody {
  int parent = 0;
  bool turns = true;      // true: revolute, false: prismatic
  double sign = 1;        // sign of a revolute joint's axis along z
  double dx = 1, dy = 0;  // direction of a slide, world axes at q = 0
  double x = 0, y = 0;    // origin in the parent at q = 0 [m]
  PlanarInertia<double> I{};
};
struct PlanarModel {
  std::vector<PlanarBody> body;  // (nb + 1)
  double gx = 0, gy = 0;         // gravity [m/s^2]
};

// Throws ModelError if a joint moves its body out of the plane.
inline PlanarModel planar_model(const Robot& robot) {
  const Model<double>& m = robot.model;
  const std::vector<double> q(m.nq, 0.0);
  Scratch<double> x(m.nx);
  Scratch<Placement<double>> X(m.nb + 1);
  update_joints(m, q.data(), Zeros<double>{}, x);
  body_placements(m, x, X);
  PlanarModel p{{PlanarBody{}}, m.gravity.x(), m.gravity.y()};
  for (int i = 1; i <= m.nb; i++) {
    const Body<double>& b = m.body[i];
    const Vec3d axis{X[i].R(0, 2), X[i].R(1, 2), X[i].R(2, 2)};
    PlanarBody r;
    r.parent = b.parent, r.turns = joint_traits(b.type).group == JointGroup::turns_about_z;
    r.sign = axis.z(), r.dx = axis.x(), r.dy = axis.y();
    const bool planar_joint =
        r.turns ? std::abs(std::abs(axis.z()) - 1) < 1e-9
                : joint_traits(b.type).group == JointGroup::slides_along_z && std::abs(axis.z()) < 1e-9;
    if (!planar_joint || b.reversed) throw ModelError("joint", robot.joint_names[i - 1], "does not move in the plane");
    r.x = X[i].r.x() - X[b.parent].r.x(), r.y = X[i].r.y() - X[b.parent].r.y();
    r.I = planar(rotate(X[i].R, b.I));
    p.body.push_back(r);
  }
  return p;
}

// Computes tau.
//
// in   q, qd, qdd (nb)
// out  tau (nb)  [N m | N] without armature
template <class T> void planar_rnea(const PlanarModel& m, const T* q, const T* qd, const T* qdd, T* tau) {
  const int nb = static_cast<int>(m.body.size()) - 1;
  auto X = scratch<PlanarPlacement<T>>(nb + 1);
  auto v = scratch<PlanarMotion<T>>(nb + 1);
  auto a = scratch<PlanarMotion<T>>(nb + 1);
  auto f = scratch<PlanarForce<T>>(nb + 1);
  const T o(0.0);
  // v_0 = 0, a_0 = -a_g
  v[0] = {o, o, o}, a[0] = {o, T(-m.gx), T(-m.gy)}, f[0] = {o, o, o};
  const auto S = [&](const PlanarBody& b, const T& s) -> PlanarMotion<T> {
    return b.turns ? PlanarMotion<T>{s * b.sign, o, o} : PlanarMotion<T>{o, s * b.dx, s * b.dy};
  };
  for (int i = 1; i <= nb; i++) {
    const PlanarBody& b = m.body[i];
    const PlanarMotion<T> d = S(b, q[i - 1]), vJ = S(b, qd[i - 1]);
    X[i] = {rotation_z<T>(d.w), d.x + T(b.x), d.y + T(b.y)};
    // v = X v_p + S qd,  a = X a_p + S qdd + v x S qd,  f = I a + v x* I v
    v[i] = apply(X[i], v[b.parent]) + vJ;
    a[i] = apply(X[i], a[b.parent]) + S(b, qdd[i - 1]) + cross(v[i], vJ);
    const PlanarInertia<T> I{T(b.I.m), T(b.I.hx), T(b.I.hy), T(b.I.I)};
    f[i] = I * a[i] + cross_dual(v[i], I * v[i]);
  }
  for (int i = nb; i >= 1; i--) {
    const PlanarBody& b = m.body[i];
    tau[i - 1] = dot(S(b, T(1.0)), f[i]);
    f[b.parent] = f[b.parent] + apply_transpose(X[i], f[i]);
  }
}

}  // namespace featherstorm
