#include "core/reference/loops/constrained_body.h"

#include <stdexcept>

namespace featherstorm {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {
Eigen::FullPivLU<MatrixXd> factor(const MatrixXd& A) {
  Eigen::FullPivLU<MatrixXd> lu(A);
  lu.setThreshold(1e-9);
  return lu;
}
}  // namespace

MatrixXd orthogonal_complement(const MatrixXd& S) {
  if (S.cols() == 0) return MatrixXd::Identity(S.rows(), S.rows());
  const auto lu = factor(S.transpose());
  if (lu.rank() == S.rows()) return MatrixXd(S.rows(), 0);
  return lu.kernel();
}
int dimension(const MatrixXd& S) { return S.cols() == 0 ? 0 : static_cast<int>(factor(S).rank()); }
bool same_subspace(const MatrixXd& A, const MatrixXd& B) {
  MatrixXd both(A.rows(), A.cols() + B.cols());
  both << A, B;
  const int n = dimension(both);
  return dimension(A) == n && dimension(B) == n;
}
VectorXd coordinates_in(const MatrixXd& S1, const MatrixXd& S2, const VectorXd& x) {
  MatrixXd S(x.size(), S1.cols() + S2.cols());
  if (S1.rows() != x.size() || S2.rows() != x.size() || S.cols() != x.size())
    throw std::invalid_argument("coordinates_in: subspaces of " + std::to_string(S1.cols()) + " and " +
                                std::to_string(S2.cols()) + " columns, expected " + std::to_string(x.size()) +
                                " together");
  S << S1, S2;
  const auto lu = factor(S);
  if (!lu.isInvertible()) throw std::invalid_argument("coordinates_in: the subspaces have a vector in common");
  return lu.solve(x);
}

ForceParts decompose_force(const Matrix6d& I, const MatrixXd& S, const Vector6d& f) {
  const MatrixXd IS = I * S;
  const Vector6d active = IS * (S.transpose() * IS).ldlt().solve(S.transpose() * f);
  return {active, f - active};
}
MatrixXd active_force_subspace(const MatrixXd& F, const MatrixXd& S) {
  const auto lu = factor(MatrixXd(S.transpose() * F));
  if (F.cols() != S.cols() || !lu.isInvertible())
    throw std::invalid_argument("active_force_subspace: the forces do not drive the joint's " +
                                std::to_string(S.cols()) + " freedoms");
  return F * lu.inverse();
}

ApparentInverse apparent_inverse(const ConstrainedBody& b) {
  const MatrixXd H = b.S.transpose() * b.I * b.S;
  const Matrix6d Phi = b.S * H.ldlt().solve(b.S.transpose());
  return {Phi, b.Sd_qd - Phi * (b.I * b.Sd_qd + b.p)};
}
ConstrainedMotion constrained_motion(const ConstrainedBody& b, const MatrixXd& T, const Vector6d& f) {
  const auto n = T.cols();
  MatrixXd K = MatrixXd::Zero(6 + n, 6 + n);
  K.topLeftCorner(6, 6) = b.I, K.topRightCorner(6, n) = T, K.bottomLeftCorner(n, 6) = T.transpose();
  VectorXd right(6 + n);
  right << f - b.p, T.transpose() * b.Sd_qd;
  const VectorXd x = K.partialPivLu().solve(right);
  return {x.head<6>(), -x.tail(n)};
}
GeneralisedEquation generalised_equation(const ConstrainedBody& b) {
  return {b.S.transpose() * b.I * b.S, b.S.transpose() * (b.I * b.Sd_qd + b.p)};
}

}  // namespace featherstorm
