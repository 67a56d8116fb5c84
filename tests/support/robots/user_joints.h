// Two joints as a user would define them: a rack and pinion, which the library has too, and a joint with three
// coordinates that the library does not have.
#pragma once
#include "core/joint/user_joint.h"

namespace featherstorm::testing {

// RBDA Example 4.6 again: R = Rz(q), r = (rho q, 0, 0).
extern const UserJoint user_rack_pinion;
// A crane: the trolley moves q0 [m] along x, the boom rotates q1 [rad] about y, the hook moves q2 [m] along the boom's
// z.
// R = Ry(q1), r = (q0 + q2 s1, 0, q2 c1).
extern const UserJoint user_crane;

}  // namespace featherstorm::testing
