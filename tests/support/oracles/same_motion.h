// Tests if two robots that share joints and frames move alike. Coordinates are mapped by the names of joints.
#pragma once
#include <functional>

#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::testing {

// The number of positions or velocities of the joint of body i.
int joint_coordinates(const Model<double>& m, int i, bool position);
// Coordinates of a in the order of b, for the joints that both have; the others are those of y.
Numbers mapped(const Robot& a, const Robot& b, const Numbers& x, bool position, Numbers y);
State mapped(const Robot& a, const Robot& b, const State& s);

void expect_near(const Numbers& a, const Numbers& b, double bound, const char* what);
double largest_of(const Numbers& a);  // at least 1

Numbers inverse_dynamics(const Robot& r, const State& s);
Numbers forward_dynamics(const Robot& r, const State& s, const Numbers& f_ext = {});
// energy, momentum, centre of mass
Numbers invariants(const Robot& r, const State& s);

// pose, velocity and acceleration of every frame that both robots have
void expect_same_frames(const Robot& a, const State& s, const Numbers& qdd, const Robot& b, const State& t,
                        const Numbers& qdd_b, double bound);
// Two robots with the same joints, coordinates mapped by name.
void expect_same(const Robot& a, const Robot& b, unsigned seed);

// f(description, its robot, seed) for random trees over all joint types, both polarities, with welded links.
void for_descriptions(bool floating, const std::function<void(const ModelBuilder&, const Robot&, unsigned)>& f);

}  // namespace featherstorm::testing
