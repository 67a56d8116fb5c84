#pragma once
// Cost of a program: its operations, and the largest number of values held at once in a given order of its statements.
#include <vector>

#include "core/trace/program.h"

namespace featherstorm {

// Products that need no instruction of their own. A product folds if each of its uses is a sum that has not taken
// another product; these sums become multiply-adds.
struct Fusion {
  std::vector<char> folded;  // node -> 1 if it is such a product
  std::vector<int> product;  // node -> the product that this sum takes, or -1
};

// Chooses the products to fold, those of fewest uses first.
Fusion fuse(const Program& p);

// Largest number of values held at once in this order. A value is held from its statement to its last use. Outputs of a
// carried program are held to the end of a pass, its carried inputs from the beginning. Folded products are never held.
int max_live(const Program& p, const std::vector<int>& order, const Fusion& fusion);

struct Counts {
  int mul = 0;       // products, folded ones included
  int add = 0;       // sums and differences
  int fused = 0;     // products folded into a multiply-add
  int rcp = 0;       // reciprocals
  int sqrt = 0;      // square roots
  int sincos = 0;    // angles with a sine, a cosine or both
  int other = 0;     // all others: exp, log, atan2, min, max, abs, floor, comparisons, select
  int loads = 0;     // inputs read
  int stores = 0;    // outputs written
  int max_live = 0;  // most values held at once

  int flops() const { return mul + add; }
  int instructions() const { return mul + add - fused; }  // multiply-adds counted once
};

// Counts a program whose statements stand in this order (order.h); constants are free.
Counts count(const Program& p, const std::vector<int>& order);

}  // namespace featherstorm
