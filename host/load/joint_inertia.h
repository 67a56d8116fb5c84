// Tests if a robot's joint-space inertia can be inverted, as forward dynamics requires.
#pragma once
#include <vector>

#include "core/model/builder.h"

namespace featherstorm {

// A diagonal element of D in M = L^T D L: the inertia of a coordinate while all coordinates beyond it are free. It is
// zero if nothing but rounding is left.
struct Pivot {
  double value = 0;
  bool is_zero = false;
};
// The pivots of all coordinates, computed from articulated inertias, RBDA (7.44): M is never formed. Pivots of
// coordinates before a zero one are not meaningful.
//
// in  q (nq)
// Cost O(nb).
std::vector<Pivot> pivots(const Model<double>& m, const std::vector<double>& q);

// Adds a notice if the inertia of a joint is negative, which no physical body has. Throws ModelError naming the joint
// if M is singular at every position: the joint moves nothing, or nothing that the joints beyond it do not move as
// well.
void check_joint_inertia(Robot& robot);

}  // namespace featherstorm
