// Exact solutions of the contact equations by three methods. RBDA section 11.5.
//
//   solve_lcp          zetad = M lambda + d, zetad >= 0, lambda >= 0, zetad . lambda = 0              (11.42)
//   solve_force_qp     minimise 1/2 lambda^T M lambda + lambda^T d, lambda >= 0                       (11.43)
//   solve_gauss_qp     minimise 1/2 (qdd - qdd_f)^T H (qdd - qdd_f), G qdd + Gd qd >= 0               (11.44)
//
// M is symmetric and positive semidefinite. If M is definite, there is one solution. Otherwise there are none, one or
// many, and all solutions have the same G^T lambda and zetad. Reference only, in double, because pivoting decides per
// instance. Batches use sweeps (projected_gauss_seidel.h).
#pragma once
#include <Eigen/Dense>

namespace featherstorm {

struct ContactForces {
  bool solved;                    // false if there is no solution (RBDA Example 11.1)
  Eigen::VectorXd lambda, zetad;  // [N], [m/s^2]
};

// Lemke's method with lexicographic ratios, which cannot cycle. The solution is basic: the normals of contacts with
// lambda > 0 are linearly independent. Throws std::invalid_argument for wrong shapes, or numbers that are not finite.
ContactForces solve_lcp(const Eigen::MatrixXd& M, const Eigen::VectorXd& d);

// Active-set method on the contacts with a force. The solution is basic as well. Errors as above.
ContactForces solve_force_qp(const Eigen::MatrixXd& M, const Eigen::VectorXd& d);

struct GaussSolution {
  bool solved;
  Eigen::VectorXd qdd, lambda;
};
// Gauss's principle of least constraint for inequalities, by the dual method of Goldfarb and Idnani 1983. Its
// multipliers are the contact forces. Errors as above, and if H is not positive definite.
GaussSolution solve_gauss_qp(const Eigen::MatrixXd& H, const Eigen::VectorXd& qdd_free, const Eigen::MatrixXd& G,
                             const Eigen::VectorXd& bias);

}  // namespace featherstorm
