// Pinocchio for peers.py: MODEL is a model saved by Model.saveToText. One thread, one state a call, as its users have it;
// convention LOCAL, which is its faster one.
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/serialization.hpp>

#include "bench/peers/serve.h"

namespace pin = pinocchio;
using Eigen::VectorXd;

int main(int, char** argv) {
  pin::Model model;
  model.loadFromText(argv[1]);
  pin::Data data(model);
  const peers::States s = peers::read_states(argv[2]);
  const long nv = s.nv;
  std::vector<VectorXd> q, v, a, tau;
  for (long k = 0; k < s.count; k++) {
    auto row = [&](const std::vector<double>& x, long n) { return VectorXd(Eigen::Map<const VectorXd>(x.data() + k * n, n)); };
    q.push_back(row(s.q, s.nq)), v.push_back(row(s.v, nv)), a.push_back(row(s.a, nv)), tau.push_back(row(s.tau, nv));
  }
  VectorXd x(nv);
  std::map<std::string, peers::Op> ops;
  auto add = [&](const std::string& name, long size, auto one, auto result) {
    ops[name] = {size, [=, &s] { for (long k = 0; k < s.count; k++) one(k); },
                 [=](long k, double* to) {
                   one(k);
                   const Eigen::MatrixXd r = result();
                   Eigen::Map<Eigen::MatrixXd>(to, r.rows(), r.cols()) = r;
                 }};
  };
  add("kinematics", 3, [&](long k) { pin::forwardKinematics(model, data, q[k]); },
      [&] { return Eigen::MatrixXd(data.oMi.back().translation()); });
  add("rnea", nv, [&](long k) { pin::rnea(model, data, q[k], v[k], a[k]); }, [&] { return Eigen::MatrixXd(data.tau); });
  add("crba", nv * nv, [&](long k) { pin::crba(model, data, q[k], pin::Convention::LOCAL); },
      [&] { return Eigen::MatrixXd(data.M.selfadjointView<Eigen::Upper>()); });
  add("aba", nv, [&](long k) { pin::aba(model, data, q[k], v[k], tau[k], pin::Convention::LOCAL); },
      [&] { return Eigen::MatrixXd(data.ddq); });
  // a = M^-1 (tau - C) with the sparse factorisation M = U D U^T
  add("fd_factor", nv,
      [&](long k) {
        pin::crba(model, data, q[k], pin::Convention::LOCAL);
        pin::cholesky::decompose(model, data);
        x = tau[k] - pin::nonLinearEffects(model, data, q[k], v[k]);
        pin::cholesky::solve(model, data, x);
      },
      [&] { return Eigen::MatrixXd(x); });
  add("aba_derivatives", nv * nv, [&](long k) { pin::computeABADerivatives(model, data, q[k], v[k], tau[k]); },
      [&] { return Eigen::MatrixXd(data.ddq_dq); });
  peers::serve(s.count, [&](const std::string& name) { return ops.count(name) ? &ops.at(name) : nullptr; });
}
