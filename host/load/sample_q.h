// Random positions of a robot, and the size of forces that move it, for checks of kernels and forms.
#pragma once
#include <cmath>
#include <random>
#include <vector>

#include "core/model/joints.h"

namespace featherstorm {

// Numbers in [-1, 1]; quaternions are unit.
template <class Engine> std::vector<double> sample_q(const Model<double>& m, Engine& engine) {
  std::uniform_real_distribution<> uniform(-1, 1);
  std::vector<double> q(m.nq);
  for (double& x : q) x = uniform(engine);
  for (int i = 1; i <= m.nb; i++) {
    const Body<double>& b = m.body[i];
    const int quaternion = joint_traits(b.type).quaternion, at = b.q + quaternion;
    if (quaternion < 0) continue;
    double norm = 0;
    for (int k = 0; k < 4; k++) norm += q[at + k] * q[at + k];
    for (int k = 0; k < 4; k++) q[at + k] /= std::sqrt(norm);
  }
  return q;
}

// Positions from which simulations typically start: each joint in its neutral position, a quarter turn from it if it
// is a hinge, or anywhere. There axes and limbs are in line. Robots are singular, and terms cancel that do not cancel
// elsewhere.
std::vector<double> starting_q(const Model<double>& m, std::mt19937_64& engine);

// 1 / (M^-1)_cc at a random position: the inertia of each joint while all others move freely [kg m^2 | kg]. All ones
// for robots with joints whose placement needs a time. Torques of this size accelerate every joint by about 1; larger
// ones would make light limbs fly apart.
std::vector<double> natural_inertia(const Model<double>& m, std::mt19937_64& engine);

}  // namespace featherstorm
