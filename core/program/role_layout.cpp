#include "core/program/role_layout.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

namespace featherstorm {
namespace {

constexpr long barrier_cost = 20;  // instructions that could be issued while warps wait for each other

// Iterates over all roles and phases and records their steps.
class Layout {
 public:
  Layout(const Cut& c, const Home& h, int roles)
      : c_(c), h_(h), roles_(roles), last_fetch_(c.g.size(), -1), slot_(c.g.size(), -1), users_(c.g.size(), 0) {
    outputs_.resize(c.g.size());
    becomes_.resize(c.p.outputs.size());
    next_slot_.resize(c.p.outputs.size());
    for (std::size_t j = 0; j < c.p.results.size(); j++) {
      becomes_[j].assign(c.p.results[j].size(), -1), next_slot_[j].assign(c.p.results[j].size(), -1);
      for (std::size_t k = 0; k < c.p.results[j].size(); k++)
        outputs_[c.p.results[j][k].edge().node()].push_back({int(j), int(k)});
    }
    for (int i = 0; i < c.g.size(); i++) {
      const Node& n = c.g.node(i);
      if (has_home(c, i) && h.role[i] != Home::every) used_ |= 1u << h.phase[i];
      for (auto [from, to] : c.p.carried)
        if (n.op == Op::Input && n.array == to) becomes_[from][n.component] = i;
    }
    for (int pass = 0; pass < 2; pass++) {  // the first pass finds the values that are fetched
      r = {};
      r.steps.resize(roles), r.before.resize(roles), r.after.resize(roles);
      for (int role = 0; role < roles; role++) walk(role);
      if (pass == 0) store_slots();
    }
    // without a statement that belongs to a role, role 0 still has one phase
    r.slots = slots_, r.phases = std::max(1, std::popcount(used_)) + end_barriers_;
    for (int i : last_fetch_) r.exchanged += i >= 0;
    for (const auto& slots : next_slot_)
      for (int s : slots) r.exchanged += s >= 0;
    costs();
  }
  RoleProgram r;

 private:
  struct Place { int array, component; };

  void add(RoleStep s) { steps_->push_back(s); }
  bool carried() const { return !c_.p.carried.empty(); }
  bool is_carried(int node) const { return c_.g.node(node).op == Op::Input && c_.p.is_carried(c_.g.node(node).array); }

  void store(int node) {
    for (Place o : outputs_[node]) add({RoleStep::store, node, 0, o.array, o.component});
  }
  // The role that computes a result: role 0 for constants, inputs and common values.
  int producer(int node) const { return has_home(c_, node) && h_.role[node] != Home::every ? h_.role[node] : 0; }

  // Makes the value of a node available in this role.
  void provide(int node) {
    const Node& n = c_.g.node(node);
    if (n.op == Op::Const || have_[node]) return;
    if (is_carried(node)) {
      r.before[role_].push_back({RoleStep::load, node});
      users_[node] |= 1u << role_;
    } else if (n.op == Op::Input) {
      add({RoleStep::load, node});
    } else if (has_home(c_, node) && h_.role[node] != Home::every) {
      assert(h_.role[node] != role_ && h_.phase[node] < phase_);
      last_fetch_[node] = std::max(last_fetch_[node], phase_);
      add({RoleStep::fetch, node, slot_[node]});
    } else {
      provide_operands(node);
      if (!c_.fusion.folded[node]) add({RoleStep::compute, node});
    }
    have_[node] = !c_.fusion.folded[node];
  }
  void provide_operands(int node) {
    int nodes[3];
    const int n = operands(c_.g, node, nodes);
    for (int k = 0; k < n; k++) provide(nodes[k]);
  }

  void walk(int role) {
    role_ = role, steps_ = &r.steps[role];
    have_.assign(c_.g.size(), 0);
    bool first = true;
    for (phase_ = 0; phase_ < 4; phase_++) {
      if (!(used_ >> phase_ & 1)) continue;
      if (!first) add({RoleStep::barrier});
      first = false;
      for (int i : c_.order) {
        if (!has_home(c_, i) || h_.role[i] != role || h_.phase[i] != phase_) continue;
        provide_operands(i);
        add({RoleStep::compute, i});
        have_[i] = 1;
        if (last_fetch_[i] >= 0) add({RoleStep::give, i, slot_[i]});
        if (!carried()) store(i);
      }
    }
    if (role == 0)
      for (int i = 0; i < c_.g.size(); i++) {
        if (outputs_[i].empty() || (has_home(c_, i) && h_.role[i] != Home::every)) continue;
        provide(i);
        if (!carried()) store(i);
      }
    if (carried()) end_of_pass();
  }

