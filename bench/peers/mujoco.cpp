// MuJoCo for peers.py: MODEL is a compiled model (.mjb). One thread, one state a call; no contacts, limits, dry friction.
#include <mujoco/mujoco.h>

#include <cstring>

#include "bench/peers/serve.h"

int main(int, char** argv) {
  mjModel* m = mj_loadModel(argv[1], nullptr);
  if (m == nullptr) return 1;
  m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS;
  mjData* d = mj_makeData(m);
  const peers::States s = peers::read_states(argv[2]);
  const long nq = m->nq, nv = m->nv;
  std::vector<double> x(nv), bias(nv);

  auto put = [&](long k) {
    std::memcpy(d->qpos, &s.q[k * nq], nq * sizeof(double));
    std::memcpy(d->qvel, &s.v[k * nv], nv * sizeof(double));
  };
  auto rnea = [&](long k) {
    put(k);
    std::memcpy(d->qacc, &s.a[k * nv], nv * sizeof(double));
    mj_kinematics(m, d), mj_comPos(m, d), mj_comVel(m, d);
    mj_rne(m, d, 1, x.data());
    // the rotors, which mj_rne leaves out
    for (long i = 0; i < nv; i++) x[i] += m->dof_armature[i] * d->qacc[i];
  };
  auto crba = [&](long k) {
    put(k);
    mj_kinematics(m, d), mj_comPos(m, d), mj_crb(m, d);
  };
  auto fd = [&](long k) {
    crba(k);
    mj_factorM(m, d), mj_comVel(m, d);
    mj_rne(m, d, 0, bias.data());
    for (long i = 0; i < nv; i++) bias[i] = s.tau[k * nv + i] - bias[i];
    mj_solveM(m, d, x.data(), bias.data(), 1);
  };
  auto step = [&](long k) {
    put(k);
    std::memcpy(d->qfrc_applied, &s.tau[k * nv], nv * sizeof(double));
    mj_step(m, d);
  };
  auto kinematics = [&](long k) {
    put(k);
    mj_kinematics(m, d);
  };

  std::map<std::string, peers::Op> ops;
  auto add = [&](const std::string& name, long size, auto one, auto result) {
    ops[name] = {size,
                 [=, &s] {
                   for (long k = 0; k < s.count; k++) one(k);
                 },
                 [=](long k, double* to) { one(k), result(to); }};
  };
  auto copy_x = [&](double* to) { std::memcpy(to, x.data(), nv * sizeof(double)); };
  add("kinematics", 3, kinematics,
      [=](double* to) { std::memcpy(to, d->xpos + 3 * (m->nbody - 1), 3 * sizeof(double)); });
  add("rnea", nv, rnea, copy_x);
  add("crba", nv * nv, crba, [=](double* to) {
    std::memset(to, 0, nv * nv * sizeof(double));
    for (long i = 0; i < nv; i++)
      for (int k = 0; k < m->M_rownnz[i]; k++) {
        const long at = m->M_rowadr[i] + k, j = m->M_colind[at];
        to[i * nv + j] = to[j * nv + i] = d->M[at];
      }
  });
  add("fd", nv, fd, copy_x);
  add("step", nv, step, [=](double* to) { std::memcpy(to, d->qvel, nv * sizeof(double)); });
  peers::serve(s.count, [&](const std::string& name) { return ops.count(name) ? &ops.at(name) : nullptr; });
}
