// The constraints of loop joints: position error delta and force subspace T. RBDA section 8.3, Table 8.1; 8.7.
//
// X places the successor frame in the predecessor frame: E = R^T, X_ij of the table are the components e_i(j) of the
// successor's axes (columns of R) and, for i > 3, (r × e_i)(j). delta = T^T d, where 1 - d× takes the frame from its
// pose in a closed joint to its actual pose. Correct to first order in d, and zero exactly where the joint is closed.
//
// T is in the successor's coordinates. It is constant there except for the types marked "moving", for which rate = T'^T
// (v_s - v_p) with the apparent derivative T' must be added in k: RBDA (8.47) assumes T' = 0.
#pragma once
#include "core/model/loops.h"
#include "core/spatial/inertia.h"

namespace featherstorm {

template <class S> struct LoopJointAt {
  int n = 0;
  Force<S> T[6];
  S delta[6];  // [rad | m]
  S rate[6];   // [rad/s^2 | m/s^2]

  FS_HD void add(const Vec3<S>& moment, const Vec3<S>& force, const S& error, const S& moving = S(0.0)) {
    T[n] = {moment, force}, delta[n] = error, rate[n] = moving;
    n++;
  }
};

// in   loop  its type and parameter are read
// in   X     successor frame in the predecessor frame
// in   v     v_s - v_p, successor's frame
template <class S> FS_HD LoopJointAt<S> loop_joint(const auto& loop, const Placement<S>& X, const Motion<S>& v) {
  const S o(0.0), l(1.0), half(0.5), h(loop.parameter);
  const Vec3<S> none{o, o, o}, x{l, o, o}, y{o, l, o}, z{o, o, l};
  const Vec3<S> e1{X.R(0, 0), X.R(1, 0), X.R(2, 0)}, e2{X.R(0, 1), X.R(1, 1), X.R(2, 1)};
  const Vec3<S> e3{X.R(0, 2), X.R(1, 2), X.R(2, 2)}, &r = X.r;
  const Vec3<S> b1 = cross(r, e1), b2 = cross(r, e2), b3 = cross(r, e3);
  // the predecessor's axes in the successor frame; u' = u × w for each
  const Vec3<S> px{e1.x(), e2.x(), e3.x()}, py{e1.y(), e2.y(), e3.y()}, pz{e1.z(), e2.z(), e3.z()};
  // parameter * (length / parameter - angle about z) without the whole turns
  const auto unwound = [&](const S& length) {
    S sn, cs;
    sincos(length * rcp(h), sn, cs);
    return h * atan2(sn * e1.x() - cs * e1.y(), cs * e1.x() + sn * e1.y());
  };
  LoopJointAt<S> J;
  switch (loop.type) {
    case LoopType::Fixed:
    case LoopType::Prismatic:
      J.add(x, none, half * (e2.z() - e3.y()));
      J.add(y, none, half * (e3.x() - e1.z()));
      J.add(z, none, half * (e1.y() - e2.x()));
      if (loop.type == LoopType::Prismatic) {
        J.add(none, x, b2.z());
        J.add(none, y, -b1.z());
        break;
      }
      J.add(none, x, half * (b2.z() - b3.y()));
      J.add(none, y, half * (b3.x() - b1.z()));
      J.add(none, z, half * (b1.y() - b2.x()));
      break;
    case LoopType::Revolute:
    case LoopType::Cylindrical:
    case LoopType::Helical:
      J.add(x, none, e2.z());
      J.add(y, none, -e1.z());
      J.add(none, x, b2.z());
      J.add(none, y, -b1.z());
      if (loop.type == LoopType::Revolute) J.add(none, z, b1.x() * e2.x() + b1.y() * e2.y());
      if (loop.type == LoopType::Helical) J.add({o, o, -h}, z, unwound(r.z()));
      break;
    case LoopType::RackPinion:  // moving: x and y of the predecessor
      J.add(x, none, e2.z());
      J.add(y, none, -e1.z());
      J.add(none, z, r.z());
      J.add(none, py, r.y(), dot(cross(py, v.w), v.v));
      J.add({o, o, -h}, px, unwound(r.x()), dot(cross(px, v.w), v.v));
      break;
    case LoopType::Universal:  // moving: e1 × z of the predecessor
      J.add({o, -pz.z(), pz.y()}, none, pz.x(), dot(cross(x, cross(pz, v.w)), v.w));
      J.add(none, x, dot(r, e1));
      J.add(none, y, dot(r, e2));
      J.add(none, z, dot(r, e3));
      break;
    case LoopType::Planar:
      J.add(x, none, e2.z());
      J.add(y, none, -e1.z());
      J.add(none, z, r.z());
      break;
    case LoopType::Spherical:
      J.add(none, x, dot(b2, e3));
      J.add(none, y, dot(b3, e1));
      J.add(none, z, dot(b1, e2));
      break;
    case LoopType::PointOnLine:  // moving: x and y of the predecessor
      J.add(none, px, r.x(), dot(cross(px, v.w), v.v));
      J.add(none, py, r.y(), dot(cross(py, v.w), v.v));
      break;
  }
  return J;
}

}  // namespace featherstorm
