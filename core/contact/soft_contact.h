// Soft contact with Coulomb friction: forces that depend on positions, velocities and how the surface is deformed, so
// that any forward dynamics takes them as external forces. RBDA section 11.8, (11.73)-(11.79), in three dimensions.
//
// What the surface is made of is a type, and `soft` an array of them, one for each contact:
//
//   SoftSurface       spring and damper                               soft_surface.h
//   NonlinearSurface  those of Hunt and Crossley, Marhefka and Orin   soft_surface.h
//   SeriesSurface     spring and damper, in series with a spring      soft_series.h
//   ArraySurface      springs and dampers at fixed places of a plane  soft_array.h
//
// Each is a structure of numbers with three functions: soft_numbers, how many state variables a contact has;
// soft_force, its forces and the rates of its state; soft_update, its state after a step in time. This file has what
// is the same for all: where contacts are, the friction disc, external forces, the step.
//
// Why friction is clamped radially, as a vector: the force that would make the bodies stick is replaced by the nearest
// one within the friction disc. In one dimension that is (11.79). It depends on no choice of tangents, is continuous,
// and the slip is opposite to the force: Coulomb's law in every direction, with the most dissipation the disc allows.
// Clamping two tangents one by one does neither.
//
// The contact point moves over the surface of p: `locus` is its velocity. A force `resist` against that motion (a
// viscous term for the work that it takes to move the dent, or the slope of the dent itself) acts on the successor at
// the sphere's centre, parallel to the tangent plane, so that its power is resist . locus. A force at the contact point
// would not do: that point of a rolling body has no velocity, so friction would cancel it and the ball roll on.
#pragma once
#include "core/contact/contact_kinematics.h"
#include "core/step/step.h"

