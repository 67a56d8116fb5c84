// The form of a robot that programs are traced from: with frames turned about their axes (core/joint_axes.h), origins slid along
// them (core/slide.h) and inertias regrouped across joints (core/regroup.h), so that most of its numbers are zero.
#pragma once
#include <functional>

#include "core/joint_axes.h"
#include "core/regroup.h"
#include "core/slide.h"

namespace featherstorm {

struct CanonicalForm {
  bool turned, slid, regrouped;
};

// As much of `wanted` as leaves the robot's joint forces and inertia what they are: in random states the sums of both forms are
// compared in double, and a step that changes them by more than 1e-12 of their size is left out.
CanonicalForm canonical_form(const Model<double>& m, CanonicalForm wanted);

// The same with any way to make the form of a robot.
using Former = std::function<Model<double>(const Model<double>&, CanonicalForm)>;
CanonicalForm canonical_form(const Model<double>& m, CanonicalForm wanted, const Former& formed);

}  // namespace featherstorm
