#pragma once
// Finds nodes that algebra could simplify but the tracer did not: always zero, always the same number, or always equal
// to an earlier node.
//
// The graph is evaluated in double at random points. Such nodes are cancellations that the algorithm should have stated
// (a row of an articulated inertia that is zero by construction); their instructions are wasted.
#include <cstdint>
#include <vector>

#include "core/trace/evaluate.h"

namespace featherstorm {

struct ZeroTest {
  struct Pair {
    int node;       // the later node
    int earlier;    // the node that it always equals
    bool negative;  // up to this sign
  };
  std::vector<int> zero;      // live nodes that are zero at every point, up to rounding
  std::vector<int> constant;  // live nodes that have the same value, not zero, at every point
  std::vector<Pair> equal;    // other live nodes that repeat an earlier one
};

// Tests at these points (one set of input arrays each); give at least three.
ZeroTest zero_test(const Program& p, const std::vector<Arrays<double>>& points);

// Tests at three points with inputs between -1 and 1; quaternions among the inputs are not unit here.
ZeroTest zero_test(const Program& p, std::uint32_t seed = 1);

}  // namespace featherstorm
