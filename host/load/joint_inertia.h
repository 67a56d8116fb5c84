// Whether a robot's joint-space inertia can be inverted: whether forward dynamics has an answer.
#pragma once
#include "core/model/builder.h"

namespace featherstorm {

// Adds a notice where a joint's inertia is negative, which no body gives. Throws ModelError naming the joint where M is singular at
// every position: a joint that moves nothing, or nothing that the joints beyond it do not move as well.
void check_joint_inertia(Robot& robot);

}  // namespace featherstorm
