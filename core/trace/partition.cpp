#include "core/trace/partition.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

#include "core/trace/count.h"

namespace featherstorm {
namespace {

constexpr int every = -1;          // home of what each role has for itself
constexpr long barrier_cost = 20;  // instructions that could be issued while warps wait for each other

// What the choices of trunk and roles share.
struct Cut {
  const Program& p;
  const Graph& g;
  const std::vector<int>& order;
  const Bodies& bodies;
  std::vector<char> live;
  Fusion fusion;
  std::vector<int> cost;  // node -> instructions
};

struct Home {
  std::vector<int> role, phase;  // node -> where it is computed
};

bool has_home(const Cut& c, int node) {
  const Op op = c.g.node(node).op;
  return c.live[node] && arity(op) > 0 && !is_condition(op) && !c.fusion.folded[node];
}

// f(node, its operands that are not constants) for all live operations, operands first.
template <class F> void for_each_use(const Cut& c, F&& f) {
  int nodes[3];
  for (int i = 0; i < c.g.size(); i++)
    if (c.live[i])
      for (int k = operands(c.g, i, nodes); k-- > 0;) f(i, nodes[k]);
}
// The roles whose limbs' inputs each node depends on, a bit each.
std::vector<unsigned> support(const Cut& c, const std::vector<int>& role_of_body) {
  std::vector<unsigned> mask(c.g.size(), 0);
  for (int i = 0; i < c.g.size(); i++) {
    const Node& n = c.g.node(i);
    if (n.op != Op::Input) continue;
    const int role = role_of_body[c.bodies.input[n.array][n.component]];
    if (role >= 0) mask[i] = 1u << role;
  }
  for_each_use(c, [&](int user, int operand) { mask[user] |= mask[operand]; });
  return mask;
}

// The roles whose limbs' outputs depend on each node; bit 31 for outputs of the trunk and of no body.
std::vector<unsigned> reach(const Cut& c, const std::vector<int>& role_of_body) {
  std::vector<unsigned> mask(c.g.size(), 0);
  for (std::size_t j = 0; j < c.p.results.size(); j++)
    for (std::size_t k = 0; k < c.p.results[j].size(); k++) {
      const int role = role_of_body[c.bodies.output[j][k]];
      mask[c.p.results[j][k].edge().node()] |= role >= 0 ? 1u << role : 1u << 31;
    }
  std::vector<int> sine(c.g.size(), -1), cosine(c.g.size(), -1);
  for (int i = 0; i < c.g.size(); i++) {
    const Node& n = c.g.node(i);
    if (n.op == Op::Sin) sine[n.operand[0].node()] = i;
    if (n.op == Op::Cos) cosine[n.operand[0].node()] = i;
  }
  // sine and cosine of an angle are one statement
  int nodes[3];
  for (int i = c.g.size(); i-- > 0;) {
    if (sine[i] >= 0 && cosine[i] >= 0) {
      const unsigned both = mask[sine[i]] | mask[cosine[i]];
      mask[sine[i]] = mask[cosine[i]] = both, mask[i] |= both;
    }
    if (c.live[i])
      for (int k = operands(c.g, i, nodes); k-- > 0;) mask[nodes[k]] |= mask[i];
  }
  return mask;
}

Home homes(const Cut& c, const std::vector<int>& role_of_body, bool common_for_all) {
  const std::vector<unsigned> up = support(c, role_of_body), down = reach(c, role_of_body);
  std::vector<char> behind(c.g.size(), 0);  // whether a common value is among what it depends on
  Home h{std::vector<int>(c.g.size(), every), std::vector<int>(c.g.size(), 0)};
  int nodes[3];
  for (int i = 0; i < c.g.size(); i++) {
    if (!c.live[i] || arity(c.g.node(i).op) == 0) continue;
    for (int k = operands(c.g, i, nodes); k-- > 0;) {
      behind[i] |= behind[nodes[k]];
      behind[i] |= up[nodes[k]] == 0 && c.g.node(nodes[k]).op != Op::Input;
    }
    if (!has_home(c, i)) continue;
    if (up[i] == 0) {
      if (!common_for_all) h.role[i] = 0;
    } else if (std::has_single_bit(up[i])) {
      h.role[i] = std::countr_zero(up[i]), h.phase[i] = behind[i] && !common_for_all ? 1 : 0;
    } else if (std::has_single_bit(down[i])) {
      h.role[i] = down[i] >> 31 ? 0 : std::countr_zero(down[i]), h.phase[i] = 3;
    } else {
      h.role[i] = 0, h.phase[i] = 2;
    }
  }
  return h;
}

// Walks through all roles and phases and writes down their steps.
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
      if (has_home(c, i) && h.role[i] != every) used_ |= 1u << h.phase[i];
      for (auto [from, to] : c.p.carried)
        if (n.op == Op::Input && n.array == to) becomes_[from][n.component] = i;
    }
    for (int pass = 0; pass < 2; pass++) {  // the first tells what is fetched
      r = {};
      r.steps.resize(roles), r.before.resize(roles), r.after.resize(roles);
      for (int role = 0; role < roles; role++) walk(role);
      if (pass == 0) hand_out_slots();
    }
    r.slots = slots_, r.phases = std::popcount(used_) + end_barriers_;
    for (int i : last_fetch_) r.exchanged += i >= 0;
    for (const auto& slots : next_slot_)
      for (int s : slots) r.exchanged += s >= 0;
    costs();
  }
  RoleProgram r;

 private:
  struct Place {
    int array, component;
  };

  void add(RoleStep s) { steps_->push_back(s); }
  bool carried() const { return !c_.p.carried.empty(); }
  bool is_carried(int node) const {
    return c_.g.node(node).op == Op::Input && c_.p.is_carried(c_.g.node(node).array);
  }

  void store(int node) {
    for (Place o : outputs_[node]) add({RoleStep::store, node, 0, o.array, o.component});
  }
  // Who computes a result: role 0 those that are constants, inputs or common values.
  int producer(int node) const { return has_home(c_, node) && h_.role[node] != every ? h_.role[node] : 0; }

  // Makes the value of a node available in this role.
  void provide(int node) {
    const Node& n = c_.g.node(node);
    if (n.op == Op::Const || have_[node]) return;
    if (is_carried(node)) {
      r.before[role_].push_back({RoleStep::load, node});
      users_[node] |= 1u << role_;
    } else if (n.op == Op::Input) {
      add({RoleStep::load, node});
    } else if (has_home(c_, node) && h_.role[node] != every) {
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
        if (outputs_[i].empty() || (has_home(c_, i) && h_.role[i] != every)) continue;
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

  // A slot is free again in the phases behind the last one that reads it.
  void hand_out_slots() {
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
    // next values have slots of their own: they are read when the next pass has begun
    for_each_output([&](int node, Place o) {
      const int input = becomes_[o.array][o.component];
      if (input >= 0 && (users_[input] & ~(1u << producer(node)))) next_slot_[o.array][o.component] = slots_++;
    });
    // the loop's stores must wait for the loads before it, and what is read for a pass for who writes the next
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
  unsigned used_ = 0;  // phases with statements
  std::vector<std::vector<Place>> outputs_;  // node -> the results that it is
  std::vector<std::vector<int>> becomes_;    // output -> the carried input whose place it takes, or -1
  std::vector<int> last_fetch_;  // node -> the last phase in which another role fetches it, -1: none
  std::vector<int> slot_;
  std::vector<unsigned> users_;              // carried input -> the roles that use it
  std::vector<std::vector<int>> next_slot_;  // output -> where its users find the next value, or -1
  int slots_ = 0, end_barriers_ = 0;
  // of the walk
  int role_ = 0, phase_ = 0;
  std::vector<RoleStep>* steps_ = nullptr;
  std::vector<char> have_;
};

// The limbs for each trunk that is tried: the heaviest limb gives its bodies up to its first branching to the trunk.
std::vector<std::vector<int>> limbs_to_try(const Bodies& bodies, const std::vector<long>& weight) {
  const int n = int(bodies.parent.size());
  std::vector<std::vector<int>> children(n);
  for (int i = 1; i < n; i++) children[bodies.parent[i]].push_back(i);
  std::vector<long> all = weight;
  for (int i = n; i-- > 1;) all[bodies.parent[i]] += all[i];

  std::vector<std::vector<int>> tries;
  std::vector<int> limbs{0};
  while (limbs.size() <= 31) {
    const auto heaviest =
        std::max_element(limbs.begin(), limbs.end(), [&](int a, int b) { return all[a] < all[b]; });
    int at = *heaviest;
    while (children[at].size() == 1) at = children[at][0];
    if (children[at].empty()) break;
    limbs.erase(heaviest);
    limbs.insert(limbs.end(), children[at].begin(), children[at].end());
    if (limbs.size() > 1 && limbs.size() <= 31) tries.push_back(limbs);
  }
  return tries;
}

// body -> the number of its limb, -1 in the trunk
std::vector<int> limb_of_body(const Bodies& bodies, const std::vector<int>& limbs) {
  std::vector<int> limb(bodies.parent.size(), -1);
  for (std::size_t k = 0; k < limbs.size(); k++) limb[limbs[k]] = int(k);
  for (std::size_t i = 1; i < limb.size(); i++)
    if (limb[i] < 0) limb[i] = limb[bodies.parent[i]];
  return limb;
}

// Limbs to roles, the heaviest first to the role with the least.
std::vector<int> pack(const std::vector<long>& weight, int roles) {
  std::vector<int> role(weight.size()), by_weight(weight.size());
  std::iota(by_weight.begin(), by_weight.end(), 0);
  std::stable_sort(by_weight.begin(), by_weight.end(), [&](int a, int b) { return weight[a] > weight[b]; });
  std::vector<long> load(roles, 0);
  for (int k : by_weight) {
    // of equal roles the last one: role 0 has the trunk
    const auto least = std::min_element(load.rbegin(), load.rend());
    role[k] = roles - 1 - int(least - load.rbegin());
    *least += weight[k];
  }
  return role;
}

}  // namespace

int device_instructions(Op op) {
  switch (op) {
    case Op::Const:
    case Op::Input:
      return 0;
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
    case Op::Abs:
    case Op::Less:
    case Op::LessEqual:
    case Op::And:
    case Op::Or:
    case Op::Select:
    case Op::Floor:
      return 1;
    case Op::Rcp:
      return 2;
    case Op::Sqrt:
      return 8;
    case Op::Sin:
    case Op::Cos:
    case Op::Exp:
    case Op::Log:
      return 20;
    case Op::Atan2:
      return 40;
  }
  return 0;
}

RoleProgram partition(const Program& p, const Bodies& bodies, int roles, const std::vector<int>& order) {
  Cut c{p, p.graph, order, bodies, live_nodes(p), fuse(p), {}};
  for (int i = 0; i < c.g.size(); i++) c.cost.push_back(c.fusion.folded[i] ? 0 : device_instructions(c.g.node(i).op));

  // work that depends on one body alone, as a first guess of its weight
  std::vector<long> weight(bodies.parent.size(), 0);
  for (const auto& array : bodies.input)
    for (int b : array) weight[b]++;
  RoleProgram best;
  for (const std::vector<int>& limbs : limbs_to_try(bodies, weight)) {
    if (int(limbs.size()) < roles) continue;
    const std::vector<int> limb = limb_of_body(bodies, limbs);
    const std::vector<unsigned> depends = support(c, limb);
    std::vector<long> work(limbs.size(), 0);
    for (int i : order)
      if (std::has_single_bit(depends[i])) work[std::countr_zero(depends[i])] += c.cost[i];
    const std::vector<int> role = pack(work, roles);
    std::vector<int> role_of_body(limb.size(), -1);
    for (std::size_t b = 0; b < limb.size(); b++)
      if (limb[b] >= 0) role_of_body[b] = role[limb[b]];
    for (bool common_for_all : {true, false}) {
      const Home h = homes(c, role_of_body, common_for_all);
      RoleProgram r = Layout(c, h, roles).r;
      r.role_of_body = role_of_body;
      if (best.steps.empty() || r.longest < best.longest) best = std::move(r);
    }
  }
  int previous = -1;
  best.traced = true;
  for (int i : order) {
    const Node& n = p.graph.node(i);
    if (n.op != Op::Input) best.traced = best.traced && i > previous, previous = i;
    // sine and cosine of an angle are one statement
    if (n.op == Op::Cos) c.cost[i] = 0;
    best.whole += n.op == Op::Input ? 1 : c.cost[i];
  }
  for (const auto& values : p.results) best.whole += long(values.size());
  return best;
}

}  // namespace featherstorm
