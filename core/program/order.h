#pragma once
// Orders of statements: which value is computed when decides how many must be held at once, and how long a
// processor waits for the last one.
//
// Every order lists the live nodes without the constants, operands before users. An input stands just before its
// first user; carried inputs stand first, for they are in registers when a pass begins.
//   trace_order         as the text of the algorithm computed them
//   greedy_order        next the statement that ends most values; fewest live values for large robots
//   sethi_ullman_order  depth first from the outputs, the operand that needs more registers first
//   latency_order       greedy, with a look ahead for the longest chain: for small robots on CPUs
// No order wins everywhere: emit two or three and keep the one that spills least (count.h has max_live).
#include <vector>

#include "core/trace/program.h"

namespace featherstorm {

std::vector<int> trace_order(const Program& p);
std::vector<int> greedy_order(const Program& p);
std::vector<int> sethi_ullman_order(const Program& p);

// Looks ahead of the greedy order, as long as at most `held` values are held, for statements whose operands have
// arrived. Twice the 32 vector registers is best: half of the values live long and wait in memory at no cost.
std::vector<int> latency_order(const Program& p, int held = 64);

// Whether the order lists each live node once, operands before users, and nothing else.
bool is_valid_order(const Program& p, const std::vector<int>& order);

}  // namespace featherstorm
