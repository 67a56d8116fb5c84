// Stages for a traced program with networks among its operations (dense_stage.h): parts of the program, and the
// networks between them.
//
// During tracing, a network is represented by its input and its output: an output of the program, and an input.
//
//   Program p;                             // action = 2 pi(0.1 obs)
//   auto obs = p.input("obs", 48);
//   p.output("pi_in", scaled(obs));
//   auto y = p.input("pi_out", 12);
//   p.output("action", twice(y));
//   for (const Stage& s : stages_with(e, precision, p, {{"pi_in", "pi_out", "pi", network}})) sequence.stage(s);
#pragma once
#include <string>
#include <vector>

#include "core/trace/program.h"
#include "host/network/dense_stage.h"

namespace featherstorm {

struct NetworkInside {
  std::string in, out;  // an output and an input of the program
  std::string weights;  // a uniform array, of dense_numbers(network) numbers
  DenseNetwork network;
};

// Return the stages in the order in which they run. If a network's input is an unchanged input array of the program,
// the network reads that array. The evaluator must outlive the stages. Throws Error if a network depends on itself.
std::vector<Stage> stages_with(const Evaluator& evaluator, Precision precision, const Program& program,
                               const std::vector<NetworkInside>& networks);

}  // namespace featherstorm
