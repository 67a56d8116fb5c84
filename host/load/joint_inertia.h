// Tests if a robot's joint-space inertia can be inverted, as forward dynamics requires.
#pragma once
#include "core/model/builder.h"

namespace featherstorm {

// Adds a notice if the inertia of a joint is negative, which no physical body has. Throws ModelError naming the joint
// if M is singular at every position: the joint moves nothing, or nothing that the joints beyond it do not move as
// well.
void check_joint_inertia(Robot& robot);

}  // namespace featherstorm
