// The joint table: from a joint's type to its file, and to the object of its shape that sweeps over the bodies use.
//
// An algorithm keeps a few numbers for each joint in an array x of model.nx (joint_numbers below). update_joint sets
// them once per position, and with_joint reads them in every sweep and passes an object of the joint's shape:
//
//   update_joint(m, i, q, v, x);                                   // jcalc: sine and cosine, or R, r, S, c_J
//   with_joint(m, i, x, [&](const auto& J) { v[i] = apply(J, v[parent]) + J.velocity(slice(qd, b.v)); ... });
//
// Members of J:  nv; origin() r; rotate, rotate_back, rotate_inertia; velocity(v) = S v; bias(v) = c_J;
//   angular_velocity, linear_velocity, angular_acceleration, linear_acceleration (classical, for Newton-Euler sweeps);
//   project(k, f) = S_k^T f; force_of_axis(k, I) = I S_k; clear_axis, set_axis_force (articulated bodies).
#pragma once
#include <string>

#include "core/joint/ball.h"
#include "core/joint/ball_exp.h"
#include "core/joint/ball_ypr.h"
#include "core/joint/cylindrical.h"
#include "core/joint/free.h"
#include "core/joint/general.h"
#include "core/joint/helical.h"
#include "core/joint/planar.h"
#include "core/joint/prismatic.h"
#include "core/joint/rack_pinion.h"
#include "core/joint/revolute.h"
#include "core/joint/universal.h"
#include "core/model/model.h"
#include "core/scalar/is_traced.h"
#include "core/trace/remark.h"

namespace featherstorm {

// Calls f(Type{}) with the structure of the joint's file; the callers handle UserDefined and Fixed.
FS_HD void with_joint_type(JointType type, auto&& f) {
  switch (type) {
    case JointType::Revolute: return f(Revolute{});
    case JointType::Prismatic: return f(Prismatic{});
    case JointType::Helical: return f(Helical{});
    case JointType::Cylindrical: return f(Cylindrical{});
    case JointType::Planar: return f(Planar{});
    case JointType::Ball: return f(Ball{});
    case JointType::BallYpr: return f(BallYpr{});
    case JointType::BallExp: return f(BallExp{});
    case JointType::Universal: return f(Universal{});
    case JointType::RackPinion: return f(RackPinion{});
    case JointType::Free: return f(Free{});
    case JointType::Fixed:
    case JointType::UserDefined: return;
  }
}

FS_HD bool user_defined(const auto& b) { return b.type == JointType::UserDefined; }

inline JointSize joint_size(JointType type) {
  JointSize size{0, 0};
  with_joint_type(type, [&](auto joint) { size = {decltype(joint)::nq, decltype(joint)::nv}; });
  return size;
}

FS_HD JointTraits joint_traits(JointType type) {
  JointTraits traits{type == JointType::Fixed ? "fixed" : "user_defined"};
  with_joint_type(type, [&](auto joint) { traits = decltype(joint)::traits(); });
  return traits;
}

// True if S is constant in the axes of the body.
FS_HD bool constant_subspace(const auto& b) {
  const JointTraits traits = joint_traits(b.type);
  return traits.constant_subspace && (!b.reversed || traits.symmetric);
}

// Number of numbers that an algorithm keeps for a joint of this shape.
inline int joint_numbers(JointShape shape) {
  switch (shape) {
    case JointShape::RevoluteTilted:
    case JointShape::Revolute: return 2;
    case JointShape::Prismatic: return 1;
    case JointShape::Free: return 21;
    case JointShape::General1: return general_joint_numbers(1);
    case JointShape::General2: return general_joint_numbers(2);
    case JointShape::General3: return general_joint_numbers(3);
    case JointShape::General6: return general_joint_numbers(6);
  }
  return 0;
}

// jcalc of a user-defined joint, lane by lane through its double function. With absent velocities time does not
// advance.
template <class T, class M, class Q, class V>
void user_jcalc(const M& m, const Body<typename M::Number>& b, const Q& q, const V& v, UserJointAt<T>& J) {
  using Scalar = typename UserScalar<T>::type;
  const UserJoint& user = m.user[b.user];
  const auto at = user.template text<Scalar>().at;
  T t{};
  if (user.time_dependent) t = required_time<T, Q, V>(q);
  if constexpr (is_traced<T>) {
    T qi[8], vi[6];
    for (int k = 0; k < user.nq; k++) qi[k] = q[k];
    for (int k = 0; k < user.nv; k++) vi[k] = v[k];
    if (user.time_dependent) qi[user.nq] = t;
    at(lane(b.parameter, 0), qi, vi, J);
  } else {
    for (int l = 0; l < lanes<T>; l++) {
      Scalar qi[8], vi[6];
      UserJointAt<Scalar> J_l;
      for (int k = 0; k < user.nq; k++) qi[k] = lane(T(q[k]), l);
      for (int k = 0; k < user.nv; k++) vi[k] = lane(T(v[k]), l);
      if (user.time_dependent) qi[user.nq] = lane(t, l);
      at(lane(b.parameter, 0), qi, vi, J_l);
      const auto set_motion = [&](Motion<T>& m, const Motion<Scalar>& m_l) {
        for (int i = 0; i < 3; i++) set_lane(m.w(i), l, m_l.w(i)), set_lane(m.v(i), l, m_l.v(i));
      };
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) set_lane(J.X.R(i, j), l, J_l.X.R(i, j));
        set_lane(J.X.r(i), l, J_l.X.r(i));
      }
      set_motion(J.c, J_l.c);
      for (int k = 0; k < user.nv; k++) set_motion(J.S[k], J_l.S[k]);
      if (user.time_dependent) set_motion(J.sigma, J_l.sigma);
    }
  }
  if (!user.time_dependent) return;
  if constexpr (is_absent<V>) J.c = J.sigma = zero_motion<T>();
  if (b.reversed) J.sigma = -apply_inverse(J.X, J.sigma);
}

