// The form of a robot that programs are traced from: with frames turned about their axes (core/model/joint_axes.h), origins
// slid along them (core/form/slide.h) and inertias regrouped across joints (core/form/regroup.h), so that most of its numbers
// are zero.
#pragma once
#include <functional>

#include "core/form/regroup.h"
#include "core/form/slide.h"
#include "core/model/joint_axes.h"

namespace featherstorm {

struct CanonicalForm { bool turned, slid, regrouped; };

// As much of `wanted` as leaves the robot's joint forces and inertia what they are: in random states the sums of both forms are
// compared in double, and a step that changes them by more than 1e-12 of their size is left out. For what solves for accelerations
// so is a step that costs them digits (digits.h).
CanonicalForm canonical_form(const Model<double>& m, CanonicalForm wanted, bool solves);

// The same with any way to make the form of a robot.
using Former = std::function<Model<double>(const Model<double>&, CanonicalForm)>;
CanonicalForm canonical_form(const Model<double>& m, CanonicalForm wanted, bool solves, const Former& formed);

}  // namespace featherstorm
