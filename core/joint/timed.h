// Explicit time for time-dependent (rheonomic) joints. RBDA (3.31)-(3.33), (3.42), section 4.4 (jcalc with t).
//
//   X_J(q, t),   v_J = S(q, t) qd + sigma(q, t),   c_J = S° qd + sigma°   (° includes the partial derivative by time)
//
// Time is stored with the arrays. Algorithms need no change, and arrays without time cost nothing:
//
//   rnea(m, at_time(q, t), drifting(m, q, qd, t), qdd, f_ext, tau);   // v_J of the velocities has sigma
//   crba(m, at_time(q, t), H);
//
// J.velocity(v) adds sigma only for velocities made by drifting(); accelerations and unit vectors are multiplied by S
// alone. With absent velocities (Zeros) time does not advance. A model with time-dependent joints refuses arrays that
// lack time. test_timed_joints.cpp lists the algorithms that are tested for such models: inverse and forward dynamics
// in all forms, H, motion of frames, energy, momentum. Derivatives by q and qd are not among them.
#pragma once
#include <stdexcept>

#include "core/spatial/motion.h"

namespace featherstorm {

// Positions at time t [s]; t is one scalar of the array, so that every instance of a batch has its own.
template <class Array, class T>
struct AtTime {
  Array array;
  T t;
  FS_HD decltype(auto) operator[](int i) const { return array[i]; }
};
template <class Array, class T>
FS_HD AtTime<Array, T> at_time(const Array& q, const T& t) {
  return {q, t};
}

// Velocities of joints whose placements also move with time.
template <class M, class Q, class V, class T>
struct Drifting {
  const M& m;
  AtTime<Q, T> q;
  V v;
  FS_HD decltype(auto) operator[](int i) const { return v[i]; }
};
template <class M, class Q, class V, class T>
FS_HD Drifting<M, Q, V, T> drifting(const M& m, const Q& q, const V& qd, const T& t) {
  return {m, {q, t}, qd};
}

template <class Array>
inline constexpr bool has_time = false;
template <class Array, class T>
inline constexpr bool has_time<AtTime<Array, T>> = true;
template <class Array>
inline constexpr bool has_time<Slice<Array>> = has_time<Array>;

template <class Array>
inline constexpr bool has_drift = false;
template <class M, class Q, class V, class T>
inline constexpr bool has_drift<Drifting<M, Q, V, T>> = true;
template <class Array>
inline constexpr bool has_drift<Slice<Array>> = has_drift<Array>;

template <class Array>
inline constexpr bool is_absent = !is_given<Array>;
template <class Array>
inline constexpr bool is_absent<Slice<Array>> = is_absent<Array>;

template <class Array, class T>
FS_HD T time_of(const AtTime<Array, T>& q) {
  return q.t;
}
template <class Array>
FS_HD auto time_of(const Slice<Array>& q) {
  return time_of(q.array);
}

// sigma of the joint whose velocities these are (joints.h)
template <class T, class M, class Q, class V, class S>
Motion<T> drift_of(const Slice<Drifting<M, Q, V, S>>& v);

// The time for a time-dependent joint. Throws std::invalid_argument where the arrays have none.
template <class T, class Q, class V>
T required_time(const Q& q) {
  if constexpr (!has_time<Q>)
    throw std::invalid_argument(
        "the joint depends on time: expected positions as at_time(q, t), got positions without time");
  else if constexpr (!is_absent<V> && !has_drift<V>)
    throw std::invalid_argument(
        "the joint depends on time: expected velocities as drifting(m, q, qd, t), got velocities without time");
  else return time_of(q);
}

}  // namespace featherstorm
