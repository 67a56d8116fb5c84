// Muscles: activation with two time constants, an active force depending on length and velocity, a passive force
// depending on length.
//
//   act' = (u - act) / tau,   tau = tau_act (1/2 + 3/2 act)  rising,   tau_deact / (1/2 + 3/2 act)  falling
//   f = -F (FL(L) FV(V) act + FP(L)),   L, V the length and velocity in units of the optimal length L0
//
// FL, FV and FP are piecewise parabolas. Millard et al. (2013); MuJoCo's documentation, "Muscles". Parameters of gain
// and bias, in order: range (2) of L over the actuator's range of length; F (if negative, `scale` divided by the
// acceleration due to a unit force); scale; lmin, lmax; vmax; fpmax; fvmax.
#pragma once
#include "core/world/world.h"

namespace featherstorm {

// Returns x / y, with y at least 1e-15.
template <class T> FS_HD T over(const T& x, const T& y) { return x * rcp(max(y, T(1e-15))); }

// Smooth step from 0 at x = 0 to 1 at x = 1, with zero first and second derivatives at both ends:
// 6 x^5 - 15 x^4 + 10 x^3.
template <class T> FS_HD T smooth_step(const T& x) {
  const T s = max(min(x, T(1.0)), T(0.0));
  return s * s * s * (s * (s * T(6.0) - T(15.0)) + T(10.0));
}

// in   u, act
// in   dynamics  tau_act [s], tau_deact [s], width of a smooth transition between them
// returns d act / dt
template <class T> FS_HD T muscle_rate(const auto& dynamics, const T& u, const T& act) {
  const T zero(0.0), one(1.0), least(1e-15);
  const T slow = T(0.5) + T(1.5) * max(min(act, one), zero), excess = max(min(u, one), zero) - act;
  const T rising = T(dynamics[0]) * slow, falling = T(dynamics[1]) * rcp(slow), width(dynamics[2]);
  const T share = select(width < least, select(zero < excess, one, zero), smooth_step(T(over(excess, width) + T(0.5))));
  return over(excess, T(falling + (rising - falling) * share));
}

template <class T> struct MuscleScale { T force, optimal, length; };  // F, L0, L

template <class T> FS_HD MuscleScale<T> muscle_scale(const auto& a, const auto& prm, const T& length) {
  const T optimal = over(T(T(a.length_upper) - T(a.length_lower)), T(T(prm[1]) - T(prm[0])));
  return {select(T(prm[2]) < T(0.0), over(T(prm[3]), T(a.acceleration)), T(prm[2])), optimal,
          T(prm[0]) + over(T(length - T(a.length_lower)), optimal)};
}

// FL: 0 at lmin and lmax, 1 at 1, and 1/2 half-way in between.
template <class T> FS_HD T force_over_length(const T& L, const T& lmin, const T& lmax) {
  const T half(0.5), one(1.0), zero(0.0), a = half * (lmin + one), b = half * (one + lmax);
  const auto from = [&](const T& x, const T& width) {
    const T s = over(x, width);
    return half * s * s;
  };
  const T rising = select(L <= a, from(L - lmin, a - lmin), one - from(one - L, one - a));
  const T falling = select(L <= b, one - from(L - one, b - one), from(lmax - L, lmax - b));
  return select(lmin <= L && L <= lmax, select(L <= one, rising, falling), zero);
}

// FV: 0 at -1 and below, 1 at 0, fvmax at fvmax - 1 and above.
template <class T> FS_HD T force_over_velocity(const T& V, const T& fvmax) {
  const T one(1.0), zero(0.0), y = fvmax - one, s = V + one, d = y - V;
  const T lengthening = select(V <= y, fvmax - over(T(d * d), y), fvmax);
  return select(V <= zero, select(V <= -one, zero, s * s), lengthening);
}

// Returns the force at full activation, <= 0.
template <class T> FS_HD T muscle_gain(const auto& a, const T& length, const T& velocity) {
  const auto& prm = a.gains;
  const MuscleScale<T> s = muscle_scale(a, prm, length);
  const T V = over(velocity, T(s.optimal * T(prm[6])));
  return -s.force * force_over_length(s.length, T(prm[4]), T(prm[5])) * force_over_velocity(V, T(prm[8]));
}

// FP: 0 below 1, a parabola up to fpmax / 2 at (1 + lmax) / 2, linear beyond. Returns the passive force, <= 0.
template <class T> FS_HD T muscle_bias(const auto& a, const T& length) {
  const auto& prm = a.biases;
  const MuscleScale<T> s = muscle_scale(a, prm, length);
  const T half(0.5), one(1.0), zero(0.0), b = half * (one + T(prm[5]));
  const T x = over(T(s.length - one), T(b - one)), y = over(T(s.length - b), T(b - one));
  const T F = select(s.length <= one, zero, select(s.length <= b, half * x * x, half + y));
  return -s.force * T(prm[7]) * F;
}

}  // namespace featherstorm
