// Inverse dynamics in 3-vectors at the mass centres of the links, each in its own axes: the recursion of Liu and Jain,
// section 7, for joints of every type.
//
// With c the mass centre of a body from its origin, d the body's origin in its parent, R its axes there, and w_J, v_J,
// alpha_J, a_J what the joint adds (classical, in the child's axes):
//   w     = R^T w_p + w_J                                                                    (78)
//   v     = R^T (v_p + w_p × (d - c_p)) + v_J + w × c                                        (76), (83)
//   alpha = R^T alpha_p + (R^T w_p) × w_J + alpha_J                                          (80)
//   a     = R^T (a_p + alpha_p × (d - c_p) + w_p × (w_p × (d - c_p))) + 2 (R^T w_p) × v_J + a_J
//           + alpha × c + w × (w × c)                                                        (79), (84)
//   f     = m a + sum R_i f_i                                                                (72)
//   n     = I_c alpha + w × I_c w + c × f + sum (R_i n_i + (d_i - c) × R_i f_i)              (73)
// a is the acceleration itself, seen in the body's axes, not the rate of the components of v; (84) as printed is the
// latter and must not be used in (72). The same map as rnea.h and newton_euler.h, which need fewer operations.
#pragma once
#include "core/dynamics/external_force.h"
#include "core/scalar/scratch.h"
#include "core/spatial/mass_centre.h"

namespace featherstorm {

// Angular velocity and acceleration of a body and velocity and acceleration of its mass centre, body axes.
template <class T>
struct CentreMotion {
  Vec3<T> w, v, alpha, a;
};

// Outward sweep.
// in   q (nq), qd (nv), qdd (nv)
// out  x (nx)  joint numbers; body (nb + 1), motion (nb + 1): body[0], motion[0] those of the world, whose acceleration
//      is -gravity: accelerations are proper ones, and a + R^T gravity is the true one
FS_HD void centre_motions(const auto& m, const auto& q, const auto& qd, const auto& qdd, auto& x, auto& body,
                          auto& motion) {
  using T = ScalarOf<decltype(x)>;
  body[0].c = zero3<T>();
  motion[0] = {zero3<T>(), zero3<T>(), zero3<T>(), -cast<T>(m.gravity)};
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    update_joint(m, i, q, qd, x);
    body[i] = mass_centre<T>(b.I);
    const CentreMotion<T>& p = motion[b.parent];
    CentreMotion<T>& k = motion[i];
    const Vec3<T> c = body[i].c;
    with_joint(m, i, x, [&](const auto& J) {
      const auto v = slice(qd, b.v);
      const auto vd = slice(qdd, b.v);
      const Vec3<T> e = J.origin() - body[b.parent].c, wp = J.rotate_back(p.w);
      const Vec3<T> wJ = zero3<T>() + J.angular_velocity(v), vJ = zero3<T>() + J.linear_velocity(v);
      k.w = wp + wJ;
      k.v = J.rotate_back(p.v + cross(p.w, e)) + vJ + cross(k.w, c);
      k.alpha = J.rotate_back(p.alpha) + cross(wp, wJ) + J.angular_acceleration(v, vd);
      const Vec3<T> wv = cross(wp, vJ);
      k.a = J.rotate_back(p.a + cross(p.alpha, e) + cross(p.w, cross(p.w, e))) + (wv + wv) +
            J.linear_acceleration(v, vd) + cross(k.alpha, c) + cross(k.w, cross(k.w, c));
    });
  }
}

// The map of rnea.h; arguments as there.
template <class F>
FS_HD void id_mass_centres(const auto& m, const auto& q, const auto& qd, const auto& qdd, const F& f_ext, auto tau) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto body = scratch<MassCentre<T>>(m.nb + 1);
  auto motion = scratch<CentreMotion<T>>(m.nb + 1);
  auto f = scratch<Force<T>>(m.nb + 1);  // on each body from beyond: moment about its mass centre, force
  auto external = external_force<T>(m, f_ext);
  centre_motions(m, q, qd, qdd, x, body, motion);
  f[0] = zero_force<T>();
  for (int i = 1; i <= m.nb; i++) {
    f[i] = zero_force<T>();
    if constexpr (is_given<F>)
      with_joint(m, i, x, [&](const auto& J) {
        const Force<T> g = external.on_body(i, m.body[i].parent, J);
        f[i] = Force<T>{cross(body[i].c, g.f) - g.n, -g.f};
      });
  }
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    const CentreMotion<T>& k = motion[i];
    with_joint(m, i, x, [&](const auto& J) {
      // the parent's force at the body's origin
      Force<T> joint;
      joint.f = k.a * b.I.m + f[i].f;
      joint.n = body[i].Ic * k.alpha + cross(k.w, body[i].Ic * k.w) + cross(body[i].c, joint.f) + f[i].n;
      for (int l = 0; l < J.nv; l++) tau[b.v + l] = J.project(l, joint) + m.armature[b.v + l] * T(qdd[b.v + l]);
      const Vec3<T> g = J.rotate(joint.f);
      f[b.parent] += Force<T>{J.rotate(joint.n) + cross(J.origin() - body[b.parent].c, g), g};
    });
  }
}

}  // namespace featherstorm
