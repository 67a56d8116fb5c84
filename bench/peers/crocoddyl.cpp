// Crocoddyl for peers.py: the derivatives that its solvers ask a free robot for. One thread, one state a call, in double, by the library of
// its wheel.
//
// calcDiff of DifferentialActionModelFreeFwdDynamics computes Fx = da/d(q, v) (nv x 2 nv) and Fu = da/du (nv x nu), with a motor on every
// coordinate (nu = nv), so that Fu = M^-1. It adds the derivatives of the motors' forces to Fx, which are zero here, and of an empty sum of
// costs. A solver calls calc first, which computes the acceleration.
#include <pinocchio/multibody.hpp>  // before all others of its own

#include <crocoddyl/multibody/actions/free-fwddyn.hpp>
#include <crocoddyl/multibody/actuations/full.hpp>

#include "bench/peers/pinocchio_model.h"
#include "bench/peers/serve.h"

int main(int, char** argv) {
  const auto model = std::make_shared<pinocchio::Model>(peers::read_model(argv[1]));
  const auto state = std::make_shared<crocoddyl::StateMultibody>(model);
  const auto motors = std::make_shared<crocoddyl::ActuationModelFull>(state);
  const auto costs = std::make_shared<crocoddyl::CostModelSum>(state, motors->get_nu());
  crocoddyl::DifferentialActionModelFreeFwdDynamics action(state, motors, costs);
  const auto data = action.createData();
  const peers::States s = peers::read_states(argv[2]);
  const long nq = s.nq, nv = s.nv;
  std::vector<Eigen::VectorXd> x, u;
  for (long k = 0; k < s.count; k++) {
    x.emplace_back(nq + nv);
    x.back() << Eigen::VectorXd::Map(&s.q[k * nq], nq), Eigen::VectorXd::Map(&s.v[k * nv], nv);
    u.emplace_back(Eigen::VectorXd::Map(&s.tau[k * nv], nv));
  }
  std::map<std::string, peers::Op> ops;
  auto add = [&](const std::string& name, auto one) {
    ops[name] = {3 * nv * nv,
                 [=, &s] {
                   for (long k = 0; k < s.count; k++) one(k);
                 },
                 [&, one](long k, double* to) {
                   action.calc(data, x[k], u[k]);
                   one(k);
                   // da/dq, da/dv, da/dtau, each by columns
                   Eigen::MatrixXd::Map(to, nv, 3 * nv) << data->Fx, data->Fu;
                 }};
  };
  add("calcDiff", [&](long k) { action.calcDiff(data, x[k], u[k]); });
  add("calc_and_calcDiff", [&](long k) { action.calc(data, x[k], u[k]), action.calcDiff(data, x[k], u[k]); });
  peers::serve(s.count, [&](const std::string& name) { return ops.count(name) ? &ops.at(name) : nullptr; });
}
