// Derivatives by central differences along the configurations of a robot, extrapolated once (error of order h^4).
#pragma once
#include <Eigen/Dense>
#include <functional>
#include <vector>

#include "core/model/model.h"

namespace featherstorm::testing {

using Numbers = std::vector<double>;

// q (+) v dt
Numbers moved(const Model<double>& m, const Numbers& q, const Numbers& v, double dt);
Numbers sum(const Numbers& a, const Numbers& b, double s);

// df/dt at t = 0 of f(t) with values in R^n
Eigen::VectorXd derivative(const std::function<Eigen::VectorXd(double)>& f, double h = 1e-3);

// d/dt f(q(t), v(t)) where dq/dt = v and dv/dt = a
Eigen::VectorXd rate(const Model<double>& m, const Numbers& q, const Numbers& v, const Numbers& a,
                     const std::function<Eigen::VectorXd(const Numbers& q, const Numbers& v)>& f, double h = 1e-3);

Eigen::VectorXd vector(const Numbers& a);
// n x n numbers by rows, number k of such matrices stored one after another.
Eigen::MatrixXd square(const Numbers& a, int n, int k = 0);

}  // namespace featherstorm::testing
