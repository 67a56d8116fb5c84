// What a row of the table of operations (ops.h) is made of.
#pragma once
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/joint/joint_type.h"
#include "core/joint/user_joint.h"
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
// Positions, velocities, entries of the packed inertia matrix, bodies, frames; loops and their constraints; independent velocities
// of coupled joints; contacts; velocities without those of a floating base.
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

template <class M> FS_HD constexpr int extent(const M& m, const Dimension& d) {
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
template <class M> FS_HD constexpr int size_of(const M& m, const Shape& s) {
  int size = 1;
  for (int k = 0; k < s.rank; k++) size *= extent(m, s.dimension[k]);
  return size;
}
template <class M> std::vector<int> shape_of(const M& m, const Shape& s) {
  std::vector<int> extents;
  for (int k = 0; k < s.rank; k++) extents.push_back(extent(m, s.dimension[k]));
  return extents;
}

// "2 nv, nv": of one instance of any robot.
inline std::string words(const Shape& s) {
  static constexpr const char* names[] = {"", "nq", "nv", "nh", "nb", "nf", "nl", "n_constraints", "nu", "nc", "(nv - 6)"};
  std::string all;
  for (int k = 0; k < s.rank; k++) {
    const auto& [factor, count] = s.dimension[k];
    const std::string name = names[static_cast<int>(count)], number = std::to_string(factor);
    all += (k > 0 ? ", " : "") + (count == Count::one ? number : factor == 1 ? name : number + " " + name);
  }
  return all;
}

struct OpArray {
  std::string_view name;
  Shape shape;
};
template <int inputs, int uniforms, int outputs>
struct OpInfo {
  std::string_view name, summary;
  std::array<OpArray, inputs> in;
  std::array<OpArray, uniforms> uniform;
  std::array<OpArray, outputs> out;
  bool uses_frame = false;
  bool per_body = false;  // depends on more of the inertia than joint forces do (regroup.h)
  bool carried = false;   // outputs 0.. take the place of inputs 0.. in the next pass (substeps)
};

// What a robot must have for a row to be run, where the row says so (`needs`).
enum class Needs { nothing, floating_base, loops, coupling, contacts };
inline constexpr const char* needs_words[] = {"", "a floating base", "kinematic loops", "coupled joints", "contacts"};
template <class Op>
constexpr Needs needs_of() {
  if constexpr (requires { Op::needs; }) return Op::needs;
  else return Needs::nothing;
}

// Why the model cannot have the row, or "".
template <class M>
std::string_view lack(const M& m, Needs needs) {
  switch (needs) {
    case Needs::nothing:
      return "";
    case Needs::floating_base: {
      bool floats = m.nb > 0 && m.body[1].shape == JointShape::Free;
      for (int i = 2; i <= m.nb; i++) floats = floats && m.body[i].parent != 0;
      return floats
                 ? ""
                 : "the robot has no floating base, expected one whose body 1 has a free joint and carries all others";
    }
    case Needs::loops:
      return m.loops.nl > 0 ? "" : "the robot has no kinematic loops, expected some (close_loops)";
    case Needs::coupling:
      return m.coupling.nu > 0 ? "" : "the robot has no coupled joints, expected some (couple)";
    case Needs::contacts:
      return m.contacts.nc > 0 ? "" : "the robot has no contacts, expected some (contacts_of)";
  }
  return "";
}
// Whether the row computes with joints' placements at positions that have no time (joint/timed.h).
template <class Op>
constexpr bool lacks_time() {
  if constexpr (requires { Op::takes_time; }) return false;
  if (Op::info.name == "integrate" || Op::info.name == "difference") return false;
  for (const OpArray& a : Op::info.in)
    if (a.shape == Shape{nq}) return true;
  return false;
}
template <class Op, class M>
std::string_view lack(const M& m) {
  if (lacks_time<Op>())
    for (const UserJoint& joint : m.user)
      if (joint.time_dependent)
        return "the robot has joints that depend on time, expected an operation with an input t (rnea_timed, ...)";
  return lack(m, needs_of<Op>());
}
template <class Op, class M>
bool available(const M& m) {
  return lack<Op>(m).empty();
}

// Inputs that occur often.
inline constexpr OpArray op_q{"q", {nq}}, op_v{"v", {nv}}, op_a{"a", {nv}}, op_tau{"tau", {nv}},
    op_f_ext{"f_ext", {nb, 6}}, op_M{"M", {nh}}, op_L{"L", {nh}};

// The head of every row's function.
#define FEATHERSTORM_RUN                                                                                        \
  template <int variant, class M, class In, class U, class Out>                                                 \
  FS_HD static void run([[maybe_unused]] const M& m, [[maybe_unused]] int frame, [[maybe_unused]] const In* in, \
                        [[maybe_unused]] const U* u, const Out* out)
#define FEATHERSTORM_NONE \
  Zeros<ScalarOf<In>> {}

}  // namespace featherstorm
