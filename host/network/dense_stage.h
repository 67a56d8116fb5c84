// A stage of a Sequence that is a network of dense layers (core/network/dense.h), by loops and not by a traced program: of any size, with
// weights that change from run to run.
//
//   Sequence s(precision, threads);
//   s.array("obs", 48), s.array("action", 12), s.uniform("pi", dense_numbers(network));
//   s.stage(dense_stage(precision, isa, network, "obs", "pi", "action"));
//   s.run(T, B, {{"obs", ...}}, {{"pi", packed(network, weights)}}, {{"action", ...}});
//
// What an instance gets depends on nothing but its own input: not on the batch, its place there, blocks or threads, to the bit. Instruction
// sets and devices differ by rounding. NaN in an instance's input is NaN in its output, and in nobody else's.
#pragma once
#include <string>
#include <vector>

#include "core/network/dense.h"
#include "host/rollout/sequence.h"

namespace featherstorm {

// A network with layers of these sizes, the input's first. clip: infinity for none. Throws Error that names what came and what was expected.
DenseNetwork dense_network(const std::vector<int>& sizes, DenseActivation activation, bool normalised = false,
                           double clip = 10);
// "tanh", "elu", "relu", "silu" or "identity". Throws Error for other names.
DenseActivation activation_of(const std::string& name);

// How many numbers `packed` makes.
long dense_numbers(const DenseNetwork& network);

// What a network's numbers are, in the book's order.
struct DenseWeights {
  std::vector<double> mean{}, rate{};         // (n_0) where the input is normalised, else none
  std::vector<std::vector<double>> W{}, b{};  // of layer l: (n_l, n_{l-1}) row by row, (n_l)
};
// As the stage takes them. Throws Error for other sizes.
std::vector<double> packed(const DenseNetwork& network, const DenseWeights& weights);

// isa: whose loops run on the host; empty: the widest of this machine. weights: a uniform array of dense_numbers(network) numbers.
Stage dense_stage(Precision precision, const std::string& isa, const DenseNetwork& network, const std::string& in,
                  const std::string& weights, const std::string& out);

}  // namespace featherstorm
