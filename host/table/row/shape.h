// Shapes of arrays in counts of a robot.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/scalar/scalar.h"

namespace featherstorm {

// One dimension of an array: a number, or a count of the robot times one.
enum class Count : unsigned char { one, nq, nv, nh, nb, nf, nl, n_constraints, nu, nc, joint_nv };
struct Dimension {
  int factor = 1;
  Count count = Count::one;
  constexpr Dimension() = default;
  constexpr Dimension(int n) : factor(n) {}
  constexpr Dimension(Count c) : count(c) {}
  friend constexpr bool operator==(const Dimension&, const Dimension&) = default;
  friend constexpr Dimension operator*(int n, Dimension d) { return d.factor *= n, d; }
};
// Positions, velocities, entries of the packed inertia matrix, bodies, frames; loops and their constraints; independent
// velocities of coupled joints; contacts; velocities without those of a floating base.
inline constexpr Dimension nq{Count::nq}, nv{Count::nv}, nh{Count::nh}, nb{Count::nb}, nf{Count::nf}, nl{Count::nl},
    n_constraints{Count::n_constraints}, nu{Count::nu}, nc{Count::nc}, joint_nv{Count::joint_nv};

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

// "2 nv, nv": of one instance of any robot.
inline std::string words(const Shape& s) {
  static constexpr const char* names[] = {"",   "nq", "nv",      "nh", "nb", "nf", "nl", "n_constraints",
                                          "nu", "nc", "(nv - 6)"};
  std::string all;
  for (int k = 0; k < s.rank; k++) {
    const auto& [factor, count] = s.dimension[k];
    const std::string name = names[static_cast<int>(count)], number = std::to_string(factor);
    all += (k > 0 ? ", " : "") + (count == Count::one ? number : factor == 1 ? name : number + " " + name);
  }
  return all;
}

}  // namespace featherstorm
