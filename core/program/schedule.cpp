#include "core/program/schedule.h"

#include "core/trace/work_check.h"

namespace featherstorm {
namespace {

bool is_leaf(Op op) { return op == Op::Const || op == Op::Input; }

}  // namespace

Users find_users(const Program& p, const std::vector<char>& live) {
  Users u;
  u.first.assign(p.graph.size() + 1, 0);
  int nodes[3];
  for (int i = 0; i < p.graph.size(); ++i) {
    if (!live[i]) continue;
    for (int k = operands(p.graph, i, nodes); k-- > 0;) ++u.first[nodes[k] + 1];
  }
  for (int i = 0; i < p.graph.size(); ++i) u.first[i + 1] += u.first[i];
  u.list.resize(u.first.back());
  std::vector<int> next(u.first.begin(), u.first.end() - 1);
  for (int i = 0; i < p.graph.size(); ++i) {
    if (!live[i]) continue;
    for (int k = operands(p.graph, i, nodes); k-- > 0;) u.list[next[nodes[k]]++] = i;
  }
  return u;
}

Schedule::Schedule(const Program& p) : p_(p), live_(live_nodes(p)), users_(find_users(p, live_)) {
  uses_.resize(p.graph.size());
  missing_.assign(p.graph.size(), 0);
  placed_.assign(p.graph.size(), 0);
  int nodes[3];
  for (int i = 0; i < p.graph.size(); ++i) {
    uses_[i] = users_.first[i + 1] - users_.first[i];
    if (!is_operation(i)) continue;
    ++operations_;
    for (int k = operands(p.graph, i, nodes); k-- > 0;) missing_[i] += is_operation(nodes[k]);
  }
  for (int i = 0; i < p.graph.size(); ++i) {
    const Node& n = p.graph.node(i);
    if (live_[i] && n.op == Op::Input && p.is_carried(n.array)) placed_[i] = 1, ++held_;
  }
}

bool Schedule::is_operation(int i) const { return live_[i] && !is_leaf(p_.graph.node(i).op); }

std::vector<int> Schedule::ready() const {
  std::vector<int> result;
  for (int i = 0; i < p_.graph.size(); ++i) {
    if (is_operation(i) && missing_[i] == 0) result.push_back(i);
  }
  return result;
}

int Schedule::gain(int i) const {
  int nodes[3], gain = uses_[i] > 0 ? -1 : 0;
  for (int k = operands(p_.graph, i, nodes); k-- > 0;) {
    if (uses_[nodes[k]] == 1 && placed_[nodes[k]]) ++gain;
    if (uses_[nodes[k]] > 1 && !placed_[nodes[k]]) --gain;
  }
  return gain;
}

void Schedule::tell_users(int node, std::vector<int>& changed) const {
  for (int k = users_.first[node]; k < users_.first[node + 1]; ++k) {
    int u = users_.list[k];
    if (!placed_[u] && missing_[u] == 0) changed.push_back(u);
  }
}

void Schedule::place(int i, std::vector<int>& freed, std::vector<int>& changed) {
  check_work();
  held_ -= gain(i);
  placed_[i] = 1;
  int nodes[3];
  for (int k = operands(p_.graph, i, nodes); k-- > 0;) {
    int a = nodes[k];
    bool fresh = !placed_[a];  // an input that is loaded now
    placed_[a] = 1;
    --uses_[a];
    if (uses_[a] > 0 && (fresh || uses_[a] == 1)) tell_users(a, changed);
  }
  for (int k = users_.first[i]; k < users_.first[i + 1]; ++k) {
    if (--missing_[users_.list[k]] == 0) freed.push_back(users_.list[k]);
  }
}

std::vector<int> insert_inputs(const Program& p, const std::vector<int>& operations) {
  std::vector<int> order;
  std::vector<char> loaded(p.graph.size(), 0), live = live_nodes(p);
  auto load = [&](int i) {
    if (p.graph.node(i).op != Op::Input || loaded[i]) return;
    loaded[i] = 1;
    order.push_back(i);
  };
  for (int i = 0; i < p.graph.size(); ++i) {
    if (live[i] && p.graph.node(i).op == Op::Input && p.is_carried(p.graph.node(i).array)) load(i);
  }
  for (int i : operations) {
    int nodes[3], n = operands(p.graph, i, nodes);
    for (int k = 0; k < n; ++k) load(nodes[k]);
    order.push_back(i);
  }
  // the remaining nodes are outputs without users
  for (int i = 0; i < p.graph.size(); ++i) {
    if (live[i]) load(i);
  }
  return order;
}

}  // namespace featherstorm
