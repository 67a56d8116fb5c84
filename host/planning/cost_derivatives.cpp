#include "host/planning/cost_derivatives.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/kinematics/position_rate.h"
#include "core/program/differentiate.h"
#include "host/trace/parameters.h"

namespace featherstorm {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Traced = std::vector<Expr>;

constexpr const char* change = "change";

bool is_zero(Expr x) { return x.edge() == Edge{}; }
double finite(double x) { return std::isfinite(x) ? x : 0.0; }

// q' = Q(q) dq as a program.
Program rate_of(const Robot& robot) {
  Program p;
  const Traced q = p.input("q", robot.model.nq), dq = p.input("dq", robot.model.nv);
  Tracing scope(p.graph);
  Traced rate(q.size());
  position_rate(Parameters(robot, {}).apply(robot.model, {}), q.data(), dq.data(), rate.data());
  p.output("rate", rate);
  return p;
}

// q (+) dq to second order.
Traced moved(const Robot& robot, const Traced& q, const Traced& dq) {
  const Program rate = rate_of(robot);
  const Traced first = replay(rate, {q, dq})[0], second = push_forward(rate, {q, dq}, {first, {}})[0];
  Traced next;
  for (std::size_t k = 0; k < q.size(); k++) next.push_back(q[k] + first[k] + 0.5 * second[k]);
  return next;
}

}  // namespace

CostDerivatives::CostDerivatives(const Robot& robot, const Program& of, bool residual, int controls, int activations,
                                 const std::vector<std::string>& fixed)
    : residual_(residual) {
  const int nv = robot.model.nv;
  width_ = 2 * nv + activations + controls;
  const auto is_fixed = [&](const std::string& name) { return std::ranges::find(fixed, name) != fixed.end(); };
  // the first component of an array in w; -1: it is not in w
  const auto place = [&](const Program::Array& a) {
    if (a.name == "total" || is_fixed(a.name)) return -1;
    if (a.name == "q") return 0;
    if (a.name == "v") return nv;
    if (a.name == "act") return 2 * nv;
    if (a.name == "u") return 2 * nv + activations;
    read_.push_back({a.name, a.size, false});
    return std::exchange(width_, width_ + a.size);
  };
  std::vector<int> first;
  for (const Program::Array& a : of.inputs) first.push_back(place(a));

  // the cost as a function of dw
  Program of_change;
  TracedArrays in;
  for (const Program::Array& a : of.inputs)
    in.push_back(a.name == "total" ? Traced(1) : of_change.input(a.name, a.size, true));
  const Traced dw = of_change.input(change, width_);
  {
    Tracing scope(of_change.graph);
    for (std::size_t k = 0; k < in.size(); k++) {
      if (first[k] < 0) continue;
      if (of.inputs[k].name == "q") in[k] = moved(robot, in[k], {dw.begin(), dw.begin() + nv});
      else
        for (std::size_t c = 0; c < in[k].size(); c++) in[k][c] += dw[static_cast<std::size_t>(first[k]) + c];
    }
    of_change.output("value", replay(of, in)[0]);
  }
  // f(dw): the residuals, or the gradient
  const Program f = residual ? of_change : vjp(of_change, {"value"}, {change});

  TracedArrays at, tangents(f.inputs.size());  // of f
  std::size_t changed = 0;
  Tracing scope(program_.graph);
  for (std::size_t k = 0; k < f.inputs.size(); k++) {
    const Program::Array& a = f.inputs[k];
    if (a.name == change) changed = k, at.emplace_back(a.size);
    else if (a.name == std::string("value") + cotangent_suffix) at.push_back({Expr(1.0)});
    else at.push_back(program_.input(a.name, a.size));
  }
  const Traced value = replay(f, at)[0];
  Traced slopes;
  for (int c = 0; c < width_; c++) {
    tangents[changed].assign(static_cast<std::size_t>(width_), Expr(0.0));
    tangents[changed][static_cast<std::size_t>(c)] = 1.0;
    const Traced column = push_forward(f, at, tangents)[0];
    for (int row = residual ? 0 : c; row < static_cast<int>(column.size()); row++) {
      const Expr slope = column[static_cast<std::size_t>(row)];
      if (is_zero(slope)) continue;
      places_.emplace_back(row, c), slopes.push_back(slope);
      if (!residual) curved_.push_back(row), curved_.push_back(c);
    }
  }
  std::ranges::sort(curved_);
  curved_.erase(std::unique(curved_.begin(), curved_.end()), curved_.end());
  values_ = static_cast<long>(value.size());
  program_.output("value", value);
  if (!slopes.empty()) program_.output("slopes", slopes);
}

void CostDerivatives::add(const std::vector<double>& value, const std::vector<double>& slopes, const MatrixXd& W,
                          QuadraticStep& step) const {
  const Index rows = step.J.rows(), added = residual_ ? values_ : static_cast<Index>(curved_.size());
  step.J.conservativeResize(rows + added, W.cols());
  auto J = step.J.bottomRows(added);
  VectorXd x = Eigen::Map<const VectorXd>(value.data(), values_);
  if (residual_) {
    J.setZero();
    for (std::size_t k = 0; k < places_.size(); k++)
      J.row(places_[k].first) += finite(slopes[k]) * W.row(places_[k].second);
    step.g += J.transpose() * x;
    return;
  }
  step.g += W.transpose() * x.unaryExpr([](double g) { return finite(g); });
  if (added == 0) return;
  // H = V diag(e) V^T, as the square of diag(e)^1/2 V^T
  MatrixXd H = MatrixXd::Zero(added, added);
  const auto curved = [&](int c) { return std::ranges::lower_bound(curved_, c) - curved_.begin(); };
  for (std::size_t k = 0; k < places_.size(); k++)
    H(curved(places_[k].first), curved(places_[k].second)) = finite(slopes[k]);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(H);  // reads the lower half
  const VectorXd root = eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt();
  J.noalias() = root.asDiagonal() * eigen.eigenvectors().transpose() * W(curved_, Eigen::all);
}

}  // namespace featherstorm
