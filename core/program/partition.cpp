#include "core/program/partition.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/program/role_layout.h"

namespace featherstorm {
namespace {

// For each node a bit mask of the roles with inputs (of their limbs) that the node depends on.
std::vector<unsigned> support(const Cut& c, const std::vector<int>& role_of_body) {
  std::vector<unsigned> mask(c.g.size(), 0);
  for (int i = 0; i < c.g.size(); i++) {
    const Node& n = c.g.node(i);
    if (n.op != Op::Input) continue;
    const int role = role_of_body[c.bodies.input[n.array][n.component]];
    if (role >= 0) mask[i] = 1u << role;
  }
  int nodes[3];
  for (int i = 0; i < c.g.size(); i++)
    if (c.live[i])
      for (int k = operands(c.g, i, nodes); k-- > 0;) mask[i] |= mask[nodes[k]];
  return mask;
}

// For each node a bit mask of the roles with outputs (of their limbs) that depend on the node. Bit 31 stands for
// outputs of the trunk and of no body.
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
  std::vector<char> behind(c.g.size(), 0);  // 1 if the node depends on a common value
  Home h{std::vector<int>(c.g.size(), Home::every), std::vector<int>(c.g.size(), 0)};
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

// The limbs for each trial trunk: at each trial the heaviest limb gives its bodies up to its first branching to the
// trunk.
std::vector<std::vector<int>> limbs_to_try(const Bodies& bodies, const std::vector<long>& weight) {
  const int n = int(bodies.parent.size());
  std::vector<std::vector<int>> children(n);
  for (int i = 1; i < n; i++) children[bodies.parent[i]].push_back(i);
  std::vector<long> all = weight;
  for (int i = n; i-- > 1;) all[bodies.parent[i]] += all[i];

  std::vector<std::vector<int>> tries;
  std::vector<int> limbs{0};
  while (limbs.size() <= 31) {
    const auto heaviest = std::max_element(limbs.begin(), limbs.end(), [&](int a, int b) { return all[a] < all[b]; });
    int at = *heaviest;
    while (children[at].size() == 1) at = children[at][0];
    if (children[at].empty()) break;
    limbs.erase(heaviest);
    limbs.insert(limbs.end(), children[at].begin(), children[at].end());
    if (limbs.size() > 1 && limbs.size() <= 31) tries.push_back(limbs);
  }
  return tries;
}

// body -> index of its limb, -1 in the trunk
std::vector<int> limb_of_body(const Bodies& bodies, const std::vector<int>& limbs) {
  std::vector<int> limb(bodies.parent.size(), -1);
  for (std::size_t k = 0; k < limbs.size(); k++) limb[limbs[k]] = int(k);
  for (std::size_t i = 1; i < limb.size(); i++)
    if (limb[i] < 0) limb[i] = limb[bodies.parent[i]];
  return limb;
}

// Assigns limbs to roles, the heaviest limb first, each to the role with the least load.
std::vector<int> pack(const std::vector<long>& weight, int roles) {
  std::vector<int> role(weight.size()), by_weight(weight.size());
  std::iota(by_weight.begin(), by_weight.end(), 0);
  std::stable_sort(by_weight.begin(), by_weight.end(), [&](int a, int b) { return weight[a] > weight[b]; });
  std::vector<long> load(roles, 0);
  for (int k : by_weight) {
    // among equal roles the last one, because role 0 has the trunk
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
    case Op::Input: return 0;
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
    case Op::Floor: return 1;
    case Op::Rcp: return 2;
    case Op::Sqrt: return 8;
    case Op::Sin:
    case Op::Cos:
    case Op::Exp:
    case Op::Log: return 20;
    case Op::Atan2: return 40;
  }
  return 0;
}

RoleProgram partition(const Program& p, const Bodies& bodies, int roles, const std::vector<int>& order) {
  Cut c{p, p.graph, order, bodies, live_nodes(p), fuse(p), {}};
  for (int i = 0; i < c.g.size(); i++) c.cost.push_back(c.fusion.folded[i] ? 0 : device_instructions(c.g.node(i).op));

  // work that depends on one body alone, as a first estimate of its weight
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
      RoleProgram r = lay_out(c, h, roles);
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
