#include "host/assemble/frame.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

namespace featherstorm {
namespace {

// A value, from the move that stores it to the last one that reads it. Moves are counted over all parts.
struct Interval {
  long begin, end, uses = 0;
  int place = -1;
  double density() const { return static_cast<double>(uses) / static_cast<double>(end - begin + 1); }
};

// The values that share a place, by the times at which they end.
class Shared {
 public:
  bool is_free(const Interval& v) const {
    const auto next = begins_.lower_bound(v.begin);  // the first one that ends then or later
    return next == begins_.end() || next->second > v.end;
  }
  void add(const Interval& v) { begins_[v.end] = v.begin; }

 private:
  std::map<long, long> begins_;
};

}  // namespace

FrameLayout place_in_frame(std::vector<Allocation>& parts, int held,
                           const std::function<int(const Move&, int operand, int part)>& held_by, int near) {
  long moves = 0;
  for (const Allocation& a : parts) moves += static_cast<long>(a.moves.size());
  std::vector<Interval> values(held, {0, moves});
  std::vector<std::pair<int*, int>> slots;  // where a slot stands, and its value
  long time = 0;
  for (int part = 0; part < static_cast<int>(parts.size()); part++) {
    Allocation& a = parts[part];
    const long weight = part == 0 ? 8 : 1;
    std::vector<int> in_slot(a.slots, -1);
    const auto use = [&](int v) { values[v].end = std::max(values[v].end, time), values[v].uses += weight; };
    for (Move& m : a.moves) {
      time++;
      if (m.kind == Move::Kind::Spill) {
        in_slot[m.number] = static_cast<int>(values.size());
        values.push_back({time, time, weight});
        slots.push_back({&m.number, in_slot[m.number]});
        continue;
      }
      if (const int v = m.kind == Move::Kind::Store ? held_by(m, -1, part) : -1; v >= 0) use(v);
      const int operands = m.kind == Move::Kind::Compute ? arity(m.code) : 1;
      for (int k = 0; k < operands; k++) {
        Place& p = m.operand[k];
        const bool slot = p.kind == Place::Kind::Slot;
        const int v = slot ? in_slot[p.index] : held_by(m, k, part);
        if (v < 0) continue;
        use(v);
        if (slot) slots.push_back({&p.index, v});
      }
    }
  }

  std::vector<int> order(values.size());
  for (int v = 0; v < static_cast<int>(order.size()); v++) order[v] = v;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return values[a].density() > values[b].density(); });
  std::vector<Shared> places(near);
  std::vector<int> far;
  for (int v : order) {
    const auto place =
        std::find_if(places.begin(), places.end(), [&](const Shared& s) { return s.is_free(values[v]); });
    if (place == places.end()) {
      far.push_back(v);
      continue;
    }
    place->add(values[v]);
    values[v].place = static_cast<int>(place - places.begin());
  }

  // the others: the first place that is free
  std::sort(far.begin(), far.end(), [&](int a, int b) { return values[a].begin < values[b].begin; });
  std::set<int> free;
  std::priority_queue<std::pair<long, int>, std::vector<std::pair<long, int>>, std::greater<>> taken;  // until, place
  int size = near;
  for (int v : far) {
    for (; !taken.empty() && taken.top().first < values[v].begin; taken.pop()) free.insert(taken.top().second);
    if (free.empty()) free.insert(size++);
    values[v].place = *free.begin();
    free.erase(free.begin());
    taken.push({values[v].end, values[v].place});
  }

  for (const auto& [slot, v] : slots) *slot = values[v].place;
  FrameLayout layout;
  for (int v = 0; v < held; v++) layout.held.push_back(values[v].place);
  for (const Interval& v : values) layout.size = std::max(layout.size, v.place + 1);
  for (Allocation& a : parts) a.slots = layout.size;
  return layout;
}

}  // namespace featherstorm
