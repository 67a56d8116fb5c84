// Springs of joints, towards a position that need not be q0 [qfrc_spring of joints].
//
//   tau = -u p(x),   u = q - reference on the joint's tangent space
//
// x is u itself where the joint has one coordinate; it is the length of u for a turn in space and, apart from it, for what a
// free joint moves along.
#pragma once
#include "core/model/joints.h"

namespace featherstorm {

// visit(v, n, u): the n coordinates from v on are stretched by u (n) together.
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

// x of the stretch u (n); a length is kept from 0, where it has no derivative.
template <class T> FS_HD T stretch_of(int n, const T* u) {
  if (n == 1) return u[0];
  T square = u[0] * u[0];
  for (int k = 1; k < n; k++) square = square + u[k] * u[k];
  return sqrt(max(square, T(1e-36)));
}

// in   q (nq)
// out  force (nv)  [N m | N], all of them: 0 where there is no spring
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

// The energy of these springs [J].
template <class T> FS_HD T joint_spring_energy(const auto& m, const auto& w, const auto& q) {
  T energy(0.0);
  for (const auto& spring : w.spring)
    with_stretches<T>(m, spring, q, [&](int, int n, const T* u) {
      energy = energy + potential_of(spring.stiffness, stretch_of(n, u));
    });
  return energy;
}

}  // namespace featherstorm
