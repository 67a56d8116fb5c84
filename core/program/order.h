#pragma once
// Orders of statements. The order decides how many values are held at once, and how long a processor waits for the
// last value.
//
// Every order lists the live nodes without the constants, operands before users. An input stands just before its
// first user. Carried inputs stand first, because they are in registers when a pass begins.
//   trace_order         the order in which the algorithm computed them
//   greedy_order        next the statement that ends most values; fewest live values for large robots
//   sethi_ullman_order  depth first from the outputs, the operand that needs more registers first
//   latency_order       greedy, with a look ahead for the longest chain: for small robots on CPUs
// No order is best for every robot: emit two or three and keep the one with the fewest spills (max_live in count.h).
#include <vector>

#include "core/trace/program.h"

namespace featherstorm {

std::vector<int> trace_order(const Program& p);
std::vector<int> greedy_order(const Program& p);
std::vector<int> sethi_ullman_order(const Program& p);

// Looks ahead of the greedy order for statements whose operands are available, while at most `held` values are held.
// Twice the 32 vector registers is best: half of the values live long and wait in memory at no cost.
std::vector<int> latency_order(const Program& p, int held = 64);

// True if the order lists each live node once, operands before users, and nothing else.
bool is_valid_order(const Program& p, const std::vector<int>& order);

}  // namespace featherstorm
