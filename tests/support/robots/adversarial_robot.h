// Random robots with extreme numbers that are hard to compute with, the same for the same seed on every machine.
//
// They have:
// - rotations close to zero, a right angle or half a turn;
// - axes that are almost parallel, perpendicular or opposite;
// - offsets from 1e-9 to 10 m;
// - masses from 1e-9 to 1e4 kg, of one size for the robot and of any size for some of its links;
// - inertias of points and lines, centres of mass far away;
// - chains of up to 60 bodies, wide trees, forests, floating bases;
// - every type of joint, reversed joints, rotors, welded links.
#pragma once
#include "tests/support/robots/random_robot.h"

namespace featherstorm::testing {

struct AdversarialOptions { int most_bodies = 60; };

RobotSpec adversarial_spec(unsigned seed, const AdversarialOptions& options = {});

// A rotation about a random or coordinate axis by an angle near 0, pi/2 or pi, exact or off by 1e-16 to 1e-2.
Mat3d adversarial_rotation(Random& random);

// Positions, velocities and forces; some joint positions are at, or almost at, 0, pi/2 and pi.
State adversarial_state(const Model<double>& m, unsigned seed);

}  // namespace featherstorm::testing
