// What the library's own spatial operations cost where they differ from RBDA Tables A.4, A.5 and section A.5, whose
// forms test_appendix_a.cpp counts; and the example of section 10.4.
#include <gtest/gtest.h>

#include "core/spatial/transform.h"
#include "core/trace/evaluate.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/counting.h"
#include "tests/support/tools/traced_counts.h"

namespace featherstorm::test_operation_counts_spatial {
namespace {

using namespace testing;

// Random quantities of a scalar; with the same seed the same numbers for every scalar.
template <class T>
struct Quantities {
  explicit Quantities(unsigned seed) : random(seed) {}
  T number() { return T(random.uniform(-1, 1)); }
  Vec3<T> vector() {
    const T x = number(), y = number(), z = number();
    return {x, y, z};
  }
  Mat3<T> matrix() {
    Mat3<T> m;
    for (int i = 0; i < 9; i++) m(i / 3, i % 3) = number();
    return m;
  }
  Mat3<T> rotation() { return cast<T>(random.rotation()); }
  Sym3<T> symmetric() { return upper(matrix()); }
  RigidBodyInertia<T> rigid() {
    const T m = number();
    const Vec3<T> h = vector();
    return {m, h, symmetric()};
  }
  ArticulatedInertia<T> articulated() {
    const Sym3<T> I = symmetric();
    const Mat3<T> H = matrix();
    return {I, H, symmetric()};
  }
  Placement<T> placement() {
    const Mat3<T> R = rotation();
    return {R, vector()};
  }
  Random random;
};

using Q = Quantities<Counting>;
// What f costs; its arguments are made before the counting.
template <class F, class... Arguments>
Operations cost(F f, const Arguments&... a) {
  return operations([&] { f(a...); });
}

// One transform of an inertia by a full rotation is above the book's 52m + 56a and 137m + 137a: rows of products in
// place of the trick with the trace. Chains do not meet it: they turn about z and x, below.
TEST(OperationCountsSpatial, TransformsOfInertiasByFullRotations) {
  Q r(3);
  const Placement<Counting> X = r.placement();
  EXPECT_EQ(cost([&](auto& I) { (void)apply_transpose(X, I); }, r.rigid()), (Operations{57, 69}));
  EXPECT_EQ(cost([&](auto& I) { (void)apply_transpose(X, I); }, r.articulated()), (Operations{138, 186}));
}

// By rows, where rotation_tricks.h takes two columns or the trace: kernels make multiply-adds of them.
TEST(OperationCountsSpatial, RotationsByRows) {
  Q r(4);
  const Mat3<Counting> E = r.rotation(), F = r.rotation(), A = r.matrix();
  const Sym3<Counting> S = r.symmetric();
  EXPECT_EQ(cost([&] { (void)(E * F); }), (Operations{18, 27}));
  EXPECT_EQ(cost([&] { (void)conjugate(E, A); }), (Operations{36, 54}));
  EXPECT_EQ(cost([&] { (void)conjugate(E, S); }), (Operations{30, 45}));
}

// tau = (v x I v) . s, RBDA Table 10.3: 29 operations as written, 5 after simplification; the optimum is 0.1 v1 v2.
TEST(OperationCountsSpatial, SymbolicSimplificationOfTheBooksExample) {
  const auto torque = [](const auto& v, const auto& I, const auto& s) { return dot(cross(v, I * v), s); };
  Q r(7);
  const Operations written = cost([&](auto& I) { (void)torque(r.vector(), I, r.vector()); }, r.matrix());
  EXPECT_EQ(written.add + written.mul, 29);
  const Mat3d I = Vec3d(1.5, 1.6, 1.7).asDiagonal();
  const Vec3d s{0, 0, 1};
  Program p;
  const std::vector<Expr> v = p.input("v", 3);
  {
    Tracing scope(p.graph);
    p.output("tau", {torque(Vec3<Expr>{v[0], v[1], v[2]}, I, s)});
  }
  const Counts c = count(p, trace_order(p));
  EXPECT_LE(c.flops(), 5);
  EXPECT_EQ(c.loads, 2);
  const double x[] = {0.3, -0.7, 2.0};
  EXPECT_NEAR(evaluate<double>(p, {{x[0], x[1], x[2]}})[0][0], 0.1 * x[0] * x[1], 1e-15);
}

}  // namespace
}  // namespace featherstorm::test_operation_counts_spatial
