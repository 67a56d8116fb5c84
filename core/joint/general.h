// Any joint in the form that the sweeps use: its placement, its motion subspace S (6 x n) and its bias c_J, as jcalc
// returns them.
//
// The numbers are kept per body in the array x (joints.h): R (9, by rows), r (3), S (6 n), c_J (6).
#pragma once
#include "core/joint/timed.h"
#include "core/spatial/transform.h"

namespace featherstorm {

constexpr int general_joint_numbers(int n) { return 12 + 6 * n + 6; }

template <class T> FS_HD void store_placement(auto& x, int k, const Placement<T>& p) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) x[k + 3 * i + j] = p.R(i, j);
  for (int i = 0; i < 3; i++) x[k + 9 + i] = p.r(i);
}
template <class T> FS_HD Mat3<T> load_matrix(const auto& x, int k) {
  return rows<T>(x[k], x[k + 1], x[k + 2], x[k + 3], x[k + 4], x[k + 5], x[k + 6], x[k + 7], x[k + 8]);
}
template <class T> FS_HD Vec3<T> load_vector(const auto& x, int k) { return {x[k], x[k + 1], x[k + 2]}; }
template <class T> FS_HD void store_motion(auto& x, int k, const Motion<T>& m) {
  for (int i = 0; i < 3; i++) x[k + i] = m.w(i), x[k + 3 + i] = m.v(i);
}

// Joint as seen from its other side (RBDA Table 4.2): ^sX_p becomes ^pX_s, S and c_J become -^pX_s S, -^pX_s c_J.
template <class T> FS_HD void reverse_joint(Placement<T>& J, Motion<T>* S, int n, Motion<T>& c) {
  for (int k = 0; k < n; k++) S[k] = -apply_inverse(J, S[k]);
  c = -apply_inverse(J, c);
  J = inverse(J);
}

template <class T, int n> struct GeneralAt {
  static constexpr int nv = n;
  Mat3<T> R;
  Vec3<T> r;
  Motion<T> S[n], c;

  FS_HD static GeneralAt load(const auto& x, int k) {
    GeneralAt J{load_matrix<T>(x, k), load_vector<T>(x, k + 9), {}, {}};
    for (int i = 0; i < n; i++) J.S[i] = {load_vector<T>(x, k + 12 + 6 * i), load_vector<T>(x, k + 15 + 6 * i)};
    J.c = {load_vector<T>(x, k + 12 + 6 * n), load_vector<T>(x, k + 15 + 6 * n)};
    return J;
  }

  FS_HD const Vec3<T>& origin() const { return r; }
  FS_HD Vec3<T> rotate_back(const Vec3<T>& v) const { return transpose_times(R, v); }
  FS_HD Vec3<T> rotate(const Vec3<T>& v) const { return R * v; }
  template <class Inertia> FS_HD Inertia rotate_inertia(const Inertia& J) const { return featherstorm::rotate(R, J); }
  FS_HD Placement<T> placement() const { return {R, r}; }

  template <class V> FS_HD Motion<T> velocity(const V& v) const {
    Motion<T> m = S[0] * v[0];
    for (int k = 1; k < n; k++) m = m + S[k] * v[k];
    if constexpr (has_drift<V>) m = m + drift_of<T>(v);
    return m;
  }
  FS_HD Motion<T> bias(const auto&) const { return c; }
  FS_HD Vec3<T> angular_velocity(const auto& v) const { return velocity(v).w; }
  FS_HD Vec3<T> linear_velocity(const auto& v) const { return velocity(v).v; }
  FS_HD Vec3<T> angular_acceleration(const auto&, const auto& a) const { return velocity(a).w + c.w; }
  // S a + c_J as a spatial acceleration, plus w_J x v_J: acceleration of the origin itself
  FS_HD Vec3<T> linear_acceleration(const auto& v, const auto& a) const {
    const Motion<T> vJ = velocity(v);
    return velocity(a).v + c.v + cross(vJ.w, vJ.v);
  }
  FS_HD T project(int k, const Force<T>& f) const { return dot(S[k], f); }
  FS_HD Force<T> force_of_axis(int k, const auto& J) const { return J * S[k]; }
  FS_HD void clear_axis(ArticulatedInertia<T>&) const {}
  FS_HD void set_axis_force(Force<T>&, const auto&) const {}
};

}  // namespace featherstorm
