#pragma once
// Orders of statements: which value is computed when decides how many must be held at once, and how long a
// processor waits for the last one.
//
// Every order lists the live nodes without the constants, operands before users. An input stands just before its
// first user; carried inputs stand first, for they are in registers when a pass begins.
//   trace_order         as the text of the algorithm computed them
//   greedy_order        next the statement that ends most values; fewest live values for large robots
//   sethi_ullman_order  depth first from the outputs, the operand that needs more registers first
//   latency_order       longest chain first while registers last: for small robots on CPUs
// No order wins everywhere: emit two or three and keep the one that spills least (count.h has max_live).
#include <vector>

#include "core/trace/program.h"

namespace featherstorm {

std::vector<int> trace_order(const Program& p);
std::vector<int> greedy_order(const Program& p);
std::vector<int> sethi_ullman_order(const Program& p);

// Keeps to at most `registers` live values where it can; the machine starts two instructions a cycle.
std::vector<int> latency_order(const Program& p, int registers = 32);

// Whether the order lists each live node once, operands before users, and nothing else.
bool is_valid_order(const Program& p, const std::vector<int>& order);

}  // namespace featherstorm
