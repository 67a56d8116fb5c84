// Gears and other linear couplings of joint coordinates. RBDA section 9.6, (9.26), (9.27).
//
//   qd = G u,   G^T H G ud + G^T C = G^T tau,   G constant
//
// A mimic joint (q_k = ratio q_d + offset), a gear pair with its rotor as a body of its own, a differential (several
// terms): all are rows of G. g = Gd u = 0. A simpler model of a rotor is the armature of a joint, ratio^2 times the
// rotor's inertia (Example 9.5, crba.h and articulated_bodies.h); it ignores the rotor's inertia as a part of its link.
#pragma once
#include <string>
#include <vector>

namespace featherstorm {

struct Robot;

// G by sparse rows, and the rule for positions.
template <class P> struct Coupling {
  using Number = P;
  int nu = 0;               // independent velocities
  std::vector<int> start;   // (nv + 1) row k of G is [start[k], start[k + 1])
  std::vector<int> column;  // index in u
  std::vector<P> value;     // ratio
  std::vector<int> driver;  // (nu) the coordinate whose velocity is u
  std::vector<P> offset;    // (nv) [rad | m]
};
template <class P, class S> Coupling<P> cast(const Coupling<S>& c) {
  return {c.nu, c.start, c.column, {c.value.begin(), c.value.end()}, c.driver, {c.offset.begin(), c.offset.end()}};
}

// q_joint = sum ratio q_driver + offset; joints of one freedom.
struct CouplingSpec {
  struct Term {
    std::string driver;
    double ratio = 1;
  };
  std::string joint;
  std::vector<Term> terms;
  double offset = 0;  // [rad | m]
};

// The coupling of a robot; joints without a spec are independent, in the order of their coordinates. A driver may not
// be coupled itself. Throws ModelError.
Coupling<double> couple(const Robot& robot, const std::vector<CouplingSpec>& specs);

}  // namespace featherstorm
