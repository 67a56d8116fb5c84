#pragma once
// A traced computation with its inputs and outputs, read by orders, emitters and interpreters.
//
//   Program p;
//   auto q = p.input("q", 7), dt = p.input("dt", 1, true);   // true: one number for all instances
//   { Tracing scope(p.graph);  p.output("tau", rnea(...)); }
//   p.carry("q_next", "q");                                    // makes the program the body of a loop
//
// With carried pairs the program runs `repeat` times. After each pass the carried outputs become the inputs of the next
// pass, in registers; all outputs are those of the last pass. K simulation steps in one kernel are such a loop.
#include <string>
#include <utility>
#include <vector>

#include "core/trace/expr.h"

namespace featherstorm {

struct Program {
  // One named array of the interface: component c of instance i, or one number per component where uniform.
  struct Array {
    std::string name;  // an identifier, unique among inputs or among outputs
    int size;          // number of components
    bool uniform;      // the same numbers for all instances (time step, gains)
  };

  Graph graph;
  std::vector<Array> inputs, outputs;
  std::vector<std::vector<Expr>> results;    // the values of each output array (outputs[j].size)
  std::vector<std::pair<int, int>> carried;  // (output array, the input array that takes its place in the next pass)

  // Declares an input array and returns its components.
  std::vector<Expr> input(const std::string& name, int size, bool uniform = false);

  // Declares an output array with these values.
  void output(const std::string& name, const std::vector<Expr>& values);

  // Makes an output the input of the next pass; sizes must agree, and an input can be carried only once.
  void carry(const std::string& output, const std::string& input);

  // True if an input array is carried, so that its values are in registers.
  bool is_carried(int input) const;
};

// For each node 1 if an output depends on it; the others are dead code.
std::vector<char> live_nodes(const Program& p);

}  // namespace featherstorm
