// First and second derivatives of the costs of a rollout's control steps, from their traced programs.
//
//   w = (x', u, s)       what a cost l or a residual r reads: the next state x', the controls u, and the arrays s that the
//                        step itself has computed, such as a world's accelerations, sensors and forces
//   g = dl/dw, d2l/dw2   of a cost, as it is written
//   r, dr/dw             of a residual, whose cost is r^T r / 2: g = (dr/dw)^T r, and (dr/dw)^T (dr/dw) stands for d2l/dw2
//                        (Gauss-Newton)
//
// A change of q is a tangent vector dq (nv): q (+) dq = q + q' + q'' / 2, q' = Q(q) dq (core/kinematics/position_rate.h) and
// q'' = (dq'/dq) q'. Second derivatives are therefore those along geodesics. The traces are differentiated once
// (core/program/differentiate.h), into one program of the derivatives that are not zero whatever the state.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/model/builder.h"
#include "core/trace/program.h"
#include "host/planning/backward_pass.h"

namespace featherstorm {

class CostDerivatives {
 public:
  // residual  whether the program has residuals as its output, or a cost total_next that is added to its input total
  // fixed     names of inputs that no change of x or u changes: p, the time, the robot's parameters
  CostDerivatives(const Robot& robot, const Program& of, bool residual, int controls, int activations,
                  const std::vector<std::string>& fixed);

  // The arrays s that the program reads, and their sizes.
  const std::vector<Program::Array>& read() const { return read_; }
  // Inputs: those of the cost, for each instance. Outputs: "value", the residuals or dl/dw; "slopes", their derivatives.
  const Program& program() const { return program_; }
  long values() const { return values_; }
  long slopes() const { return static_cast<long>(places_.size()); }

  // Add this cost to the step's g and J, from the program's outputs for the step. A derivative that is not finite, as of
  // the length of a zero vector, counts as zero. Negative curvature of a cost is left out.
  //
  // in  W (n + m + sizes of read(), n + m)  dw / d(x, u)
  void add(const std::vector<double>& value, const std::vector<double>& slopes, const Eigen::MatrixXd& W,
           QuadraticStep& step) const;

 private:
  bool residual_ = false;
  int width_ = 0;  // of w
  long values_ = 0;
  std::vector<Program::Array> read_;
  Program program_;
  std::vector<std::pair<int, int>> places_;  // row and column of each slope; of a cost the lower half
  std::vector<int> curved_;                  // of a cost: components of w with second derivatives
};

}  // namespace featherstorm