// jcalc: the joint's own placement, subspace and bias, reversed where the joint is reversed, without the fixed
// placement; q and v are those of the joint. Returns its number of freedoms.
template <class T, class M>
FS_HD int jcalc(const M& m, const Body<typename M::Number>& b, const auto& q, const auto& v, UserJointAt<T>& J) {
  int n = 0;
  with_joint_type(b.type, [&](auto joint) {
    using Joint = decltype(joint);
    J.X = Joint::template placement<T>(b, q);
    Joint::template subspace<T>(b, q, J.S);
    J.c = Joint::template bias<T>(b, q, v);
    n = Joint::nv;
  });
  if constexpr (requires { m.user; })  // a device model has no user-defined joints
    if (user_defined(b)) user_jcalc(m, b, q, v, J), n = m.user[b.user].nv;
  if (b.reversed) reverse_joint(J.X, J.S, n, J.c);
  return n;
}

template <class T, class M, class Q, class V, class S> Motion<T> drift_of(const Slice<Drifting<M, Q, V, S>>& v) {
  const M& m = v.array.m;
  const auto& b = m.body[m.dof_body[v.first]];
  if (!user_defined(b) || !m.user[b.user].time_dependent) return zero_motion<T>();
  UserJointAt<T> J;
  jcalc(m, b, slice(v.array.q, b.q), v, J);
  return J.sigma;
}

// The numbers of a general joint, fixed placement applied.
template <class T, class M>
FS_HD void update_general_joint(const M& m, const Body<typename M::Number>& b, const auto& q, const auto& v, auto& x) {
  UserJointAt<T> J;
  const int n = jcalc(m, b, q, v, J);
  store_placement(x, b.x, Placement<T>{b.X_T.R * J.X.R, b.X_T.r + b.X_T.R * J.X.r});
  for (int k = 0; k < n; k++) store_motion(x, b.x + 12 + 6 * k, J.S[k]);
  store_motion(x, b.x + 12 + 6 * n, J.c);
}

// The rotation about z by q and the fixed angle of `zero`. A traced program adds the angle to q, one operation instead
// of the product's six; quarter turns cost no operation in the product.
template <class T, class P> FS_HD RotationZ<T> turned(const T& q, const RotationZ<P>& zero) {
  if constexpr (is_traced<T>) {
    const double c = lane(zero.c, 0), s = lane(zero.s, 0);
    if (std::abs(c * s) > 0) return rotation_z(T(q + T(std::atan2(s, c))));
  }
  return rotation_z(q) * zero;
}

// jcalc of body i at (q, v): sets the joint's numbers in x. q and v are the whole arrays.
FS_HD void update_joint(const auto& m, int i, const auto& q, const auto& v, auto& x) {
  using T = ScalarOf<decltype(x)>;
  const auto& b = m.body[i];
  switch (b.shape) {
    case JointShape::RevoluteTilted:
    case JointShape::Revolute: {
      const RotationZ<T> z = turned<T>(q[b.q], b.zero);
      x[b.x] = z.c, x[b.x + 1] = z.s;
      return;
    }
    case JointShape::Prismatic: x[b.x] = q[b.q]; return;
    case JointShape::Free: {
      const Placement<T> J = Free::placement<T>(b, slice(q, b.q));
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) x[b.x + 3 * r + c] = J.R(r, c);
      store_placement(x, b.x + 9, Placement<T>{b.X_T.R * J.R, b.X_T.r + b.X_T.R * J.r});
      return;
    }
    case JointShape::General1:
    case JointShape::General2:
    case JointShape::General3:
    case JointShape::General6: return update_general_joint<T>(m, b, slice(q, b.q), slice(v, b.v), x);
  }
}

FS_HD void update_joints(const auto& m, const auto& q, const auto& v, auto& x) {
  for (int i = 1; i <= m.nb; i++) update_joint(m, i, q, v, x);
}

