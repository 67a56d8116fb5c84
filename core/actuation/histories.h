// Delayed controls and sensor readings, from ring buffers that every step fills [mju_historyRead, mju_historyInsert].
//
//   read     x(t - delay) between the samples x_i at t_i:  the older one, linear, or the cubic
//              h00 x_lo + h10 dt m_lo + h01 x_hi + h11 dt m_hi,   m_i = (x_i+1 - x_i-1) / (t_i+1 - t_i-1), zero at both
//                                                                 ends
//            with Hermite's h of a = (t - t_lo) / dt; outside the range of samples, the nearest sample
//   insert   a sample at t replaces the oldest sample, or the sample with this time
//
// The order of the samples depends on the cursor, which is a number of the state. A sample is therefore read by a
// select over all slots of the ring.
#pragma once
#include <type_traits>

#include "core/scalar/scalar.h"
#include "core/world/histories.h"

namespace featherstorm {

// A buffer of the state. Samples are numbered by age: 0 is the oldest.
template <class T, class Buffer> struct HistoryBuffer {
  Buffer x;
  int first, samples, width;

  FS_HD T cursor() const { return x[first + 1]; }
  FS_HD T time(int place) const { return x[first + 2 + place]; }
  FS_HD T value(int place, int k) const { return x[first + 2 + samples + place * width + k]; }
  // Age number of the sample in a slot of the ring.
  FS_HD T age(int place) const {
    const T p(static_cast<double>(place)), n(static_cast<double>(samples));
    return p - cursor() - T(1.0) + select(p <= cursor(), n, T(0.0));
  }
  FS_HD auto is_at(int place, const T& number) const { return abs(age(place) - number) < T(0.5); }
  // Number of samples before t.
  FS_HD T before(const T& t) const {
    T count(0.0);
    for (int p = 0; p < samples; p++) count = count + select(time(p) < t, T(1.0), T(0.0));
    return count;
  }
  FS_HD T time_of(const T& number) const {
    T t(0.0);
    for (int p = 0; p < samples; p++) t = select(is_at(p, number), time(p), t);
    return t;
  }
  FS_HD T value_of(const T& number, int k) const {
    T v(0.0);
    for (int p = 0; p < samples; p++) v = select(is_at(p, number), value(p, k), v);
    return v;
  }
};
template <class T> FS_HD auto history_buffer(const auto& h, const auto& x) {
  return HistoryBuffer<T, std::remove_cvref_t<decltype(x)>>{x, h.first, h.samples, h.width};
}

// Reads the value at t.
//
// in   t      [s]
// in   slack  times closer than this are equal [s]
// out  out (h.width)  the values at t
// Cost O(samples width).
template <class T>
FS_HD void read_history(const auto& h, const auto& x, const T& t, const T& slack, auto out) {
  const auto b = history_buffer<T>(h, x);
  const T zero(0.0), one(1.0), two(2.0), last(static_cast<double>(h.samples - 1));
  const T i = b.before(t), t_hi = b.time_of(i), t_lo = b.time_of(i - one);
  const auto old = t <= b.time_of(zero) + slack, fresh = b.time_of(last) - slack <= t, same = abs(t - t_hi) < slack;
  const T held = select(old, zero, select(fresh, last, select(same, i, i - one)));
  const auto between = !(old || fresh || same);
  const T dt = select(between, t_hi - t_lo, one), a = (t - t_lo) * rcp(dt), aa = a * a, aaa = aa * a;
  const auto has_before = one < i, has_after = i < last;
  const T before = select(has_before && between, t_hi - b.time_of(i - two), one);
  const T after = select(has_after && between, b.time_of(i + one) - t_lo, one);
  for (int k = 0; k < h.width; k++) {
    const T x_held = b.value_of(held, k), x_lo = b.value_of(i - one, k), x_hi = b.value_of(i, k);
    if (h.order == 0) {
      out[k] = x_held;
    } else if (h.order == 1) {
      out[k] = select(between, x_lo + a * (x_hi - x_lo), x_held);
    } else {
      const T m_lo = select(has_before, (x_hi - b.value_of(i - two, k)) * rcp(before), zero);
      const T m_hi = select(has_after, (b.value_of(i + one, k) - x_lo) * rcp(after), zero);
      const T cubic = (two * aaa - T(3.0) * aa + one) * x_lo + (aaa - two * aa + a) * (dt * m_lo) +
                      (T(3.0) * aa - two * aaa) * x_hi + (aaa - aa) * (dt * m_hi);
      out[k] = select(between, cubic, x_held);
    }
  }
}

// Inserts a sample.
//
// in   is_due    true if there is a sample; otherwise the buffer does not change
// in   sample (h.width)
// out  out       the buffer with the sample; its number `user` is not written
// Cost O(samples width).
template <class T>
FS_HD void insert_history(const auto& h, const auto& x, const T& t, const T& slack, const auto& is_due,
                          const auto& sample, auto out) {
  const auto b = history_buffer<T>(h, x);
  const T zero(0.0), one(1.0), n(static_cast<double>(h.samples)), half(0.5);
  const T i = b.before(t);
  const auto is_newest = n - half < i, is_oldest = i < half;
  const auto same = !is_newest && abs(t - b.time_of(i)) < slack;
  const T number = select(same, i, select(is_newest || is_oldest, zero, i - one));
  const T next = b.cursor() + one;
  out[h.first + 1] = select(is_due && is_newest, select(n - half < next, zero, next), b.cursor());
  for (int p = 0; p < h.samples; p++) {
    const int q = (p + 1) % h.samples;  // the next younger sample
    const auto is_here = is_due && b.is_at(p, number);
    const auto moves = is_due && !same && !is_newest && b.age(p) < i - one - half;
    const int at = h.first + 2, values = at + h.samples;
    out[at + p] = select(is_here && !same, t, select(moves, b.time(q), b.time(p)));
    for (int k = 0; k < h.width; k++)
      out[values + p * h.width + k] = select(is_here, T(sample[k]), select(moves, b.value(q, k), b.value(p, k)));
  }
}

// Returns true if a sensor with an interval is measured at t. In double the result matches MuJoCo's to the last bit.
template <class T> FS_HD auto is_due(const auto& h, const auto& x, const T& t, const T& slack) {
  return T(x[h.first]) + T(h.interval) <= t + select(T(1e-12) < slack, slack, T(0.0));
}

// Returns the controls that actuators use: old values if they are delayed.
// in   history (n_history), ctrl (nu), t [s], slack [s]
// out  delayed (nu)
template <class T>
FS_HD void delayed_controls(const auto& w, const auto& history, const auto& ctrl, const T& t, const T& slack,
                            auto delayed) {
  for (int k = 0; k < w.nu; k++) delayed[k] = T(ctrl[k]);
  for (const auto& h : w.history)
    if (!h.of_sensor && h.is_delayed) read_history(h, history, t - T(h.delay), slack, slice(delayed, h.index));
}

// Returns sensor outputs: delayed samples for sensors with a delay, the last measurement for sensors with an interval.
// in   fresh (n_sensordata)  readings at t
// out  reported (n_sensordata)  sensor outputs
template <class T>
FS_HD void delayed_sensors(const auto& w, const auto& history, const auto& fresh, const T& t, const T& slack,
                           auto reported) {
  for (int k = 0; k < w.n_sensordata; k++) reported[k] = T(fresh[k]);
  for (const auto& h : w.history) {
    if (!h.of_sensor || (!h.is_delayed && !h.has_interval)) continue;
    read_history(h, history, t - T(h.delay), slack, slice(reported, h.index));
    if (h.is_delayed) continue;
    const auto measured = is_due<T>(h, history, t, slack);
    for (int k = 0; k < h.width; k++)
      reported[h.index + k] = select(measured, T(fresh[h.index + k]), T(reported[h.index + k]));
  }
}

// Updates the histories after a step that began at t.
// in   ctrl (nu)             as given by users
// in   fresh (n_sensordata)  sensor readings at t
// out  next (n_history)
template <class T>
FS_HD void advanced_histories(const auto& w, const auto& history, const auto& ctrl, const auto& fresh, const T& t,
                              const T& slack, auto next) {
  for (int k = 0; k < w.n_history; k++) next[k] = T(history[k]);
  for (const auto& h : w.history) {
    const T user(history[h.first]), zero(0.0);
    const auto due = h.has_interval ? is_due<T>(h, history, t, slack) : zero <= slack;
    if (h.of_sensor) insert_history(h, history, t, slack, due, slice(fresh, h.index), next);
    else insert_history(h, history, t, slack, due, slice(ctrl, h.index), next);
    if (h.has_interval) next[h.first] = select(due, user + T(h.interval), user);
  }
}

}  // namespace featherstorm
