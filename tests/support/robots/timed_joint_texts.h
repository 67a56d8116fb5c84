// Time-dependent joints as a user would write them: RBDA (3.31)-(3.33), (3.42).
#pragma once
#include "core/joint/timed.h"
#include "tests/support/robots/user_joint_texts.h"

namespace featherstorm::testing {

// A crank whose bearing is rotated by parameter t^2 and whose radius varies: R = Rz(theta), theta = q + k t^2, r = R
// (rho, 0, 0), rho = 0.5 + 0.2 sin 3t.
struct TimedCrank : PlainCoordinates<1> {
  static constexpr bool time_dependent = true;
  template <class T>
  static void radius(const T& t, T& rho, T& rate, T& second) {
    T s, c;
    sincos(t * T(3.0), s, c);
    rho = T(0.5) + T(0.2) * s, rate = T(0.6) * c, second = T(-1.8) * s;
  }
  template <class T, class B, class Q>
  static Placement<T> placement(const B& b, const Q& q, const T& t) {
    T s, c, rho, rate, second;
    sincos(q[0] + t * t * b.parameter, s, c);
    radius(t, rho, rate, second);
    const T o(0.0);
    return {rows<T>(c, -s, o, s, c, o, o, o, T(1.0)), {rho * c, rho * s, o}};
  }
  template <class T, class B, class Q>
  static void subspace(const B&, const Q&, const T& t, Motion<T>* S) {
    T rho, rate, second;
    radius(t, rho, rate, second);
    const T o(0.0);
    S[0] = {{o, o, T(1.0)}, {o, rho, o}};
  }
  template <class T, class B, class Q>
  static Motion<T> drift(const B& b, const Q&, const T& t) {
    T rho, rate, second;
    radius(t, rho, rate, second);
    const T o(0.0), w = t * (2 * b.parameter);
    return {{o, o, w}, {rate, rho * w, o}};
  }
  template <class T, class B, class Q, class V>
  static Motion<T> bias(const B& b, const Q&, const V& v, const T& t) {
    T rho, rate, second;
    radius(t, rho, rate, second);
    const T o(0.0), w = v[0] + t * (2 * b.parameter);
    return {{o, o, T(2 * b.parameter)}, {second, rate * w + rho * (2 * b.parameter), o}};
  }
};

// The crane of user_joints.h on rails that carry it by (k t^2, 0.3 sin 2t, 0).
struct TimedCrane : UserCrane {
  static constexpr bool time_dependent = true;
  template <class T, class B, class Q>
  static Placement<T> placement(const B& b, const Q& q, const T& t) {
    Placement<T> X = UserCrane::placement<T>(b, q);
    T s, c;
    sincos(t * T(2.0), s, c);
    X.r.x() = X.r.x() + t * t * b.parameter, X.r.y() = X.r.y() + T(0.3) * s;
    return X;
  }
  template <class T, class B, class Q>
  static void subspace(const B& b, const Q& q, const T&, Motion<T>* S) {
    UserCrane::subspace<T>(b, q, S);
  }
  template <class T, class B, class Q>
  static Motion<T> drift(const B& b, const Q& q, const T& t) {
    T s, c;
    sincos(t * T(2.0), s, c);
    return {zero3<T>(),
            transpose_times(UserCrane::placement<T>(b, q).R, Vec3<T>{t * (2 * b.parameter), T(0.6) * c, T(0.0)})};
  }
  // d/dt R^T u = R^T u' - w x R^T u, plus the crane's own
  template <class T, class B, class Q, class V>
  static Motion<T> bias(const B& b, const Q& q, const V& v, const T& t) {
    T s, c;
    sincos(t * T(2.0), s, c);
    const Vec3<T> a{T(2 * b.parameter), T(-1.2) * s, T(0.0)}, w{T(0.0), v[1], T(0.0)};
    Motion<T> m = UserCrane::bias<T>(b, q, v);
    m.v = m.v + transpose_times(UserCrane::placement<T>(b, q).R, a) - cross(w, drift<T>(b, q, t).v);
    return m;
  }
};

// A slide along x on a table that moves by parameter sin 5t.
struct TimedSlide : PlainCoordinates<1> {
  static constexpr bool time_dependent = true;
  template <class T, class B, class Q>
  static Placement<T> placement(const B& b, const Q& q, const T& t) {
    T s, c;
    sincos(t * T(5.0), s, c);
    const T o(0.0), l(1.0);
    return {rows<T>(l, o, o, o, l, o, o, o, l), {q[0] + s * b.parameter, o, o}};
  }
  template <class T, class B, class Q>
  static void subspace(const B&, const Q&, const T&, Motion<T>* S) {
    S[0] = {zero3<T>(), {T(1.0), T(0.0), T(0.0)}};
  }
  template <class T, class B, class Q>
  static Motion<T> drift(const B& b, const Q&, const T& t) {
    T s, c;
    sincos(t * T(5.0), s, c);
    return {zero3<T>(), {c * (5 * b.parameter), T(0.0), T(0.0)}};
  }
  template <class T, class B, class Q, class V>
  static Motion<T> bias(const B& b, const Q&, const V&, const T& t) {
    T s, c;
    sincos(t * T(5.0), s, c);
    return {zero3<T>(), {s * (-25 * b.parameter), T(0.0), T(0.0)}};
  }
};

}  // namespace featherstorm::testing
