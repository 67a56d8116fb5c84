// Response of a constraint row to its violation r and its velocity: stiffness, damping, impedance, regularisation.
//
//   aref = -(B v + K d(r) r)                      reference acceleration of the row
//   R = (1 - d) / d A,  D = 1 / R                 A: inverse inertia along the row
//
// The impedance d grows from d_0 to d_w with x = |r| / width. The curve y has power p on both sides of the midpoint c:
//
//   d = d_0 + y (d_w - d_0),   y = c (x / c)^p for x <= c,   1 - y = (1 - c) ((1 - x) / (1 - c))^p above
//
// MuJoCo's documentation, chapter Computation, "Impedance" and "Reference".
#pragma once
#include "core/scalar/scalar.h"
#include "core/world/constraints.h"

namespace featherstorm {

// Smallest denominator, and the range of impedances [mjMINVAL, mjMINIMP, mjMAXIMP].
inline constexpr double least_denominator = 1e-15, least_impedance = 1e-4, greatest_impedance = 0.9999;

template <class T> FS_HD T clamped_impedance(const T& d) {
  return min(max(d, T(least_impedance)), T(greatest_impedance));
}

// K [1/s^2] and B [1/s].
template <class T> struct ReferenceGains { T stiffness, damping; };

// Computes K and B from a reference. If only one of its two numbers is positive, the form is undefined, and
// (0.02, 1) is used instead.
//
// in  h  time step [s];  safe  true: the time constant is at least 2 h
template <class T, class P>
FS_HD ReferenceGains<T> reference_gains(const Softness<P>& s, const auto& h, bool safe) {
  const T zero(0.0), one(1.0), least(least_denominator), first(s.reference[0]), second(s.reference[1]);
  const T dw = clamped_impedance(T(s.impedance[1]));
  const auto positive = [&](const T& x, const T& yes, const T& no) { return select(zero < x, yes, no); };
  T t = positive(first, positive(second, first, T(0.02)), positive(second, T(0.02), first));
  const T z = positive(first, positive(second, second, one), positive(second, one, second));
  if (safe) t = positive(t, max(t, T(2.0) * T(h)), t);
  // standard: K = 1 / (d_w t z)^2, B = 2 / (d_w t);  direct: K = -t / d_w^2, B = -z / d_w
  const T time = dw * t;
  return {positive(t, rcp(max(time * time * z * z, least)), -(t * rcp(dw * dw))),
          positive(t, T(2.0) * rcp(max(time, least)), -(z * rcp(dw)))};
}

// Impedance as a function of x = |r| / width.
template <class T> struct ImpedanceCurve {
  T first, rise;             // d_0, d_w - d_0
  T per_width;               // 1 / width
  T midpoint, below, above;  // c, 1 / c, 1 / (1 - c)
  T exponent;                // p
  int power;                 // p if it is 1 or 2
};
template <class T, class P> FS_HD ImpedanceCurve<T> impedance_curve(const Softness<P>& s) {
  const T zero(0.0), one(1.0), least(least_denominator), width(s.impedance[2]);
  const T d0 = clamped_impedance(T(s.impedance[0])), dw = clamped_impedance(T(s.impedance[1]));
  const T c = clamped_impedance(T(s.impedance[3]));
  const auto step = width <= least;
  return {select(step, T(0.5) * (d0 + dw), d0),
          select(step, zero, dw - d0),
          rcp(max(width, least)),
          c,
          rcp(c),
          rcp(one - c),
          max(T(s.impedance[4]), one),
          s.power};
}

// Returns d at a violation r [m | rad].
template <class T, class P> FS_HD T impedance_at(const ImpedanceCurve<P>& s, const T& r) {
  const T one(1.0), x = min(abs(r) * T(s.per_width), one);
  const auto below = x <= T(s.midpoint);
  const T z = select(below, x, one - x);
  T y = z;
  if (s.power != 1) {
    const T scaled = z * select(below, T(s.below), T(s.above));
    // c (x / c)^p = x (x / c)^(p - 1)
    y = s.power == 2 ? z * scaled : z * exp((T(s.exponent) - one) * log(max(scaled, T(1e-30))));
  }
  return T(s.first) + select(below, y, one - y) * T(s.rise);
}
template <class T, class P> FS_HD T impedance_at(const Softness<P>& s, const T& r) {
  return impedance_at(impedance_curve<T>(s), r);
}

// Returns R of a row.
template <class T, class P> FS_HD T row_regularisation(const T& d, const P& inverse_inertia) {
  return max((T(1.0) - d) * T(inverse_inertia) * rcp(d), T(least_denominator));
}

// Settings that all rows of a world share.
template <class T> struct RowLaw {
  T timestep;           // h [s]
  bool safe_reference;  // [refsafe]
  bool discrete;        // true: springs and dampers of rows act at the end of the step [integrator discrete]
};
template <class T> FS_HD RowLaw<T> row_law(const auto& w) {
  return {T(w.timestep), w.constraints.safe_reference, w.is_discrete()};
}

// Spring of a row: None (dry friction), Holds (a spring that always acts), Yields (a limit or a contact, which may give
// way).
enum class RowSpring : unsigned char { None, Holds, Yields };

// Response of a row: aref = -(damping v + stiffness r) - share bias, and R.
template <class T> struct RowAnswer { T stiffness, damping, share, R; };

// Computes the response with forces at the end of the step, with f = 1 + h B + h^2 K d:
//
//   aref = -((B + h K d) v + K d r + bias) / f,   R = max((1 - d) / d A / f, (1 - d_max) / d_max A)
//
// A spring is too stiff for the step if e = h^2 K d > 1. It is then as stiff as a spring with e = 1, and less damped:
//
//   K = 1 / (h^2 d),   B <= (1 - d) / d  d_max / (1 - d_max) / h - 2 / h,   B / sqrt(e)
template <class T, class P>
FS_HD RowAnswer<T> discrete_answer(const RowLaw<T>& law, const Softness<P>& s, const T& d, const T& A,
                                   RowSpring spring) {
  const T zero(0.0), one(1.0), h = law.timestep, most(greatest_impedance);
  const ReferenceGains<T> gains = reference_gains<T>(s, h, false);
  T K = spring == RowSpring::None ? zero : gains.stiffness, B = gains.damping;
  if (spring == RowSpring::Yields && law.safe_reference) {
    const T e = h * h * K * d;
    // only references given as time constants; if just one number is positive, the default reference is used
    const auto stiff = one < e && (zero < T(s.reference[0]) || zero < T(s.reference[1]));
    const T softest = (one - d) * most * rcp(d * (one - most));
    const T least_damped = max(zero, softest - T(2.0)) * rcp(h);
    B = select(stiff, min(B * rcp(sqrt(max(e, one))), least_damped), B);
    K = select(stiff, rcp(h * h * d), K);
  }
  const T share = rcp(one + h * B + h * h * K * d);
  const T least = max((one - most) * A * T(1.0 / greatest_impedance), T(least_denominator));
  return {K * d * share, (B + h * K * d) * share, share, max(row_regularisation(d, A) * share, least)};
}
// in  A  inverse inertia along the row
template <class T, class P>
FS_HD RowAnswer<T> row_answer(const RowLaw<T>& law, const Softness<P>& s, const T& d, const T& A, RowSpring spring) {
  if (law.discrete) return discrete_answer(law, s, d, A, spring);
  const ReferenceGains<T> gains = reference_gains<T>(s, law.timestep, law.safe_reference);
  return {gains.stiffness * d, gains.damping, T(1.0), row_regularisation(d, A)};
}

// aref of a row with violation r and velocity v.
template <class T> FS_HD T reference_acceleration(const RowAnswer<T>& a, const T& r, const T& v) {
  return -(a.damping * v + a.stiffness * r);
}

}  // namespace featherstorm
