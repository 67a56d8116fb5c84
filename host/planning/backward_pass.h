// The backward pass of iterative LQR with bounds on the controls (box-DDP), about a plan.
//
//   z = (x, u),  dx_next = F dz,  cost of the step g^T dz + dz^T J^T J dz / 2       g, J: cost_derivatives.h
//   g + F^T V_x -> g,   H = J^T J + F^T V_xx F,   Q(dz) = g^T dz + dz^T H dz / 2
//   k = argmin Q over lower <= u + k <= upper at dx = 0,   K = -H_uu^-1 H_ux for the controls that are free, else 0
//   V_x = g_x + K^T H_uu k + K^T g_u + H_xu k,   V_xx = H_xx + K^T H_uu K + K^T H_ux + H_xu K
//
// H_uu + mu tr(H_uu) / m stands for H_uu where k and K are computed. Tassa, Mansard, Todorov 2014 (Control-Limited
// Differential Dynamic Programming); Tassa, Erez, Todorov 2012 (regularisation).
#pragma once
#include <Eigen/Dense>
#include <optional>
#include <vector>

namespace featherstorm {

// A step about which a plan is improved. n: size of dx, m: of u. F (n, n + m), J (R, n + m), g (n + m).
struct QuadraticStep {
  Eigen::MatrixXd F, J;
  Eigen::VectorXd g;
};

struct BackwardPass {
  std::vector<Eigen::VectorXd> k;  // (m) of each step
  std::vector<Eigen::MatrixXd> K;  // (m, n)
  // The expected change of the cost for u + alpha k: alpha linear + alpha^2 quadratic.
  double linear = 0, quadratic = 0;
};

// lower, upper (m): bounds of the controls, or empty. Nothing is returned if H of a step is not finite, or if its part for
// the free controls is not positive definite with this mu.
std::optional<BackwardPass> backward_pass(const std::vector<QuadraticStep>& steps,
                                          const std::vector<Eigen::VectorXd>& u, const Eigen::VectorXd& lower,
                                          const Eigen::VectorXd& upper, double mu);

// Minimum of g^T x + x^T H x / 2 over lower <= x <= upper by projected Newton steps, from x = 0, and the Cholesky factor
// of H for the components that are not at a bound. Nothing if H is not positive definite for them.
struct BoxMinimum {
  Eigen::VectorXd x;
  std::vector<Eigen::Index> free;
  Eigen::LLT<Eigen::MatrixXd> factor;
};
std::optional<BoxMinimum> box_minimum(const Eigen::MatrixXd& H, const Eigen::VectorXd& g, const Eigen::VectorXd& lower,
                                      const Eigen::VectorXd& upper);

}  // namespace featherstorm
