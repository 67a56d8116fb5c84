// Tests which algorithm and which form of a robot keep enough digits. If light limbs hang on heavy ones, or if masses
// hardly move the joints, one way to compute accelerations in float, or one form of the robot, loses digits that
// another keeps.
//
// The tests run in random states and in states from which simulations start (host/load/sample_q.h). In the latter,
// axes are in line and little or nothing remains of the inertia about them.
#pragma once
#include <vector>

#include "core/model/model.h"

namespace featherstorm {

inline constexpr double few_roundings = 0x1p-50;
// The robot with its inertias and origins off by a few roundings, each by a different amount. The change of a result
// shows how well it is conditioned.
Model<double> off_by_few_roundings(Model<double> m);

// True if accelerations from the factorised inertia matrix (core/dynamics/forward_dynamics.h) are as accurate in float
// as accelerations from articulated bodies (core/dynamics/articulated_bodies.h), both relative to double:
// - in three of four random states, the error is at most 16 times that of articulated bodies plus 2e-5 of the largest
//   number;
// - in all but one of sixteen random states, and in all but one of sixteen starting states, it is at most 16 times
//   that error or 1e-4 of the largest number, whichever is larger.
bool factor_keeps_digits(const Model<double>& m);

// A state, and the robot's accelerations in it by articulated bodies.
struct SolvedState {
  std::vector<double> q, v, tau, exact;  // exact: accelerations in double
  double size = 0;                       // the largest acceleration; infinite where one is not finite
  double error = 0;                      // error of the accelerations in float; infinite where one is not finite
  double conditioning = 0;               // difference in double when the robot is off by a few roundings
};

// Tests if accelerations of another form of the robot (canonical_form.h) are as accurate as those of the given form.
class FormAccuracy {
 public:
  explicit FormAccuracy(const Model<double>& m);
  // By articulated bodies, in three of four random states and in three of four starting states: the error in float is
  // at most 16 times that of the given form plus 2e-5 of the largest number, where the given form has any correct
  // digit; the error in double is at most the limit of the kernel check (host/engine/kernel_check.h). In all states
  // the results, in float and double, are finite wherever those of the given robot are.
  bool keeps_digits(const Model<double>& form) const;

 private:
  std::vector<SolvedState> random_, starting_;
};

}  // namespace featherstorm
