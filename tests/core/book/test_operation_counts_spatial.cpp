// What the spatial operations cost: RBDA Tables A.4 and A.5, the tricks of section A.5, and the example of
// section 10.4.
#include <gtest/gtest.h>

#include "core/trace/count.h"
#include "core/trace/evaluate.h"
#include "core/trace/order.h"
#include "tests/support/axial_screw.h"
#include "tests/support/counting.h"
#include "tests/support/random_robot.h"

namespace featherstorm::testing {
namespace {

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
  Motion<T> motion() {
    const Vec3<T> w = vector(), v = vector();
    return {w, v};
  }
  Force<T> force() {
    const Vec3<T> n = vector(), f = vector();
    return {n, f};
  }
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
  Screw<T> screw(int axis) {
    const double angle = random.uniform(-3, 3);
    return {turn(T(std::cos(angle)), T(std::sin(angle))), number(), axis};
  }
  Random random;
};

using Q = Quantities<Counting>;
// What f costs; its arguments are made before the counting.
template <class F, class... Arguments>
Operations cost(F f, const Arguments&... a) {
  return operations([&] { f(a...); });
}
constexpr auto plus = [](const auto& a, const auto& b) { (void)(a + b); };
constexpr auto times = [](const auto& a, const auto& b) { (void)(a * b); };

TEST(OperationCountsSpatial, VectorsAndSumsCostWhatTableA4Says) {
  Q r(1);
  EXPECT_EQ(cost(times, r.motion(), r.number()), (Operations{0, 6}));
  EXPECT_EQ(cost(times, r.force(), r.number()), (Operations{0, 6}));
  EXPECT_EQ(cost(plus, r.motion(), r.motion()), (Operations{6, 0}));
  EXPECT_EQ(cost(plus, r.force(), r.force()), (Operations{6, 0}));
  EXPECT_EQ(cost(plus, r.rigid(), r.rigid()), (Operations{10, 0}));
  EXPECT_EQ(cost(plus, r.articulated(), r.articulated()), (Operations{21, 0}));
  EXPECT_EQ(cost([](auto& v, auto& f) { (void)dot(v, f); }, r.motion(), r.force()), (Operations{5, 6}));
  EXPECT_EQ(cost([](auto& v, auto& m) { (void)cross(v, m); }, r.motion(), r.motion()), (Operations{12, 18}));
  EXPECT_EQ(cost([](auto& v, auto& f) { (void)cross_dual(v, f); }, r.motion(), r.force()), (Operations{12, 18}));
  EXPECT_EQ(cost(times, r.rigid(), r.motion()), (Operations{18, 24}));
  EXPECT_EQ(cost(times, r.articulated(), r.motion()), (Operations{30, 36}));
}

TEST(OperationCountsSpatial, TransformsOfVectorsCostWhatTableA4Says) {
  Q r(2);
  const Placement<Counting> X = r.placement();
  EXPECT_EQ(cost([&](auto& v) { (void)apply(X, v); }, r.motion()), (Operations{18, 24}));
  EXPECT_EQ(cost([&](auto& v) { (void)apply_inverse(X, v); }, r.motion()), (Operations{18, 24}));
  EXPECT_EQ(cost([&](auto& f) { (void)apply_dual(X, f); }, r.force()), (Operations{18, 24}));
  EXPECT_EQ(cost([&](auto& f) { (void)apply_transpose(X, f); }, r.force()), (Operations{18, 24}));
  EXPECT_EQ(cost([&] { (void)inverse(X); }), (Operations{6, 9}));
  // the product of two transforms by nine dot products; by two columns and a cross product it is 33m + 24a
  const Placement<Counting> Y = r.placement();
  EXPECT_EQ(cost([&] { (void)(X * Y); }), (Operations{27, 36}));
}

// One transform of an inertia by a full rotation is above the book's 52m + 56a and 137m + 137a: rows of products in
// place of the trick with the trace. Chains do not meet it: they turn about z and x, below.
TEST(OperationCountsSpatial, TransformsOfInertiasByFullRotations) {
  Q r(3);
  const Placement<Counting> X = r.placement();
  EXPECT_EQ(cost([&](auto& I) { (void)apply_transpose(X, I); }, r.rigid()), (Operations{57, 69}));
  EXPECT_EQ(cost([&](auto& I) { (void)apply_transpose(X, I); }, r.articulated()), (Operations{138, 186}));
}

TEST(OperationCountsSpatial, RotationTricksCostWhatSectionA5Says) {
  Q r(4);
  const Mat3<Counting> E = r.rotation(), F = r.rotation(), A = r.matrix();
  const Sym3<Counting> S = r.symmetric();
  EXPECT_EQ(cost([&] { (void)product_by_columns(E, F); }), (Operations{15, 24}));
  EXPECT_EQ(cost([&] { (void)(E * F); }), (Operations{18, 27}));
  EXPECT_EQ(cost([&] { (void)conjugate_by_trace(E, A); }), (Operations{39, 40}));
  EXPECT_EQ(cost([&] { (void)conjugate(E, A); }), (Operations{36, 54}));
  EXPECT_EQ(cost([&] { (void)conjugate_by_trace(E, S); }), (Operations{29, 28}));
  EXPECT_EQ(cost([&] { (void)conjugate(E, S); }), (Operations{30, 45}));
  const Screw<Counting> X = r.screw(2);
  EXPECT_EQ(cost([&] { (void)turned(X, A); }), (Operations{12, 12}));
  EXPECT_EQ(cost([&] { (void)turned(X, S); }), (Operations{7, 8}));
  EXPECT_EQ(cost([&] { (void)turn(X.R.c, X.R.s); }), (Operations{3, 2}));  // once per angle
}

// core/spatial/rotation.h turns matrices about an axis from (c, s) alone. A general matrix costs what the book's form
// costs without its 2m per angle; a symmetric one costs 1a more and saves 2m + 3a per angle.
TEST(OperationCountsSpatial, RotationsAboutAnAxisNeedNothingComputedOnce) {
  Q r(5);
  const Mat3<Counting> A = r.matrix();
  const Sym3<Counting> S = r.symmetric();
  const RotationZ<Counting> z{r.number(), r.number()};
  const RotationX<Counting> x{r.number(), r.number()};
  EXPECT_EQ(cost([&] { (void)conjugate(z, A); }), (Operations{12, 12}));
  EXPECT_EQ(cost([&] { (void)conjugate(x, A); }), (Operations{12, 12}));
  EXPECT_EQ(cost([&] { (void)conjugate(z, S); }), (Operations{8, 8}));
  EXPECT_EQ(cost([&] { (void)conjugate(x, S); }), (Operations{8, 8}));
  EXPECT_EQ(cost([&] { (void)rotate(z, r.vector()); }), (Operations{2, 4}));
}

TEST(OperationCountsSpatial, AxialScrewsCostWhatTableA5Says) {
  for (int axis = 0; axis < 3; axis++) {
    Q r(6);
    const Screw<Counting> X = r.screw(axis);
    EXPECT_EQ(cost([&](auto& f) { (void)apply_transpose(X, f); }, r.force()), (Operations{6, 10}));
    // less 1m than in the table: m d is a constant (section 10.3.1)
    EXPECT_EQ(cost([&](auto& I, auto& md) { (void)apply_transpose(X, I, md); }, r.rigid(), r.number()),
              (Operations{15, 15}));
    EXPECT_EQ(cost([&](auto& I) { (void)apply_transpose(X, I); }, r.articulated()), (Operations{40, 38}));
  }
}

template <class A, class B>
double largest_difference(const A& a, const B& b) {
  double e = 0;
  for (int k = 0; k < 6; k++) {
    Motion<double> m = zero_motion<double>();
    (k < 3 ? m.w(k) : m.v(k - 3)) = 1;
    const Force<double> d = a * m - b * m;
    for (int i = 0; i < 6; i++) e = std::max(e, std::abs(component(d, i)));
  }
  return e;
}

// The forms counted above compute what the plain ones do.
TEST(OperationCountsSpatial, TheBooksFormsAreRight) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    Quantities<double> r(seed);
    const Mat3d E = r.rotation(), F = r.rotation(), A = r.matrix();
    const Sym3<double> S = r.symmetric();
    EXPECT_LT((product_by_columns(E, F) - E * F).norm(), 1e-14);
    EXPECT_LT((conjugate_by_trace(E, A) - Mat3d(E * A * E.transpose())).norm(), 1e-14);
    EXPECT_LT((full(conjugate_by_trace(E, S)) - Mat3d(E * full(S) * E.transpose())).norm(), 1e-14);
    for (int axis = 0; axis < 3; axis++) {
      const Screw<double> X = r.screw(axis);
      Placement<double> P{Eigen::AngleAxisd(std::atan2(X.R.s, X.R.c), Vec3d::Unit(axis)).toRotationMatrix(),
                          zero3<double>()};
      P.r(axis) = X.d;
      const Force<double> f = r.force(), a = apply_transpose(X, f), b = apply_transpose(P, f);
      EXPECT_LT((a.n - b.n).norm() + (a.f - b.f).norm(), 1e-14);
      const RigidBodyInertia<double> I = r.rigid();
      EXPECT_LT(largest_difference(apply_transpose(X, I, I.m * X.d), apply_transpose(P, I)), 1e-13);
      const ArticulatedInertia<double> IA = r.articulated();
      EXPECT_LT(largest_difference(apply_transpose(X, IA), apply_transpose(P, IA)), 1e-13);
    }
  }
}

