// A stage of a Sequence that evaluates a network of dense layers (core/network/dense.h) by loops instead of a traced
// program. The network may have any size, and its weights may change from run to run.
//
//   Sequence s(precision, threads);
//   s.array("obs", 48), s.array("action", 12), s.uniform("pi", dense_numbers(network));
//   s.stage(dense_stage(precision, isa, network, "obs", "pi", "action"));
//   s.run(T, B, {{"obs", ...}}, {{"pi", packed(network, weights)}}, {{"action", ...}});
//
// The output of an instance depends only on its own input, bit for bit: not on the batch, its position, blocks or
// threads. Instruction sets and devices differ by rounding. NaN in an instance's input gives NaN in its output only.
#pragma once
#include <string>
#include <vector>

#include "core/network/dense.h"
#include "host/rollout/sequence.h"

namespace featherstorm {

// Return a network with layers of these sizes, the input's first. clip: infinity for none. Throws Error with the value
// and the expected one.
DenseNetwork dense_network(const std::vector<int>& sizes, DenseActivation activation, bool normalised = false,
                           double clip = 10);
// Return the activation "tanh", "elu", "relu", "silu" or "identity". Throws Error for other names.
DenseActivation activation_of(const std::string& name);

// Return the number of elements of `packed`.
long dense_numbers(const DenseNetwork& network);

// The numbers of a network, in the usual order.
struct DenseWeights {
  std::vector<double> mean{}, rate{};         // (n_0) if the input is normalised, else empty
  std::vector<std::vector<double>> W{}, b{};  // of layer l: (n_l, n_{l-1}) row by row, (n_l)
};
// Return the numbers in the order that the stage expects. Throws Error for wrong sizes.
std::vector<double> packed(const DenseNetwork& network, const DenseWeights& weights);

// Return the stage. isa: instruction set of the host's loops; empty: the widest of this machine. weights: a uniform
// array of dense_numbers(network) numbers.
Stage dense_stage(Precision precision, const std::string& isa, const DenseNetwork& network, const std::string& in,
                  const std::string& weights, const std::string& out);

}  // namespace featherstorm
