// docs/tutorials/your_own_algorithm.md: the kinetic energy of each body, for numbers and for packs of them.
#include <cmath>
#include <cstdio>
#include <vector>

#include <featherstorm/featherstorm.h>

#include "core/model/joints.h"
#include "core/scalar/pack.h"
#include "core/scalar/scratch.h"

using namespace featherstorm;

// [text]
// Kinetic energy of each body.
//
//   v_i = X v_parent + S qd,   T_i = 1/2 v_i . I_i v_i              RBDA (2.67)
//
// in   q (nq), qd (nv)
// out  energy (nb)  [J]
// Cost O(nb).
template <class M, class Q, class V, class Out>
void body_energies(const M& m, const Q& q, const V& qd, Out energy) {
  using T = ScalarOf<Q>;
  auto x = scratch<T>(m.nx);
  auto v = scratch<Motion<T>>(m.nb + 1);
  v[0] = zero_motion<T>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    update_joint(m, i, q, Zeros<T>{}, x);
    // v_i = X v_parent + S qd
    with_joint(m, i, x, [&](const auto& J) { v[i] = apply(J, v[b.parent]) + J.velocity(slice(qd, b.v)); });
    // T_i = 1/2 v_i . I_i v_i
    energy[i - 1] = dot(v[i], b.I * v[i]) * T(0.5);
  }
}
// [text end]

// [use]
int main() {
  const Robot robot = load("panda");
  const Model<double>& m = robot.model;
  using Two = Pack<double, 2>;  // two instances side by side
  std::vector<Two> q(m.nq), v(m.nv), energy(m.nb);
  for (int k = 0; k < m.nq; k++) q[k] = Two(0.1 * (k + 1));
  for (int k = 0; k < m.nv; k++) v[k] = Two(1.0 - 0.2 * k);
  body_energies(m, q, v, energy.data());
  // [use end]

  // their sum beside the engine's row; rotors have no body
  Buffer Q(Precision::float64, 1, m.nq), V(Precision::float64, 1, m.nv), E(Precision::float64, 1, 2);
  for (int k = 0; k < m.nq; k++) *Q.component<double>(k) = 0.1 * (k + 1);
  for (int k = 0; k < m.nv; k++) *V.component<double>(k) = 1.0 - 0.2 * k;
  Evaluator(robot).run("energy", {Q.ref(), V.ref()}, {E.ref()});
  double sum = 0, rotors = 0;
  for (int i = 0; i < m.nb; i++) sum += energy[i].v[1];
  for (int k = 0; k < m.nv; k++) rotors += 0.5 * m.armature[k] * v[k].v[0] * v[k].v[0];
  const double error = std::fabs(sum + rotors - *E.component<double>(0));
  std::printf("body energies: sum %.6f J, error %.1e J\n", sum, error);
  return error < 1e-12 ? 0 : 1;
}
