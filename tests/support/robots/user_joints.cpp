#include "tests/support/robots/user_joints.h"

#include "tests/support/robots/user_joint_texts.h"

namespace featherstorm::testing {

const UserJoint user_rack_pinion = make_user_joint<UserRackPinion>();
const UserJoint user_crane = make_user_joint<UserCrane>();

}  // namespace featherstorm::testing
