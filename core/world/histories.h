// Histories of a model file: ring buffers of an actuator's last controls, or of a sensor's last readings, with their
// times.
//
// A buffer is part of the state [mjData.history], with MuJoCo's layout:
//   user, cursor, times (samples), values (samples width)
// The cursor is the index of the newest sample; the samples before it, around the ring, are successively older. `user`
// is the time of the last measurement of a sensor with an interval. Names of MuJoCo are in brackets.
#pragma once

namespace featherstorm {

template <class P> struct History {
  bool of_sensor = false;   // true: of a sensor; false: of an actuator's control
  int index = 0;            // first number in sensordata, or the control
  int width = 1;            // numbers per sample
  int first = 0;            // offset of the buffer in the state's histories [historyadr]
  int samples = 1;          // [nsample]
  int order = 0;            // interpolation: 0 holds the older sample, 1 linear, 2 cubic [interp]
  bool is_delayed = false;  // true if old numbers are read: delay > 0
  P delay{};                // [s]
  bool has_interval = false;
  P interval{};  // between measurements of a sensor [s]

  int size() const { return 2 + samples * (1 + width); }
};

template <class P, class S> History<P> cast(const History<S>& h) {
  return {h.of_sensor, h.index,      h.width,    h.first,        h.samples,
          h.order,     h.is_delayed, P(h.delay), h.has_interval, P(h.interval)};
}

}  // namespace featherstorm
