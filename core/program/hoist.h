#pragma once
// A carried program split in two: the part that all passes compute alike, and the part that changes with the state.
//
// Example: regrouped inertias of a robot whose masses are inputs are the same in all substeps. `setup` computes such
// values once; `pass` is the program's loop and has them as one more input. Each call computes them from its inputs, so
// they are never out of date.
#include <optional>
#include <vector>

#include "core/program/count.h"

namespace featherstorm {

struct Split {
  Program setup;  // the program's inputs (carried ones are not read); one output, the derived values
  Program pass;   // the program's inputs and, as the last, the derived values; its outputs
  std::vector<int> setup_node, pass_node;  // node of the program -> node of the part, -1 if absent
  Fusion setup_fusion, pass_fusion;        // the program's, so that all three give the same bits
};

// Empty where the program is not carried or no operation is the same in all passes. Products stay with the sums that
// take them (count.h), conditions with their selects.
std::optional<Split> hoist(const Program& p);

// An order of the program's statements, as one of `setup` and one of `pass`.
std::vector<int> setup_order(const Split& s, const std::vector<int>& order);
std::vector<int> pass_order(const Split& s, const std::vector<int>& order);

}  // namespace featherstorm
