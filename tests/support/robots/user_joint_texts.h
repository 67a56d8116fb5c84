// The algorithms of the joints of user_joints.h, as a user would write them.
#pragma once
#include "core/joint/user_joint.h"

namespace featherstorm::testing {

template <int n> struct PlainCoordinates {
  static constexpr int nq = n, nv = n;
  template <class T, class B, class Q, class U, class Out>
  static void integrate(const B&, const Q& q, const U& u, Out q_next) {
    for (int k = 0; k < n; k++) q_next[k] = q[k] + u[k];
  }
  template <class T, class B, class Q, class Q1, class Out>
  static void difference(const B&, const Q& q0, const Q1& q1, Out u) {
    for (int k = 0; k < n; k++) u[k] = q1[k] - q0[k];
  }
};

struct UserRackPinion : PlainCoordinates<1> {
  template <class T, class B, class Q> static Placement<T> placement(const B& b, const Q& q) {
    T s, c;
    sincos(T(q[0]), s, c);
    return {rows<T>(c, -s, T(0.0), s, c, T(0.0), T(0.0), T(0.0), T(1.0)), {q[0] * b.parameter, T(0.0), T(0.0)}};
  }
  template <class T, class B, class Q> static void subspace(const B& b, const Q& q, Motion<T>* S) {
    T s, c;
    sincos(T(q[0]), s, c);
    S[0] = {{T(0.0), T(0.0), T(1.0)}, {c * b.parameter, -(s * b.parameter), T(0.0)}};
  }
  template <class T, class B, class Q, class V> static Motion<T> bias(const B& b, const Q& q, const V& v) {
    T s, c;
    sincos(T(q[0]), s, c);
    const T k = v[0] * v[0] * b.parameter;
    return {zero3<T>(), {-(s * k), -(c * k), T(0.0)}};
  }
};

struct UserCrane : PlainCoordinates<3> {
  template <class T, class B, class Q> static Placement<T> placement(const B&, const Q& q) {
    T s, c;
    sincos(T(q[1]), s, c);
    const T o(0.0), l(1.0);
    return {rows<T>(c, o, s, o, l, o, -s, o, c), {q[0] + q[2] * s, o, q[2] * c}};
  }
  template <class T, class B, class Q> static void subspace(const B&, const Q& q, Motion<T>* S) {
    T s, c;
    sincos(T(q[1]), s, c);
    const T o(0.0), l(1.0);
    S[0] = {zero3<T>(), {c, o, s}};
    S[1] = {{o, l, o}, {T(q[2]), o, o}};
    S[2] = {zero3<T>(), {o, o, l}};
  }
  template <class T, class B, class Q, class V> static Motion<T> bias(const B&, const Q& q, const V& v) {
    T s, c;
    sincos(T(q[1]), s, c);
    const T v01 = v[0] * v[1];
    return {zero3<T>(), {v[1] * v[2] - s * v01, T(0.0), c * v01}};
  }
};

}  // namespace featherstorm::testing
