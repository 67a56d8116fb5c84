// Contact kinematics: gaps, normals, Jacobian rows and velocity-dependent quantities. RBDA (11.25)-(11.31),
// (11.37)-(11.40).
//
//   phi >= 0,   t = (J_s^T - J_p^T) n = (dphi/dq)^T,   zeta = t^T qd = dphi/dt
//   zetad = t^T qdd + td^T qd,   td^T qd = n . (a_s - a_p) + nd . (v_s - v_p),   a the velocity-product accelerations
//
// n points from the predecessor to the successor. The rows of a contact are normal, tangent 1, tangent 2. These are
// right-handed axes; on a plane they are axes z, x, y of the surface's frame. All quantities are in world axes about
// the origin of body 1 (world_axes.h), so precision does not suffer far from the world's origin.
#pragma once
#include "core/contact/surface/surfaces.h"
#include "core/kinematics/common_frame.h"
#include "core/loops/loop_constraints.h"

namespace featherstorm {

// Computes gap, axes and point of a contact.
//
// in   X (nb + 1)  from world_axes
template <class T, class P>
FS_HD ContactAt<T> contact_at(const Contact<P>& c, const auto& X) {
  ContactAt<T> k;
  k.r = X[c.s].r + X[c.s].R * c.centre;
  const Vec3<T> o = X[c.p].r + X[c.p].R * c.X_p.r;
  k.d = k.r - o;
  k.margin = T(1e9);
  k.inverse = T(0.0);
  with_surface(c.surface, [&](auto surface) { decltype(surface)::touch(c, X[c.p].R * c.X_p.R, k); });
  k.C = k.r - k.e[0] * (k.phi * T(0.5) + c.radius_s);
  return k;
}

// Calls visit(j) for the coordinates on the paths from both bodies of a contact to the world, in descending order.
FS_HD void along_contact(const auto& m, const auto& c, auto&& visit) {
  auto last = [&](int body) { return body == 0 ? -1 : m.body[body].v + freedoms(m, body) - 1; };
  for (int i = last(c.s), j = last(c.p); i >= 0 || j >= 0;) {
    const int k = i > j ? i : j;
    visit(k);
    if (i == k) i = m.dof_parent[k];
    if (j == k) j = m.dof_parent[k];
  }
}

// Writes one row of a contact: row[j] = S_j . (force e through C) along the path between its bodies. Other entries are
// unchanged.
template <class T>
FS_HD void set_row(const auto& m, const auto& c, const auto& S, const Vec3<T>& e, const Vec3<T>& at, auto row) {
  const Force<T> F{cross(at, e), e};
  along_loop(m, c, [&](int i, int side) {
    for (int j = m.body[i].v; j < m.body[i].v + freedoms(m, i); j++) {
      const T s = dot(S[j], F);
      row[j] = side > 0 ? s : -s;
    }
  });
}

// Computes gaps and Jacobian rows of all contacts.
//
// in   q (nq)
// in   rows  per contact: 1, normals only, or 3, normals and tangents
// out  phi (nc)     [m]  gaps
// out  margin (nc)  [m]  as in ContactAt
// out  G (rows nc nv)  the rows t^T, contact by contact [m | 1]; all entries are written
// Cost O(nb + rows nc depth), plus clearing G.
FS_HD void contact_rows(const auto& m, const auto& contacts, const auto& q, int rows, auto phi, auto margin, auto G) {
  using T = ScalarOf<decltype(q)>;
  const CommonFrame f(m, q);
  for (int j = 0; j < rows * contacts.nc * m.nv; j++) G[j] = T(0.0);
  for (int k = 0; k < contacts.nc; k++) {
    const auto& c = contacts.contact[k];
    const ContactAt<T> at = contact_at<T>(c, f.X);
    phi[k] = at.phi;
    margin[k] = at.margin;
    for (int i = 0; i < rows; i++) set_row(m, c, f.S, at.e[i], at.C, slice(G, (rows * k + i) * m.nv));
  }
}

// Computes velocities and velocity-product accelerations of all bodies in the common frame of world_axes, at qdd = 0.
template <class Motions>
FS_HD void world_motions(const auto& m, const auto& x, const auto& X, const auto& qd, Motions& v, Motions& a) {
  using T = ScalarOf<decltype(x)>;
  v[0] = a[0] = zero_motion<T>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      const Motion<T> vJ = apply_inverse(X[i], zero_motion<T>() + J.velocity(slice(qd, b.v)));
      v[i] = v[b.parent] + vJ;
      a[i] = a[b.parent] + apply_inverse(X[i], zero_motion<T>() + J.bias(slice(qd, b.v))) + cross(v[i], vJ);
    });
  }
}

