// Which way forward dynamics may take for a robot: where light limbs hang on heavy ones, or masses hardly move the joints, the
// factorised inertia matrix has lost the digits that articulated bodies keep.
#pragma once
#include "core/model/model.h"

namespace featherstorm {

// Whether accelerations by the factorised inertia matrix (core/dynamics/forward_dynamics.h) are, in float, as near to those in
// double as accelerations by articulated bodies (core/dynamics/articulated_bodies.h) are: in three random states of four off
// by at most 16 times as much, or by 2e-5 of the largest, and in all of sixteen but one by no more than that or 1e-4.
bool factor_keeps_digits(const Model<double>& m);

}  // namespace featherstorm
