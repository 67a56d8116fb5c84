// Soft contact with Coulomb friction: forces that depend on positions, velocities and how the surface is deformed, so
// that any forward dynamics takes them as external forces. RBDA section 11.8, (11.73)-(11.79), in three dimensions.
//
//   normal   f_n = max(0, -K_n z - D_n pd) where p <= z, else 0        zd = -(K_n z + f_n) / D_n
//   tangent  f_stick = -K_t x - D_t v,  f_t = f_stick min(1, mu f_n / |f_stick|)        xd = -(K_t x + f_t) / D_t
//
// The surface of the predecessor is a massless patch on springs and dampers at the contact point; p is the gap
// (negative where the undeformed bodies overlap), z the patch's displacement along the normal, x the one in the
// tangent plane. In contact z = p; a patch that is left relaxes as z e^(-K t / D), which is also the highest a patch
// can follow: contact lasts while p <= that. So one number z does for both, and no event has to be found.
//
// Why f_t is clamped radially, as a vector: f_stick is replaced by the nearest force within the friction disc. In one
// dimension that is (11.79). It depends on no choice of tangents, is continuous, and the slip v - xd = (f_t - f_stick)
// / D_t is opposite to f_t: Coulomb's law in every direction, with the most dissipation the disc allows. Clamping two
// tangents one by one does neither. A body that sticks does not creep: at v = 0 the patch holds f_t = -K_t x by its
// spring.
//
// The state of a contact is the patch's displacement u = n z + x in the axes of body p: three numbers, whatever way the
// normal turns. Energy 1/2 K_n z^2 + 1/2 K_t x^2 is stored; D_n zd^2, D_t xd^2 and slip take energy away.
#pragma once
#include "core/contact/contact_kinematics.h"
#include "core/step.h"

namespace featherstorm {

// The compliance of one contact.
template <class P> struct SoftSurface {
  P K_n, D_n;  // normal [N/m], [N s/m], > 0
  P K_t, D_t;  // tangential, > 0
};

// Both bodies soft: springs and dampers in series. Exact where K / D is the same for both (section 11.8).
template <class P> FS_HD SoftSurface<P> in_series(const SoftSurface<P>& a, const SoftSurface<P>& b) {
  auto half = [](const P& x, const P& y) { return x * y * rcp(x + y); };
  return {half(a.K_n, b.K_n), half(a.D_n, b.D_n), half(a.K_t, b.K_t), half(a.D_t, b.D_t)};
}

// Position of the patch along the normal, and whether the bodies touch: z = p where they do.
template <class T> struct Patch {
  T z;
  Vec3<T> x;
  T touches;  // 1 or 0
};
// in  u  displacement of the patch, world axes
template <class T> FS_HD Patch<T> patch_at(const ContactAt<T>& at, const Vec3<T>& u) {
  const T zero(0.0), one(1.0), z = dot(at.e[0], u);
  const T touches = select(zero <= at.margin, select(at.phi <= z, one, zero), zero);
  return {select(zero < touches, at.phi, z), u - at.e[0] * z, touches};
}

template <class T> struct SoftForce {
  T normal;      // f_n
  Vec3<T> tangent;  // f_t, world axes
};
// in  zeta [m/s], v [m/s]  separation velocity; tangential velocity, world axes
template <class T, class S, class P>
FS_HD SoftForce<T> soft_force(const SoftSurface<S>& s, const P& friction, const Patch<T>& patch, const T& zeta,
                              const Vec3<T>& v) {
  const T zero(0.0), one(1.0);
  const T f_n = max(-(patch.z * s.K_n + zeta * s.D_n), zero) * patch.touches;
  const Vec3<T> stick = -(patch.x * s.K_t + v * s.D_t);
  const T limit = f_n * friction, square = dot(stick, stick);
  const auto slips = limit * limit < square;
  return {f_n, stick * select(slips, limit * rcp(sqrt(select(slips, square, one))), one)};
}

// visit(k, at, u, relative) for all contacts: kinematics, deformation in world axes, velocity of s relative to p at C.
template <class T, class M, class C, class Q, class V, class U, class F>
FS_HD void with_soft_contacts(const M& m, const C& contacts, const Q& q, const V& v, const U& u, F&& visit) {
  auto x = scratch<T>(m.nx);
  auto X = scratch<Placement<T>>(m.nb + 1);
  auto S = scratch<Motion<T>>(m.nv);
  auto w = scratch<Motion<T>>(m.nb + 1);
  for (int i = 1; i <= m.nb; i++) update_joint(m, i, q, Zeros<T>{}, x);
  world_axes(m, x, X, S);
  w[0] = zero_motion<T>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      w[i] = w[b.parent] + apply_inverse(X[i], zero_motion<T>() + J.velocity(slice(v, b.v)));
    });
  }
  for (int k = 0; k < contacts.nc; k++) {
    const auto& c = contacts.contact[k];
    const ContactAt<T> at = contact_at<T>(c, X);
    const Motion<T> relative = w[c.s] - w[c.p];
    visit(k, at, X, X[c.p].R * Vec3<T>{u[3 * k], u[3 * k + 1], u[3 * k + 2]}, relative.v + cross(relative.w, at.C));
  }
}

