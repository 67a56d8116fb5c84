#pragma once
// A carried program in two: what all passes compute alike, and what changes with the state.
//
// Regrouped inertias of a robot whose masses are inputs, say, are the same in all substeps: `setup` computes them once,
// `pass` is the program's loop and takes them as one more input. They are made anew in each call from the inputs at hand,
// so they cannot be out of date.
#include <optional>
#include <vector>

#include "core/program/count.h"

namespace featherstorm {

struct Split {
  Program setup;  // the program's inputs (carried ones are not read); one output, the derived values
  Program pass;   // the program's inputs and, as the last, the derived values; its outputs
  std::vector<int> setup_node, pass_node;  // node of the program -> its node there, -1 where it has none
  Fusion setup_fusion, pass_fusion;        // the program's, so that all three give the same bits
};

// Nothing where the program is not carried or no operation is the same in all passes. Products stay with the sums that
// take them (count.h), conditions with what they decide.
std::optional<Split> hoist(const Program& p);

// An order of the program's statements, as one of `setup` and one of `pass`.
std::vector<int> setup_order(const Split& s, const std::vector<int>& order);
std::vector<int> pass_order(const Split& s, const std::vector<int>& order);

}  // namespace featherstorm
