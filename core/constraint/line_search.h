// Line search: the least cost along a step, for rows with convex costs (core/constraint/row_state.h) and a smooth cost.
//
//   slope(alpha) = linear + alpha bend + sum s'(r + alpha Js) Js
//
// The slope grows with alpha. The search takes a few Newton steps, kept within a bracket of the root, until the slope
// is a tenth of the first one. A rising slope may have risen over a long distance. Such an alpha is accepted only if
// the cost lost beyond the lower end of the bracket is less than the cost gained up to it.
#pragma once
#include "core/constraint/row_pattern.h"
#include "core/constraint/row_state.h"
#include "core/scalar/some.h"

namespace featherstorm {

// Greatest number of searches, each of four steps.
inline constexpr int most_searches = 6;

// State of a search for the least cost of a + alpha step.
template <class T> struct LineSearch {
  T alpha{1.0}, low{0.0}, high{1e10};  // best alpha so far, and its bracket
  T falls{1e30}, climbs{1e30};         // rate at which the cost falls at low, and rises at high
  T open{1.0};                         // 0 once alpha is accepted
};

// Smooth part. first: slope(0) of all costs; linear, bend: its own slope(0) and the growth of that slope; noise:
// rounding error of a slope.
template <class T> struct SmoothSlope { T first{0.0}, linear{0.0}, bend{0.0}, noise{0.0}; };

// Continues the search for `line_steps` steps, in instances where it is open.
//
// in   p       has rows, D, friction
// in   r, Js (n)  value of the rows, and their rate along the step
// in-out  s
template <int line_steps = 4, class T>
FS_HD void search_rows(const auto& p, const auto& r, const auto& Js, const SmoothSlope<T>& smooth, LineSearch<T>& s) {
  const int n = p.rows.rows();
  auto at = scratch<T>(n);
  const T small = T(0.1) * abs(smooth.first);
  for (int l = 0; l < line_steps; l++) {
    T slope = smooth.linear + s.alpha * smooth.bend, bend = smooth.bend;
    for (int i = 0; i < n; i++) at[i] = r[i] + s.alpha * Js[i];
    for (const PackedBlock& b : p.rows.block) {
      const Slope<T> of = slope_along<T>(b, slice(at.data(), b.first), slice(Js, b.first), slice(p.D, b.first),
                                         slice(p.friction, b.first));
      slope = slope + of.first, bend = bend + of.second;
    }
    const T size = abs(slope);
    slope = select(size <= smooth.noise, T(0.0), slope);
    const auto wins = slope * (s.alpha - s.low) <= s.falls * s.low;
    s.open = select(wins, select(abs(slope) <= small, T(0.0), s.open), s.open);
    const auto goes_on = T(0.0) < s.open, rises = T(0.0) <= slope;
    // Newton's method may otherwise jump from one end to the other and back
    const auto nearer = size <= T(0.5) * select(rises, s.climbs, s.falls);
    const auto at_low = goes_on && slope < T(0.0), at_high = goes_on && rises;
    s.low = select(at_low, s.alpha, s.low), s.falls = select(at_low, size, s.falls);
    s.high = select(at_high, s.alpha, s.high), s.climbs = select(at_high, size, s.climbs);
    const T next = s.alpha - slope * rcp(max(bend, T(1e-30)));
    const auto between = s.low <= next && next <= s.high && nearer;
    const T halved = select(s.high < T(1e9), T(0.5) * (s.low + s.high), T(2.0) * s.alpha);
    s.alpha = select(goes_on, select(between, next, halved), s.alpha);
  }
}

}  // namespace featherstorm
