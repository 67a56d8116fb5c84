// Assigns each number of a program to a body of the robot, for partition.h.
#pragma once
#include "core/model/model.h"
#include "core/program/partition.h"

namespace featherstorm {

// Bodies are found from the arrays' sizes: positions (nq), velocities and forces (nv), a packed matrix (nh) by rows,
// and 1, 3, 6 or 10 numbers for each body. Uniform arrays and arrays of other sizes belong to no body.
Bodies bodies_of(const Program& p, const Model<double>& m);

}  // namespace featherstorm