// Returns d/dt of the normal.
template <class T>
FS_HD Vec3<T> normal_rate(const auto& c, const ContactAt<T>& at, const Motion<T>& v_s, const Motion<T>& v_p) {
  Vec3<T> rate = zero3<T>();
  with_surface(c.surface, [&](auto surface) { rate = decltype(surface)::normal_rate(c, at, v_s, v_p); });
  return rate;
}

// Returns td^T qd, RBDA (11.30). The spatial vector n is a force along the line of the normal. This line passes through
// the sphere's centre r, so nd = (rd x n; dn/dt) about the present position of r.
template <class T>
FS_HD T contact_bias(const auto& c, const ContactAt<T>& at, const Motion<T>& v_s, const Motion<T>& v_p,
                     const Motion<T>& a_s, const Motion<T>& a_p) {
  const Motion<T> v = v_s - v_p, a = a_s - a_p;
  const Vec3<T> rd = v_s.v + cross(v_s.w, at.r), nd = normal_rate(c, at, v_s, v_p);
  return dot(at.e[0], a.v + cross(a.w, at.r)) + dot(cross(rd, at.e[0]), v.w) + dot(nd, v.v + cross(v.w, at.r));
}

// Computes separation velocities and their bias.
//
// in   q (nq), qd (nv)
// out  zeta (nc)  [m/s]  separation velocities
// out  bias (nc)  [m/s^2]  td^T qd
// Cost O(nb + nc).
FS_HD void contact_rates(const auto& m, const auto& contacts, const auto& q, const auto& qd, auto zeta, auto bias) {
  using T = ScalarOf<decltype(q)>;
  const CommonFrame f(m, q, qd);
  auto v = scratch<Motion<T>>(m.nb + 1);
  auto a = scratch<Motion<T>>(m.nb + 1);
  world_motions(m, f.x, f.X, qd, v, a);
  for (int k = 0; k < contacts.nc; k++) {
    const auto& c = contacts.contact[k];
    const ContactAt<T> at = contact_at<T>(c, f.X);
    const Motion<T> u = v[c.s] - v[c.p];
    zeta[k] = dot(at.e[0], u.v + cross(u.w, at.r));
    bias[k] = contact_bias(c, at, v[c.s], v[c.p], a[c.s], a[c.p]);
  }
}

// Computes the frames of all contacts.
//
// in   q (nq)
// out  frame (12 nc)  of each contact, world: the point [m], normal, tangents 1 and 2
FS_HD void contact_frames(const auto& m, const auto& contacts, const auto& q, auto frame) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto X = scratch<Placement<T>>(m.nb + 1);
  update_joints(m, q, Zeros<T>{}, x);
  body_placements(m, x, X);
  for (int k = 0; k < contacts.nc; k++) {
    const ContactAt<T> at = contact_at<T>(contacts.contact[k], X);
    for (int i = 0; i < 3; i++) {
      frame[12 * k + i] = at.C(i);
      for (int j = 0; j < 3; j++) frame[12 * k + 3 + 3 * j + i] = at.e[j](i);
    }
  }
}

}  // namespace featherstorm
