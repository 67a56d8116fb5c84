// The form of a robot from which programs are traced. Frames are turned about their axes (core/model/joint_axes.h),
// origins are moved along them (core/form/slide.h) and inertias are regrouped across joints (core/form/regroup.h), so
// that most of the robot's numbers are zero.
#pragma once
#include <functional>

#include "core/form/regroup.h"
#include "core/form/slide.h"
#include "core/model/joint_axes.h"

namespace featherstorm {

struct CanonicalForm { bool turned, slid, regrouped; };

// The part of `wanted` that preserves the robot's joint forces and inertia. Both forms are compared in random states
// in double; a step is omitted if it changes the results by more than 1e-12 of their size. For operations that solve
// for accelerations (`solves`), a step is also omitted if it loses digits (digits.h).
CanonicalForm canonical_form(const Model<double>& m, CanonicalForm wanted, bool solves);

// The same with any function that makes the form of a robot.
using Former = std::function<Model<double>(const Model<double>&, CanonicalForm)>;
CanonicalForm canonical_form(const Model<double>& m, CanonicalForm wanted, bool solves, const Former& formed);

}  // namespace featherstorm
