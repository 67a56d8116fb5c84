#include "host/assemble/allocate.h"

#include <algorithm>
#include <map>

#include "host/system/interruption.h"

namespace featherstorm {
namespace {

constexpr int never = std::numeric_limits<int>::max();

// A value in memory that is used again within this many instructions is worth a free register.
constexpr int near = 24;

bool multiplies_and_adds(Code c) { return c == Code::MulAdd || c == Code::MulSub || c == Code::SubMul; }

// True if operand k may be read from memory.
bool may_be_memory(Code code, int k) {
  switch (code) {
    case Code::Sub:
    case Code::Div:
    case Code::Less:
    case Code::LessEqual:
    case Code::Select:
    case Code::IntegerSub: return k == 1;
    case Code::ShiftLeft:
    case Code::ShiftRight:
    case Code::Store: return false;
    default: return true;
  }
}

class Allocator {
 public:
  Allocator(const StraightLine& s, int registers)
      : s_(s),
        held_(registers, -1),
        at_(s.values.size(), -1),
        slot_(s.values.size(), -1),
        next_(s.values.size(), 0),
        uses_(s.values.size()) {
    for (int t = 0; t < static_cast<int>(s.instructions.size()); t++) {
      const Instruction& i = s.instructions[t];
      for (int k = 0; k < arity(i.code); k++)
        if (uses_[i.operand[k]].empty() || uses_[i.operand[k]].back() != t) uses_[i.operand[k]].push_back(t);
    }
  }

  Allocation run() {
    for (time_ = 0; time_ < static_cast<int>(s_.instructions.size()); time_++) {
      end_if_interrupted();
      step(s_.instructions[time_]);
    }
    return std::move(a_);
  }

 private:
  // The first use after the current instruction.
  int next_use(int v) {
    std::size_t& n = next_[v];
    while (n < uses_[v].size() && uses_[v][n] <= time_) n++;
    return n < uses_[v].size() ? uses_[v][n] : never;
  }

  // The memory location of a value.
  Place home(int v) {
    const Value& x = s_.values[v];
    if (x.kind == Value::Kind::Input) return {Place::Kind::Input, x.array, x.component};
    if (x.kind == Value::Kind::Computed) return {Place::Kind::Slot, slot_[v]};
    auto [at, fresh] = constant_.try_emplace(x.bits, static_cast<int>(a_.constants.size()));
    if (fresh) a_.constants.push_back(x.bits);
    return {Place::Kind::Constant, at->second};
  }
  bool needs_spill(int v) const { return s_.values[v].kind == Value::Kind::Computed && slot_[v] < 0; }

  int new_slot() {
    if (free_slots_.empty()) return a_.slots++;
    const int s = free_slots_.back();
    free_slots_.pop_back();
    return s;
  }

  int free_register() const {
    for (int r = 0; r < static_cast<int>(held_.size()); r++)
      if (held_[r] < 0) return r;
    return -1;
  }
  void hold(int r, int v) { held_[r] = v, at_[v] = r; }
  void release(int r) {
    if (held_[r] >= 0) at_[held_[r]] = -1;
    held_[r] = -1;
  }

  // Returns a free register; if there is none, frees that of the value with the furthest next use, unless it is
  // protected.
  int take(const std::vector<int>& is_protected) {
    if (const int r = free_register(); r >= 0) return r;
    int best = -1, furthest = -1;
    for (int r = 0; r < static_cast<int>(held_.size()); r++) {
      if (std::find(is_protected.begin(), is_protected.end(), held_[r]) != is_protected.end()) continue;
      const int next = next_use(held_[r]);
      if (next > furthest) furthest = next, best = r;
    }
    const int v = held_[best];
    if (needs_spill(v)) {
      slot_[v] = new_slot();
      Move m{Code::Store, -1, {{Place::Kind::Register, best}, {}, {}}};
      m.kind = Move::Kind::Spill, m.number = slot_[v];
      a_.moves.push_back(m);
    }
    release(best);
    return best;
  }

