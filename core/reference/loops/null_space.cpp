#include "core/reference/loops/null_space.h"

#include "core/dynamics/crba.h"
#include "core/dynamics/newton_euler.h"

namespace featherstorm {

NullSpace null_space(Eigen::MatrixXd K, Eigen::VectorXd k, double tolerance) {
  const int m = static_cast<int>(K.rows()), n = static_cast<int>(K.cols());
  std::vector<int> column(n);
  for (int j = 0; j < n; j++) column[j] = j;
  int r = 0;
  double first = 0;
  for (; r < m && r < n; r++) {
    Eigen::Index i, j;
    const double pivot = K.bottomRightCorner(m - r, n - r).cwiseAbs().maxCoeff(&i, &j);
    if (r == 0) first = pivot;
    if (pivot <= tolerance * first) break;
    K.row(r).swap(K.row(r + i)), std::swap(k(r), k(r + i));
    K.col(r).swap(K.col(r + j)), std::swap(column[r], column[r + j]);
    for (int l = r + 1; l < m; l++) {
      const double f = K(l, r) / K(r, r);
      K.row(l).tail(n - r) -= f * K.row(r).tail(n - r);
      k(l) -= f * k(r);
    }
  }
  const auto U = K.topLeftCorner(r, r).triangularView<Eigen::Upper>();
  const Eigen::MatrixXd G1 = -U.solve(K.topRightCorner(r, n - r));
  const Eigen::VectorXd g1 = U.solve(k.head(r));
  NullSpace s{r, Eigen::MatrixXd::Zero(n, n - r), Eigen::VectorXd::Zero(n), {column.begin() + r, column.end()}};
  for (int j = 0; j < r; j++) s.G.row(column[j]) = G1.row(j), s.g(column[j]) = g1(j);
  for (int j = r; j < n; j++) s.G(column[j], j - r) = 1;
  return s;
}

ClosedLoopSystem closed_loop_system(const Model<double>& m, const Loops<double>& loops, const double* q,
                                    const double* qd, const double* f_ext, double rate) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::vector<double> packed(m.nh);
  RowMajor K(loops.nc, m.nv);
  Eigen::VectorXd delta(loops.nc);
  ClosedLoopSystem s{Eigen::MatrixXd::Zero(m.nv, m.nv), {}, Eigen::VectorXd(m.nv), Eigen::VectorXd(loops.nc)};
  crba(m, q, packed.data());
  for (int i = 0; i < m.nv; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j]) s.H(i, j) = s.H(j, i) = packed[m.at(i, j)];
  const std::vector<double> none(6 * m.nb, 0.0);
  newton_euler(m, q, qd, Zeros<double>{}, f_ext ? f_ext : none.data(), s.C.data());
  loop_constraints(m, loops, q, qd, rate, K.data(), s.k.data(), delta.data());
  s.K = K;
  return s;
}

KktSolution fd_loops_kkt(const ClosedLoopSystem& s, const Eigen::VectorXd& tau, double tolerance) {
  const int n = static_cast<int>(s.H.rows()), nc = static_cast<int>(s.K.rows());
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n + nc, n + nc);
  A << s.H, s.K.transpose(), s.K, Eigen::MatrixXd::Zero(nc, nc);
  Eigen::VectorXd b(n + nc);
  b << tau - s.C, s.k;
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> orthogonal;
  orthogonal.setThreshold(tolerance);
  orthogonal.compute(A);
  const Eigen::VectorXd x = orthogonal.solve(b);
  return {x.head(n), -x.tail(nc)};
}

Eigen::VectorXd fd_loops_null_space(const ClosedLoopSystem& s, const Eigen::VectorXd& tau) {
  const NullSpace x = null_space(s.K, s.k);
  if (x.G.cols() == 0) return x.g;
  const Eigen::VectorXd ydd = (x.G.transpose() * s.H * x.G).ldlt().solve(x.G.transpose() * (tau - s.C - s.H * x.g));
  return x.G * ydd + x.g;
}

Mobility mobility(const Model<double>& m, const Loops<double>& loops, const double* q) {
  const std::vector<double> rest(m.nv, 0.0);
  const ClosedLoopSystem s = closed_loop_system(m, loops, q, rest.data(), nullptr, 0);
  const int r = null_space(s.K, s.k).rank;
  return {m.nv - r, r, loops.nc - r};
}

}  // namespace featherstorm
