// Base parameters: the combinations of inertial parameters that a set of measurements can distinguish. Computed from
// the rank of a stacked regressor. Reference only: Eigen, in double. Gautier (1991).
//
//   W = [Y_1; Y_2; ...],   W pi = W_b pi_b,   pi_b = P pi
//
// W_b are `rank` independent columns of W, and P (rank x columns) is the identity on them.
#pragma once
#include <Eigen/QR>
#include <vector>

namespace featherstorm {

struct BaseParameters {
  int rank = 0;
  std::vector<int> columns;  // (rank) columns of W that represent the base parameters
  Eigen::MatrixXd P;         // (rank x all columns)
};

// in  W          stacked regressors, at least as many rows as base parameters
// in  tolerance  a column is dependent if its independent part is below this fraction of the largest column
inline BaseParameters base_parameters(const Eigen::MatrixXd& W, double tolerance = 1e-9) {
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(W);
  qr.setThreshold(tolerance);
  BaseParameters b;
  b.rank = static_cast<int>(qr.rank());
  const Eigen::MatrixXd R = qr.matrixR().topRows(b.rank).triangularView<Eigen::Upper>();
  // W Pi = Q [R1 R2]: the dependent columns are W_b R1^-1 R2
  const Eigen::MatrixXd X = R.leftCols(b.rank).triangularView<Eigen::Upper>().solve(R);
  b.P = X * qr.colsPermutation().transpose();
  for (int k = 0; k < b.rank; k++) b.columns.push_back(qr.colsPermutation().indices()(k));
  return b;
}

}  // namespace featherstorm
