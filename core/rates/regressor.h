// Regressors: quantities of a robot as linear maps of its inertial parameters pi. Garofalo et al. (8)-(12), (15)-(16).
//
//   tau = Y(q, qd, qdd) pi + armature qdd          regressor
//   H qdd_r + C qd_r + g = Y pi + armature qdd_r    slotine_li_regressor, for a C of coriolis_matrix.h
//   H qd = Y pi + armature qd                      momentum_regressor
//   T = y_T pi + rotors,  V = y_V pi               energy_regressor
//
// pi has ten numbers for each body: m, m c (3), Ixx Iyy Izz Ixy Ixz Iyz about the body's origin, entries of the matrix,
// all in the axes of the model's body (model.h; welded links are part of it).
#pragma once
#include "core/rates/coriolis_matrix.h"

namespace featherstorm {

// out  pi (10 nb)  the parameters of the model
FS_HD void inertial_parameters(const auto& m, auto pi) {
  for (int i = 1; i <= m.nb; i++) {
    const auto& I = m.body[i].I;
    const auto p = slice(pi, 10 * (i - 1));
    p[0] = I.m, p[1] = I.h.x(), p[2] = I.h.y(), p[3] = I.h.z();
    p[4] = I.I.xx, p[5] = I.I.yy, p[6] = I.I.zz, p[7] = I.I.xy, p[8] = I.I.xz, p[9] = I.I.yz;
  }
}

// I_h u for the inertia whose parameters are zero but number h, which is one: column h of A(u), Garofalo et al. (10).
template <class T> FS_HD Force<T> parameter_momentum(int h, const Motion<T>& u) {
  const T o(0.0);
  const Vec3<T>& w = u.w;
  const Vec3<T>& v = u.v;
  switch (h) {
    case 0: return {zero3<T>(), v};
    case 1: return {{o, -v.z(), v.y()}, {o, w.z(), -w.y()}};
    case 2: return {{v.z(), o, -v.x()}, {-w.z(), o, w.x()}};
    case 3: return {{-v.y(), v.x(), o}, {w.y(), -w.x(), o}};
    case 4: return {{w.x(), o, o}, zero3<T>()};
    case 5: return {{o, w.y(), o}, zero3<T>()};
    case 6: return {{o, o, w.z()}, zero3<T>()};
    case 7: return {{w.y(), w.x(), o}, zero3<T>()};
    case 8: return {{w.z(), o, w.x()}, zero3<T>()};
    default: return {{o, w.z(), w.y()}, zero3<T>()};
  }
}

// Y(l, 10 i + h) = S_l^T force(i, h) for the freedoms l on the path to body i, zero elsewhere; force in body axes.
FS_HD void project_regressor(const auto& m, const auto& X, const auto& S, const auto& force, auto Y) {
  using T = std::remove_cvref_t<decltype(X[0].r(0))>;
  const int columns = 10 * m.nb;
  for (int k = 0; k < m.nv * columns; k++) Y[k] = T(0.0);
  for (int i = 1; i <= m.nb; i++) {
    Force<T> f[10];
    for (int h = 0; h < 10; h++) f[h] = force(i, h);
    for (int j = i; j > 0; j = m.body[j].parent)
      for (int l = m.body[j].v; l < m.body[j].v + freedoms(m, j); l++) {
        const Motion<T> s = apply(X[i], S[l]);
        for (int h = 0; h < 10; h++) Y[l * columns + 10 * (i - 1) + h] = dot(s, f[h]);
      }
  }
}

// in   q (nq), qd (nv), qd_r (nv), qdd_r (nv)  reference velocity and acceleration
// out  Y (nv 10 nb)  row-major. Christoffel or BodyFixed; the MassCentre form of C is not linear in pi
// Cost O(n depth).
template <Coriolis form = Coriolis::Christoffel>
FS_HD void slotine_li_regressor(const auto& m, const auto& q, const auto& qd, const auto& qd_r, const auto& qdd_r,
                                auto Y) {
  static_assert(form != Coriolis::MassCentre);
  using T = ScalarOf<decltype(q)>;
  const CommonFrame at(m, q, qd);
  auto Sd = scratch<Motion<T>>(m.nv);
  auto v = scratch<Motion<T>>(m.nb + 1);
  auto v_r = scratch<Motion<T>>(m.nb + 1);
  auto a_r = scratch<Motion<T>>(m.nb + 1);
  axes_in_motion(m, q, qd, at.x, at.X, at.S, v, Sd);
  v_r[0] = zero_motion<T>();
  a_r[0] = {zero3<T>(), -cast<T>(m.gravity)};
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    // v_r = J qd_r,  a_r = J qdd_r + Jd qd_r
    v_r[i] = v_r[b.parent], a_r[i] = a_r[b.parent];
    for (int k = b.v; k < b.v + freedoms(m, i); k++) {
      v_r[i] = v_r[i] + at.S[k] * qd_r[k];
      a_r[i] = a_r[i] + at.S[k] * qdd_r[k] + Sd[k] * qd_r[k];
    }
  }
  for (int i = 1; i <= m.nb; i++)
    v[i] = apply(at.X[i], v[i]), v_r[i] = apply(at.X[i], v_r[i]), a_r[i] = apply(at.X[i], a_r[i]);
  project_regressor(
      m, at.X, at.S,
      [&](int i, int h) -> Force<T> {
        // I a_r + B v_r
        const Force<T> f = cross_dual(v[i], parameter_momentum(h, v_r[i]));
        if constexpr (form == Coriolis::BodyFixed) {
          return parameter_momentum(h, a_r[i]) + f;
        } else {
          const Force<T> g =
              cross_dual(v_r[i], parameter_momentum(h, v[i])) - parameter_momentum(h, cross(v[i], v_r[i]));
          return parameter_momentum(h, a_r[i]) + (f + g) * T(0.5);
        }
      },
      Y);
}

