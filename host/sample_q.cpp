#include "host/sample_q.h"

#include <cmath>

namespace featherstorm {

std::vector<double> sample_q(const Model<double>& m, std::mt19937_64& engine) {
  std::uniform_real_distribution<> uniform(-1, 1);
  std::vector<double> q(m.nq);
  for (double& x : q) x = uniform(engine);
  for (int i = 1; i <= m.nb; i++) {
    const Body<double>& b = m.body[i];
    const int at = b.type == JointType::Ball ? b.q : b.type == JointType::Free ? b.q + 3 : -1;
    if (at < 0) continue;
    double norm = 0;
    for (int k = 0; k < 4; k++) norm += q[at + k] * q[at + k];
    for (int k = 0; k < 4; k++) q[at + k] /= std::sqrt(norm);
  }
  return q;
}

}  // namespace featherstorm
