// Transmissions: the length of each actuator, and its moment, the joint forces due to a unit force; g is the gear.
//
//   Joint, JointInParent  l = g q; ball joints g . log(q), moment g in the body's or its parent's axes; free joints 0
//   SliderCrank           l = g (a . d - sqrt((a . d)^2 + r^2 - d . d)), d from slider to crank, a the slider's axis z
//   Tendon                l = g L
//   Site                  a wrench g in the site's axes, l = 0; with a reference g . (position, log of rotation) in the
//                         reference's axes, acting between the two
//   So3                   the three numbers of log(q) of a ball joint, or of a site's rotation against its reference
//   Adhesion              l = 0; the moment needs contacts (core/mujoco/adhesion.h), and is 0 here
//
// A moment is dl/dq where that exists. Moments of rotations are those of angular velocity, because the length is a
// rotation vector, whose rate differs from the angular velocity. If a site has a reference, joints that carry both are
// excluded.
#pragma once
#include "core/actuation/tendon_kinematics.h"
#include "core/model/joints.h"
#include "core/spatial/quaternion.h"

namespace featherstorm {

// Quaternion of a rotation matrix, of either sign, computed from its component of greatest magnitude.
template <class T> FS_HD Quaternion<T> quaternion_of(const Mat3<T>& R) {
  const T one(1.0);
  // 4 w^2, 4 x^2, 4 y^2, 4 z^2
  const T s[4] = {one + R(0, 0) + R(1, 1) + R(2, 2), one + R(0, 0) - R(1, 1) - R(2, 2),
                  one - R(0, 0) + R(1, 1) - R(2, 2), one - R(0, 0) - R(1, 1) + R(2, 2)};
  const T wx = R(2, 1) - R(1, 2), wy = R(0, 2) - R(2, 0), wz = R(1, 0) - R(0, 1);
  const T xy = R(0, 1) + R(1, 0), xz = R(0, 2) + R(2, 0), yz = R(1, 2) + R(2, 1);
  const Quaternion<T> of[4] = {{s[0], wx, wy, wz}, {wx, s[1], xy, xz}, {wy, xy, s[2], yz}, {wz, xz, yz, s[3]}};
  Quaternion<T> p = of[0];
  T largest = s[0];
  for (int k = 1; k < 4; k++) {
    const auto larger = largest < s[k];
    p = {select(larger, of[k].w, p.w), select(larger, of[k].x, p.x), select(larger, of[k].y, p.y),
         select(larger, of[k].z, p.z)};
    largest = select(larger, s[k], largest);
  }
  return normalised(p);
}

// A wrench on a body, world axes: moment n and force f at the point p.
template <class T> struct WrenchAt {
  int body;
  Vec3<T> p, n, f;
};
// row += J_a^T w_a + J_b^T w_b, excluding joints that carry both bodies
template <class T>
FS_HD void add_wrenches_between(const auto& m, const auto& x, const auto& X, WrenchAt<T> a, WrenchAt<T> b, auto row) {
  while (a.body != b.body) {
    WrenchAt<T>& w = a.body > b.body ? a : b;
    add_joint_force(m, x, X, w.body, w.p, w.n, w.f, row);
    w.body = m.body[w.body].parent;
  }
}

// Returns three numbers of the gear, from k on.
template <class T> FS_HD Vec3<T> gear_of(const auto& a, int k) {
  return {T(a.gear[k]), T(a.gear[k + 1]), T(a.gear[k + 2])};
}

// Logarithm of the site's rotation relative to the reference
template <class T> FS_HD Vec3<T> relative_rotation(const auto& X, const auto& a) {
  return quaternion_log(quaternion_of(transposed(axes_in_world<T>(X, a.reference)) * axes_in_world<T>(X, a.site)));
}

template <class T>
FS_HD T joint_transmission(const auto& m, const auto& a, const auto& q, auto row) {
  const auto& b = m.body[a.body];
  const bool in_parent = a.transmission == Transmission::JointInParent;
  const auto turned = [&](int at, const Vec3<T>& g) {
    return in_parent ? transpose_times(matrix(normalised(quaternion_at<T>(q, at))), g) : g;
  };
  const int quaternion = joint_traits(b.type).quaternion;  // -1: the joint has one coordinate
  if (quaternion > 0) {                                    // after three lengths
    const Vec3<T> g = gear_of<T>(a, 0), h = turned(b.q + quaternion, gear_of<T>(a, 3));
    for (int k = 0; k < 3; k++) row[b.v + k] = g(k), row[b.v + 3 + k] = h(k);
    return T(0.0);
  }
  if (quaternion == 0) {
    const Vec3<T> g = turned(b.q, gear_of<T>(a, 0));
    for (int k = 0; k < 3; k++) row[b.v + k] = g(k);
    return dot(quaternion_log(normalised(quaternion_at<T>(q, b.q))), g);
  }
  row[b.v] = T(a.gear[0]);
  return T(a.gear[0]) * q[b.q];
}

template <class T>
FS_HD T slider_crank_transmission(const auto& m, const auto& a, const auto& x, const auto& X, auto row) {
  const T zero(0.0), one(1.0), rod(a.crank_length), g(a.gear[0]);
  const Vec3<T> crank = origin_in_world<T>(X, a.site), slider = origin_in_world<T>(X, a.reference), d = crank - slider;
  const Mat3<T> R = axes_in_world<T>(X, a.reference);
  const Vec3<T> axis{R(0, 2), R(1, 2), R(2, 2)};
  const T along = dot(axis, d), det = along * along + rod * rod - dot(d, d);
  // beyond the rod's reach: l = a . d
  const auto reached = zero < det;
  const T root = sqrt(select(reached, det, one)), inverse = rcp(root), k = select(reached, one - along * inverse, one);
  // dl/dd = k a + d / root,  dl/da = k d
  const Vec3<T> by_d = axis * k + d * select(reached, inverse, zero), by_axis = d * k;
  add_wrenches_between<T>(m, x, X, {a.site.body, crank, zero3<T>(), by_d * g},
                          {a.reference.body, slider, cross(axis, by_axis) * g, -by_d * g}, row);
  return g * (along - select(reached, root, zero));
}

template <class T>
FS_HD T site_transmission(const auto& m, const auto& a, const auto& x, const auto& X, auto row) {
  const Vec3<T> p = origin_in_world<T>(X, a.site), g = gear_of<T>(a, 0), h = gear_of<T>(a, 3);
  const Mat3<T> R = axes_in_world<T>(X, a.relative ? a.reference : a.site);
  const Vec3<T> f = R * g, n = R * h;
  if (!a.relative) {
    add_wrench<T>(m, x, X, a.site.body, p, n, f, row);
    return T(0.0);
  }
  const Vec3<T> o = origin_in_world<T>(X, a.reference);
  add_wrenches_between<T>(m, x, X, {a.site.body, p, n, f}, {a.reference.body, o, -n, -f}, row);
  return dot(transpose_times(R, p - o), g) + dot(relative_rotation<T>(X, a), h);
}

template <class T>
FS_HD void so3_transmission(const auto& m, const auto& a, const auto& x, const auto& X, const auto& q, auto length,
                            auto moment) {
  Vec3<T> l;
  if (!a.relative) {
    const auto& b = m.body[a.body];
    l = quaternion_log(normalised(quaternion_at<T>(q, b.q)));
    for (int k = 0; k < 3; k++) moment[(a.output + k) * m.nv + b.v + k] = T(1.0);
  } else {
    const Mat3<T> R = axes_in_world<T>(X, a.site);
    l = relative_rotation<T>(X, a);
    for (int k = 0; k < 3; k++) {
      const Vec3<T> axis{R(0, k), R(1, k), R(2, k)}, o = zero3<T>();
      add_wrenches_between<T>(m, x, X, {a.site.body, o, axis, o}, {a.reference.body, o, -axis, o},
                              slice(moment, (a.output + k) * m.nv));
    }
  }
  for (int k = 0; k < 3; k++) length[a.output + k] = l(k);
}

// Computes lengths and moments of all actuators.
//
// in   x (nx), X (nb + 1)  joint numbers and placements of the bodies
// in   q (nq)
// in   tendon_length (nt), tendon_J (nt nv)  from tendon_kinematics
// out  length (n_outputs)     [m, rad or scaled by gear]
// out  moment (n_outputs nv)  row by row; all entries are written
// Cost O(n_outputs nv) to clear the moments, and O(depth) for each site.
FS_HD void transmissions(const auto& m, const auto& w, const auto& x, const auto& X, const auto& q,
                         const auto& tendon_length, const auto& tendon_J, auto length, auto moment) {
  using T = ScalarOf<decltype(q)>;
  for (int k = 0; k < w.n_outputs; k++) length[k] = T(0.0);
  for (int k = 0; k < w.n_outputs * m.nv; k++) moment[k] = T(0.0);
  for (const auto& a : w.actuator) {
    const auto row = slice(moment, a.output * m.nv);
    switch (a.transmission) {
      case Transmission::Joint:
      case Transmission::JointInParent: length[a.output] = joint_transmission<T>(m, a, q, row); break;
      case Transmission::SliderCrank: length[a.output] = slider_crank_transmission<T>(m, a, x, X, row); break;
      case Transmission::Tendon:
        length[a.output] = T(a.gear[0]) * tendon_length[a.tendon];
        for (int k = 0; k < m.nv; k++) row[k] = T(a.gear[0]) * tendon_J[a.tendon * m.nv + k];
        break;
      case Transmission::Site: length[a.output] = site_transmission<T>(m, a, x, X, row); break;
      case Transmission::So3: so3_transmission<T>(m, a, x, X, q, length, moment); break;
      case Transmission::Adhesion: break;
    }
  }
}

}  // namespace featherstorm
