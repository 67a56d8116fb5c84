// Sensors of a model file: which numbers of a state are measured, where, and how they are cut off.
//
// Kinds are MuJoCo's [sensor_type]; names of MuJoCo in brackets.
#pragma once
#include <vector>

#include "core/spatial/quaternion.h"
#include "core/world/frame.h"

namespace featherstorm {

enum class SensorKind : unsigned char {
  // of a site
  Accelerometer,
  Velocimeter,
  Gyro,
  Force,
  Torque,
  Magnetometer,
  Touch,
  RangeFinder,
  // of joints, tendons, actuators
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
  // of frames, perhaps relative to another
  FramePosition,
  FrameQuaternion,
  FrameX,
  FrameY,
  FrameZ,
  FrameLinearVelocity,
  FrameAngularVelocity,
  FrameLinearAcceleration,
  FrameAngularAcceleration,
  // of a site in the image of a camera
  CameraProjection,
  // of the geoms of two objects
  GeomDistance,
  GeomNormal,
  GeomFromTo,
  // of a link and all that it carries
  SubtreeCentre,
  SubtreeLinearVelocity,
  SubtreeAngularMomentum,
  InsideSite,
  PotentialEnergy,
  KineticEnergy,
  User,
  Clock,
};

// A step on the way from the world to a frame, as quaternions: a fixed turn, then that of a joint. Their product has MuJoCo's
// sign, which no matrix knows.
template <class P> struct Turn {
  Quaternion<P> fixed{};
  int q = -1;           // first coordinate of the joint; -1: none
  bool about_z = true;  // whether the joint turns by q about z; otherwise q is its quaternion
};

template <class P> struct Sensor {
  SensorKind kind = SensorKind::Clock;
  int first = 0, count = 1;  // where its numbers are in sensordata [adr, dim]
  int body = 0;              // joints: whose
  int index = 0;             // tendon, output of an actuator, link of a subtree (InsideSite: 0, or of what is inside)
  int link = 0;              // the link that carries the site, for forces between it and its parent
  Frame<P> place{}, reference{};      // of frames and sites
  bool relative = false;              // whether `reference` is given
  bool positive = false;              // whether it is cut off above alone [datatype positive]
  P cutoff{};                         // greatest absolute value, where it is limited
  P size[3] = {};                     // of the site, for what is inside it [m]
  int shape = 0;                      // of the site [mjtGeom]
  bool limited = false;               // whether it is cut off
  P focal[2] = {}, middle[2] = {};    // CameraProjection: focal lengths and image centre [pixel]
  int geom[2] = {}, n_geoms[2] = {};  // GeomDistance to GeomFromTo: the first geom and the number of geoms of
                                      // both objects
  bool by_loops = false;              // whether the distance of a pair of them has no closed form
  std::vector<Turn<P>> turn{}, reference_turn{};  // FrameQuaternion: the ways to place and reference
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
