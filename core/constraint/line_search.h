// The least cost along a step, of rows that have convex costs (core/constraint/row_state.h) beside a smooth one.
//
//   slope(alpha) = linear + alpha bend + sum s'(r + alpha Js) Js
//
// It grows with alpha: a few steps of Newton's method on it, kept within a bracket of its root; where numbers are known, as many
// as it takes to a tenth of the slope.
#pragma once
#include "core/constraint/row_pattern.h"
#include "core/constraint/row_state.h"
#include "core/scalar/some.h"

namespace featherstorm {

// Of four steps each, at most.
inline constexpr int most_searches = 6;

// Where a search for the least cost of a + alpha step stands.
template <class T> struct LineSearch {
  T alpha{1.0}, low{0.0}, high{1e10};  // the best so far, and what it lies between
  T last{1e30};                        // the slope there
  T open{1.0};                         // 1 where the slope has not become a tenth of what it began with, else 0
};

// Of the smooth part: slope(0) of all costs; slope(0) of its own, and how it grows; what of a slope is rounding.
template <class T> struct SmoothSlope { T first{0.0}, linear{0.0}, bend{0.0}, noise{0.0}; };

// Goes on for `line_steps` steps where it is open.
//
// in   p       what has rows, D, friction
// in   r, Js (n)  of the rows, and along the step
// in-out  s
template <int line_steps = 4, class T>
FS_HD void search_rows(const auto& p, const auto& r, const auto& Js, const SmoothSlope<T>& smooth, LineSearch<T>& s) {
  const int n = p.rows.rows();
  auto at = scratch<T>(n);
  T alpha = s.alpha, low = s.low, high = s.high, last = s.last;
  for (int l = 0; l < line_steps; l++) {
    T slope = smooth.linear + alpha * smooth.bend, bend = smooth.bend;
    for (int i = 0; i < n; i++) at[i] = r[i] + alpha * Js[i];
    for (const PackedBlock& b : p.rows.block) {
      const Slope<T> of = slope_along<T>(b, slice(at.data(), b.first), slice(Js, b.first), slice(p.D, b.first),
                                         slice(p.friction, b.first));
      slope = slope + of.first, bend = bend + of.second;
    }
    slope = select(abs(slope) <= smooth.noise, T(0.0), slope);
    const auto rises = T(0.0) <= slope;
    low = select(rises, low, alpha), high = select(rises, alpha, high);
    // Newton's way may lead from one end to the other and back
    const T next = alpha - slope * rcp(max(bend, T(1e-30))), size = abs(slope);
    const auto falls = low <= next && next <= high && size <= T(0.5) * last;
    const T halved = select(high < T(1e9), T(0.5) * (low + high), T(2.0) * alpha);
    alpha = select(falls, next, halved), last = size;
  }
  const auto was_open = T(0.0) < s.open;
  s.alpha = select(was_open, alpha, s.alpha), s.low = select(was_open, low, s.low);
  s.high = select(was_open, high, s.high), s.last = select(was_open, last, s.last);
  s.open = select(s.last <= max(T(0.1) * abs(smooth.first), smooth.noise), T(0.0), T(1.0));
}

}  // namespace featherstorm