  int load(int v, const std::vector<int>& is_protected) {
    const int r = take(is_protected);
    load_into(r, v);
    hold(r, v);
    return r;
  }
  void load_into(int r, int v) {
    Move m{Code::Store, r, {home(v), {}, {}}};
    m.kind = Move::Kind::Load;
    a_.moves.push_back(m);
  }

  void step(const Instruction& i) {
    const int n = arity(i.code);
    std::vector<int> operands(i.operand, i.operand + n);
    const auto occurrences = [&](int v) { return std::count(operands.begin(), operands.end(), v); };

    // the operand to read from memory: among the possible ones, the one whose next use is furthest
    int in_memory = -1;
    for (int k = 0; k < n; k++) {
      const int v = operands[k];
      if (at_[v] >= 0 || !may_be_memory(i.code, k) || occurrences(v) > 1) continue;
      if (next_use(v) - time_ < near && free_register() >= 0) continue;
      if (in_memory < 0 || next_use(v) > next_use(operands[in_memory])) in_memory = k;
    }
    for (int k = 0; k < n; k++)
      if (k != in_memory && at_[operands[k]] < 0) load(operands[k], operands);

    Move m{i.code, -1, {}};
    m.array = i.array, m.number = i.number;
    for (int k = 0; k < n; k++)
      m.operand[k] = k == in_memory ? home(operands[k]) : Place{Place::Kind::Register, at_[operands[k]]};
    if (i.code == Code::Store) {
      m.kind = Move::Kind::Store;
      a_.moves.push_back(m);
    } else if (multiplies_and_adds(i.code)) {
      destroy_one(m, operands, in_memory, i);
      a_.moves.push_back(m);
    }
    for (int v : operands)
      if (next_use(v) == never && at_[v] >= 0) release(at_[v]);
    if (i.code != Code::Store && !multiplies_and_adds(i.code)) {
      m.result = take({});
      a_.moves.push_back(m);
    }
    // Slots are freed after the instruction, because it may read them.
    for (int v : operands)
      if (next_use(v) == never && slot_[v] >= 0) free_slots_.push_back(slot_[v]), slot_[v] = -1;
    if (i.code != Code::Store) hold(m.result, i.result);
  }

  // The result of a multiply-add replaces an operand in its register: one that is not used again, or a copy.
  void destroy_one(Move& m, const std::vector<int>& operands, int in_memory, const Instruction& i) {
    for (int k : {2, 0, 1}) {
      const int v = operands[k];
      if (k == in_memory || next_use(v) != never || std::count(operands.begin(), operands.end(), v) > 1) continue;
      m.destroyed = k, m.result = at_[v];
      release(m.result);
      return;
    }
    m.destroyed = in_memory >= 0 ? in_memory : 2;
    m.result = take(operands);
    if (in_memory >= 0) {
      load_into(m.result, operands[in_memory]);
    } else {
      Move copy{i.code, m.result, {m.operand[2], {}, {}}};
      copy.kind = Move::Kind::Copy;
      a_.moves.push_back(copy);
    }
    m.operand[m.destroyed] = {Place::Kind::Register, m.result};
  }

  const StraightLine& s_;
  int time_ = 0;
  std::vector<int> held_;               // register -> value, -1 free
  std::vector<int> at_;                 // value -> register, -1 none
  std::vector<int> slot_;               // value -> slot, -1 none
  std::vector<std::size_t> next_;       // value -> its first use not yet passed
  std::vector<std::vector<int>> uses_;  // value -> the instructions that use it
  std::vector<int> free_slots_;
  std::map<std::uint64_t, int> constant_;
  Allocation a_;
};

}  // namespace

Allocation allocate(const StraightLine& s, int registers) { return Allocator(s, registers).run(); }

}  // namespace featherstorm
