// The acceleration under softened constraints by Newton's method with dense matrices.
//
//   a = argmin  1/2 (a - a0)^T M (a - a0) + sum_i s_i(J_i a - aref_i)
//
// With x = J_i a - aref_i and D = 1 / R the cost of a row is
//   Equality    D x^2 / 2
//   Friction    D x^2 / 2 where |x| <= R loss, straight beyond
//   Unilateral  D x^2 / 2 where x < 0, else 0:  limits, contacts without friction, edges of pyramids
//   Cone        of the rows of one contact together: not there yet
// and its force -s'(x). An iteration solves (M + J^T W J) p = -g with gradient g and W = s'', and moves along p to the
// least cost. MuJoCo's documentation, chapter Computation, "Newton". Reference only, in double: it branches on numbers.
#pragma once
#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "core/constraint/row_kind.h"

namespace featherstorm {

// Rows that have one cost: a single one, or those of a contact with a cone.
struct RowBlock {
  RowKind kind;
  int first, count;
};

struct ConstraintProblem {
  Eigen::MatrixXd M;             // (nv, nv)
  Eigen::VectorXd a0;            // (nv)  acceleration without constraints
  Eigen::MatrixXd J;             // (n, nv)
  Eigen::VectorXd D, aref;       // (n)
  Eigen::VectorXd loss;          // (n)   read in rows of dry friction
  std::vector<RowBlock> blocks;  // their rows are 0 to n - 1 in order
};

struct ConstrainedAcceleration {
  Eigen::VectorXd a;      // (nv)
  Eigen::VectorXd force;  // (n)   of the rows; forces of joints are J^T force
  int iterations = 0;
  double residual = 0;  // |g| / trace M at a
};

namespace dense_newton_parts {

// s'(x) and s''(x) of a block, and which of its pieces x is on; six rows at most.
struct BlockCost {
  int piece = 0;
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1> gradient;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6> curvature;
};
inline BlockCost cost_of(const ConstraintProblem& c, const RowBlock& b, const Eigen::VectorXd& x) {
  const double D = c.D[b.first], y = x[b.first];
  double gradient = D * y, curvature = D;
  int piece = 0;
  switch (b.kind) {
    case RowKind::Equality: break;
    case RowKind::Friction: {
      const double loss = c.loss[b.first];
      if (gradient <= -loss) gradient = -loss, curvature = 0, piece = -1;
      else if (gradient >= loss) gradient = loss, curvature = 0, piece = 1;
      break;
    }
    case RowKind::Unilateral:
      if (y >= 0) gradient = curvature = 0, piece = 1;
      break;
    case RowKind::Cone: throw std::invalid_argument("dense_newton: cones are not supported");
  }
  BlockCost r{piece, {}, {}};
  r.gradient.setConstant(1, gradient);
  r.curvature.setConstant(1, 1, curvature);
  return r;
}

// First and second derivative of the cost along the way a + t p, where x = J a - aref moves by y = J p.
struct Slope { double first, second; };
inline Slope slope_at(const ConstraintProblem& c, const Eigen::VectorXd& x, const Eigen::VectorXd& y, Slope smooth,
                      double t) {
  const Eigen::VectorXd z = x + t * y;
  Slope s{smooth.first + t * smooth.second, smooth.second};
  for (const RowBlock& b : c.blocks) {
    const BlockCost cost = cost_of(c, b, z);
    const auto u = y.segment(b.first, b.count);
    s.first += u.dot(cost.gradient), s.second += u.dot(cost.curvature * u);
  }
  return s;
}

// t > 0 of the least cost: the root of a slope that never falls, by Newton's method within brackets. It is made of
// straight pieces unless there are cones, so the last step is exact.
inline double exact_step(const ConstraintProblem& c, const Eigen::VectorXd& x, const Eigen::VectorXd& y, Slope smooth) {
  constexpr int most_steps = 100;
  double low = 0, high = INFINITY, t = 1;
  const double enough = 1e-15 * std::abs(slope_at(c, x, y, smooth, 0).first);
  for (int k = 0; k < most_steps; k++) {
    const Slope s = slope_at(c, x, y, smooth, t);
    if (std::abs(s.first) <= enough) break;
    (s.first < 0 ? low : high) = t;
    double next = t - s.first / s.second;
    if (!(low < next && next < high)) next = high < INFINITY ? 0.5 * (low + high) : 2 * t;
    if (next == t) break;
    t = next;
  }
  return t;
}

}  // namespace dense_newton_parts

// in  start  (nv) where the iteration begins: the last step's a, or a0
// in  iterations  at most;  tolerance  of the residual
inline ConstrainedAcceleration dense_newton(const ConstraintProblem& c, const Eigen::VectorXd& start, int iterations,
                                            double tolerance) {
  using namespace dense_newton_parts;
  const double scale = c.M.trace();
  ConstrainedAcceleration r{start, Eigen::VectorXd::Zero(c.D.size())};
  std::vector<int> piece(c.blocks.size()), last_piece;
  for (;; r.iterations++) {
    // g = M (a - a0) + J^T s',  H = M + J^T s'' J
    const Eigen::VectorXd x = c.J * r.a - c.aref, Ma = c.M * (r.a - c.a0);
    Eigen::VectorXd g = Ma;
    Eigen::MatrixXd H = c.M;
    for (std::size_t k = 0; k < c.blocks.size(); k++) {
      const RowBlock& b = c.blocks[k];
      const BlockCost cost = cost_of(c, b, x);
      piece[k] = cost.piece;
      const auto J = c.J.middleRows(b.first, b.count);
      r.force.segment(b.first, b.count) = -cost.gradient;
      g += J.transpose() * cost.gradient;
      if (!cost.curvature.isZero(0)) H += J.transpose() * cost.curvature * J;
    }
    // on the same pieces as before the last step was exact, and what remains is rounding unless it still falls
    const double last = r.residual;
    r.residual = g.norm() / scale;
    if (r.residual <= tolerance || r.iterations >= iterations) return r;
    if (r.iterations > 0 && piece == last_piece && r.residual > 0.5 * last) return r;
    last_piece = piece;
    const Eigen::VectorXd p = -H.llt().solve(g);
    const double t = exact_step(c, x, c.J * p, {p.dot(Ma), p.dot(c.M * p)});
    r.a += t * p;
  }
}

}  // namespace featherstorm
