// Placement and motion of frames: in world axes, in their own axes, or relative to another moving frame.
//
//   relative to B:  r = R_B^T (r_A - r_B),   v = R_B^T (v_A - v_B - w_B x (r_A - r_B)),   w = R_B^T (w_A - w_B)
#pragma once
#include "core/kinematics/kinematics.h"
#include "core/world/sensors.h"

namespace featherstorm {

template <class T, class P> FS_HD Placement<T> in_world(const auto& X, const Frame<P>& frame) {
  return X[frame.body] * frame.X;
}

// Placement of a sensor's frame in the world, or in its reference. It is constant if one body carries both.
template <class T> FS_HD Placement<T> sensed_placement(const auto& sensor, const auto& X) {
  const auto &A = sensor.place, &B = sensor.reference;
  if (!sensor.relative) return in_world<T>(X, A);
  if (A.body == B.body) return cast<T>(inverse(B.X) * A.X);
  return inverse(in_world<T>(X, B)) * in_world<T>(X, A);
}

template <class T> FS_HD Vec3<T> column(const Mat3<T>& R, int k) { return {R(0, k), R(1, k), R(2, k)}; }

// Product of the rotations along a path.
template <class T> FS_HD Quaternion<T> way_quaternion(const auto& way, const auto& q) {
  Quaternion<T> p{T(1.0), T(0.0), T(0.0), T(0.0)};
  for (const auto& turn : way) {
    p = p * Quaternion<T>{T(turn.fixed.w), T(turn.fixed.x), T(turn.fixed.y), T(turn.fixed.z)};
    if (turn.q < 0) continue;
    if (turn.about_z) {
      T s, c;
      sincos(q[turn.q] * T(0.5), s, c);
      p = p * Quaternion<T>{c, T(0.0), T(0.0), s};
    } else {
      p = p * quaternion_at<T>(q, turn.q);
    }
  }
  return p;
}
template <class T> FS_HD Quaternion<T> sensed_quaternion(const auto& sensor, const auto& q) {
  const Quaternion<T> p = way_quaternion<T>(sensor.turn, q);
  if (!sensor.relative) return p;
  return conjugated(way_quaternion<T>(sensor.reference_turn, q)) * p;
}

// Returns 1 if a point in the axes of a site is inside it, else 0.
template <class T> FS_HD T inside(const auto& sensor, const Vec3<T>& p) {
  enum { sphere = 2, capsule, ellipsoid, cylinder, box };  // mjtGeom
  const T zero(0.0), one(1.0), a(sensor.size[0]), b(sensor.size[1]), c(sensor.size[2]);
  const T round = p.x() * p.x() + p.y() * p.y();
  const auto squared = [](const T& x) { return x * x; };
  switch (sensor.shape) {
    case sphere: return select(dot(p, p) < a * a, one, zero);
    case capsule: return select(round + squared(p.z() - max(min(p.z(), b), -b)) < a * a, one, zero);
    case ellipsoid:
      return select(squared(p.x() * rcp(a)) + squared(p.y() * rcp(b)) + squared(p.z() * rcp(c)) < one, one, zero);
    case cylinder: return select(abs(p.z()) < b, select(round < a * a, one, zero), zero);
    case box: return select(abs(p.x()) < a, select(abs(p.y()) < b, select(abs(p.z()) < c, one, zero), zero), zero);
  }
  return zero;
}

// Projection of a point into a camera's image [mjSENS_CAMPROJECTION]: pixels from the left and from the top.
//
//   u = -f_x x / z + c_x,   v = f_y y / z + c_y
//
// in   p  (x, y, z) in the axes of the camera, which looks along -z
template <class T> FS_HD Vec3<T> camera_pixel(const auto& sensor, const Vec3<T>& p) {
  const T least(1e-15), zero(0.0), z = p.z();  // mjMINVAL
  const T depth = select(abs(z) < least, select(z < zero, -least, least), z), inverse = rcp(depth);
  return {T(sensor.middle[0]) - T(sensor.focal[0]) * (p.x() * inverse),
          T(sensor.middle[1]) + T(sensor.focal[1]) * (p.y() * inverse), zero};
}

// Velocity of a frame's origin, and angular velocity; body axes.
template <class T> FS_HD Motion<T> velocity_at(const auto& frame, const auto& V) {
  const Motion<T>& v = V[frame.body];
  return {v.w, v.v + cross(v.w, cast<T>(frame.X.r))};
}
// Classical acceleration of a frame's origin less gravity, and angular acceleration; body axes.
template <class T> FS_HD Motion<T> acceleration_at(const auto& frame, const auto& V, const auto& A) {
  const Motion<T>& a = A[frame.body];
  const Motion<T> v = velocity_at<T>(frame, V);
  return {a.w, a.v + cross(a.w, cast<T>(frame.X.r)) + cross(v.w, v.v)};
}
// Rotate from a body's axes to the world's (to_world), and to the frame's own (to_frame).
template <class T> FS_HD Motion<T> to_world(const auto& frame, const auto& X, const Motion<T>& v) {
  return {X[frame.body].R * v.w, X[frame.body].R * v.v};
}
template <class T> FS_HD Vec3<T> to_frame(const auto& frame, const Vec3<T>& v) { return transpose_times(frame.X.R, v); }

// Velocity of a sensor's frame in world axes, or relative to its reference.
template <class T> FS_HD Motion<T> sensed_velocity(const auto& sensor, const auto& X, const auto& V) {
  const auto &A = sensor.place, &B = sensor.reference;
  if (sensor.relative && A.body == B.body) return zero_motion<T>();
  Motion<T> a = to_world(A, X, velocity_at<T>(A, V));
  if (!sensor.relative) return a;
  const Motion<T> b = to_world(B, X, velocity_at<T>(B, V));
  const Placement<T> X_A = in_world<T>(X, A), X_B = in_world<T>(X, B);
  return {transpose_times(X_B.R, a.w - b.w), transpose_times(X_B.R, a.v - b.v - cross(b.w, X_A.r - X_B.r))};
}

}  // namespace featherstorm
