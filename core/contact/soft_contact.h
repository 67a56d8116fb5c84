// Soft contact with Coulomb friction. Forces depend on positions, velocities and the deformation of the surface, so any
// forward dynamics can use them as external forces. RBDA section 11.8, (11.73)-(11.79), in three dimensions.
//
// The surface model is a type, and `soft` is an array of this type, one for each contact:
//
//   SoftSurface       spring and damper                               soft_surface.h
//   NonlinearSurface  those of Hunt and Crossley, Marhefka and Orin   soft_surface.h
//   SeriesSurface     spring and damper, in series with a spring      soft_series.h
//   ArraySurface      springs and dampers at fixed places of a plane  soft_array.h
//
// Each is a structure of numbers with three functions:
//
//   soft_numbers   number of state variables of a contact
//   soft_force     its forces, and the rates of its state
//   soft_update    its state after a time step
//
// This file has the parts that all models share: contact positions, the friction disc, external forces, the step.
//
// Friction is clamped radially, as a vector: the force that would make the bodies stick is replaced by the nearest
// force within the friction disc. In one dimension that is (11.79). It is continuous and independent of the choice of
// tangents. The slip is opposite to the force: this is Coulomb's law in every direction, with the greatest dissipation
// that the disc allows. Clamping the two tangents separately has none of these properties.
//
// The contact point moves over the surface of p: `locus` is its velocity. A force `resist` opposes that motion: a
// viscous term for the work of moving the dent, or the slope of the dent itself. It acts on the successor at the
// sphere's centre, parallel to the tangent plane, so its power is resist . locus. It cannot act at the contact point:
// that point of a rolling body has no velocity, so friction would cancel the force and the ball would roll on.
#pragma once
#include "core/contact/contact_kinematics.h"
#include "core/step/step.h"

namespace featherstorm {

// One contact, as input of a surface model; world axes.
template <class T>
struct SoftContact {
  ContactAt<T> at;
  Mat3<T> R;      // axes of body p in the world
  T zeta;         // separation velocity [m/s]
  Vec3<T> v;      // velocity of the successor's point at C relative to the predecessor's, tangential [m/s]
  Vec3<T> locus;  // velocity of the contact point over the predecessor's surface [m/s]
  T gear;         // locus divided by the tangential velocity of the sphere's centre: 1 on a plane
};
// Forces on the successor.
template <class T>
struct SoftForce {
  T normal;         // f_n [N]
  Vec3<T> tangent;  // f_t at C, world axes [N]
  Vec3<T> resist;   // opposes the motion of the contact point over the surface, world axes [N]
};

// Returns the force nearest to f within the disc of radius `limit`.
template <class T>
FS_HD Vec3<T> within_disc(const Vec3<T>& f, const T& limit) {
  const T one(1.0), square = dot(f, f);
  const auto slips = limit * limit < square;
  return f * select(slips, limit * rcp(sqrt(select(slips, square, one))), one);
}

// Calls visit(k, contact, X) for all contacts, with X the placements of world_axes.
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

// Adds force F at a point of the common frame to f_ext of a body.
template <class T>
FS_HD void add_force_at(int body, const auto& X, const Vec3<T>& at, const Vec3<T>& F, auto f_ext) {
  if (body == 0) return;
  const Vec3<T> n = cross(at - X[body].r, F);
  for (int i = 0; i < 3; i++) {
    f_ext[6 * (body - 1) + i] = f_ext[6 * (body - 1) + i] + n(i);
    f_ext[6 * (body - 1) + 3 + i] = f_ext[6 * (body - 1) + 3 + i] + F(i);
  }
}

// Computes contact forces and state rates.
//
// in      q (nq), v (nv)
// in      soft (nc)  surface of each contact, all of one type; N = soft_numbers of it
// in      u (N nc)   state of each contact, as its type defines it; 0 for a relaxed surface
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

// Computes the state of the surfaces after dt. They relax by closed forms, so dt may exceed D / K.
// in      q (nq)   at the beginning of the step
// in      v (nv)   velocity during the step: the velocity at its end, for semi-implicit steps
// in      f (3 nc) [N]  from soft_contact_forces at the beginning of the step
// in out  u (N nc)
FS_HD void soft_contact_update(const auto& m, const auto& contacts, const auto& soft, const auto& q, const auto& v,
                               const auto& f, const auto& time, auto u) {
  using T = ScalarOf<decltype(q)>;
  with_soft_contacts<T>(m, contacts, q, v, [&](int k, const SoftContact<T>& s, const auto&) {
    soft_update(soft[k], contacts.contact[k], s, slice(f, 3 * k), T(time), slice(u, k * soft_numbers(soft[k])));
  });
}

// Takes one step of step.h with soft contacts. Contact forces are those at the beginning of the step: dt must be short
// compared with sqrt(m / K) and m / D of the contacts.
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