// in   q (nq), qd (nv), qdd (nv)
// out  Y (nv 10 nb)  row-major: tau = Y pi
FS_HD void regressor(const auto& m, const auto& q, const auto& qd, const auto& qdd, auto Y) {
  slotine_li_regressor<Coriolis::BodyFixed>(m, q, qd, qd, qdd, Y);
}

// v_i in body axes for momentum and energy.
FS_HD void body_velocities(const auto& m, const auto& X, const auto& S, const auto& qd, auto& v) {
  common_velocities(m, S, qd, v);
  for (int i = 1; i <= m.nb; i++) v[i] = apply(X[i], v[i]);
}

// in   q (nq), qd (nv)
// out  Y (nv 10 nb)  row-major: H qd = Y pi
FS_HD void momentum_regressor(const auto& m, const auto& q, const auto& qd, auto Y) {
  using T = ScalarOf<decltype(q)>;
  const CommonFrame f(m, q);
  auto v = scratch<Motion<T>>(m.nb + 1);
  body_velocities(m, f.X, f.S, qd, v);
  project_regressor(m, f.X, f.S, [&](int i, int h) { return parameter_momentum(h, v[i]); }, Y);
}

// in   q (nq), qd (nv)
// out  y_T, y_V (10 nb)  [J per unit of the parameter]  potential energy is zero at the world's origin
FS_HD void energy_regressor(const auto& m, const auto& q, const auto& qd, auto y_T, auto y_V) {
  using T = ScalarOf<decltype(q)>;
  const CommonFrame f(m, q);
  auto v = scratch<Motion<T>>(m.nb + 1);
  body_velocities(m, f.X, f.S, qd, v);
  const Vec3<T> g = cast<T>(m.gravity);
  for (int i = 1; i <= m.nb; i++) {
    // T = 1/2 v . A(v) pi,  V = -g . (m r + R h), r from the world's origin
    for (int h = 0; h < 10; h++) {
      y_T[10 * (i - 1) + h] = dot(v[i], parameter_momentum(h, v[i])) * T(0.5);
      y_V[10 * (i - 1) + h] = T(0.0);
    }
    const Vec3<T> gi = transpose_times(f.X[i].R, g);
    y_V[10 * (i - 1)] = -dot(g, f.X[i].r - f.X[0].r);
    for (int k = 0; k < 3; k++) y_V[10 * (i - 1) + 1 + k] = -gi(k);
  }
}

}  // namespace featherstorm
