// The system model as a kernel's parameter: the members of Model (core/model/model.h) that algorithms read, in arrays
// of fixed length. It is passed by value. It therefore lies in the constant bank, launches need no upload, and any
// number of models may be in use at once.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/joint/general.h"
#include "core/model/model.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// Loops, couplings and contacts (core/model/loops.h, coupling.h, contacts.h), their arrays in device memory; at most
// `limit` loops, independent velocities, contacts.
template <class P, int limit> struct DeviceLoops {
  using Number = P;
  Bounded<limit> nl;
  Bounded<6 * limit> nc;
  const Loop<P>* loop;
};
template <class P, int limit> struct DeviceCoupling {
  using Number = P;
  Bounded<limit> nu;
  const int *start, *column, *driver;
  const P *value, *offset;
};
template <class P, int limit> struct DeviceContacts {
  using Number = P;
  Bounded<limit> nc;
  Bounded<3 * limit> nr;
  const Contact<P>* contact;
  int sweeps, relax;
};
inline constexpr int max_device_loops = 8, max_device_contacts = 16;

// P: float or double; at most `limit` degrees of freedom. User-defined joints are not supported. Kernels of operations
// that need loops, couplings or contacts exist only for the largest limit.
template <class P, int limit> struct DeviceModel {
  using Number = P;
  static constexpr int max_dofs = limit;
  // room for 8 joint numbers per degree of freedom; the largest class has room for any mixture of joints
  static constexpr int max_numbers = limit < 64 ? 8 * limit : general_joint_numbers(1) * limit;
  static constexpr int max_carried = 2 * limit + limit / 3 + 3 * max_device_contacts;  // q, v and contact forces

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

  DeviceLoops<P, max_device_loops> loops;
  DeviceCoupling<P, limit> coupling;
  DeviceContacts<P, max_device_contacts> contacts;

  FS_HD int at(int i, int j) const { return row_start[i] + depth[j]; }
};

// Return whether the model fits.
template <class Device, class S> bool fits(const Model<S>& m) {
  return m.nv <= Device::max_dofs && m.nx <= Device::max_numbers && m.user.empty() && m.loops.nl <= max_device_loops &&
         m.contacts.nc <= max_device_contacts;
}

// Return the model in its device form. place(vector) returns the address at which the first element of an array lies.
// Requires fits<Device>(s).
template <class Device, class Place> Device device_model(const Model<typename Device::Number>& s, Place&& place) {
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
  d.frame = place(s.frame);
  d.loops.nl.value = s.loops.nl, d.loops.nc.value = s.loops.nc, d.loops.loop = place(s.loops.loop);
  const auto& c = s.coupling;
  d.coupling.nu.value = c.nu;
  d.coupling.start = place(c.start), d.coupling.column = place(c.column), d.coupling.driver = place(c.driver);
  d.coupling.value = place(c.value), d.coupling.offset = place(c.offset);
  d.contacts.nc.value = s.contacts.nc, d.contacts.nr.value = s.contacts.nr;
  d.contacts.contact = place(s.contacts.contact);
  d.contacts.sweeps = s.contacts.sweeps, d.contacts.relax = s.contacts.relax;
  return d;
}

// Return the model with pointers into `s`, for the host.
template <class Device> Device device_model(const Model<typename Device::Number>& s) {
  return device_model<Device>(s, [](const auto& array) { return array.data(); });
}

// Places arrays one after the other in memory that begins at `base`, for device_model.
class PlacedArrays {
 public:
  explicit PlacedArrays(std::uintptr_t base) : base_(base) {}
  template <class E> const E* operator()(const std::vector<E>& array) {
    if (array.empty()) return nullptr;
    const std::size_t at = (bytes.size() + alignment - 1) / alignment * alignment;
    bytes.resize(at + array.size() * sizeof(E));
    std::memcpy(bytes.data() + at, static_cast<const void*>(array.data()), array.size() * sizeof(E));
    return reinterpret_cast<const E*>(base_ + at);
  }
  std::vector<unsigned char> bytes;  // to be copied to that memory

 private:
  static constexpr std::size_t alignment = 16;
  std::uintptr_t base_;
};

}  // namespace featherstorm
