// Sensors of a model file: the quantities that they measure, their frames, and their cutoff.
//
// Kinds are MuJoCo's [sensor_type]. Names of MuJoCo are in brackets.
#pragma once
#include <vector>

#include "core/spatial/quaternion.h"
#include "core/world/frame.h"

namespace featherstorm {

enum class SensorKind : unsigned char {
  // sites
  Accelerometer,
  Velocimeter,
  Gyro,
  Force,
  Torque,
  Magnetometer,
  Touch,
  RangeFinder,
  // joints, tendons, actuators
  JointPosition,
  JointVelocity,
  TendonPosition,
  TendonVelocity,
  ActuatorPosition,
  ActuatorVelocity,
  ActuatorForce,
  JointActuatorForce,
  TendonActuatorForce,
  BallQuaternion,
  BallAngularVelocity,
  JointLimitPosition,
  JointLimitVelocity,
  JointLimitForce,
  TendonLimitPosition,
  TendonLimitVelocity,
  TendonLimitForce,
  // frames, optionally relative to another frame
  FramePosition,
  FrameQuaternion,
  FrameX,
  FrameY,
  FrameZ,
  FrameLinearVelocity,
  FrameAngularVelocity,
  FrameLinearAcceleration,
  FrameAngularAcceleration,
  // a site in the image of a camera
  CameraProjection,
  // geoms of two objects
  GeomDistance,
  GeomNormal,
  GeomFromTo,
  // a link and its descendants
  SubtreeCentre,
  SubtreeLinearVelocity,
  SubtreeAngularMomentum,
  InsideSite,
  PotentialEnergy,
  KineticEnergy,
  User,
  Clock,
};

// One step on the path from the world to a frame, as quaternions: a fixed rotation, then a joint's rotation. Their
// product has MuJoCo's sign, which a rotation matrix does not determine.
template <class P> struct Turn {
  Quaternion<P> fixed{};
  int q = -1;           // first coordinate of the joint; -1: none
  bool about_z = true;  // true: the joint rotates by q about z; false: q is its quaternion
};

template <class P> struct Sensor {
  SensorKind kind = SensorKind::Clock;
  int first = 0, count = 1;       // position of its numbers in sensordata [adr, dim]
  int body = 0;                   // joints: body of the joint
  int index = 0;                  // tendon, actuator output, link of a subtree (InsideSite: 0, or the subtree to test)
  int link = 0;                   // link of the site, for forces between it and its parent
  Frame<P> place{}, reference{};  // frame or site, and its reference
  bool relative = false;          // true if `reference` is given
  bool positive = false;          // true if the cutoff applies only above [datatype positive]
  P cutoff{};                     // greatest absolute value, if limited
  P size[3] = {};                 // size of the site, for tests of being inside [m]
  int shape = 0;                  // shape of the site [mjtGeom]
  bool limited = false;           // true if the cutoff applies
  P focal[2] = {}, middle[2] = {};    // CameraProjection: focal lengths and image centre [pixel]
  int geom[2] = {}, n_geoms[2] = {};  // GeomDistance to GeomFromTo: the first geom and the number of geoms of
                                      // both objects
  bool by_loops = false;              // true if the distance of one of the pairs has no closed form
  std::vector<Turn<P>> turn{}, reference_turn{};  // FrameQuaternion: the paths to place and reference
};

template <class P, class S> Turn<P> cast(const Turn<S>& t) {
  return {{P(t.fixed.w), P(t.fixed.x), P(t.fixed.y), P(t.fixed.z)}, t.q, t.about_z};
}
template <class P, class S> Sensor<P> cast(const Sensor<S>& s) {
  Sensor<P> r{s.kind,     s.first,    s.count,     s.body, s.index, s.link, cast<P>(s.place), cast<P>(s.reference),
              s.relative, s.positive, P(s.cutoff), {},     s.shape};
  for (int k = 0; k < 3; k++) r.size[k] = P(s.size[k]);
  r.limited = s.limited, r.by_loops = s.by_loops;
  for (int k = 0; k < 2; k++) {
    r.focal[k] = P(s.focal[k]), r.middle[k] = P(s.middle[k]);
    r.geom[k] = s.geom[k], r.n_geoms[k] = s.n_geoms[k];
  }
  for (const Turn<S>& t : s.turn) r.turn.push_back(cast<P>(t));
  for (const Turn<S>& t : s.reference_turn) r.reference_turn.push_back(cast<P>(t));
  return r;
}

}  // namespace featherstorm