  template <class F> void for_each_output(F&& f) {
    for (std::size_t j = 0; j < c_.p.results.size(); j++)
      for (std::size_t k = 0; k < c_.p.results[j].size(); k++)
        f(c_.p.results[j][k].edge().node(), Place{int(j), int(k)});
  }
  void end_of_pass() {
    for_each_output([&](int node, Place o) {
      if (producer(node) != role_) return;
      add({RoleStep::keep, node, 0, o.array, o.component});
      const int slot = next_slot_[o.array][o.component];
      if (slot >= 0) add({RoleStep::give_next, node, slot, o.array, o.component});
      r.after[role_].push_back({RoleStep::store, node, 0, o.array, o.component});
    });
    for (int k = 0; k < end_barriers_; k++) add({RoleStep::barrier});
    for_each_output([&](int node, Place o) {
      const int input = becomes_[o.array][o.component];
      if (input < 0 || !(users_[input] >> role_ & 1)) return;
      if (producer(node) == role_) add({RoleStep::take, input, 0, o.array, o.component});
      else add({RoleStep::fetch_next, input, next_slot_[o.array][o.component]});
    });
  }

  // Assigns slots. A slot is free again in the phases after the last one that reads it.
  void store_slots() {
    std::vector<int> free_from;
    for (int phase = 0; phase < 4; phase++)
      for (int i : c_.order) {
        if (last_fetch_[i] < 0 || h_.phase[i] != phase) continue;
        std::size_t s = 0;
        while (s < free_from.size() && free_from[s] > phase) s++;
        if (s == free_from.size()) free_from.push_back(0);
        free_from[s] = last_fetch_[i] + 1;
        slot_[i] = int(s);
      }
    slots_ = int(free_from.size());
    // next values have slots of their own, because they are read after the next pass has begun
    for_each_output([&](int node, Place o) {
      const int input = becomes_[o.array][o.component];
      if (input >= 0 && (users_[input] & ~(1u << producer(node)))) next_slot_[o.array][o.component] = slots_++;
    });
    // the loop's stores wait for the loads before it, and reads of a pass come before writes of the next values
    if (carried()) end_barriers_ = std::popcount(used_) > 1 ? 1 : 2;
  }

  void costs() {
    std::vector<long> longest(r.phases, 0);
    for (int role = 0; role < roles_; role++) {
      std::size_t phase = 0;
      long here = 0;
      std::vector<char> angle(c_.g.size(), 0);
      const auto end = [&] { longest[phase] = std::max(longest[phase], here), here = 0, phase++; };
      for (const RoleStep& s : r.steps[role]) {
        long n = 1;
        if (s.kind == RoleStep::barrier) end(), n = barrier_cost;
        if (s.kind == RoleStep::compute) {
          const Node& node = c_.g.node(s.node);
          n = c_.cost[s.node];
          if (node.op == Op::Sin || node.op == Op::Cos) {
            if (angle[node.operand[0].node()]) n = 0;
            angle[node.operand[0].node()] = 1;
          }
        }
        here += n, r.total += n;
      }
      end();
    }
    r.longest = std::accumulate(longest.begin(), longest.end(), 0L);
  }

  const Cut& c_;
  const Home& h_;
  const int roles_;
  unsigned used_ = 0;                        // phases with statements
  std::vector<std::vector<Place>> outputs_;  // node -> its outputs
  std::vector<std::vector<int>> becomes_;    // output -> the carried input that it becomes, or -1
  std::vector<int> last_fetch_;              // node -> the last phase in which another role fetches it, -1: none
  std::vector<int> slot_;
  std::vector<unsigned> users_;              // carried input -> the roles that use it
  std::vector<std::vector<int>> next_slot_;  // output -> slot of the next value, or -1
  int slots_ = 0, end_barriers_ = 0;
  // state of the iteration
  int role_ = 0, phase_ = 0;
  std::vector<RoleStep>* steps_ = nullptr;
  std::vector<char> have_;
};

}  // namespace

bool has_home(const Cut& c, int node) {
  const Op op = c.g.node(node).op;
  return c.live[node] && arity(op) > 0 && !is_condition(op) && !c.fusion.folded[node];
}

RoleProgram lay_out(const Cut& c, const Home& h, int roles) { return Layout(c, h, roles).r; }

}  // namespace featherstorm
