// The system model as a kernel's parameter: the members of Model (core/model.h) that algorithms read, in arrays of fixed
// length. It is passed by value, so it lies in the constant bank, launches need no upload, and any number of models may
// be in use at once.
#pragma once
#include "core/joint/general.h"
#include "core/model.h"
#include "core/scratch.h"

namespace featherstorm {

// P float or double; at most `limit` degrees of freedom. User-defined joints are not supported.
template <class P, int limit> struct DeviceModel {
  using Number = P;
  static constexpr int max_dofs = limit;
  // room for 8 joint numbers per degree of freedom; in the largest class for any mixture of joints
  static constexpr int max_numbers = limit < 64 ? 8 * limit : general_joint_numbers(1) * limit;
  static constexpr int max_carried = 2 * limit + limit / 3;  // q and v

  Bounded<limit> nb;
  Bounded<limit + limit / 3> nq;  // a quaternion adds one number to three
  Bounded<limit> nv;
  Bounded<max_numbers> nx;
  Bounded<limit*(limit + 1) / 2> nh;
  int nf;
  Body<P> body[limit + 1];
  const Frame<P>* frame;  // (nf), device memory
  Vec3<P> gravity;
  P armature[limit], damping[limit], friction[limit];
  P lower[limit], upper[limit], max_velocity[limit], max_effort[limit];
  int dof_q[limit], dof_body[limit], dof_parent[limit], depth[limit], row_start[limit + 1];

  FS_HD int at(int i, int j) const { return row_start[i] + depth[j]; }
};

// Whether the model fits.
template <class Device, class S> bool fits(const Model<S>& m) {
  return m.nv <= Device::max_dofs && m.nx <= Device::max_numbers && m.user.empty();
}

// The model in its device form; `frame` stays null. Requires fits<Device>(m).
template <class Device> Device device_model(const Model<double>& m) {
  using P = typename Device::Number;
  const Model<P> s = cast<P>(m);
  Device d{};
  d.nb.value = s.nb, d.nq.value = s.nq, d.nv.value = s.nv, d.nx.value = s.nx, d.nh.value = s.nh, d.nf = s.nf;
  auto copy = [](const auto& from, auto* to) {
    for (std::size_t i = 0; i < from.size(); i++) to[i] = from[i];
  };
  copy(s.body, d.body);
  d.gravity = s.gravity;
  copy(s.armature, d.armature), copy(s.damping, d.damping), copy(s.friction, d.friction);
  copy(s.lower, d.lower), copy(s.upper, d.upper);
  copy(s.max_velocity, d.max_velocity), copy(s.max_effort, d.max_effort);
  copy(s.dof_q, d.dof_q), copy(s.dof_body, d.dof_body), copy(s.dof_parent, d.dof_parent), copy(s.depth, d.depth);
  copy(s.row_start, d.row_start);
  return d;
}

}  // namespace featherstorm
