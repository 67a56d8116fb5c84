#include "host/load/sample_q.h"

#include "core/dynamics/crba.h"
#include "core/linear/ltdl.h"

namespace featherstorm {

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
