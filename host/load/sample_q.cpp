#include "host/load/sample_q.h"

#include <algorithm>

#include "core/dynamics/crba.h"
#include "core/linear/ltdl.h"
#include "core/model/builder.h"

namespace featherstorm {

std::vector<double> starting_q(const Model<double>& m, std::mt19937_64& engine) {
  std::uniform_real_distribution<> uniform(0, 4);
  const std::vector<double> rest = neutral(m);
  std::vector<double> q = sample_q(m, engine);
  for (int i = 1; i <= m.nb; i++) {
    const Body<double>& b = m.body[i];
    const double choice = uniform(engine);
    if (choice < 2) std::copy(rest.begin() + b.q, i < m.nb ? rest.begin() + m.body[i + 1].q : rest.end(), &q[b.q]);
    else if (choice < 3 && b.type == JointType::Revolute) q[b.q] = choice < 2.5 ? -M_PI / 2 : M_PI / 2;
  }
  return q;
}

std::vector<double> natural_inertia(const Model<double>& m, std::mt19937_64& engine) {
  std::vector<double> inertia(m.nv, 1.0);
  for (const UserJoint& joint : m.user)
    if (joint.time_dependent) return inertia;
  std::vector<double> M(m.nh);
  crba(m, sample_q(m, engine).data(), M.data());
  ltdl(m, M.data());
  for (int c = 0; c < m.nv; c++) {
    std::vector<double> x(m.nv, 0.0);
    x[c] = 1;
    solve<Factor::LTDL>(m, M.data(), x.data());
    inertia[c] = std::isfinite(1 / x[c]) ? std::abs(1 / x[c]) : 0;
  }
  return inertia;
}

}  // namespace featherstorm
