// Spatial vectors and inertias of core as vectors and matrices of size six.
#pragma once
#include <Eigen/Dense>

#include "core/spatial/inertia.h"

namespace featherstorm::testing {

inline Eigen::Vector<double, 6> vector(const Motion<double>& m) {
  return (Eigen::Vector<double, 6>() << m.w, m.v).finished();
}
inline Eigen::Vector<double, 6> vector(const Force<double>& f) {
  return (Eigen::Vector<double, 6>() << f.n, f.f).finished();
}

// RBDA (2.63) about the frame's origin: [I h×; h×^T m 1]
inline Eigen::Matrix<double, 6, 6> matrix6(const RigidBodyInertia<double>& J) {
  Eigen::Matrix3d h;
  h << 0, -J.h.z(), J.h.y(), J.h.z(), 0, -J.h.x(), -J.h.y(), J.h.x(), 0;
  const Eigen::Matrix3d m = J.m * Eigen::Matrix3d::Identity();
  return (Eigen::Matrix<double, 6, 6>() << full(J.I), h, h.transpose(), m).finished();
}
inline Eigen::Matrix<double, 6, 6> matrix6(const ArticulatedInertia<double>& J) {
  return (Eigen::Matrix<double, 6, 6>() << full(J.I), J.H, J.H.transpose(), full(J.M)).finished();
}

}  // namespace featherstorm::testing
