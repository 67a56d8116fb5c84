// Random positions of a robot, for kernels that are checked.
#pragma once
#include <random>
#include <vector>

#include "core/model.h"

namespace featherstorm {

// Numbers in [-1, 1]; quaternions are unit.
std::vector<double> sample_q(const Model<double>& m, std::mt19937_64& engine);

}  // namespace featherstorm
