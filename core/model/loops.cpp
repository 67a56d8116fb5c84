#include "core/model/loops.h"

#include <Eigen/LU>
#include <cmath>

#include "core/model/builder.h"

namespace featherstorm {
namespace {

// The tree joints on the path of loop l.
std::vector<char> joints_of(const Model<double>& m, const Loop<double>& l) {
  std::vector<char> on(m.nb + 1, 0);
  for (int i = l.p, j = l.s; i != j;) {
    int& k = i > j ? i : j;
    on[k] = 1;
    k = m.body[k].parent;
  }
  return on;
}

}  // namespace

Loops<double> close_loops(const Robot& robot, const std::vector<LoopSpec>& specs) {
  Loops<double> loops;
  auto place = [&](const LoopSpec& spec, const std::string& link, const Placement<double>& X) {
    if (!X.R.allFinite() || !X.r.allFinite() || (X.R * X.R.transpose() - Mat3d::Identity()).norm() > 1e-6 ||
        X.R.determinant() < 0)
      throw ModelError("loop joint", spec.name, "placement is not a rotation and a finite origin");
    if (link.empty()) return Frame<double>{0, X};
    const int f = robot.frame(link);
    if (f < 0) throw ModelError("loop joint", spec.name, "link '" + link + "' does not exist");
    return Frame<double>{robot.model.frame[f].body, robot.model.frame[f].X * X};
  };
  for (const LoopSpec& spec : specs) {
    const Frame<double> p = place(spec, spec.predecessor, spec.X_P), s = place(spec, spec.successor, spec.X_S);
    if (p.body == s.body) throw ModelError("loop joint", spec.name, "connects a body with itself");
    const bool has_parameter = spec.type == LoopType::Helical || spec.type == LoopType::RackPinion;
    if (has_parameter && (!std::isfinite(spec.parameter) || spec.parameter == 0))
      throw ModelError("loop joint", spec.name, "parameter is zero or not finite");
    loops.loop.push_back({spec.type, p.body, s.body, loops.nc, spec.parameter, p.X, s.X});
    loops.nl++;
    loops.nc += constraints_of(spec.type);
  }
  return loops;
}

std::vector<int> loop_clusters(const Model<double>& m, const Loops<double>& loops) {
  std::vector<int> cluster(loops.nl);
  std::vector<std::vector<char>> joints;
  for (int l = 0; l < loops.nl; l++) {
    cluster[l] = l;
    joints.push_back(joints_of(m, loops.loop[l]));
    for (int k = 0; k < l; k++) {
      bool coupled = false;
      for (int i = 1; i <= m.nb; i++) coupled = coupled || (joints[k][i] && joints[l][i]);
      if (!coupled) continue;
      const int from = cluster[k], to = cluster[l];
      for (int& c : cluster)
        if (c == from) c = to;
    }
  }
  // numbered in the order of their first loops
  std::vector<int> number(loops.nl, -1);
  int n = 0;
  for (int& c : cluster) {
    if (number[c] < 0) number[c] = n++;
    c = number[c];
  }
  return cluster;
}

}  // namespace featherstorm