// Programs: what is left of a text once zeros and constants are folded.
template <class F>
Counts traced(int inputs, F f) {
  Program p;
  const std::vector<Expr> x = p.input("x", inputs);
  {
    Tracing scope(p.graph);
    p.output("y", f(x));
  }
  return count(p, trace_order(p));
}
template <class T>
std::vector<T> numbers(const ArticulatedInertia<T>& J) {
  std::vector<T> all{J.I.xx, J.I.xy, J.I.xz, J.I.yy, J.I.yz, J.I.zz, J.M.xx, J.M.xy, J.M.xz, J.M.yy, J.M.yz, J.M.zz};
  for (int i = 0; i < 9; i++) all.push_back(J.H(i / 3, i % 3));
  return all;
}
// I^a of a revolute joint about z: row and column 3 are zero.
ArticulatedInertia<Expr> without_axis(const std::vector<Expr>& x) {
  const Expr o(0);
  return {{x[0], x[1], o, x[2], o, o},
          rows<Expr>(x[3], x[4], x[5], x[6], x[7], x[8], o, o, o),
          {x[9], x[10], x[11], x[12], x[13], x[14]}};
}

// The zeros of I^a are used without being stated: the general text is traced with them. RBDA Table A.5, lower part.
TEST(OperationCountsSpatial, TheZerosOfArticulatedInertiasFold) {
  const Counts z = traced(18, [](const std::vector<Expr>& x) {
    return numbers(apply_transpose(Screw<Expr>{turn(x[15], x[16]), x[17], 2}, without_axis(x)));
  });
  EXPECT_LE(z.flops(), 28 + 34 + 2 + 3);
  for (int axis : {0, 1}) {
    const Counts xy = traced(18, [&](const std::vector<Expr>& x) {
      return numbers(apply_transpose(Screw<Expr>{turn(x[15], x[16]), x[17], axis}, without_axis(x)));
    });
    EXPECT_LE(xy.flops(), 32 + 28 + 2 + 3);
  }
  // between Denavit-Hartenberg frames; the tilt and both lengths are constants
  const Counts pair = traced(17, [](const std::vector<Expr>& x) {
    const Screw<Expr> tilt{turn<Expr>(std::cos(0.7), std::sin(0.7)), 0.4, 0};
    return numbers(apply_transpose(tilt, apply_transpose(Screw<Expr>{turn(x[15], x[16]), 0.3, 2}, without_axis(x))));
  });
  EXPECT_LE(pair.flops(), 62 + 65);
  // the library's: (c, s) alone, and an origin anywhere, which takes 83m + 78a
  const Counts own = traced(17, [](const std::vector<Expr>& x) {
    const auto turned = rotate(RotationZ<Expr>{x[15], x[16]}, without_axis(x));
    return numbers(apply_transpose(RotationX<double>{std::cos(0.7), std::sin(0.7)}, Vec3d{0.4, 0.2, 0.3}, turned));
  });
  EXPECT_LE(own.flops(), 83 + 78) << own.mul << "m + " << own.add << "a";
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
}  // namespace featherstorm::testing