// in      q (nq), v (nv)
// in      soft (nc)  SoftSurface of each contact
// in      u (3 nc)   [m]  displacement of each patch, axes of body p; 0 where it is relaxed
// in out  f_ext (6 nb)  as in rnea.h; the contact forces are added
// out     f (3 nc)   [N]  on the successor: normal, tangents of contact_rows
// out     ud (3 nc)  [m/s]  du/dt, axes of body p
// Cost O(nb + nc).
template <class M, class C, class Soft, class Q, class V, class U, class InOut, class Out, class OutRate>
FS_HD void soft_contact_forces(const M& m, const C& contacts, const Soft& soft, const Q& q, const V& v, const U& u,
                               InOut f_ext, Out f, OutRate ud) {
  using T = ScalarOf<Q>;
  with_soft_contacts<T>(m, contacts, q, v, u, [&](int k, const ContactAt<T>& at, const auto& X, const Vec3<T>& u_k,
                                                  const Vec3<T>& velocity) {
    const auto& c = contacts.contact[k];
    const auto& s = soft[k];
    const T zeta = dot(at.e[0], velocity);
    const Patch<T> patch = patch_at(at, u_k);
    const SoftForce<T> force = soft_force(s, c.friction, patch, zeta, velocity - at.e[0] * zeta);
    f[3 * k] = force.normal;
    for (int i = 1; i < 3; i++) f[3 * k + i] = dot(at.e[i], force.tangent);
    // zd = -(K_n z + f_n) / D_n, xd = -(K_t x + f_t) / D_t
    const Vec3<T> rate = -(at.e[0] * ((patch.z * s.K_n + force.normal) * rcp(T(s.D_n))) +
                           (patch.x * s.K_t + force.tangent) * rcp(T(s.D_t)));
    const Vec3<T> in_p = transpose_times(X[c.p].R, rate);
    // on bodies: about their origins
    const Vec3<T> total = at.e[0] * force.normal + force.tangent;
    for (int i = 0; i < 3; i++) ud[3 * k + i] = in_p(i);
    for (int side = 0; side < 2; side++) {
      const int body = side == 0 ? c.s : c.p;
      if (body == 0) continue;
      const Vec3<T> F = side == 0 ? total : -total, n = cross(at.C - X[body].r, F);
      for (int i = 0; i < 3; i++) {
        f_ext[6 * (body - 1) + i] = f_ext[6 * (body - 1) + i] + n(i);
        f_ext[6 * (body - 1) + 3 + i] = f_ext[6 * (body - 1) + 3 + i] + F(i);
      }
    }
  });
}

// The patches after dt: z relaxes from where it is, x goes with the body where it sticks and relaxes under f_t where it
// slips; both exactly, so dt may be longer than D / K.
// in      q (nq)   at the beginning of the step
// in      v (nv)   velocity during it: the one at its end, for semi-implicit steps
// in      f (3 nc) [N]  as soft_contact_forces gave it at the beginning
// in out  u (3 nc)
template <class M, class C, class Soft, class Q, class V, class F, class Time, class InOut>
FS_HD void soft_contact_update(const M& m, const C& contacts, const Soft& soft, const Q& q, const V& v, const F& f,
                               const Time& time, InOut u) {
  using T = ScalarOf<Q>;
  const T dt(time);
  with_soft_contacts<T>(m, contacts, q, v, u, [&](int k, const ContactAt<T>& at, const auto& X, const Vec3<T>& u_k,
                                                  const Vec3<T>& velocity) {
    const auto& c = contacts.contact[k];
    const auto& s = soft[k];
    const Patch<T> patch = patch_at(at, u_k);
    const T z = patch.z * exp(-(dt * s.K_n * rcp(T(s.D_n)))), decay = exp(-(dt * s.K_t * rcp(T(s.D_t))));
    // sticks: strictly within the disc
    const T limit = f[3 * k] * c.friction * T(1 - 1e-5);
    const auto sticks = f[3 * k + 1] * f[3 * k + 1] + f[3 * k + 2] * f[3 * k + 2] < limit * limit;
    const Vec3<T> f_t = at.e[1] * f[3 * k + 1] + at.e[2] * f[3 * k + 2], rest = -(f_t * rcp(T(s.K_t)));
    const Vec3<T> moved = patch.x + (velocity - at.e[0] * dot(at.e[0], velocity)) * dt;
    const Vec3<T> relaxed = rest + (patch.x - rest) * decay;
    Vec3<T> next;
    for (int i = 0; i < 3; i++) next(i) = at.e[0](i) * z + select(sticks, moved(i), relaxed(i));
    const Vec3<T> in_p = transpose_times(X[c.p].R, next);
    for (int i = 0; i < 3; i++) u[3 * k + i] = in_p(i);
  });
}

// One step of step.h with soft contacts. Contact forces are taken at the beginning of the step: dt has to be short
// against sqrt(m / K) and m / D of the contacts.
// in      q (nq), v (nv), drive, f_ext (6 nb), s  as in step.h
// in out  u (3 nc)
// out     f (3 nc)  [N]
// out     q_next (nq), v_next (nv)  may be q, v
template <class M, class C, class Soft, class Q, class V, class Drive, class F, class S, class InOut, class Out,
          class QNext, class VNext>
FS_HD void soft_contact_step(const M& m, const C& contacts, const Soft& soft, const Q& q, const V& v,
                             const Drive& drive, const F& f_ext, const StepParameters<S>& s, InOut u, Out f,
                             QNext q_next, VNext v_next) {
  using T = ScalarOf<Q>;
  auto force = scratch<T>(sixfold(m.nb));
  auto rate = scratch<T>(contacts.nr);
  auto q_0 = scratch<T>(m.nq);
  for (int i = 0; i < 6 * m.nb; i++) force[i] = f_ext[i];
  for (int i = 0; i < m.nq; i++) q_0[i] = q[i];
  soft_contact_forces(m, contacts, soft, q, v, u, force.data(), f, rate.data());
  step(m, q_0.data(), v, drive, force.data(), s, q_next, v_next);
  soft_contact_update(m, contacts, soft, q_0.data(), v_next, f, T(s.dt), u);
}

}  // namespace featherstorm
