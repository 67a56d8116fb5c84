// The fields of an operation of the table: name, equation, arrays and properties.
//
// Python's functions and their documentation, the kernels of every backend, self-checks, tests and benches follow from
// these fields.
#pragma once
#include <initializer_list>
#include <stdexcept>
#include <string_view>

#include "core/joint/joint_type.h"
#include "core/joint/user_joint.h"
#include "host/table/row/shape.h"

namespace featherstorm {

// The random numbers with which an array is filled in self-checks, tests and benchmarks.
struct Sample {
  enum Kind : unsigned char {
    symmetric,  // in [-1, 1]
    positive,   // in [0.5, 1.5]
    position,   // a q of the robot
    inertia,    // a packed inertia matrix M
    ltdl,       // the factors of one
    ltl,
    joint_force,  // forces that accelerate each joint by up to 10
    body_force,   // forces that accelerate each body by up to 10
    joint_gain,   // between 0.5 and 1.5 times each joint's inertia
    odd,          // 0, 1, 0, 1, ...
    even,         // 1, 0, 1, 0, ...
    all_but_two,  // 1, but 0 for the last two
    fixed,        // `value`
  };
  Kind kind = symmetric;
  double value = 0;
  constexpr Sample() = default;
  constexpr Sample(Kind k, double value = 0) : kind(k), value(value) {}
};
constexpr Sample constant(double value) { return {Sample::fixed, value}; }

// Optional inputs may be left out and are then zero.
enum class Presence : bool { required, optional };
inline constexpr Presence optional = Presence::optional;

struct OpArray {
  std::string_view name;
  Shape shape{};               // of one instance
  std::string_view unit{};     // "angular, linear" components; "rotation | translation" joints
  std::string_view meaning{};  // with frame and axes
  Sample sample{};
  Presence presence = Presence::required;
  constexpr bool optional() const { return presence == Presence::optional; }
  // The allowed values; "" for all.
  constexpr std::string_view range() const {
    switch (sample.kind) {
      case Sample::position: return "quaternions of length 1";
      case Sample::positive:
      case Sample::joint_gain:
      case Sample::fixed: return ">= 0";
      case Sample::odd:
      case Sample::even:
      case Sample::all_but_two: return "0 or 1";
      case Sample::inertia: return "positive definite";
      default: return "";
    }
  }
};

// The arrays of an operation, in the order of its arguments.
struct OpArrays {
  static constexpr int most = 12;
  OpArray array[most];
  int count = 0;
  constexpr OpArrays() = default;
  constexpr OpArrays(std::initializer_list<OpArray> all) {
    for (const OpArray& a : all) push_back(a);
  }
  constexpr void push_back(const OpArray& a) {
    if (count == most) throw std::length_error("an operation has too many arrays");
    array[count++] = a;
  }
  friend constexpr OpArrays operator+(OpArrays a, const OpArrays& b) {
    for (const OpArray& x : b) a.push_back(x);
    return a;
  }
  constexpr std::size_t size() const { return static_cast<std::size_t>(count); }
  constexpr bool empty() const { return count == 0; }
  constexpr const OpArray* data() const { return array; }
  constexpr const OpArray* begin() const { return array; }
  constexpr const OpArray* end() const { return array + count; }
  constexpr const OpArray& operator[](std::size_t k) const { return array[k]; }
};

// Property that a robot must have for an operation.
enum class Needs : unsigned char { nothing, floating_base, loops, coupling, contacts, world };
inline constexpr const char* needs_words[] = {"",         "a floating base",     "kinematic loops", "coupled joints",
                                              "contacts", "a model file's world"};

// Growth of the work per instance with the number of joints in a chain.
enum class Cost : unsigned char { linear, quadratic, cubic };
inline constexpr const char* cost_words[] = {"O(n)", "O(n^2)", "O(n^3)"};

// Factor by which rounding errors are amplified.
enum class Condition : unsigned char {
  plain,
  cancels,         // sums of larger terms that cancel at the base
  solves,          // condition number of M or a similar matrix
  solves_twice,    // M^-1 twice, or the difference of two results that agree
  solves_squares,  // normal equations: the square of the condition number
};

struct OpInfo {
  std::string_view name, summary;
  std::string_view equation{}, source{};
  std::string_view form_of{};  // the operation of which this is the form with optional inputs (form.h)
  OpArrays in{};
  OpArrays uniform{};  // the same numbers for all instances
  OpArrays out{};
  bool uses_frame = false;
  bool per_body = false;    // depends on more of the inertia than joint forces do (regroup.h)
  bool carried = false;     // outputs 0.. replace inputs 0.. in the next repetition (substeps)
  bool takes_time = false;  // supports joints that depend on time
  Needs needs = Needs::nothing;
  Cost cost = Cost::linear;
  Condition condition = Condition::plain;
  int variants = 1;            // algorithms for the same map; kernels for any robot take the first
  std::string_view inverse{};  // the operation that returns the forces for given accelerations (trace_derivative.cpp)
  // Kernels for any robot:
  // common: for every instruction set and every size of CUDA model; other operations for few, to keep builds short
  bool common = false;
  bool inlined = false;  // with every call inlined, which takes long to compile
  // cuda: has a CUDA kernel that takes the model as data; if not, kernels made for one robot are used on devices
  bool cuda = true;
};

// The reason why the model cannot have the operation, or "".
template <class M>
std::string_view lack(const M& m, Needs needs) {
  switch (needs) {
    case Needs::nothing: return "";
    case Needs::floating_base: {
      bool floats = m.nb > 0 && m.body[1].shape == JointShape::Free;
      for (int i = 2; i <= m.nb; i++) floats = floats && m.body[i].parent != 0;
      return floats
                 ? ""
                 : "the robot has no floating base, expected one whose body 1 has a free joint and carries all others";
    }
    case Needs::loops: return m.loops.nl > 0 ? "" : "the robot has no kinematic loops, expected some (close_loops)";
    case Needs::coupling: return m.coupling.nu > 0 ? "" : "the robot has no coupled joints, expected some (couple)";
    case Needs::contacts: return m.contacts.nc > 0 ? "" : "the robot has no contacts, expected some (contacts_of)";
    case Needs::world:
      if constexpr (requires { m.world; })
        if (m.world.is_given()) return "";
      return "the robot has no world, expected one of an MJCF file";
  }
  return "";
}
// True if the operation computes placements of joints from positions without a time (joint/timed.h).
constexpr bool lacks_time(const OpInfo& info) {
  if (info.takes_time || info.name == "integrate" || info.name == "difference") return false;
  for (const OpArray& a : info.in)
    if (a.shape == Shape{nq}) return true;
  return false;
}
template <class M>
std::string_view lack(const M& m, const OpInfo& info) {
  if (lacks_time(info))
    for (const UserJoint& joint : m.user)
      if (joint.time_dependent)
        return "the robot has joints that depend on time, expected an operation with an input t (rnea_timed, ...)";
  if constexpr (requires { m.world; })
    if (info.name.starts_with("smooth_step") && m.world.is_given() && m.world.integrator == Integrator::Discrete)
      return "the integrator discrete is supported only in steps with constraints (Simulation, Rollout), expected "
             "Euler, implicit, implicitfast or RK4";
  return lack(m, info.needs);
}
template <class Op, class M>
std::string_view lack(const M& m) {
  return lack(m, Op::info);
}
template <class Op, class M>
bool available(const M& m) {
  return lack<Op>(m).empty();
}

}  // namespace featherstorm
