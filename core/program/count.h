#pragma once
// What a program costs: its operations, and the values it must hold at once in a given order of its statements.
#include <vector>

#include "core/trace/program.h"

namespace featherstorm {

// Products that need no instruction of their own: where every use of a product is a sum that has taken no other
// product, those sums become multiply-adds.
struct Fusion {
  std::vector<char> folded;  // node -> whether it is such a product
  std::vector<int> product;  // node -> the product that this sum takes, or -1
};

// Chooses the products to fold, those of fewest uses first.
Fusion fuse(const Program& p);

// Most values held at once in this order. A value is held from its statement to its last use; outputs of a carried
// program to the end of the pass, and its carried inputs from the beginning. Folded products are never held.
int max_live(const Program& p, const std::vector<int>& order, const Fusion& fusion);

struct Counts {
  int mul = 0;       // products, folded ones included
  int add = 0;       // sums and differences
  int fused = 0;     // products folded into a multiply-add
  int rcp = 0;       // reciprocals
  int sqrt = 0;      // square roots
  int sincos = 0;    // angles of which sine, cosine or both are taken
  int other = 0;     // all else: exp, log, atan2, min, max, abs, floor, comparisons, select
  int loads = 0;     // inputs read
  int stores = 0;    // outputs written
  int max_live = 0;  // most values held at once

  int flops() const { return mul + add; }
  int instructions() const { return mul + add - fused; }  // multiply-adds counted once
};

// Counts a program whose statements stand in this order (order.h); constants are free.
Counts count(const Program& p, const std::vector<int>& order);

}  // namespace featherstorm
