#include "host/planning/backward_pass.h"

#include <cmath>
#include <limits>

#include "host/memory/cpu_library.h"
#include "host/network/dense_kernels.h"

namespace featherstorm {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int most_newton_steps = 100, most_halvings = 30;
constexpr double enough = 0.1;  // share of the expected decrease that a step must reach

// Components that no bound stops from moving against the gradient.
std::vector<Index> free_components(const VectorXd& x, const VectorXd& gradient, const VectorXd& lower,
                                   const VectorXd& upper) {
  std::vector<Index> free;
  for (Index c = 0; c < x.size(); c++)
    if (!(x[c] <= lower[c] && gradient[c] > 0) && !(x[c] >= upper[c] && gradient[c] < 0)) free.push_back(c);
  return free;
}

// Products of matrices by loops for this machine's vectors: Eigen's are compiled for every machine.
class Products {
 public:
  // C += A B, or where `lower` the part on and below the diagonal
  void add(const MatrixXd& A, const MatrixXd& B, MatrixXd& C) { add(A, 1, A.rows(), A.rows(), A.cols(), B, false, C); }
  void add_transposed(const MatrixXd& A, const MatrixXd& B, bool lower, MatrixXd& C) {  // A^T B
    add(A, A.rows(), 1, A.cols(), A.rows(), B, lower, C);
  }

 private:
  void add(const MatrixXd& A, Index row_stride, Index column_stride, Index m, Index k, const MatrixXd& B, bool lower,
           MatrixXd& C) {
    work_.resize(std::max(work_.size(), static_cast<std::size_t>(k * (m + 8))));
    kernels_.multiply(lower, m, B.cols(), k, A.data(), row_stride, column_stride, B.data(), C.data(), work_.data());
  }
  const DenseKernels& kernels_ = dense_kernels(supported_isas().front());
  std::vector<double> work_;
};

}  // namespace

std::optional<BoxMinimum> box_minimum(const MatrixXd& H, const VectorXd& g, const VectorXd& lower,
                                      const VectorXd& upper) {
  const auto value = [&](const VectorXd& x) { return g.dot(x) + 0.5 * x.dot(H * x); };
  BoxMinimum found{VectorXd::Zero(g.size()).cwiseMax(lower).cwiseMin(upper), {}, {}};
  double before = value(found.x);
  for (int i = 0; i < most_newton_steps; i++) {
    const VectorXd gradient = g + H * found.x;
    const std::vector<Index> free = free_components(found.x, gradient, lower, upper);
    if (i == 0 || free != found.free) {
      found.free = free;
      found.factor.compute(MatrixXd(H(free, free)));
      if (found.factor.info() != Eigen::Success) return {};
    }
    if (free.empty()) break;
    const VectorXd of_free = gradient(free);
    VectorXd step = VectorXd::Zero(g.size());
    step(free) = -found.factor.solve(of_free);
    const double slope = step.dot(gradient);
    if (slope > -1e-14 * (1 + std::abs(before))) break;
    double length = 1;
    bool improved = false;
    for (int k = 0; k < most_halvings && !improved; k++, length /= 2) {
      const VectorXd x = (found.x + length * step).cwiseMax(lower).cwiseMin(upper);
      const double now = value(x);
      if (now - before > enough * gradient.dot(x - found.x)) continue;
      found.x = x, before = now, improved = true;
    }
    if (!improved) break;
  }
  return found;
}

std::optional<BackwardPass> backward_pass(const std::vector<QuadraticStep>& steps, const std::vector<VectorXd>& u,
                                          const VectorXd& lower, const VectorXd& upper, double mu) {
  const Index m = u[0].size(), n = steps[0].F.rows();
  BackwardPass pass;
  pass.k.resize(steps.size()), pass.K.resize(steps.size());
  VectorXd V_x = VectorXd::Zero(n);
  MatrixXd V_xx = MatrixXd::Zero(n, n), VF(n, n + m), H(n + m, n + m);
  Products products;
  const VectorXd none = VectorXd::Constant(m, std::numeric_limits<double>::infinity());
  for (std::size_t t = steps.size(); t-- > 0;) {
    const QuadraticStep& s = steps[t];
    const VectorXd g = s.g + s.F.transpose() * V_x;
    VF.setZero(), H.setZero();
    products.add(V_xx, s.F, VF);
    products.add_transposed(s.J, s.J, true, H);
    products.add_transposed(s.F, VF, true, H);
    H.triangularView<Eigen::StrictlyUpper>() = H.transpose();
    if (!g.allFinite() || !H.allFinite()) return {};
    const auto H_uu = H.bottomRightCorner(m, m), H_ux = H.bottomLeftCorner(m, n);
    MatrixXd regular = H_uu;
    regular.diagonal().array() += mu * std::max(H_uu.trace() / static_cast<double>(m), 1e-12);
    const VectorXd least = lower.size() > 0 ? VectorXd(lower - u[t]) : VectorXd(-none);
    const VectorXd most = upper.size() > 0 ? VectorXd(upper - u[t]) : none;
    const std::optional<BoxMinimum> found = box_minimum(regular, g.tail(m), least, most);
    if (!found) return {};
    const VectorXd& k = pass.k[t] = found->x;
    MatrixXd& K = pass.K[t] = MatrixXd::Zero(m, n);
    const std::vector<Index>& free = found->free;
    if (!free.empty()) K(free, Eigen::all) = -found->factor.solve(MatrixXd(H_ux(free, Eigen::all)));
    pass.linear += k.dot(g.tail(m));
    pass.quadratic += 0.5 * k.dot(H_uu * k);
    const VectorXd H_uu_k = H_uu * k;
    V_x = g.head(n) + K.transpose() * (H_uu_k + g.tail(m)) + H_ux.transpose() * k;
    // the symmetric part of K^T (H_uu K + 2 H_ux) is K^T H_uu K + K^T H_ux + H_xu K
    MatrixXd of_K = 2 * H_ux;
    products.add(H_uu, K, of_K);
    V_xx = H.topLeftCorner(n, n);
    products.add_transposed(K, of_K, false, V_xx);
    V_xx = 0.5 * (V_xx + V_xx.transpose()).eval();
  }
  return pass;
}

}  // namespace featherstorm
