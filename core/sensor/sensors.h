// Sensor readings of a model file for one state, with cutoff [sensordata]. No noise.
//
// The numbers of each kind are MuJoCo's (its documentation, chapter "XML reference", sensor). Accelerometers, frame
// accelerations, forces and torques include gravity: at rest they measure -g and weights.
#pragma once
#include "core/passive/body_passes.h"
#include "core/passive/joint_springs.h"
#include "core/passive/tendon_forces.h"
#include "core/passive/tendon_inertia.h"
#include "core/sensor/constraint_wrenches.h"
#include "core/sensor/frames.h"
#include "core/sensor/geom_distances.h"
#include "core/sensor/limit_readings.h"
#include "core/sensor/link_forces.h"
#include "core/sensor/readings.h"

namespace featherstorm {

// Potential energy of gravity and of the springs of joints and tendons [J].
template <class T>
FS_HD T sensed_potential_energy(const auto& m, const auto& w, const auto& x, const auto& q, const auto& tendon_length) {
  const Vec3<T> mc = subtree_first_moment<T>(m, w, x, 0);
  return joint_spring_energy<T>(m, w, q) + tendon_spring_energy<T>(w, tendon_length) - dot(cast<T>(m.gravity), mc);
}

// Kinetic energy of bodies, rotors and inertia along tendons [J].
template <class T> FS_HD T sensed_kinetic_energy(const auto& m, const auto& w, const auto& V, const auto& v,
                                                 const auto& tendon_J) {
  T twice(0.0);
  for (int i = 1; i <= m.nb; i++) twice = twice + dot(V[i], m.body[i].I * V[i]);
  for (int k = 0; k < m.nv; k++) twice = twice + m.armature[k] * (T(v[k]) * T(v[k]));
  return T(0.5) * (twice + twice_tendon_energy<T>(m, w, tendon_J, v));
}

// Computes all readings.
//
// in   x (nx), X (nb + 1)  joint numbers (update_joints at q, v) and placements of the bodies
// in   motion, tendons, actuators, forces  readings.h
// out  data (n_sensordata)  all entries are written
// Cost O(nb) for velocities and accelerations if a sensor reads them, O(1) per sensor, O(descendants of the link) for
// forces and subtrees.
FS_HD void sensors(const auto& m, const auto& w, const auto& x, const auto& X, const auto& motion, const auto& tendons,
                   const auto& actuators, const auto& forces, auto data) {
  using T = ScalarOf<decltype(x)>;
  bool moving = false, accelerated = false, held = false;
  for (const auto& s : w.sensor) {
    moving = moving || reads_velocities(s.kind);
    accelerated = accelerated || reads_accelerations(s.kind);
    held = held || s.kind == SensorKind::Force || s.kind == SensorKind::Torque;
  }
  auto V = scratch<Motion<T>>(m.nb + 1);
  auto A = scratch<Motion<T>>(m.nb + 1);
  if (moving) body_velocities(m, x, motion.v, V);
  if (accelerated) accelerations_with_gravity(m, x, motion.v, motion.a, V, A);
  auto wrench = scratch<T>(6 * w.n_links());
  if (held) constraint_wrenches<T>(w, X, motion.q, forces.contact_link, forces.row_force, wrench.data());
  const auto force_on = [&](int link) { return link_force<T>(m, w, x, X, V, A, forces.applied, wrench.data(), link); };

  for (int k = 0; k < w.n_sensordata; k++) data[k] = T(0.0);
  Reading<T, decltype(data)> out{data};
  int contact = 0;  // the next number of contact_sensor
  for (const auto& s : w.sensor) {
    const auto& at = s.place;
    switch (s.kind) {
      case SensorKind::Accelerometer: out.put(s, to_frame(at, acceleration_at<T>(at, V, A).v)); break;
      case SensorKind::Velocimeter: out.put(s, to_frame(at, velocity_at<T>(at, V).v)); break;
      case SensorKind::Gyro: out.put(s, to_frame(at, V[at.body].w)); break;
      case SensorKind::Force: out.put(s, to_frame(at, force_on(s.link).f)); break;
      case SensorKind::Torque: out.put(s, apply_dual(at.X, force_on(s.link)).n); break;
      case SensorKind::Magnetometer:
        out.put(s, to_frame(at, transpose_times(X[at.body].R, cast<T>(w.magnetic))));
        break;
      case SensorKind::Touch:
        out.put_from(s, forces.contact_sensor, contact);
        contact += s.count;
        break;
      case SensorKind::RangeFinder: out.put_from(s, forces.open, s.first); break;
      case SensorKind::JointLimitPosition:
      case SensorKind::JointLimitVelocity:
      case SensorKind::JointLimitForce:
      case SensorKind::TendonLimitPosition:
      case SensorKind::TendonLimitVelocity:
      case SensorKind::TendonLimitForce:
        out.put(s, 0, limit_reading<T>(m, w, s, motion, tendons, forces.row_force));
        break;

      case SensorKind::JointPosition:
      case SensorKind::BallQuaternion: out.put_from(s, motion.q, m.body[s.body].q); break;
      case SensorKind::JointVelocity:
      case SensorKind::BallAngularVelocity: out.put_from(s, motion.v, m.body[s.body].v); break;
      case SensorKind::TendonPosition: out.put_from(s, tendons.length, s.index); break;
      case SensorKind::TendonVelocity: out.put_from(s, tendons.velocity, s.index); break;
      case SensorKind::ActuatorPosition: out.put_from(s, actuators.length, s.index); break;
      case SensorKind::ActuatorVelocity: out.put_from(s, actuators.velocity, s.index); break;
      case SensorKind::ActuatorForce: out.put_from(s, actuators.force, s.index); break;
      case SensorKind::JointActuatorForce: out.put_from(s, actuators.joint, m.body[s.body].v); break;
      case SensorKind::TendonActuatorForce: {
        T sum(0.0);
        for (const auto& u : w.actuator)
          if (u.transmission == Transmission::Tendon && u.tendon == s.index) sum = sum + actuators.force[u.output];
        out.put(s, 0, sum);
        break;
      }

      case SensorKind::FramePosition: out.put(s, sensed_placement<T>(s, X).r); break;
      case SensorKind::FrameQuaternion: {
        const Quaternion<T> p = sensed_quaternion<T>(s, motion.q);
        out.put(s, 0, p.w), out.put(s, 1, p.x), out.put(s, 2, p.y), out.put(s, 3, p.z);
        break;
      }
      case SensorKind::FrameX: out.put(s, column(sensed_placement<T>(s, X).R, 0)); break;
      case SensorKind::FrameY: out.put(s, column(sensed_placement<T>(s, X).R, 1)); break;
      case SensorKind::FrameZ: out.put(s, column(sensed_placement<T>(s, X).R, 2)); break;
      case SensorKind::FrameLinearVelocity: out.put(s, sensed_velocity<T>(s, X, V).v); break;
      case SensorKind::FrameAngularVelocity: out.put(s, sensed_velocity<T>(s, X, V).w); break;
      case SensorKind::FrameLinearAcceleration: out.put(s, to_world(at, X, acceleration_at<T>(at, V, A)).v); break;
      case SensorKind::CameraProjection: {
        const Vec3<T> pixel = camera_pixel<T>(s, sensed_placement<T>(s, X).r);
        out.put(s, 0, pixel.x()), out.put(s, 1, pixel.y());
        break;
      }
      case SensorKind::FrameAngularAcceleration: out.put(s, X[at.body].R * A[at.body].w); break;

      case SensorKind::SubtreeCentre: out.put(s, subtree_centre<T>(m, w, x, X, s.index)); break;
      case SensorKind::SubtreeLinearVelocity: out.put(s, subtree_motion<T>(m, w, x, X, V, s.index).velocity); break;
      case SensorKind::SubtreeAngularMomentum: out.put(s, subtree_motion<T>(m, w, x, X, V, s.index).momentum); break;
      case SensorKind::InsideSite: {
        const Placement<T> site = in_world<T>(X, s.reference);
        const Vec3<T> p = s.index > 0 ? subtree_centre<T>(m, w, x, X, s.index) : in_world<T>(X, at).r;
        out.put(s, 0, inside<T>(s, transpose_times(site.R, p - site.r)));
        break;
      }
      case SensorKind::GeomDistance:
      case SensorKind::GeomNormal:
      case SensorKind::GeomFromTo: {
        if (s.by_loops) {
          out.put_from(s, forces.open, s.first);
          break;
        }
        const auto placed = [&](const auto& geom) { return geom_placement<T>(X, geom); };
        put_distance(s, nearest_geoms<T>(w.contacts, s, placed), out);
        break;
      }
      case SensorKind::User: break;  // zeros
      case SensorKind::PotentialEnergy:
        out.put(s, 0, sensed_potential_energy<T>(m, w, x, motion.q, tendons.length));
        break;
      case SensorKind::KineticEnergy: out.put(s, 0, sensed_kinetic_energy<T>(m, w, V, motion.v, tendons.J)); break;
      case SensorKind::Clock: out.put(s, 0, T(motion.time)); break;
    }
  }
}

}  // namespace featherstorm
