// What a robot's kernels may be made from without losing digits: where light limbs hang on heavy ones, or masses hardly move the
// joints, accelerations lose in float by one way to compute them, or in one form of the robot, what they keep in another.
//
// Tried in random states and where robots start (host/load/sample_q.h): there axes are in line, and of the inertia about them
// little or nothing is left.
#pragma once
#include <vector>

#include "core/model/model.h"

namespace featherstorm {

inline constexpr double few_roundings = 0x1p-50;
// The robot with its inertias and origins off by a few roundings, each by its own: what becomes of a result tells how well it is
// conditioned.
Model<double> off_by_few_roundings(Model<double> m);

// Whether accelerations by the factorised inertia matrix (core/dynamics/forward_dynamics.h) are, in float, as near to those in
// double as accelerations by articulated bodies (core/dynamics/articulated_bodies.h) are: in three random states of four off
// by at most 16 times as much, or by 2e-5 of the largest, and in all of sixteen but one by no more than that or 1e-4, as they are
// in all but one of sixteen where robots start.
bool factor_keeps_digits(const Model<double>& m);

// A state, and accelerations of the robot as it is given, by articulated bodies.
struct SolvedState {
  std::vector<double> q, v, tau, exact;  // exact: accelerations in double
  double size = 0;                       // the largest of them; infinite where one is no number
  double error = 0;                      // how far those in float are off; infinite where one is no number
  double conditioning = 0;               // and those in double of the robot off by a few roundings
};

// Whether accelerations of another form of the robot (canonical_form.h) are as near to those of the robot as it is given.
class FormAccuracy {
 public:
  explicit FormAccuracy(const Model<double>& m);
  // By articulated bodies, in three random states of four and in three of four where robots start: off in float by at most 16
  // times as much, or 2e-5 of the largest, where those have a digit at all; off in double by what the self-check of kernels
  // allows (host/engine/kernel_check.h). And numbers, in float and double, wherever those of the given robot are.
  bool keeps_digits(const Model<double>& form) const;

 private:
  std::vector<SolvedState> random_, starting_;
};

}  // namespace featherstorm
