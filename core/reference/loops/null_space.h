// Solves K x = k as x = G y + g, with y a subset of x found by complete pivoting. RBDA section 8.8, (8.48)-(8.51).
//
//   K = Q1 [K11 K12; K21 K22] Q2,   G = Q2^T [-K11^-1 K12; 1],   g = Q2^T [K11^-1 k1; 0]
//
// Reference only, in double, because the choice of pivots differs between instances. Batches solve with chosen
// independent coordinates (independent.h) or through H (fd_loops.h).
#pragma once
#include <Eigen/Dense>

#include "core/loops/loop_constraints.h"

namespace featherstorm {

struct NullSpace {
  int rank = 0;
  Eigen::MatrixXd G;             // (n, n - rank)
  Eigen::VectorXd g;             // (n)
  std::vector<int> independent;  // (n - rank) elements of x that are y
};

// in  tolerance  pivots below this fraction of the first one end the elimination
NullSpace null_space(Eigen::MatrixXd K, Eigen::VectorXd k, double tolerance = 1e-9);

// Matrices and vectors of a closed-loop system in one state, dense; f_ext (6 nb) or null, rate as in
// loop_constraints.h.
struct ClosedLoopSystem {
  Eigen::MatrixXd H, K;
  Eigen::VectorXd C, k;
};
ClosedLoopSystem closed_loop_system(const Model<double>& m, const Loops<double>& loops, const double* q,
                                    const double* qd, const double* f_ext, double rate);

// Method 1, the whole system at once: [H K^T; K 0] [qdd; -lambda] = [tau - C; k]. RBDA (8.36). lambda has minimum norm.
struct KktSolution { Eigen::VectorXd qdd, lambda; };
KktSolution fd_loops_kkt(const ClosedLoopSystem& s, const Eigen::VectorXd& tau, double tolerance = 1e-10);

// Method 3: qdd = G ydd + g, G^T H G ydd = G^T (tau - C - H g). RBDA (8.42)-(8.46)
Eigen::VectorXd fd_loops_null_space(const ClosedLoopSystem& s, const Eigen::VectorXd& tau);

// Mobility n - rank(K), and the number of redundant constraints. RBDA (8.52)-(8.55)
struct Mobility {
  int freedoms;   // n - r
  int rank;       // r
  int redundant;  // n^c - r; the mechanism is over-constrained if it is not 0
};
Mobility mobility(const Model<double>& m, const Loops<double>& loops, const double* q);

}  // namespace featherstorm
