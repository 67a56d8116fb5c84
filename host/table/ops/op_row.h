// What a row of the table of operations (ops.h) is made of.
#pragma once
#include <array>
#include <string_view>

#include "core/joint/joint_type.h"
#include "core/joint/user_joint.h"
#include "core/scalar/scalar.h"

namespace featherstorm {

// Number of components of an array, by model.
enum class Size {
  one,
  two,
  three,
  six,
  matrix6,  // 1, 2, 3, 6, 6 x 6
  q,
  v,
  h,
  vv,
  v2v2,
  v2v,  // nq, nv, nh (packed), nv x nv, 2nv x 2nv, 2nv x nv
  jacobian,
  v3,  // 6 x nv, 3 x nv
  joints,
  joints6,  // nv - 6, 6 x (nv - 6): without the base's freedoms
  bodies6,
  bodies10,
  vb10,
  frames12,  // 6 nb, 10 nb, nv x 10 nb, 12 nf
  bodies3,
  frames36,  // 3 nb, 36 nf
  loops6,
  loops12,  // 6 nl, 12 nl
  constraints,
  constraints_v,  // n^c of the loops, n^c x nv
  independent,
  independent2,  // nu of the coupling, nu x nu
  contacts,
  contacts2,  // nc contacts, nc x nc
  contacts3,
  contacts3_v,
  contacts9,   // 3 nc, 3 nc x nv, 3 nc x 3 nc: normal and two tangents of each
  contacts12,  // 12 nc
};

template <class M>
FS_HD constexpr int size_of(const M& m, Size s) {
  switch (s) {
    case Size::one:
      return 1;
    case Size::two:
      return 2;
    case Size::three:
      return 3;
    case Size::six:
      return 6;
    case Size::matrix6:
      return 36;
    case Size::q:
      return m.nq;
    case Size::v:
      return m.nv;
    case Size::h:
      return m.nh;
    case Size::vv:
      return m.nv * m.nv;
    case Size::v2v2:
      return 4 * m.nv * m.nv;
    case Size::v2v:
      return 2 * m.nv * m.nv;
    case Size::jacobian:
      return 6 * m.nv;
    case Size::v3:
      return 3 * m.nv;
    case Size::joints:
      return m.nv < 6 ? 0 : m.nv - 6;
    case Size::joints6:
      return m.nv < 6 ? 0 : 6 * (m.nv - 6);
    case Size::bodies6:
      return 6 * m.nb;
    case Size::bodies10:
      return 10 * m.nb;
    case Size::vb10:
      return 10 * m.nv * m.nb;
    case Size::frames12:
      return 12 * m.nf;
    case Size::bodies3:
      return 3 * m.nb;
    case Size::frames36:
      return 36 * m.nf;
    case Size::loops6:
      return 6 * m.loops.nl;
    case Size::loops12:
      return 12 * m.loops.nl;
    case Size::constraints:
      return m.loops.nc;
    case Size::constraints_v:
      return m.loops.nc * m.nv;
    case Size::independent:
      return m.coupling.nu;
    case Size::independent2:
      return m.coupling.nu * m.coupling.nu;
    case Size::contacts:
      return m.contacts.nc;
    case Size::contacts2:
      return m.contacts.nc * m.contacts.nc;
    case Size::contacts3:
      return m.contacts.nr;
    case Size::contacts3_v:
      return m.contacts.nr * m.nv;
    case Size::contacts9:
      return m.contacts.nr * m.contacts.nr;
    case Size::contacts12:
      return 12 * m.contacts.nc;
  }
  return 0;
}

struct OpArray {
  std::string_view name;
  Size size;
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
    if (a.size == Size::q) return true;
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
inline constexpr OpArray op_q{"q", Size::q}, op_v{"v", Size::v}, op_a{"a", Size::v}, op_tau{"tau", Size::v},
    op_f_ext{"f_ext", Size::bodies6}, op_M{"M", Size::h}, op_L{"L", Size::h};

// The head of every row's function.
#define FEATHERSTORM_RUN                                                                                        \
  template <int variant, class M, class In, class U, class Out>                                                 \
  FS_HD static void run([[maybe_unused]] const M& m, [[maybe_unused]] int frame, [[maybe_unused]] const In* in, \
                        [[maybe_unused]] const U* u, const Out* out)
#define FEATHERSTORM_NONE \
  Zeros<ScalarOf<In>> {}

}  // namespace featherstorm
