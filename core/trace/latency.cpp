// The latency-aware order: list scheduling by the longest chain, for programs that nearly fit the registers.
#include <algorithm>
#include <queue>
#include <utility>

#include "core/trace/count.h"
#include "core/trace/order.h"
#include "core/trace/schedule.h"

namespace featherstorm {
namespace {

// Cycles until the result can be used, on recent x86 and ARM vector units.
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

std::vector<int> latency_order(const Program& p, int registers) {
  Schedule schedule(p);
  Fusion fusion = fuse(p);
  const std::vector<int> length = chain_lengths(p, schedule.users(), fusion);
  const int per_cycle = 2;

  // waiting: ready but its operands are still on their way; by_length and by_gain: can start now
  using Key = std::pair<long, int>;
  std::priority_queue<Key, std::vector<Key>, std::greater<Key>> waiting;
  std::priority_queue<Key> by_length, by_gain;
  std::vector<long> arrival(p.graph.size(), 0);  // cycle at which the operands of an operation are there
  std::vector<char> started(p.graph.size(), 0);  // whether it left `waiting`
  auto offer_gain = [&](int i) { by_gain.push({schedule.gain(i) * 100000L + length[i], i}); };

  std::vector<int> operations, freed = schedule.ready(), changed;
  long cycle = 0;
  int issued = 0;
  while (int(operations.size()) < schedule.operations()) {
    for (int i : freed) waiting.push({arrival[i], i});
    freed.clear();
    if (issued == per_cycle) ++cycle, issued = 0;
    while (!waiting.empty() && waiting.top().first <= cycle) {
      int i = waiting.top().second;
      waiting.pop();
      started[i] = 1;
      by_length.push({length[i], i});
      offer_gain(i);
    }
    for (int i : changed) {
      if (started[i] && !schedule.placed(i)) offer_gain(i);
    }
    changed.clear();

    // longest chain first; once the registers are full, what ends most values first
    auto& queue = schedule.live() < registers ? by_length : by_gain;
    while (!queue.empty() && schedule.placed(queue.top().second)) queue.pop();
    if (queue.empty()) {
      cycle = std::max(cycle + 1, waiting.empty() ? 0 : waiting.top().first);
      issued = 0;
      continue;
    }
    int i = queue.top().second;
    queue.pop();
    operations.push_back(i);
    schedule.place(i, freed, changed);
    if (!fusion.folded[i]) ++issued;
    long done = cycle + (fusion.folded[i] ? 0 : latency(p.graph.node(i).op));
    for (int k = schedule.users().first[i]; k < schedule.users().first[i + 1]; ++k) {
      long& t = arrival[schedule.users().list[k]];
      t = std::max(t, done);
    }
  }
  return insert_inputs(p, operations);
}

}  // namespace featherstorm
