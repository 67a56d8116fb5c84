// Springs of joints, with a reference that may differ from q0 [qfrc_spring of joints].
//
//   tau = -u p(x),   u = q - reference on the joint's tangent space
//
// If the joint has one coordinate, x is u itself. For other joints, rotation and translation have springs of their own,
// and x is the length of the respective part of u.
#pragma once
#include "core/model/joints.h"

namespace featherstorm {

// Calls visit(v, n, u) for each spring: the n coordinates from v on have the stretch u (n).
template <class T> FS_HD void with_stretches(const auto& m, const auto& spring, const auto& q, const auto& visit) {
  const auto& b = m.body[spring.body];
  T u[6];
  int nv = 0;
  with_joint_type(b.type, [&](auto joint) {
    using Joint = decltype(joint);
    nv = Joint::nv;
    Joint::template difference<T>(b, spring.reference, slice(q, b.q), u);
  });
  const int turn = joint_traits(b.type).rotation;
  if (turn < 0) {
    for (int k = 0; k < nv; k++) visit(b.v + k, 1, u + k);
    return;
  }
  if (turn > 0) visit(b.v, turn, u);
  visit(b.v + turn, 3, u + turn);
}

// Returns x for the stretch u (n). The length is bounded away from 0, where it has no derivative.
template <class T> FS_HD T stretch_of(int n, const T* u) {
  if (n == 1) return u[0];
  T square = u[0] * u[0];
  for (int k = 1; k < n; k++) square = square + u[k] * u[k];
  return sqrt(max(square, T(1e-36)));
}

// in   q (nq)
// out  force (nv)  [N m | N], all entries: 0 without a spring
// Cost O(nv).
FS_HD void joint_springs(const auto& m, const auto& w, const auto& q, auto force) {
  using T = ScalarOf<decltype(q)>;
  for (int k = 0; k < m.nv; k++) force[k] = T(0.0);
  for (const auto& spring : w.spring)
    with_stretches<T>(m, spring, q, [&](int v, int n, const T* u) {
      const T p = value_of(spring.stiffness, stretch_of(n, u));
      for (int k = 0; k < n; k++) force[v + k] = -(u[k] * p);
    });
}

// Energy of these springs [J].
template <class T> FS_HD T joint_spring_energy(const auto& m, const auto& w, const auto& q) {
  T energy(0.0);
  for (const auto& spring : w.spring)
    with_stretches<T>(m, spring, q, [&](int, int n, const T* u) {
      energy = energy + potential_of(spring.stiffness, stretch_of(n, u));
    });
  return energy;
}

}  // namespace featherstorm
