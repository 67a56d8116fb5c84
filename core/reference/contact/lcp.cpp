#include "core/reference/contact/lcp.h"

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace featherstorm {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

void check(const char* name, const MatrixXd& M, const VectorXd& d) {
  if (M.rows() != M.cols() || M.rows() != d.size())
    throw std::invalid_argument(std::string(name) + ": M is " + std::to_string(M.rows()) + " x " +
                                std::to_string(M.cols()) + " and d has " + std::to_string(d.size()) +
                                " numbers, expected a square M and as many numbers");
  if (!M.allFinite() || !d.allFinite()) throw std::invalid_argument(std::string(name) + ": M or d is not finite");
}

// Pivots a tableau: row r is solved for the variable of column c.
void pivot(MatrixXd& A, int r, int c) {
  A.row(r) /= A(r, c);
  for (int i = 0; i < A.rows(); i++)
    if (i != r) A.row(i) -= A(i, c) * A.row(r);
}

}  // namespace

// Columns: w (n), z (n), z0, right side:  w - M z - e z0 = d. The columns of w serve as lexicographic tails of the
// rows.
ContactForces solve_lcp(const MatrixXd& M, const VectorXd& d) {
  check("solve_lcp", M, d);
  const int n = static_cast<int>(d.size()), z0 = 2 * n, right = 2 * n + 1;
  ContactForces x{true, VectorXd::Zero(n), d};
  if (n == 0 || d.minCoeff() >= 0) return x;
  // scale forces so that M has diagonal 1, because the tolerances below are relative
  VectorXd scale(n);
  for (int i = 0; i < n; i++) scale(i) = M(i, i) > 0 ? 1 / std::sqrt(M(i, i)) : 1;
  const double size = (scale.asDiagonal() * d).cwiseAbs().maxCoeff();
  MatrixXd A = MatrixXd::Zero(n, 2 * n + 2);
  A.leftCols(n).setIdentity();
  A.middleCols(n, n) = -(scale.asDiagonal() * M * scale.asDiagonal());
  A.col(z0).setConstant(-1);
  A.col(right) = scale.asDiagonal() * d / size;
  std::vector<int> basis(n);
  for (int i = 0; i < n; i++) basis[i] = i;
  const double tiny = 1e-11;
  // compares two rows divided by their element in column c, lexicographically
  auto before = [&](int i, int j, int c) {
    for (int k = -1; k < n; k++) {
      const int l = k < 0 ? right : k;
      const double a = A(i, l) / A(i, c), b = A(j, l) / A(j, c);
      if (std::abs(a - b) > tiny * (1 + std::abs(a))) return a < b;
    }
    return false;
  };
  int row = 0, enter = z0;
  A.col(right).minCoeff(&row);
  for (int step = 0; step < 50 * (n + 1); step++) {
    const int leave = basis[row];
    pivot(A, row, enter);
    basis[row] = enter;
    if (leave == z0) break;
    enter = leave < n ? leave + n : leave - n;  // the complement
    row = -1;
    for (int i = 0; i < n; i++)
      if (A(i, enter) > tiny && (row < 0 || before(i, row, enter))) row = i;
    // z0 leaves as soon as possible
    for (int i = 0; i < n && row >= 0; i++)
      if (basis[i] == z0 && A(i, enter) > tiny && A(i, right) / A(i, enter) <= A(row, right) / A(row, enter) + tiny)
        row = i;
    if (row < 0) break;  // a ray: no solution, because M is semidefinite
  }
  // a solution, unless z0 remains in the basis; a zero z0 is zero up to rounding
  for (int i = 0; i < n; i++) {
    if (basis[i] == z0 && A(i, right) > 1e-9) x.solved = false;
    if (basis[i] < n || basis[i] == z0) continue;
    const int k = basis[i] - n;
    x.lambda(k) = size * scale(k) * std::max(A(i, right), 0.0);
  }
  x.zetad = M * x.lambda + d;
  return x;
}

