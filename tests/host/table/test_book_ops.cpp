// The rows of the books against other operations: differences of them, their products, or identities. That the texts
// are right the tests of core show against oracles; here it is whether each row hands them the right arrays.
#include <map>

#include "tests/host/table/row_test.h"

namespace featherstorm::test_book_ops {
namespace {

using namespace testing;

class BookOps : public RowTest {};

TEST_F(BookOps, DerivativesAreThoseOfDifferences) {
  const Batch id = run("rnea_derivatives", {q, v, a, f}), fd = run("fd_derivatives", {q, v, tau, f});
  const Batch line = run("fd_linearization", {q, v, tau, f});
  expect_equal(fd[0], aba(q, v, tau));
  expect_equal(line[0], fd[0]);
  for (int k : {0, 1, 4, 7, n - 1}) {
    const Numbers e = unit(k);
    expect_equal(column(id[0], n, k), derivative([&](double t) { return rnea(moved(q, e, t), v, a); }), 1e-7);
    expect_equal(column(id[1], n, k), derivative([&](double t) { return rnea(q, sum(v, e, t), a); }), 1e-7);
    const Numbers by_q = derivative([&](double t) { return aba(moved(q, e, t), v, tau); });
    const Numbers by_v = derivative([&](double t) { return aba(q, sum(v, e, t), tau); });
    const Numbers by_tau = derivative([&](double t) { return aba(q, v, sum(tau, e, t)); });
    expect_equal(column(fd[1], n, k), by_q, 1e-7);
    expect_equal(column(fd[2], n, k), by_v, 1e-7);
    expect_equal(column(fd[3], n, k), by_tau, 1e-7);
    const Numbers A_q = column(line[1], 2 * n, k), A_v = column(line[1], 2 * n, n + k), B = column(line[2], n, k);
    expect_equal(Numbers(A_q.begin() + n, A_q.end()), by_q, 1e-7);
    expect_equal(Numbers(A_v.begin() + n, A_v.end()), by_v, 1e-7);
    expect_equal(Numbers(A_v.begin(), A_v.begin() + n), e);
    expect_equal(Numbers(B.begin() + n, B.end()), by_tau, 1e-7);
  }
  const Batch second = run("rnea_second_derivatives", {q, v, a, f, u, du, da});
  for (int k : {0, 1})
    expect_equal(second[k], derivative([&](double t) {
                   return run("rnea_derivatives", {moved(q, u, t), sum(v, du, t), sum(a, da, t), f})[k];
                 }),
                 1e-7);
}

TEST_F(BookOps, RatesAreThoseOfDifferences) {
  const auto along_v = [&](const char* op) {
    return derivative([&](double t) { return run(op, {moved(q, v, t)})[0]; });
  };
  expect_equal(run("crba_rate", {q, v})[0], along_v("crba"), 1e-7);
  const Batch Ad = run("centroidal_momentum_rate", {q, v});
  expect_equal(Ad[0], along_v("centroidal_momentum_matrix"), 1e-7);
  expect_equal(Ad[1], times(Ad[0], v));
  expect_equal(run("gravity_torques_rate", {q, v})[0], along_v("gravity"), 1e-7);
  expect_equal(run("jacobian_rate", {q, v})[0], along_v("jacobian"), 1e-7);
  expect_equal(times(run("jacobian_rate", {q, v})[0], v), run("jdot_v", {q, v})[0]);
  for (const char* op : {"coriolis_matrix", "jacobian_rate"})
    expect_equal(
        run(op == std::string("jacobian_rate") ? "jacobian_second_rate" : "coriolis_matrix_rate", {q, v, u, du})[0],
        derivative([&](double t) { return run(op, {moved(q, u, t), sum(v, du, t)})[0]; }), 1e-7);
}

TEST_F(BookOps, CoriolisMatricesGiveTheBiasForce) {
  const Numbers Cv = sum(run("bias", {q, v})[0], run("gravity", {q})[0], -1);
  for (const char* form : {"coriolis_matrix", "coriolis_matrix_body_fixed", "coriolis_matrix_mass_centre"}) {
    SCOPED_TRACE(form);
    const Numbers C = run(form, {q, v})[0], Md = run("crba_rate", {q, v})[0];
    expect_equal(times(C, v), Cv);
    for (int i = 0; i < n; i++)
      for (int j = i; j >= 0; j = m.dof_parent[j]) EXPECT_NEAR(C[i * n + j] + C[j * n + i], Md[m.at(i, j)], 1e-9);
  }
}

TEST_F(BookOps, MomentumIsTheMatrixTimesTheVelocity) {
  const Batch h = run("momentum", {q, v});
  const Numbers A_v = times(run("centroidal_momentum_matrix", {q})[0], v);
  expect_equal(Numbers(A_v.begin(), A_v.begin() + 3), h[3]);
  expect_equal(Numbers(A_v.begin() + 3, A_v.end()), Numbers(h[2].begin() + 3, h[2].end()));
  expect_equal(times(run("com_jacobian", {q})[0], v), h[1]);
}

TEST_F(BookOps, OperationalSpaceMovesTheFrameAsForwardDynamicsDoes) {
  const Batch o = run("operational_space", {q, v}, {0, 1e-10});
  expect_equal(run("operational_inertia", {q})[0], o[0], 1e-8);
  const Numbers qdd = run("fd", {q, v, tau})[0], acceleration = run("frame_acceleration", {q, v, qdd})[0];
  // Lambda a + mu + p = Jbar^T tau
  Numbers right(6, 0.0);
  for (int k = 0; k < n; k++)
    for (int c = 0; c < 6; c++) right[c] += o[4][6 * k + c] * tau[k];
  expect_equal(sum(sum(times(o[1], acceleration), o[2]), o[3]), right, 1e-8);
}

TEST_F(BookOps, RegressorsTimesTheParametersAreTheQuantities) {
  const Numbers pi = parameters();
  expect_equal(sum(times(run("regressor", {q, v, a})[0], pi), rotors(a)), run("rnea", {q, v, a})[0]);
  expect_equal(sum(times(run("momentum_regressor", {q, v})[0], pi), rotors(v)), run("id_delta", {q, v})[0]);
  const std::map<const char*, const char*> forms = {{"slotine_li_regressor", "coriolis_matrix"},
                                                    {"slotine_li_regressor_body_fixed", "coriolis_matrix_body_fixed"}};
  for (const auto& [regressor, C] : forms) {
    SCOPED_TRACE(regressor);
    const Numbers right = sum(sum(run("id_delta", {q, da})[0], times(run(C, {q, v})[0], du)), run("gravity", {q})[0]);
    expect_equal(sum(times(run(regressor, {q, v, du, da})[0], pi), rotors(da)), right);
  }
  const Batch y = run("energy_regressor", {q, v});
  double T = 0, V = 0;
  for (int k = 0; k < 10 * m.nb; k++) T += y[0][k] * pi[k], V += y[1][k] * pi[k];
  for (int k = 0; k < n; k++) T += 0.5 * m.armature[k] * v[k] * v[k];
  const Numbers energy = run("energy", {q, v})[0];
  EXPECT_NEAR(T, energy[0], 1e-9);
  EXPECT_NEAR(V, energy[1], 1e-9);
}

TEST_F(BookOps, HybridDynamicsKeepsWhatIsGivenAndIsInverseDynamicsOfTheMotion) {
  Numbers given(n);
  for (int k = 0; k < n; k++) given[k] = k % 3 == 0;
  const Batch motion = run("hybrid_dynamics", {q, v, a, tau, f}, given);
  for (int k = 0; k < n; k++) EXPECT_EQ(given[k] ? motion[0][k] : motion[1][k], given[k] ? a[k] : tau[k]);
  expect_equal(rnea(q, v, motion[0]), motion[1], 1e-8);
}

TEST_F(BookOps, FloatingBase) {
  const Batch id = run("floating_id", {q, v, a, f});
  expect_equal(rnea(q, v, id[0]), id[1], 1e-8);
  for (int k = 0; k < 6; k++) EXPECT_EQ(id[1][k], 0);
  for (int k = 6; k < n; k++) EXPECT_EQ(id[0][k], a[k]);
  const Numbers rest(n, 0.0), no_force(6 * m.nb, 0.0);
  const Batch inertia = run("floating_inertia", {q}), bias = run("floating_bias", {q, rest, f});
  double mass = 0;
  for (int i = 1; i <= m.nb; i++) mass += m.body[i].I.m;
  for (int k = 3; k < 6; k++) EXPECT_NEAR(inertia[0][7 * k], mass, 1e-9);
  Numbers joints(n, 0.0), locked(n, 1.0);
  std::copy(v.begin() + 6, v.end(), joints.begin() + 6);
  std::fill_n(locked.begin(), 6, 0.0);
  // F vq is the momentum that velocities vq give while the base is still: its linear rows in the base's axes have the
  // length of those of the centroidal momentum
  const Numbers vq(v.begin() + 6, v.end()), h = times(inertia[1], vq);
  const Numbers h_G = times(run("centroidal_momentum_matrix", {q})[0], joints);
  EXPECT_NEAR(std::hypot(h[3], h[4], h[5]), std::hypot(h_G[3], h_G[4], h_G[5]), 1e-9);
  // at rest, where nothing is accelerated, the bias is what rnea gives
  const Numbers C = run("rnea_f_ext", {q, rest, rest, f})[0];
  expect_equal(bias[1], Numbers(C.begin() + 6, C.end()), 1e-9);
  // the motion that unit impulses at the joints give: the base moves so that momentum stays zero
  const Numbers still = run("hybrid_dynamics", {q, rest, rest, rest, no_force}, locked)[0];
  const Numbers pushed = run("hybrid_dynamics", {q, rest, joints, rest, no_force}, locked)[0];
  expect_equal(times(run("floating_jacobian", {q})[0], vq), times(run("jacobian", {q})[0], sum(pushed, still, -1)),
               1e-8);
}

TEST_F(BookOps, RungeKuttaIsTheLimitOfSmallSteps) {
  const Numbers zero(n, 0.0), gains(2 * n, 0.0);
  const auto steps = [&](const char* op, double dt, long count) {
    Numbers x = q, y = v, uniforms{dt};
    uniforms.insert(uniforms.end(), gains.begin(), gains.end());
    for (double s : {0.0, 0.0, 0.1}) uniforms.push_back(s);
    for (long k = 0; k < count; k++) {
      const Batch next = run(op, {x, y, tau, zero}, uniforms);
      x = next[0], y = next[1];
    }
    return y;
  };
  const Numbers fine = steps("rk4_step", 0.001, 16), coarse = steps("rk4_step", 0.004, 4),
                euler = steps("step", 0.0001, 160);
  expect_equal(coarse, fine, 1e-5);
  expect_equal(euler, fine, 2e-2);
}

TEST_F(BookOps, FactorsAreThoseOfTheMatrix) {
  const Numbers M = run("crba", {q})[0], L = run("ltdl", {M})[0], K = run("ltl", {M})[0], Mx = run("mul", {M, u})[0];
  expect_equal(run("solve_ltl", {K, Mx})[0], u, 1e-8);
  // M = L^T D L, with 1/D on the factor's diagonal
  Numbers y = run("mul_l", {L, u})[0];
  expect_equal(run("solve_l", {L, y})[0], u, 1e-8);
  for (int k = 0; k < n; k++) y[k] /= L[m.at(k, k)];
  expect_equal(run("mul_lt", {L, y})[0], Mx, 1e-8);
  expect_equal(run("solve_lt", {L, Mx})[0], y, 1e-8);
}

// The operations of a large robot that are too many to be unrolled: kernels that take the model as data serve, and
// agree.
TEST(LargeBookOps, AreLeftToTheRunTimeModel) {
  ModelBuilder b("chain");
  for (int i = 0; i < 100; i++) {
    LinkSpec link;
    link.name = "l" + std::to_string(i), link.mass = 1, link.com = {0.1, 0, 0.02}, link.inertia = Mat3d::Identity();
    b.add_link(link);
    JointSpec joint;
    joint.name = "j" + std::to_string(i), joint.parent = i == 0 ? "" : "l" + std::to_string(i - 1),
    joint.child = link.name;
    joint.X.r = {0.2, 0, 0.1}, joint.axis = i % 2 ? Vec3d(0, 1, 0) : Vec3d(0, 0, 1);
    b.add_joint(joint);
  }
  const Robot chain = b.build();
  Evaluator assembled(chain), any(chain, {.assemble = false});
  EXPECT_EQ(assembled.kernel("rnea_second_derivatives", Precision::float64).kernel,
            any.kernel("rnea_second_derivatives", Precision::float64).kernel);
  EXPECT_FALSE(assembled.specialised("rnea_second_derivatives", Precision::float64));
  if (assembled.isa() != "base")  // nothing is assembled for that
    EXPECT_NE(assembled.kernel("rnea", Precision::float64).kernel, any.kernel("rnea", Precision::float64).kernel);
}

}  // namespace
}  // namespace featherstorm::test_book_ops
