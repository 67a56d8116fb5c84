// Inputs of sensors in addition to the tree, and the kind of state that each sensor needs.
#pragma once
#include "core/scalar/scalar.h"
#include "core/world/sensors.h"

namespace featherstorm {

// The state that sensors read. v and a are Zeros<T>{} if no sensor needs them.
template <class T, class Q, class V, class A> struct SensedMotion {
  Q q;     // (nq)
  V v;     // (nv)
  A a;     // (nv) true accelerations
  T time;  // [s]
};
template <class T, class Q, class V, class A> SensedMotion(Q, V, A, T) -> SensedMotion<T, Q, V, A>;

// Arrays of tendons, (n_tendons) each
template <class Length, class Velocity, class Jacobian> struct SensedTendons {
  Length length;      // [m | rad]
  Velocity velocity;  // [m/s | rad/s]
  Jacobian J;         // (n_tendons nv)
};
template <class L, class V, class J> SensedTendons(L, V, J) -> SensedTendons<L, V, J>;

template <class Length, class Velocity, class Force, class Joint> struct SensedActuators {
  Length length;      // (n_outputs)
  Velocity velocity;  // (n_outputs)
  Force force;        // (n_outputs)
  Joint joint;        // (nv) forces of all actuators at the joints [qfrc_actuator]
};
template <class L, class V, class F, class J> SensedActuators(L, V, F, J) -> SensedActuators<L, V, F, J>;

// Forces and further readings. Zeros<T>{} for none.
template <class Applied, class Row, class Link, class Contact, class Open> struct SensedForces {
  // (6 n_links) applied by users: force, then moment about the link's centre of mass, world axes [xfrc_applied]
  Applied applied;
  Row row_force;           // (rows of constraints)
  Link contact_link;       // (n_links, 9) sums of contacts on links (core/sensor/contact_readings.h)
  Contact contact_sensor;  // numbers of touch and contact sensors, in their order
  Open open;               // (n_sensordata) readings that are computed elsewhere, for sensors that is_open selects
};
template <class A, class R, class L, class C, class O>
SensedForces(A, R, L, C, O) -> SensedForces<A, R, L, C, O>;

// Returns true for sensors of distances between geoms.
FS_HD bool measures_distances(SensorKind kind) {
  return kind >= SensorKind::GeomDistance && kind <= SensorKind::GeomFromTo;
}

// Returns true for sensors that need rays or loops. Their readings are inputs here and only get the cutoff.
FS_HD bool is_open(const auto& sensor) { return sensor.kind == SensorKind::RangeFinder || sensor.by_loops; }

// Returns true for sensors that read accelerations of bodies.
FS_HD bool reads_accelerations(SensorKind kind) {
  return kind == SensorKind::Accelerometer || kind == SensorKind::Force || kind == SensorKind::Torque ||
         kind == SensorKind::FrameLinearAcceleration || kind == SensorKind::FrameAngularAcceleration;
}
// Returns true for sensors that read velocities of bodies, which includes sensors of accelerations.
FS_HD bool reads_velocities(SensorKind kind) {
  return reads_accelerations(kind) || kind == SensorKind::Velocimeter || kind == SensorKind::Gyro ||
         kind == SensorKind::FrameLinearVelocity || kind == SensorKind::FrameAngularVelocity ||
         kind == SensorKind::SubtreeLinearVelocity || kind == SensorKind::SubtreeAngularMomentum ||
         kind == SensorKind::KineticEnergy;
}
// Returns true if a sensor of the world reads velocities or forces of actuators.
FS_HD bool reads_actuators(const auto& w) {
  bool some = false;
  for (const auto& s : w.sensor)
    some = some || s.kind == SensorKind::ActuatorVelocity || s.kind == SensorKind::ActuatorForce ||
           s.kind == SensorKind::JointActuatorForce || s.kind == SensorKind::TendonActuatorForce;
  return some;
}

// Writes sensor readings, clamped to +-cutoff, or only from above if the sensor is positive.
template <class T, class Out> struct Reading {
  Out data;  // (n_sensordata)

  FS_HD void put(const auto& sensor, int k, const T& x) {
    if (!sensor.limited) {
      data[sensor.first + k] = x;
      return;
    }
    const T c(sensor.cutoff), below = min(x, c);
    data[sensor.first + k] = sensor.positive ? below : max(below, -c);
  }
  FS_HD void put(const auto& sensor, const Vec3<T>& x) {
    for (int k = 0; k < 3; k++) put(sensor, k, x(k));
  }
  // Writes array[first] and the following numbers, as many as the sensor has.
  FS_HD void put_from(const auto& sensor, const auto& array, int first) {
    for (int k = 0; k < sensor.count; k++) put(sensor, k, T(array[first + k]));
  }
};

}  // namespace featherstorm