namespace featherstorm {

// One contact as a law sees it; world axes.
template <class T>
struct SoftContact {
  ContactAt<T> at;
  Mat3<T> R;      // axes of body p in the world
  T zeta;         // separation velocity [m/s]
  Vec3<T> v;      // of the successor's point at C over the predecessor's, tangential [m/s]
  Vec3<T> locus;  // of the contact point over the predecessor's surface [m/s]
  T gear;         // locus by the tangential velocity of the sphere's centre: 1 on a plane
};
// On the successor.
template <class T>
struct SoftForce {
  T normal;         // f_n [N]
  Vec3<T> tangent;  // f_t at C, world axes [N]
  Vec3<T> resist;   // against the motion of the contact point over the surface, world axes [N]
};

// The nearest force to f within the disc of radius `limit`.
template <class T>
FS_HD Vec3<T> within_disc(const Vec3<T>& f, const T& limit) {
  const T one(1.0), square = dot(f, f);
  const auto slips = limit * limit < square;
  return f * select(slips, limit * rcp(sqrt(select(slips, square, one))), one);
}

// visit(k, contact, X) for all contacts, X the placements of world_axes.
template <class T>
FS_HD void with_soft_contacts(const auto& m, const auto& contacts, const auto& q, const auto& v, auto&& visit) {
  const CommonFrame common(m, q);
  auto w = scratch<Motion<T>>(m.nb + 1);
  common_velocities(m, common.x, common.X, v, w);
  for (int k = 0; k < contacts.nc; k++) {
    const auto& c = contacts.contact[k];
    SoftContact<T> s{contact_at<T>(c, common.X), common.X[c.p].R, T(0.0), zero3<T>(), zero3<T>(), T(1.0)};
    const Motion<T> u = w[c.s] - w[c.p];
    const Vec3<T>& n = s.at.e[0];
    const Vec3<T> at_C = u.v + cross(u.w, s.at.C), at_centre = u.v + cross(u.w, s.at.r);
    s.zeta = dot(n, at_C);
    s.v = at_C - n * s.zeta;
    with_surface(c.surface, [&](auto surface) { s.gear = decltype(surface)::gear(c, s.at); });
    s.locus = (at_centre - n * dot(n, at_centre)) * s.gear;
    visit(k, s, common.X);
  }
}

// f_ext of a body += force F at a point of the common frame.
template <class T>
FS_HD void add_force_at(int body, const auto& X, const Vec3<T>& at, const Vec3<T>& F, auto f_ext) {
  if (body == 0) return;
  const Vec3<T> n = cross(at - X[body].r, F);
  for (int i = 0; i < 3; i++) {
    f_ext[6 * (body - 1) + i] = f_ext[6 * (body - 1) + i] + n(i);
    f_ext[6 * (body - 1) + 3 + i] = f_ext[6 * (body - 1) + 3 + i] + F(i);
  }
}

// in      q (nq), v (nv)
// in      soft (nc)  the surface of each contact, all of one type; N = soft_numbers of it
// in      u (N nc)   state of each contact, as its type has it; 0 where the surface is relaxed
// in out  f_ext (6 nb)  as in rnea.h; the contact forces are added
// out     f (3 nc)   [N]  on the successor: normal, tangents of contact_rows; without `resist`
// out     ud (N nc)  du/dt
// Cost O(nb + N nc).
FS_HD void soft_contact_forces(const auto& m, const auto& contacts, const auto& soft, const auto& q, const auto& v,
                               const auto& u, auto f_ext, auto f, auto ud) {
  using T = ScalarOf<decltype(q)>;
  with_soft_contacts<T>(m, contacts, q, v, [&](int k, const SoftContact<T>& s, const auto& X) {
    const auto& c = contacts.contact[k];
    const int first = k * soft_numbers(soft[k]);
    const SoftForce<T> force = soft_force(soft[k], c, s, slice(u, first), slice(ud, first));
    f[3 * k] = force.normal;
    for (int i = 1; i < 3; i++) f[3 * k + i] = dot(s.at.e[i], force.tangent);
    const Vec3<T> F = s.at.e[0] * force.normal + force.tangent, R = force.resist * s.gear;
    add_force_at(c.s, X, s.at.C, F, f_ext), add_force_at(c.s, X, s.at.r, R, f_ext);
    add_force_at(c.p, X, s.at.C, Vec3<T>(-F), f_ext), add_force_at(c.p, X, s.at.r, Vec3<T>(-R), f_ext);
  });
}

// The surfaces after dt, relaxing by closed forms, so dt may be longer than D / K.
// in      q (nq)   at the beginning of the step
// in      v (nv)   velocity during it: the one at its end, for semi-implicit steps
// in      f (3 nc) [N]  as soft_contact_forces gave it at the beginning
// in out  u (N nc)
FS_HD void soft_contact_update(const auto& m, const auto& contacts, const auto& soft, const auto& q, const auto& v,
                               const auto& f, const auto& time, auto u) {
  using T = ScalarOf<decltype(q)>;
  with_soft_contacts<T>(m, contacts, q, v, [&](int k, const SoftContact<T>& s, const auto&) {
    soft_update(soft[k], contacts.contact[k], s, slice(f, 3 * k), T(time), slice(u, k * soft_numbers(soft[k])));
  });
}

// One step of step.h with soft contacts. Contact forces are taken at the beginning of the step: dt has to be short
// against sqrt(m / K) and m / D of the contacts.
// in      q (nq), v (nv), drive, f_ext (6 nb), s  as in step.h
// in out  u (N nc)
// out     f (3 nc)  [N]
// out     q_next (nq), v_next (nv)  may be q, v
template <class M, class C, class Soft, class Q, class V, class Drive, class F, class S, class InOut, class Out,
          class QNext, class VNext>
FS_HD void soft_contact_step(const M& m, const C& contacts, const Soft& soft, const Q& q, const V& v,
                             const Drive& drive, const F& f_ext, const StepParameters<S>& s, InOut u, Out f,
                             QNext q_next, VNext v_next) {
  using T = ScalarOf<Q>;
  auto force = scratch<T>(sixfold(m.nb));
  auto q_0 = scratch<T>(m.nq);
  for (int i = 0; i < 6 * m.nb; i++) force[i] = f_ext[i];
  for (int i = 0; i < m.nq; i++) q_0[i] = q[i];
  soft_contact_forces(m, contacts, soft, q, v, u, force.data(), f, Ignored<T>{});
  step(m, q_0.data(), v, drive, force.data(), s, q_next, v_next);
  soft_contact_update(m, contacts, soft, q_0.data(), v_next, f, T(s.dt), u);
}

}  // namespace featherstorm
