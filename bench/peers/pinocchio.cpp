// Pinocchio for peers.py: MODEL lists the joints, a line each: name, kind, parent, placement (R by rows, p), then mass,
// centre of mass, inertia about it (by rows) of the body, and the rotors (its nv numbers). One thread, one state a call, as its users have it;
// convention LOCAL, which is its faster one.
#include <pinocchio/multibody.hpp>  // before all others of its own

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "bench/peers/serve.h"

namespace pin = pinocchio;
using Eigen::VectorXd;

namespace {

pin::Model read_model(const char* path) {
  std::ifstream file(path);
  pin::Model model;
  for (std::string name, kind; file >> name >> kind;) {
    pin::JointIndex parent;
    file >> parent;
    auto read = [&](long rows, long columns) {
      Eigen::MatrixXd x(rows, columns);
      for (long i = 0; i < rows; i++)
        for (long j = 0; j < columns; j++) file >> x(i, j);
      return x;
    };
    const Eigen::Matrix3d R = read(3, 3);
    const Eigen::Vector3d p = read(3, 1);
    auto add = [&](const auto& joint) { return model.addJoint(parent, joint, pin::SE3(R, p), name); };
    const pin::JointIndex i = kind == "JointModelRX"   ? add(pin::JointModelRX())
                              : kind == "JointModelRY" ? add(pin::JointModelRY())
                              : kind == "JointModelRZ" ? add(pin::JointModelRZ())
                              : kind == "JointModelPX" ? add(pin::JointModelPX())
                              : kind == "JointModelPY" ? add(pin::JointModelPY())
                              : kind == "JointModelPZ" ? add(pin::JointModelPZ())
                                                       : add(pin::JointModelFreeFlyer());
    const double mass = read(1, 1)(0);
    const Eigen::Vector3d com = read(3, 1);
    const Eigen::Matrix3d I = read(3, 3);
    model.appendBodyToJoint(i, pin::Inertia(mass, com, I), pin::SE3::Identity());
    const int nv = model.nvs[i];
    model.armature.segment(model.idx_vs[i], nv) = read(nv, 1);
  }
  return model;
}

}  // namespace

int main(int, char** argv) {
  const pin::Model model = read_model(argv[1]);
  pin::Data data(model);
  const peers::States s = peers::read_states(argv[2]);
  const long nv = s.nv;
  std::vector<VectorXd> q, v, a, tau;
  for (long k = 0; k < s.count; k++) {
    auto row = [&](const std::vector<double>& x, long n) {
      return VectorXd(Eigen::Map<const VectorXd>(x.data() + k * n, n));
    };
    q.push_back(row(s.q, s.nq)), v.push_back(row(s.v, nv)), a.push_back(row(s.a, nv)), tau.push_back(row(s.tau, nv));
  }
  VectorXd x(nv);
  std::map<std::string, peers::Op> ops;
  auto add = [&](const std::string& name, long size, auto one, auto result) {
    ops[name] = {size,
                 [=, &s] {
                   for (long k = 0; k < s.count; k++) one(k);
                 },
                 [=](long k, double* to) {
                   one(k);
                   const Eigen::MatrixXd r = result();
                   Eigen::Map<Eigen::MatrixXd>(to, r.rows(), r.cols()) = r;
                 }};
  };
  add(
      "kinematics", 3, [&](long k) { pin::forwardKinematics(model, data, q[k]); },
      [&] { return Eigen::MatrixXd(data.oMi.back().translation()); });
  add("rnea", nv, [&](long k) { pin::rnea(model, data, q[k], v[k], a[k]); }, [&] { return Eigen::MatrixXd(data.tau); });
  add(
      "crba", nv * nv, [&](long k) { pin::crba(model, data, q[k], pin::Convention::LOCAL); },
      [&] { return Eigen::MatrixXd(data.M.selfadjointView<Eigen::Upper>()); });
  add(
      "aba", nv, [&](long k) { pin::aba(model, data, q[k], v[k], tau[k], pin::Convention::LOCAL); },
      [&] { return Eigen::MatrixXd(data.ddq); });
  // a = M^-1 (tau - C) with the sparse factorisation M = U D U^T
  add(
      "fd_factor", nv,
      [&](long k) {
        pin::crba(model, data, q[k], pin::Convention::LOCAL);
        pin::cholesky::decompose(model, data);
        x = tau[k] - pin::nonLinearEffects(model, data, q[k], v[k]);
        pin::cholesky::solve(model, data, x);
      },
      [&] { return Eigen::MatrixXd(x); });
  // three matrices, each by columns, the symmetric one whole: da/dq, da/dv, da/dtau; dtau/dq, dtau/dv, dtau/da
  auto three = [&](const auto& x, const auto& y, const Eigen::MatrixXd& upper) {
    Eigen::MatrixXd all(nv, 3 * nv);
    all << x, y, Eigen::MatrixXd(upper.selfadjointView<Eigen::Upper>());
    return all;
  };
  add(
      "aba_derivatives", 3 * nv * nv, [&](long k) { pin::computeABADerivatives(model, data, q[k], v[k], tau[k]); },
      [&] { return three(data.ddq_dq, data.ddq_dv, data.Minv); });
  add(
      "rnea_derivatives", 3 * nv * nv, [&](long k) { pin::computeRNEADerivatives(model, data, q[k], v[k], a[k]); },
      [&] { return three(data.dtau_dq, data.dtau_dv, data.M); });
  peers::serve(s.count, [&](const std::string& name) { return ops.count(name) ? &ops.at(name) : nullptr; });
}
