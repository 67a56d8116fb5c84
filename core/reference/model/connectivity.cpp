#include "core/reference/model/connectivity.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace featherstorm {

SpanningTree spanning_tree(int bodies, const std::vector<Arc>& joints, const std::vector<int>& tree) {
  const int N_J = static_cast<int>(joints.size());
  for (int k = 0; k < N_J; k++)
    for (int b : {joints[k].p, joints[k].s})
      if (b < 0 || b >= bodies)
        throw std::invalid_argument("joint " + std::to_string(k) + " joins body " + std::to_string(b) +
                                    ", expected 0 to " + std::to_string(bodies - 1));
      else if (joints[k].p == joints[k].s)
        throw std::invalid_argument("joint " + std::to_string(k) + " joins body " + std::to_string(b) + " to itself");
  std::vector<char> allowed(N_J, tree.empty());
  for (int k : tree)
    if (k < 0 || k >= N_J)
      throw std::invalid_argument("the tree has joint " + std::to_string(k) + ", which does not exist");
    else allowed[k] = 1;
  SpanningTree t;
  t.body.assign(bodies, -1), t.joint.assign(N_J, 0), t.lambda.assign(bodies, -1);
  t.p.assign(N_J + 1, 0), t.s.assign(N_J + 1, 0);
  int numbered = 0;
  struct Visit { int body, joint; };
  std::vector<Visit> stack{{0, -1}};
  while (!stack.empty()) {
    const Visit v = stack.back();
    stack.pop_back();
    if (t.body[v.body] >= 0) continue;
    t.body[v.body] = numbered++;
    if (v.joint >= 0) t.joint[v.joint] = t.body[v.body];
    for (int k = N_J - 1; k >= 0; k--) {
      if (!allowed[k]) continue;
      for (auto [from, to] : {std::pair{joints[k].p, joints[k].s}, std::pair{joints[k].s, joints[k].p}})
        if (from == v.body && t.body[to] < 0) stack.push_back({to, k});
    }
  }
  for (int b = 0; b < bodies; b++)
    if (t.body[b] < 0) throw std::invalid_argument("body " + std::to_string(b) + " is not connected to the base");
  if (!tree.empty() && static_cast<int>(tree.size()) != bodies - 1)
    throw std::invalid_argument("the tree has " + std::to_string(tree.size()) + " joints, expected " +
                                std::to_string(bodies - 1));
  int chord = bodies - 1;
  for (int k = 0; k < N_J; k++) {
    if (t.joint[k] == 0) t.joint[k] = ++chord;
    t.p[t.joint[k]] = t.body[joints[k].p], t.s[t.joint[k]] = t.body[joints[k].s];
  }
  for (int i = 1; i < bodies; i++) t.lambda[i] = std::min(t.p[i], t.s[i]);
  t.loops = N_J - (bodies - 1);
  return t;
}

bool is_regular(int moving_bodies, const std::vector<int>& p, const std::vector<int>& s) {
  for (int i = 1; i <= moving_bodies; i++)
    if (std::max(p[i], s[i]) != i || std::min(p[i], s[i]) < 0 || p[i] == s[i]) return false;
  return true;
}

long spanning_trees(int bodies, const std::vector<Arc>& joints) {
  Eigen::MatrixXd L = Eigen::MatrixXd::Zero(bodies, bodies);
  for (const Arc& a : joints) L(a.p, a.p)++, L(a.s, a.s)++, L(a.p, a.s)--, L(a.s, a.p)--;
  if (bodies < 2) return 1;
  return std::lround(L.bottomRightCorner(bodies - 1, bodies - 1).determinant());
}

}  // namespace featherstorm
