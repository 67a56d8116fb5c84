// Shapes of arrays in counts of a robot.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/scalar/scalar.h"

namespace featherstorm {

// One dimension of an array: a number, or a multiple of a count of the robot.
enum class Count : unsigned char {
  one,
  nq,
  nv,
  nh,
  nb,
  nf,
  nl,
  n_constraints,
  nu,
  nc,
  joint_nv,
  n_ctrl,
  n_act,
  n_out,
  n_tendons,
  n_links,
  n_sensed,
  n_slots,
  n_history,
  n_rows,
  n_touched
};
struct Dimension {
  int factor = 1;
  Count count = Count::one;
  constexpr Dimension() = default;
  constexpr Dimension(int n) : factor(n) {}
  constexpr Dimension(Count c) : count(c) {}
  friend constexpr bool operator==(const Dimension&, const Dimension&) = default;
  friend constexpr Dimension operator*(int n, Dimension d) { return d.factor *= n, d; }
};
// Numbers of: positions, velocities, entries of the packed inertia matrix, bodies, frames; loops and their constraint
// rows; independent velocities of coupled joints; contacts; velocities without those of a floating base. For the world
// of a model file: controls, activations, actuator forces, tendons, links, sensor numbers, contact slots, numbers of
// histories, constraint rows without those of contacts, and numbers of touch and contact sensors.
inline constexpr Dimension nq{Count::nq}, nv{Count::nv}, nh{Count::nh}, nb{Count::nb}, nf{Count::nf}, nl{Count::nl},
    n_constraints{Count::n_constraints}, nu{Count::nu}, nc{Count::nc}, joint_nv{Count::joint_nv}, n_ctrl{Count::n_ctrl},
    n_act{Count::n_act}, n_out{Count::n_out}, n_tendons{Count::n_tendons}, n_links{Count::n_links},
    n_sensed{Count::n_sensed}, n_slots{Count::n_slots}, n_history{Count::n_history}, n_rows{Count::n_rows},
    n_touched{Count::n_touched};

// The shape of an array of one instance, rows first: {nv, nv}, {nb, 6}.
struct Shape {
  static constexpr int most = 3;
  Dimension dimension[most];
  int rank = 0;
  constexpr Shape(std::initializer_list<Dimension> d) {
    for (const Dimension& x : d) dimension[rank++] = x;
  }
  friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

template <class M>
FS_HD constexpr int extent(const M& m, const Dimension& d) {
  switch (d.count) {
    case Count::one: return d.factor;
    case Count::nq: return d.factor * m.nq;
    case Count::nv: return d.factor * m.nv;
    case Count::nh: return d.factor * m.nh;
    case Count::nb: return d.factor * m.nb;
    case Count::nf: return d.factor * m.nf;
    case Count::nl: return d.factor * m.loops.nl;
    case Count::n_constraints: return d.factor * m.loops.nc;
    case Count::nu: return d.factor * m.coupling.nu;
    case Count::nc: return d.factor * m.contacts.nc;
    case Count::joint_nv: return m.nv < 6 ? 0 : d.factor * (m.nv - 6);
    default: break;
  }
  if constexpr (requires { m.world; }) switch (d.count) {  // device models have no world
      case Count::n_ctrl: return d.factor * m.world.nu;
      case Count::n_act: return d.factor * m.world.na;
      case Count::n_out: return d.factor * m.world.n_outputs;
      case Count::n_tendons: return d.factor * m.world.n_tendons();
      case Count::n_links: return d.factor * m.world.n_links();
      case Count::n_sensed: return d.factor * m.world.n_sensordata;
      case Count::n_slots: return d.factor * slots_of(m.world.contacts);
      case Count::n_history: return d.factor * m.world.n_history;
      case Count::n_rows: return d.factor * rows_of(m.world.constraints);
      case Count::n_touched: return d.factor * numbers_of_touch(m.world);
      default: break;
    }
  return 0;
}
// The number of components.
template <class M>
FS_HD constexpr int size_of(const M& m, const Shape& s) {
  int size = 1;
  for (int k = 0; k < s.rank; k++) size *= extent(m, s.dimension[k]);
  return size;
}
template <class M>
std::vector<int> shape_of(const M& m, const Shape& s) {
  std::vector<int> extents;
  for (int k = 0; k < s.rank; k++) extents.push_back(extent(m, s.dimension[k]));
  return extents;
}

// For example "2 nv, nv": the shape of one instance of any robot.
inline std::string words(const Shape& s) {
  static constexpr const char* names[] = {
      "",         "nq",      "nv",        "nh",     "nb",       "nf",    "nl",        "n_constraints",
      "nu",       "nc",      "(nv - 6)",  "n_ctrl", "n_act",    "n_out", "n_tendons", "n_links",
      "n_sensed", "n_slots", "n_history", "n_rows", "n_touched"};
  std::string all;
  for (int k = 0; k < s.rank; k++) {
    const auto& [factor, count] = s.dimension[k];
    const std::string name = names[static_cast<int>(count)], number = std::to_string(factor);
    all += (k > 0 ? ", " : "") + (count == Count::one ? number : factor == 1 ? name : number + " " + name);
  }
  return all;
}

}  // namespace featherstorm
