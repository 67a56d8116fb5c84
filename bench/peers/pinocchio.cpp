// Pinocchio for peers.py. One thread; convention LOCAL, which is its faster one. PEER_SCALAR is the scalar of its templates: double or
// float, one state a call, as its users have it, or peers::FloatLanes or peers::DoubleLanes (lanes.h), with as many states a call as a
// vector register holds. The states then lie side by side in memory before the clock starts.
#include "bench/peers/lanes.h"

#include <pinocchio/multibody.hpp>  // before all others of its own

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "bench/peers/pinocchio_model.h"
#include "bench/peers/serve.h"

#ifndef PEER_SCALAR
#define PEER_SCALAR double
#endif

namespace pinocchio {
template <class Real, int W> struct SINCOSAlgo<peers::Lanes<Real, W>> {
  using Scalar = peers::Lanes<Real, W>;
  static void run(const Scalar& a, Scalar* s, Scalar* c) { sincos(a, *s, *c); }
};
}  // namespace pinocchio

namespace pin = pinocchio;
using Scalar = PEER_SCALAR;
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

int main(int, char** argv) {
  const pin::ModelTpl<Scalar> model = peers::read_model(argv[1]).cast<Scalar>();
  pin::DataTpl<Scalar> data(model);
  const peers::States s = peers::read_states(argv[2]);
  const long nv = s.nv, W = peers::lanes_of<Scalar>, calls = s.count / W;
  if (s.count % W != 0) {
    std::fprintf(stderr, "%ld states do not fill vectors of %ld\n", s.count, W);
    return 1;
  }
  std::vector<Vector, Eigen::aligned_allocator<Vector>> q, v, a, tau;
  for (long k = 0; k < calls; k++) {
    auto rows = [&](const std::vector<double>& from, long n) {
      Vector x(n);
      for (long i = 0; i < n; i++)
        for (long l = 0; l < W; l++) peers::set_lane(x[i], l, from[(k * W + l) * n + i]);
      return x;
    };
    q.push_back(rows(s.q, s.nq)), v.push_back(rows(s.v, nv)), a.push_back(rows(s.a, nv)),
        tau.push_back(rows(s.tau, nv));
  }
  Vector x(nv);
  std::map<std::string, peers::Op> ops;
  auto add = [&](const std::string& name, long size, auto one, auto result) {
    ops[name] = {size,
                 [=] {
                   for (long k = 0; k < calls; k++) one(k);
                 },
                 [=](long k, double* to) {
                   one(k / W);
                   const Matrix r = result();
                   for (long i = 0; i < r.size(); i++) to[i] = peers::lane(r.data()[i], k % W);
                 }};
  };
  add(
      "kinematics", 3, [&](long k) { pin::forwardKinematics(model, data, q[k]); },
      [&] { return Matrix(data.oMi.back().translation()); });
  add("rnea", nv, [&](long k) { pin::rnea(model, data, q[k], v[k], a[k]); }, [&] { return Matrix(data.tau); });
  add(
      "crba", nv * nv, [&](long k) { pin::crba(model, data, q[k], pin::Convention::LOCAL); },
      [&] { return Matrix(data.M.template selfadjointView<Eigen::Upper>()); });
  add(
      "aba", nv, [&](long k) { pin::aba(model, data, q[k], v[k], tau[k], pin::Convention::LOCAL); },
      [&] { return Matrix(data.ddq); });
  // a = M^-1 (tau - C) with the sparse factorisation M = U D U^T
  add(
      "fd_factor", nv,
      [&](long k) {
        pin::crba(model, data, q[k], pin::Convention::LOCAL);
        pin::cholesky::decompose(model, data);
        x = tau[k] - pin::nonLinearEffects(model, data, q[k], v[k]);
        pin::cholesky::solve(model, data, x);
      },
      [&] { return Matrix(x); });
  // three matrices, each by columns, the symmetric one whole: da/dq, da/dv, da/dtau; dtau/dq, dtau/dv, dtau/da
  auto three = [&](const auto& x, const auto& y, const auto& upper) {
    Matrix all(nv, 3 * nv);
    all << Matrix(x), Matrix(y), Matrix(upper.template selfadjointView<Eigen::Upper>());
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