ContactForces solve_force_qp(const MatrixXd& M, const VectorXd& d) {
  check("solve_force_qp", M, d);
  const int n = static_cast<int>(d.size());
  ContactForces x{true, VectorXd::Zero(n), d};
  if (n == 0) return x;
  std::vector<int> P;  // contacts with a force
  const double size = d.cwiseAbs().maxCoeff(), tiny = 1e-10 * size, infinite = std::numeric_limits<double>::infinity();
  for (int step = 0; step < 100 * (n + 1); step++) {
    x.zetad = M * x.lambda + d;
    int worst = -1;
    for (int k = 0; k < n; k++)
      if (std::find(P.begin(), P.end(), k) == P.end() && x.zetad(k) < -tiny &&
          (worst < 0 || x.zetad(k) < x.zetad(worst)))
        worst = k;
    if (worst < 0) return x;
    // the force of `worst` grows by t, and the forces of P keep their contacts closed: M_PP p = -M_Pw
    while (true) {
      const int r = static_cast<int>(P.size());
      VectorXd p(r);
      if (r > 0) {
        MatrixXd MPP(r, r);
        VectorXd Mw(r);
        for (int i = 0; i < r; i++) {
          Mw(i) = M(P[i], worst);
          for (int j = 0; j < r; j++) MPP(i, j) = M(P[i], P[j]);
        }
        p = MPP.ldlt().solve(-Mw);
      }
      double rate = M(worst, worst);  // rate of zetad(worst)
      for (int i = 0; i < r; i++) rate += M(worst, P[i]) * p(i);
      const double zetad = M.row(worst).dot(x.lambda) + d(worst);
      const bool independent = rate > 1e-11 * M(worst, worst);
      double t = independent ? -zetad / rate : infinite;
      int block = -1;
      for (int i = 0; i < r; i++)
        if (p(i) < -1e-12 && -x.lambda(P[i]) / p(i) < t) t = -x.lambda(P[i]) / p(i), block = i;
      if (t == infinite) {
        x.solved = false;  // even unbounded forces do not close the contact
        x.zetad = M * x.lambda + d;
        return x;
      }
      x.lambda(worst) += t;
      for (int i = 0; i < r; i++) x.lambda(P[i]) += t * p(i);
      if (block < 0) {
        P.push_back(worst);
        break;
      }
      x.lambda(P[block]) = 0;
      P.erase(P.begin() + block);
    }
  }
  x.solved = false;
  return x;
}

GaussSolution solve_gauss_qp(const MatrixXd& H, const VectorXd& qdd_free, const MatrixXd& G, const VectorXd& bias) {
  if (H.rows() != H.cols() || H.rows() != qdd_free.size() || G.cols() != H.rows() || G.rows() != bias.size())
    throw std::invalid_argument("solve_gauss_qp: H is " + std::to_string(H.rows()) + " x " + std::to_string(H.cols()) +
                                ", qdd_free " + std::to_string(qdd_free.size()) + ", G " + std::to_string(G.rows()) +
                                " x " + std::to_string(G.cols()) + ", bias " + std::to_string(bias.size()) +
                                "; expected n x n, n, nc x n, nc");
  if (!H.allFinite() || !qdd_free.allFinite() || !G.allFinite() || !bias.allFinite())
    throw std::invalid_argument("solve_gauss_qp: a number is not finite");
  const Eigen::LLT<MatrixXd> llt(H);
  if (llt.info() != Eigen::Success) throw std::invalid_argument("solve_gauss_qp: H is not positive definite");
  const int nc = static_cast<int>(bias.size()), nv = static_cast<int>(qdd_free.size());
  const MatrixXd Y = llt.matrixL().solve(G.transpose());  // normals in coordinates with unit metric
  GaussSolution x{true, qdd_free, VectorXd::Zero(nc)};
  std::vector<int> W;  // active constraints
  const double infinite = std::numeric_limits<double>::infinity();
  const double size = nc > 0 ? (G * qdd_free).cwiseAbs().maxCoeff() + bias.cwiseAbs().maxCoeff() : 0;
  for (int step = 0; step < 100 * (nc + 1); step++) {
    VectorXd zetad = G * x.qdd + bias;
    for (int k : W) zetad(k) = 0;
    int p = -1;
    if (nc > 0 && zetad.minCoeff(&p) >= -1e-11 * size) p = -1;
    if (p < 0) return x;
    while (true) {
      // z: part of the normal independent of the active normals; r: coefficients of the dependent part
      const int a = static_cast<int>(W.size());
      VectorXd z = Y.col(p), r(a);
      if (a > 0) {
        MatrixXd N(nv, a);
        for (int i = 0; i < a; i++) N.col(i) = Y.col(W[i]);
        r = N.householderQr().solve(z);
        z -= N * r;
      }
      const double zz = z.squaredNorm();
      const bool dependent = zz < 1e-20 * Y.col(p).squaredNorm() || a >= nv;
      double t = dependent ? infinite : -(G.row(p).dot(x.qdd) + bias(p)) / zz;
      int block = -1;
      for (int i = 0; i < a; i++)
        if (r(i) > 1e-12 && x.lambda(W[i]) / r(i) < t) t = x.lambda(W[i]) / r(i), block = i;
      if (t == infinite) {
        x.solved = false;
        return x;
      }
      if (!dependent) x.qdd += t * VectorXd(llt.matrixU().solve(z));
      x.lambda(p) += t;
      for (int i = 0; i < a; i++) x.lambda(W[i]) -= t * r(i);
      if (block < 0) {
        W.push_back(p);
        break;
      }
      x.lambda(W[block]) = 0;
      W.erase(W.begin() + block);
    }
  }
  x.solved = false;
  return x;
}

}  // namespace featherstorm
