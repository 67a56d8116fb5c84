// K x = k solved as x = G y + g, with y a subset of x found by complete pivoting. RBDA section 8.8, (8.48)-(8.51).
//
//   K = Q1 [K11 K12; K21 K22] Q2,   G = Q2^T [-K11^-1 K12; 1],   g = Q2^T [K11^-1 k1; 0]
//
// Reference only, in double: which pivot is taken is a decision of each instance. A batch solves with chosen independent
// coordinates (independent.h) or through H (fd_loops.h).
#pragma once
#include <Eigen/Dense>
#include <vector>

#include "core/crba.h"
#include "core/loop_constraints.h"
#include "core/newton_euler.h"

namespace featherstorm {

struct NullSpace {
  int rank = 0;
  Eigen::MatrixXd G;             // (n, n - rank)
  Eigen::VectorXd g;             // (n)
  std::vector<int> independent;  // (n - rank) which elements of x are y
};

// in  tolerance  pivots below this part of the first one end the elimination
inline NullSpace null_space(Eigen::MatrixXd K, Eigen::VectorXd k, double tolerance = 1e-9) {
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

// Everything of a closed-loop system in one state, dense.
struct ClosedLoopSystem {
  Eigen::MatrixXd H, K;
  Eigen::VectorXd C, k;
};
template <class F>
ClosedLoopSystem closed_loop_system(const Model<double>& m, const Loops<double>& loops, const double* q,
                                    const double* qd, const F& f_ext, double rate) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::vector<double> packed(m.nh);
  RowMajor K(loops.nc, m.nv);
  Eigen::VectorXd delta(loops.nc);
  ClosedLoopSystem s{Eigen::MatrixXd::Zero(m.nv, m.nv), {}, Eigen::VectorXd(m.nv), Eigen::VectorXd(loops.nc)};
  crba(m, q, packed.data());
  for (int i = 0; i < m.nv; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j]) s.H(i, j) = s.H(j, i) = packed[m.at(i, j)];
  newton_euler(m, q, qd, Zeros<double>{}, f_ext, s.C.data());
  loop_constraints(m, loops, q, qd, rate, K.data(), s.k.data(), delta.data());
  s.K = K;
  return s;
}

// Method 1, the whole system at once: [H K^T; K 0] [qdd; -lambda] = [tau - C; k]. RBDA (8.36). The shortest lambda.
struct KktSolution {
  Eigen::VectorXd qdd, lambda;
};
inline KktSolution fd_loops_kkt(const ClosedLoopSystem& s, const Eigen::VectorXd& tau, double tolerance = 1e-10) {
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

// Method 3: qdd = G ydd + g, G^T H G ydd = G^T (tau - C - H g). RBDA (8.42)-(8.46)
inline Eigen::VectorXd fd_loops_null_space(const ClosedLoopSystem& s, const Eigen::VectorXd& tau) {
  const NullSpace x = null_space(s.K, s.k);
  if (x.G.cols() == 0) return x.g;
  const Eigen::VectorXd ydd =
      (x.G.transpose() * s.H * x.G).ldlt().solve(x.G.transpose() * (tau - s.C - s.H * x.g));
  return x.G * ydd + x.g;
}

// Mobility n - rank(K), and how many constraints are more than needed. RBDA (8.52)-(8.55)
struct Mobility {
  int freedoms;     // n - r
  int rank;         // r
  int redundant;    // n^c - r; the mechanism is over-constrained where it is not 0
};
inline Mobility mobility(const Model<double>& m, const Loops<double>& loops, const double* q) {
  const std::vector<double> rest(m.nv, 0.0);
  const ClosedLoopSystem s = closed_loop_system(m, loops, q, rest.data(), Zeros<double>{}, 0);
  const int r = null_space(s.K, s.k).rank;
  return {m.nv - r, r, loops.nc - r};
}

}  // namespace featherstorm
