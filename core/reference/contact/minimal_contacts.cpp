#include "core/reference/contact/minimal_contacts.h"

#include "core/reference/contact/lcp.h"

namespace featherstorm {

std::vector<int> minimal_contacts(const Eigen::MatrixXd& normals, double tolerance) {
  std::vector<int> stay;
  for (int k = 0; k < normals.cols(); k++) stay.push_back(k);
  for (int k = 0; k < normals.cols(); k++) {
    const double length = normals.col(k).norm();
    std::vector<int> others;
    for (int i : stay)
      if (i != k) others.push_back(i);
    if (length > 0) {
      if (others.empty()) continue;
      // minimise |N x - n| over x >= 0, a QP of the form (11.43)
      const Eigen::MatrixXd N = normals(Eigen::all, others);
      const ContactForces x = solve_force_qp(N.transpose() * N, -N.transpose() * normals.col(k));
      if (!x.solved || (N * x.lambda - normals.col(k)).norm() > tolerance * length) continue;
    }
    stay = others;
  }
  return stay;
}

}  // namespace featherstorm