// The axes of linear velocities of free joints: the predecessor's, as in v, or the body's own. In the body's own axes S
// is constant, so that a matrix of S^T I S costs less; coordinates change by a rotation. Free joints with an armature
// keep the predecessor's axes, in which their armature is diagonal.
struct PredecessorAxes {};
struct BodyAxes {};
FS_HD bool turns_with_body(const auto& b) { return b.shape == JointShape::Free && !b.rotor; }

// update_joint for a sweep that reads positions alone.
template <class Axes> FS_HD void update_position(const auto& m, int i, const auto& q, auto& x) {
  using T = ScalarOf<decltype(x)>;
  update_joint(m, i, q, Zeros<T>{}, x);
  const auto& b = m.body[i];
  if constexpr (std::is_same_v<Axes, BodyAxes>)
    if (turns_with_body(b))
      for (int k = 0; k < 9; k++) x[b.x + k] = T(k % 4 == 0 ? 1.0 : 0.0);
}

// Rotates forces or velocities of joints to the body's axes, and back: the linear part of free joints without armature.
FS_HD void to_body_axes(const auto& m, const auto& q, auto y) {
  using T = ScalarOf<decltype(y)>;
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    if (!turns_with_body(b)) continue;
    const Vec3<T> u = transpose_times(matrix(quaternion_at<T>(slice(q, b.q), 3)), vector_at<T>(y, b.v));
    for (int k = 0; k < 3; k++) y[b.v + k] = u(k);
  }
}
FS_HD void from_body_axes(const auto& m, const auto& q, auto y) {
  using T = ScalarOf<decltype(y)>;
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    if (!turns_with_body(b)) continue;
    const Vec3<T> u = matrix(quaternion_at<T>(slice(q, b.q), 3)) * vector_at<T>(y, b.v);
    for (int k = 0; k < 3; k++) y[b.v + k] = u(k);
  }
}

// f(J) with the joint of body i at the position that update_joint was given.
template <class M> FS_HD void with_joint(const M& m, int i, const auto& x, auto&& f) {
  using T = ScalarOf<decltype(x)>;
  if constexpr (is_traced<T>) mark(("body " + std::to_string(i)).c_str());
  using P = typename M::Number;
  const auto& b = m.body[i];
  switch (b.shape) {
    case JointShape::RevoluteTilted: return f(RevoluteAt<T, RotationX<P>, P>{{x[b.x], x[b.x + 1]}, b.tilt, b.X_T.r});
    case JointShape::Revolute: {
      // R = rz rx, because the turn about the joint's own axis is in `zero`
      const Mat3<P>& R = b.X_T.R;
      const RotationZX<P> tilt{{R(0, 0), R(1, 0)}, {R(2, 2), R(2, 1)}};
      return f(RevoluteAt<T, RotationZX<P>, P>{{x[b.x], x[b.x + 1]}, tilt, b.X_T.r});
    }
    case JointShape::Prismatic: {
      const Vec3<P> axis{b.X_T.R(0, 2), b.X_T.R(1, 2), b.X_T.R(2, 2)};
      return f(PrismaticAt<T, P>{b.X_T.R, b.X_T.r + axis * x[b.x]});
    }
    case JointShape::Free:
      return f(FreeAt<T>{load_matrix<T>(x, b.x), load_matrix<T>(x, b.x + 9), load_vector<T>(x, b.x + 18)});
    case JointShape::General1: return f(GeneralAt<T, 1>::load(x, b.x));
    case JointShape::General2: return f(GeneralAt<T, 2>::load(x, b.x));
    case JointShape::General3: return f(GeneralAt<T, 3>::load(x, b.x));
    case JointShape::General6: return f(GeneralAt<T, 6>::load(x, b.x));
  }
}

// The transforms of transform.h across a joint.
template <class J, class T>
concept JointAt = requires(const J& j, const Vec3<T>& v) { j.rotate_back(v), j.origin(); };
template <class T, JointAt<T> J> FS_HD Motion<T> apply(const J& j, const Motion<T>& m) {
  return {j.rotate_back(m.w), j.rotate_back(m.v - cross(j.origin(), m.w))};
}
template <class T, JointAt<T> J> FS_HD Force<T> apply_transpose(const J& j, const Force<T>& f) {
  const Vec3<T> g = j.rotate(f.f);
  return {j.rotate(f.n) + cross(j.origin(), g), g};
}
template <class T, JointAt<T> J> FS_HD RigidBodyInertia<T> apply_transpose(const J& j, const RigidBodyInertia<T>& I) {
  return shift(j.origin(), j.rotate_inertia(I));
}
template <class T, JointAt<T> J>
FS_HD ArticulatedInertia<T> apply_transpose(const J& j, const ArticulatedInertia<T>& I) {
  return shift(j.origin(), j.rotate_inertia(I));
}

}  // namespace featherstorm
