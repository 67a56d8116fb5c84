// Acceleration under soft constraints, by Newton's method with dense matrices.
//
//   a = argmin  1/2 (a - a0)^T M (a - a0) + sum_i s_i(J_i a - aref_i)
//
// With x = J_i a - aref_i and D = 1 / R the cost of a row is
//   Equality    D x^2 / 2
//   Friction    D x^2 / 2 if |x| <= R loss, linear beyond
//   Unilateral  D x^2 / 2 where x < 0, else 0:  limits, contacts without friction, edges of pyramids
//   Pyramid     the sum over its edges e = x_0 +- f_k x_k of D e^2 / 2 where e < 0
//   Cone        with N = mu x_0, T = |(f_k x_k)|: 0 where N >= mu T, sum D_k x_k^2 / 2 where mu N + T <= 0, else
//               D_0 (N - mu T)^2 / (2 mu^2 (1 + mu^2))
// and its force is -s'(x). An iteration solves (M + J^T W J) p = -g with gradient g and W = s'', and moves along p to
// the least cost. MuJoCo's documentation, chapter Computation, "Newton". Reference only, in double, because it branches
// on numbers.
#pragma once
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/constraint/row_pattern.h"

namespace featherstorm {

struct ConstraintProblem {
  Eigen::MatrixXd M;             // (nv, nv)
  Eigen::VectorXd a0;            // (nv)  acceleration without constraints
  Eigen::MatrixXd J;             // (n, nv)
  Eigen::VectorXd D, aref;       // (n)
  Eigen::VectorXd friction;      // (n)   loss of dry friction; mu and f_k for contacts
  std::vector<RowBlock> blocks;  // in order, with rows 0 to n - 1
};

struct ConstrainedAcceleration {
  Eigen::VectorXd a;      // (nv)
  Eigen::VectorXd force;  // (n)   of the rows; joint forces are J^T force
  int iterations = 0;
  double residual = 0;  // |g| / trace M at a
};

namespace dense_newton_parts {

inline constexpr int sliding = -2;  // number of the piece of a cone that is not quadratic

// s'(x) and s''(x) of a block, and the piece of the cost that contains x; at most six rows.
struct BlockCost {
  int piece = 0;
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1> gradient;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6> curvature;
};
inline BlockCost cost_of(const ConstraintProblem& c, const RowBlock& b, const Eigen::VectorXd& all) {
  const auto x = all.segment(b.first, b.rows), D = c.D.segment(b.first, b.rows),
             f = c.friction.segment(b.first, b.rows);
  BlockCost r;
  r.gradient = D.cwiseProduct(x);
  r.curvature = D.asDiagonal();
  const auto straight = [&](int piece, double slope) {
    r.piece = piece, r.gradient.setConstant(slope), r.curvature.setZero();
  };
  switch (b.kind) {
    case RowKind::Equality: break;
    case RowKind::Friction:
      if (r.gradient(0) <= -f(0)) straight(-1, -f(0));
      else if (r.gradient(0) >= f(0)) straight(1, f(0));
      break;
    case RowKind::Unilateral:
      if (x(0) >= 0) straight(1, 0);
      break;
    case RowKind::Pyramid:
      straight(0, 0);
      for (int k = 1, bit = 1; k < b.rows; k++)
        for (const double side : {1.0, -1.0}) {
          Eigen::VectorXd edge = Eigen::VectorXd::Zero(b.rows);
          edge(0) = 1, edge(k) = side * f(k);
          const double e = edge.dot(x);
          if (e < 0) r.piece += bit, r.gradient += D(0) * e * edge, r.curvature += D(0) * edge * edge.transpose();
          bit *= 2;
        }
      break;
    case RowKind::Cone: {
      const double mu = f(0), N = mu * x(0);
      const Eigen::VectorXd u = f.tail(b.rows - 1).cwiseProduct(x.tail(b.rows - 1));
      const double T = u.norm(), slip = N - mu * T, stiffness = D(0) / (mu * mu * (1 + mu * mu));
      if (slip >= 0) straight(1, 0);
      else if (mu * N + T > 0) {
        // gradients with respect to x: of the slip, of T
        Eigen::VectorXd normal = Eigen::VectorXd::Zero(b.rows), of_T = normal;
        normal(0) = mu, of_T.tail(b.rows - 1) = f.tail(b.rows - 1).cwiseProduct(u) / T;
        Eigen::MatrixXd of_of_T = Eigen::MatrixXd::Zero(b.rows, b.rows);
        of_of_T.diagonal().tail(b.rows - 1) = f.tail(b.rows - 1).cwiseAbs2() / T;
        of_of_T -= of_T * of_T.transpose() / T;
        const Eigen::VectorXd of_slip = normal - mu * of_T;
        r.piece = sliding;
        r.gradient = stiffness * slip * of_slip;
        r.curvature = stiffness * (of_slip * of_slip.transpose() - slip * mu * of_of_T);
      }
      break;
    }
  }
  return r;
}

// First and second derivatives of the cost along a + t p, where x = J a - aref moves by y = J p.
struct LineSlope { double first, second; };
inline LineSlope slope_at(const ConstraintProblem& c, const Eigen::VectorXd& x, const Eigen::VectorXd& y,
                          LineSlope smooth, double t) {
  const Eigen::VectorXd z = x + t * y;
  LineSlope s{smooth.first + t * smooth.second, smooth.second};
  for (const RowBlock& b : c.blocks) {
    const BlockCost cost = cost_of(c, b, z);
    const auto u = y.segment(b.first, b.rows);
    s.first += u.dot(cost.gradient), s.second += u.dot(cost.curvature * u);
  }
  return s;
}

// Returns the t > 0 of least cost: the root of a nondecreasing slope, by Newton's method within brackets. Without cones
// the slope is piecewise linear, so the last step is exact.
inline double exact_step(const ConstraintProblem& c, const Eigen::VectorXd& x, const Eigen::VectorXd& y,
                         LineSlope smooth) {
  constexpr int most_steps = 100;
  double low = 0, high = INFINITY, t = 1;
  const double enough = 1e-15 * std::abs(slope_at(c, x, y, smooth, 0).first);
  for (int k = 0; k < most_steps; k++) {
    const LineSlope s = slope_at(c, x, y, smooth, t);
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

// Solves for the acceleration.
//
// in  start  (nv) initial guess: the last step's a, or a0
// in  iterations  greatest number;  tolerance  of the residual
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
      const auto J = c.J.middleRows(b.first, b.rows);
      r.force.segment(b.first, b.rows) = -cost.gradient;
      g += J.transpose() * cost.gradient;
      if (!cost.curvature.isZero(0)) H += J.transpose() * cost.curvature * J;
    }
    // The last step was exact if the pieces did not change and are quadratic. For cones it counts as exact if the
    // residual is below 1e-12. The rest of the residual is then rounding, unless it still falls.
    const double last = r.residual;
    r.residual = g.norm() / scale;
    if (r.residual <= tolerance || r.iterations >= iterations) return r;
    const bool quadratic = std::find(piece.begin(), piece.end(), sliding) == piece.end() || r.residual < 1e-12;
    if (r.iterations > 0 && piece == last_piece && quadratic && r.residual > 0.5 * last) return r;
    last_piece = piece;
    const Eigen::VectorXd p = -H.llt().solve(g);
    const double t = exact_step(c, x, c.J * p, {p.dot(Ma), p.dot(c.M * p)});
    r.a += t * p;
  }
}

}  // namespace featherstorm
