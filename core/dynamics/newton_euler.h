// Inverse dynamics in classical accelerations: the original form of Luh, Walker and Paul (RBDA section 5.4, Table 5.2)
// for joints of every type, with second moments in place of the rotational inertia.
//
// A material point at r of a body has the acceleration a + U r with the field U = [alpha×] + [w×]^2, so with
// Sigma = int r r^T dm the body needs the force m a + U h and the moment h × a + int r × U r dm. Linear velocities are
// never formed. About 25 % fewer operations than the spatial form of rnea.h, which is the reference.
#pragma once
#include "core/dynamics/external_force.h"
#include "core/model/joints.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// U = [alpha×] + [w×]^2
template <class T> FS_HD Mat3<T> acceleration_field(const Vec3<T>& w, const Vec3<T>& alpha) {
  const T xx = w.x() * w.x(), yy = w.y() * w.y(), zz = w.z() * w.z();
  const T xy = w.x() * w.y(), xz = w.x() * w.z(), yz = w.y() * w.z();
  return rows<T>(-(yy + zz), xy - alpha.z(), xz + alpha.y(),  //
                 xy + alpha.z(), -(xx + zz), yz - alpha.x(),  //
                 xz - alpha.y(), yz + alpha.x(), -(xx + yy));
}

// int r × U r dm for second moments s. A multiple of 1 in U has no moment, so only differences of the diagonal matter,
// and these are differences of squares: U_ii - U_jj = w_i^2 - w_j^2.
template <class P, class T> FS_HD Vec3<T> moment_of_field(const Mat3<T>& U, const Vec3<T>& w, const Sym3<P>& s) {
  const T xx = w.x() * w.x(), yy = w.y() * w.y(), zz = w.z() * w.z();
  return {s.xy * U(2, 0) + s.yy * U(2, 1) + s.yz * (zz - yy) - s.xz * U(1, 0) - s.zz * U(1, 2),
          s.xz * (xx - zz) + s.yz * U(0, 1) + s.zz * U(0, 2) - s.xx * U(2, 0) - s.xy * U(2, 1),
          s.xx * U(1, 0) + s.xy * (yy - xx) + s.xz * U(1, 2) - s.yy * U(0, 1) - s.yz * U(0, 2)};
}

// Outward sweep: the force that each body needs for its motion in addition to f_ext; its joints provide it.
//
// in   q, qd, qdd, f_ext  as in rnea.h
// out  x (nx)      joint numbers (joints.h)
// out  f (nb + 1)  moment about the body's origin and force, body axes
FS_HD void forces_on_bodies(const auto& m, const auto& q, const auto& qd, const auto& qdd, const auto& f_ext, auto& x,
                            auto& f) {
  using T = ScalarOf<decltype(x)>;
  auto w = scratch<Vec3<T>>(m.nb + 1);
  auto alpha = scratch<Vec3<T>>(m.nb + 1);
  auto a = scratch<Vec3<T>>(m.nb + 1);
  auto U = scratch<Mat3<T>>(m.nb + 1);
  auto external = external_force<T>(m, f_ext);
  w[0] = alpha[0] = zero3<T>();
  a[0] = -cast<T>(m.gravity);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) U[0](i, j) = T(0.0);
  f[0] = zero_force<T>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    update_joint(m, i, q, qd, x);
    with_joint(m, i, x, [&](const auto& J) {
      const auto v = slice(qd, b.v);
      const auto vd = slice(qdd, b.v);
      const auto wJ = J.angular_velocity(v);
      const auto vJ = J.linear_velocity(v);
      // the parent's rotation, seen in the child's axes
      const Vec3<T> wp = J.rotate_back(w[b.parent]);
      // w = w_p + w_J,  alpha = alpha_p + w_p × w_J + alpha_J
      w[i] = wp + wJ;
      alpha[i] = add_cross(J.rotate_back(alpha[b.parent]), wp, wJ) + J.angular_acceleration(v, vd);
      // a = E (a_p + U_p r) + 2 w_p × v_J + a_J
      a[i] = add_cross(J.rotate_back(a[b.parent] + U[b.parent] * J.origin()), wp, twice(vJ)) +
             J.linear_acceleration(v, vd);
      U[i] = acceleration_field(w[i], alpha[i]);
      // force m a + U h, moment h × a + int r × U r dm
      f[i] = Force<T>{cross(b.I.h, a[i]) + moment_of_field(U[i], w[i], b.second_moments), a[i] * b.I.m + U[i] * b.I.h} -
             external.on_body(i, b.parent, J);
    });
  }
}

// The map of rnea.h; arguments as there.
FS_HD void newton_euler(const auto& m, const auto& q, const auto& qd, const auto& qdd, const auto& f_ext, auto tau) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto f = scratch<Force<T>>(m.nb + 1);
  remark<T>("inverse dynamics, outward: velocities, accelerations, forces on bodies");
  forces_on_bodies(m, q, qd, qdd, f_ext, x, f);
  remark<T>("inverse dynamics, inward: joint forces");
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      // tau_i = S^T f_i,  f_parent += X^T f_i
      for (int k = 0; k < J.nv; k++) tau[b.v + k] = J.project(k, f[i]) + m.armature[b.v + k] * T(qdd[b.v + k]);
      if (b.parent > 0) f[b.parent] += apply_transpose(J, f[i]);
    });
  }
}

}  // namespace featherstorm
