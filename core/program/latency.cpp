// The latency-aware order: list scheduling by the longest chain, in a window that moves along the greedy order.
#include <algorithm>

#include "core/program/count.h"
#include "core/program/order.h"
#include "core/program/schedule.h"

namespace featherstorm {
namespace {

// Cycles until the result is available, on recent x86 and ARM vector units.
int latency(Op op) {
  switch (op) {
    case Op::Const: return 0;
    case Op::Input: return 5;
    case Op::Add:
    case Op::Sub:
    case Op::Mul: return 4;
    case Op::Rcp: return 14;
    case Op::Sqrt: return 20;
    case Op::Sin:
    case Op::Cos: return 40;
    case Op::Exp:
    case Op::Log: return 40;
    case Op::Atan2: return 60;
    case Op::Floor: return 12;
    case Op::Min:
    case Op::Max:
    case Op::Abs:
    case Op::Less:
    case Op::LessEqual:
    case Op::And:
    case Op::Or:
    case Op::Select: return 3;
  }
  return 0;
}

// Length of the longest chain from the start of each operation to the end of the program; folded products are free.
std::vector<int> chain_lengths(const Program& p, const Users& users, const Fusion& fusion) {
  std::vector<int> length(p.graph.size(), 0);
  for (int i = p.graph.size() - 1; i >= 0; --i) {
    int rest = 0;
    for (int k = users.first[i]; k < users.first[i + 1]; ++k) rest = std::max(rest, length[users.list[k]]);
    length[i] = rest + (fusion.folded[i] ? 0 : latency(p.graph.node(i).op));
  }
  return length;
}

}  // namespace

std::vector<int> latency_order(const Program& p, int held) {
  const int window = 64, per_cycle = 2;
  Schedule schedule(p);
  const Fusion fusion = fuse(p);
  const std::vector<int> length = chain_lengths(p, schedule.users(), fusion);
  std::vector<int> rest;  // operations in the greedy order, placed ones removed at the front
  for (int i : greedy_order(p)) {
    if (schedule.is_operation(i)) rest.push_back(i);
  }

  std::vector<long> arrival(p.graph.size(), 0);  // cycle at which the operands of an operation are available
  std::vector<int> operations, freed, changed;
  long cycle = 0;
  int issued = 0;
  std::size_t front = 0;
  while (front < rest.size()) {
    // among the next statements: one that can start now, the longest chain first
    int best = -1;
    for (std::size_t k = front, seen = 0; k < rest.size() && seen < window; ++k) {
      int i = rest[k];
      if (schedule.placed(i)) continue;
      ++seen;
      if (!schedule.can_go(i) || arrival[i] > cycle) continue;
      if (k > front && schedule.live() >= held && schedule.gain(i) < 0) continue;
      if (best < 0 || length[i] > length[best]) best = i;
    }
    // none can start: take the next in line if enough values are held already, otherwise wait
    if (best < 0) {
      if (schedule.live() >= held) best = rest[front];
      ++cycle, issued = 0;
      if (best < 0) continue;
    }
    operations.push_back(best);
    schedule.place(best, freed, changed);
    freed.clear(), changed.clear();
    int delay = fusion.folded[best] ? 0 : latency(p.graph.node(best).op);
    for (int k = schedule.users().first[best]; k < schedule.users().first[best + 1]; ++k) {
      long& t = arrival[schedule.users().list[k]];
      t = std::max(t, cycle + delay);
    }
    if (!fusion.folded[best] && ++issued == per_cycle) ++cycle, issued = 0;
    while (front < rest.size() && schedule.placed(rest[front])) ++front;
  }
  return insert_inputs(p, operations);
}

}  // namespace featherstorm
