// One rigid body held by a joint: the three methods of RBDA section 3.6, and the subspaces that they use (sections 3.3,
// 3.5).
//
//   f + f_c = I a + p,   v = S qd,   S^T f_c = 0
//
// Reference only, in double with Eigen. S is 6 x n, T 6 x (6 - n) with T^T S = 0. assembly.h joins such bodies.
#pragma once
#include <Eigen/Dense>

namespace featherstorm {

using Matrix6d = Eigen::Matrix<double, 6, 6>;
using Vector6d = Eigen::Matrix<double, 6, 1>;

// Returns a basis of S^perp = { f : S^T f = 0 }. The orthogonal complement is a subspace of the dual space; 6-vectors
// are never compared by Euclidean products. RBDA (3.24)-(3.26), Table 3.1
Eigen::MatrixXd orthogonal_complement(const Eigen::MatrixXd& S);
int dimension(const Eigen::MatrixXd& S);
// Returns true if two matrices span the same subspace: B = A M with M invertible.
bool same_subspace(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
// Returns alpha with x = [S1 S2] alpha, for S1 (+) S2 = the whole space. Throws std::invalid_argument if they are not
// complementary. (3.27)
Eigen::VectorXd coordinates_in(const Eigen::MatrixXd& S1, const Eigen::MatrixXd& S2, const Eigen::VectorXd& x);

// Splits f = f_a + f_c. f_a in I S accelerates a body that is held to S at rest, and f_c in S^perp is balanced by the
// joint: f_a = I S (S^T I S)^-1 S^T f. RBDA (3.28)
struct ForceParts { Vector6d active, constraint; };
ForceParts decompose_force(const Matrix6d& I, const Eigen::MatrixXd& S, const Vector6d& f);

// Returns the active force subspace spanned by these forces, scaled so that T_a^T S = 1. It determines the load on the
// joint's bearings, not the motion of the system. RBDA (3.35), Example 3.2. Throws std::invalid_argument if F^T S is
// singular.
Eigen::MatrixXd active_force_subspace(const Eigen::MatrixXd& F, const Eigen::MatrixXd& S);

// A body at (S, S' qd). S' qd (Sd_qd) is the part of the derivative of S qd beyond S qdd: c_J + v × S qd for a joint to
// the ground.
struct ConstrainedBody {
  Matrix6d I;
  Vector6d p;  // v x* I v - gravity force
  Eigen::MatrixXd S;
  Vector6d Sd_qd;
};

// Method 1: a = Phi f + b with Phi = S (S^T I S)^-1 S^T, b = S' qd - Phi (I S' qd + p). Phi is symmetric, of rank n,
// with the range of S and the null space S^perp. RBDA (3.51)-(3.55)
struct ApparentInverse {
  Matrix6d Phi;
  Vector6d b;
};
ApparentInverse apparent_inverse(const ConstrainedBody& body);

// Method 2: [I T; T^T 0] [a; -lambda] = [f - p; T^T S' qd]. RBDA (3.60) with -T'^T v = T^T S' qd
struct ConstrainedMotion {
  Vector6d a;
  Eigen::VectorXd lambda;  // f_c = T lambda
};
ConstrainedMotion constrained_motion(const ConstrainedBody& body, const Eigen::MatrixXd& T, const Vector6d& f);

// Method 3: H qdd + C = tau with H = S^T I S, C = S^T (I S' qd + p), tau = S^T f. RBDA (3.61)-(3.64)
struct GeneralisedEquation {
  Eigen::MatrixXd H;
  Eigen::VectorXd C;
};
GeneralisedEquation generalised_equation(const ConstrainedBody& body);

}  // namespace featherstorm
