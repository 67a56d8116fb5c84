// RBDA appendix A: the functions of Tables A.1 and A.2, the types of A.3 with what they refuse, the operation counts of
// Tables A.4 and A.5, the tricks of section A.5; screws of section 2.5.
#include <gtest/gtest.h>

#include <functional>
#include <unsupported/Eigen/MatrixFunctions>

#include "core/dynamics/articulated_joint.h"
#include "core/program/count.h"
#include "core/program/order.h"
#include "core/reference/spatial/axial_screw.h"
#include "core/reference/spatial/matrices.h"
#include "core/reference/spatial/planar.h"
#include "core/reference/spatial/rotation_tricks.h"
#include "core/reference/spatial/screw.h"
#include "core/spatial/transform.h"
#include "core/trace/eigen_traits.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/counting.h"
#include "tests/support/tools/six.h"

namespace featherstorm::test_appendix_a {
namespace {

using namespace testing;

using namespace matrices;

struct Sample {
  Random random;
  Motion<double> v;
  Force<double> f;
  Mat3d E;
  Vec3d r;
  Matrix6 X;
  RigidBodyInertia<double> I;
  ArticulatedInertia<double> IA;
  explicit Sample(unsigned seed) : random(seed) {
    v = {random.vector(), random.vector()}, f = {random.vector(), random.vector()};
    E = random.rotation(), r = random.vector();
    X = rot(E) * xlt(r);
    const LinkSpec link = random_link(random, "body");
    I = rigid_body_inertia<double>(link.mass, link.com, upper(link.inertia));
    Matrix6 A;
    for (int i = 0; i < 36; i++) A(i) = random.uniform(-1, 1);
    const Matrix6 G = A * A.transpose();
    IA = {upper(Matrix3(G.topLeftCorner<3, 3>())), G.topRightCorner<3, 3>(),
          upper(Matrix3(G.bottomRightCorner<3, 3>()))};
  }
};
template <class F>
void for_samples(F test) {
  for (unsigned seed = 1; seed <= 30; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test(Sample(seed));
  }
}
template <class A, class B>
void expect_near(const A& a, const B& b, double bound = 1e-13) {
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), bound * (1 + b.cwiseAbs().maxCoeff()));
}

// Tables A.2, 2.2 against transform.h, and the composition of turns and shifts.
TEST(TableA2, FunctionsAreThoseOfTheTypes) {
  for_samples([](Sample s) {
    const Placement<double> P{s.E.transpose(), s.r};
    expect_near(Vector6(s.X * vector(s.v)), vector(apply(P, s.v)));
    expect_near(Vector6(s.X.inverse().transpose() * vector(s.f)), vector(apply_dual(P, s.f)));
    expect_near(Vector6(crm(vector(s.v)) * vector(s.v)), Vector6(Vector6::Zero()));
    expect_near(Vector6(crf(vector(s.v)) * vector(s.f)), vector(cross_dual(s.v, s.f)));
    const LinkSpec l = random_link(s.random, "body");
    const Matrix6 I = mcI(l.mass, l.com, l.inertia);
    expect_near(I, matrix6(rigid_body_inertia<double>(l.mass, l.com, upper(l.inertia))));
    expect_near(Matrix6(inverse_mcI(l.mass, l.com, l.inertia) * I), Matrix6(Matrix6::Identity()), 1e-11);  // (2.74)
    const double a = s.v.w.x(), b = s.v.w.y();
    for (auto turn : {rotx, roty, rotz}) {
      expect_near(Matrix6(turn(a) * turn(b)), turn(a + b));
      expect_near(Matrix6(turn(a).inverse().transpose()), turn(a));  // X* = X for a pure turn
    }
    expect_near(rz(a), Matrix3(transposed(matrix(rotation_z(a)))));  // ours is R = E^T
    expect_near(rx(a), Matrix3(Eigen::AngleAxisd(a, Vector3::UnitX()).toRotationMatrix().transpose()));
    expect_near(ry(a), Matrix3(Eigen::AngleAxisd(a, Vector3::UnitY()).toRotationMatrix().transpose()));
    // (2.28): the new frame's origin is at zero there, and points go along
    const Matrix4 T = homogeneous(s.E, s.r);
    expect_near(Vector3((T * s.r.homogeneous()).head<3>()), Vector3(Vector3::Zero()));
    expect_near(Vector3((T * (s.r + s.v.w).homogeneous()).head<3>()), Vector3(s.E * s.v.w));
  });
}

TEST(TableA2, MotionOfATransform) {
  for_samples([](const Sample& s) {
    const Vector6 v = XtoV(s.X);
    expect_near(Vector6(s.X * v), v);
    expect_near(Vector6(s.X.inverse() * v), v);
    expect_near(XtoV(xlt(s.r)), (Vector6() << Vector3::Zero(), s.r).finished());
    // X = exp(-u×): u found again to first order
    const double small = 1e-5;
    const Vector6 u = small * vector(s.v);
    expect_near(Vector6(XtoV(Matrix6((-crm(u)).exp())) / small), vector(s.v), 1e-8);
  });
}

TEST(TableA1, PlanarFunctionsAreThoseOfTheTypes) {
  for_samples([](Sample s) {
    const double t = 1.3 * s.v.w.x();
    const Vector2 r = s.r.head<2>(), c = s.v.v.head<2>();
    const Matrix3 X = Xpln(t, r);
    const PlanarPlacement<double> P{rotation_z(t), r.x(), r.y()};
    const PlanarMotion<double> m{s.v.w.x(), s.v.w.y(), s.v.w.z()};
    const PlanarForce<double> f{s.f.n.x(), s.f.n.y(), s.f.n.z()};
    const auto three = [](const auto& x) { return Vector3(x.x(), x.y(), x.z()); };
    const Vector3 vm = three(s.v.w), vf = three(s.f.n);
    const PlanarMotion<double> Xm = apply(P, m), vv = cross(m, PlanarMotion<double>{0.3, 0.4, 0.5});
    expect_near(Vector3(Xm.w, Xm.x, Xm.y), Vector3(X * vm));
    const PlanarForce<double> XTf = apply_transpose(P, f), vxf = cross_dual(m, f);
    expect_near(Vector3(XTf.n, XTf.x, XTf.y), Vector3(X.transpose() * vf));
    expect_near(Vector3(vv.w, vv.x, vv.y), Vector3(crm(vm) * Vector3(0.3, 0.4, 0.5)));
    expect_near(Vector3(vxf.n, vxf.x, vxf.y), Vector3(crf(vm) * vf));
    const PlanarInertia<double> I{2, 2 * c.x(), 2 * c.y(), 0.7 + 2 * c.squaredNorm()};
    const PlanarForce<double> h = I * m;
    expect_near(Vector3(h.n, h.x, h.y), Vector3(mcI(2, c, 0.7) * vm));
    // both versions of XtoV
    const Vector3 v = XtoV(X);
    expect_near(Matrix3((-crm(Vector3(v * std::asin(X(1, 2)) / X(1, 2)))).exp()), X, 1e-11);
    expect_near(Vector3(X * v), v);
    const Vector3 u = 1e-6 * vm;
    expect_near(Vector3(XtoV_simple(Matrix3((-crm(u)).exp())) / 1e-6), vm, 1e-5);
    expect_near(XtoV_simple(Xpln(0, r)), Vector3(0, r.x(), r.y()));
  });
}

// Table A.3 and section A.3: types that do not mix do not compile.
template <class A, class B>
concept Adds = requires(A a, B b) { a + b; };
template <class A, class B>
concept Multiplies = requires(A a, B b) { a * b; };
template <class A, class B>
concept Dots = requires(A a, B b) { dot(a, b); };
template <class A, class B>
concept Crosses = requires(A a, B b) { cross(a, b); };
template <class A, class B>
concept CrossesDual = requires(A a, B b) { cross_dual(a, b); };
template <class X, class A>
concept Applies = requires(X x, A a) { apply(x.R, x.r, a); };
template <class X, class A>
concept AppliesDual = requires(X x, A a) { apply_dual(x.R, x.r, a); };
template <class A, class B>
concept Assigns = requires(A a, B b) { a = b; };
using M = Motion<double>;
using F = Force<double>;
using RBI = RigidBodyInertia<double>;
using ABI = ArticulatedInertia<double>;
using PLX = Placement<double>;
static_assert(Adds<M, M> && Adds<F, F> && Adds<RBI, RBI> && Adds<ABI, ABI>);
static_assert(!Adds<M, F> && !Adds<F, M> && !Adds<RBI, ABI> && !Adds<M, RBI>);
static_assert(Dots<M, F> && !Dots<M, M> && !Dots<F, F> && !Dots<F, M>);
static_assert(Crosses<M, M> && !Crosses<M, F> && !Crosses<F, F> && !Crosses<F, M>);
static_assert(CrossesDual<M, F> && !CrossesDual<M, M> && !CrossesDual<F, F> && !CrossesDual<F, M>);
static_assert(Multiplies<RBI, M> && Multiplies<ABI, M> && !Multiplies<RBI, F> && !Multiplies<ABI, F>);
static_assert(!Multiplies<M, M> && !Multiplies<F, F> && !Multiplies<M, F>);
static_assert(Multiplies<M, double> && Multiplies<F, double> && Multiplies<PLX, PLX>);
static_assert(Applies<PLX, M> && !Applies<PLX, F>);
static_assert(AppliesDual<PLX, F> && !AppliesDual<PLX, M>);
static_assert(!Assigns<M&, F> && !Assigns<F&, M> && !Assigns<RBI&, ABI> && !Assigns<ABI&, RBI>);
static_assert(!Adds<PlanarMotion<double>, PlanarForce<double>> && !Dots<PlanarMotion<double>, PlanarMotion<double>>);
static_assert(sizeof(M) == 6 * sizeof(double) && sizeof(F) == 6 * sizeof(double) &&
              sizeof(PLX) == 12 * sizeof(double) && sizeof(RBI) == 10 * sizeof(double) &&
              sizeof(ABI) == 21 * sizeof(double));

// Counting copies of the arguments.
using C = Counting;
Vec3<C> counting(const Vec3d& v) { return {v.x(), v.y(), v.z()}; }
Mat3<C> counting(const Mat3d& m) {
  return rows<C>(m(0, 0), m(0, 1), m(0, 2), m(1, 0), m(1, 1), m(1, 2), m(2, 0), m(2, 1), m(2, 2));
}
Sym3<C> counting(const Sym3<double>& s) { return {s.xx, s.xy, s.xz, s.yy, s.yz, s.zz}; }
std::pair<int, int> cost(const std::function<void()>& f) {
  const Operations o = operations(f);
  EXPECT_EQ(o.rcp + o.sqrt, 0);
  return {o.mul, o.add};
}
using Cost = std::pair<int, int>;  // m, a

TEST(TableA4, OperationsCostWhatTheBookSays) {
  const Sample s(1);
  const Motion<C> v{counting(s.v.w), counting(s.v.v)};
  const Force<C> f{counting(s.f.n), counting(s.f.f)};
  const RigidBodyInertia<C> I{s.I.m, counting(s.I.h), counting(s.I.I)};
  const ArticulatedInertia<C> IA{counting(s.IA.I), counting(s.IA.H), counting(s.IA.M)};
  const Mat3<C> E = counting(s.E);
  const Placement<C> X{counting(transposed(s.E)), counting(s.r)};
  EXPECT_EQ(cost([&] { (void)(v * C(2)); }), Cost(6, 0));
  EXPECT_EQ(cost([&] { (void)(f * C(2)); }), Cost(6, 0));
  EXPECT_EQ(cost([&] { (void)(v + v); }), Cost(0, 6));
  EXPECT_EQ(cost([&] { (void)(f + f); }), Cost(0, 6));
  EXPECT_EQ(cost([&] { (void)(I + I); }), Cost(0, 10));
  EXPECT_EQ(cost([&] { (void)(IA + IA); }), Cost(0, 21));
  EXPECT_EQ(cost([&] { (void)dot(v, f); }), Cost(6, 5));
  EXPECT_EQ(cost([&] { (void)cross(v, v); }), Cost(18, 12));
  EXPECT_EQ(cost([&] { (void)cross_dual(v, f); }), Cost(18, 12));
  EXPECT_EQ(cost([&] { (void)(I * v); }), Cost(24, 18));
  EXPECT_EQ(cost([&] { (void)(IA * v); }), Cost(36, 30));
  EXPECT_EQ(cost([&] { (void)apply(X, v); }), Cost(24, 18));
  EXPECT_EQ(cost([&] { (void)apply_inverse(X, v); }), Cost(24, 18));
  EXPECT_EQ(cost([&] { (void)apply_dual(X, f); }), Cost(24, 18));
  EXPECT_EQ(cost([&] { (void)apply_transpose(X, f); }), Cost(24, 18));
  EXPECT_EQ(cost([&] { (void)inverse(X); }), Cost(9, 6));
  // X_1 X_2 with the product of rotations by two columns: 33m + 24a; placements take all three
  EXPECT_EQ(cost([&] { (void)(X * X); }), Cost(36, 27));
  EXPECT_EQ(cost([&] { (void)rotation_product(E, E), (void)(X.r + X.R * X.r); }), Cost(33, 24));
  EXPECT_EQ(cost([&] { (void)transform_inertia(E, X.r, I); }), Cost(52, 56));
  // 274 operations, as many as the book's 137m + 137a
  EXPECT_EQ(cost([&] { (void)transform_inertia(E, X.r, IA); }), Cost(135, 139));
}

// Section A.5: values and counts.
TEST(SectionA5, RotationsCostWhatTheBookSays) {
  for_samples([](Sample s) {
    const Mat3d G = s.random.rotation(), A = full(s.IA.I) + s.IA.H;
    expect_near(rotation_product(s.E, G), Mat3d(s.E * G));
    expect_near(rotate_general(s.E, A), Mat3d(s.E * A * s.E.transpose()));
    expect_near(full(rotate_symmetric(s.E, s.IA.I)), Mat3d(s.E * full(s.IA.I) * s.E.transpose()));
    expect_near(matrix6(transform_inertia(s.E, s.r, s.I)),
                Matrix6(s.X.inverse().transpose() * matrix6(s.I) * s.X.inverse()));
    expect_near(matrix6(transform_inertia(s.E, s.r, s.IA)),
                Matrix6(s.X.inverse().transpose() * matrix6(s.IA) * s.X.inverse()));
  });
  const Sample s(1);
  const Mat3<C> E = counting(s.E), H = counting(s.IA.H);
  const Sym3<C> S = counting(s.IA.I);
  EXPECT_EQ(cost([&] { (void)rotation_product(E, E); }), Cost(24, 15));
  EXPECT_EQ(cost([&] { (void)rotate_general(E, H); }), Cost(40, 39));
  EXPECT_EQ(cost([&] { (void)rotate_symmetric(E, S); }), Cost(28, 29));
  // about an axis: rotation.h has (c, s) alone, so no one-time cost. A general matrix costs what the book's form costs
  // without its 2m per angle; a symmetric one costs 1a more and saves 2m + 3a per angle
  const RotationZ<C> Z{0.6, 0.8};
  const RotationX<C> X{0.6, 0.8};
  for (const Cost& c : {cost([&] { (void)conjugate(Z, H); }), cost([&] { (void)conjugate(X, H); })})
    EXPECT_EQ(c, Cost(12, 12));
  for (const Cost& c : {cost([&] { (void)conjugate(Z, S); }), cost([&] { (void)conjugate(X, S); })})
    EXPECT_EQ(c, Cost(8, 8));
  EXPECT_EQ(cost([&] { (void)rotate(Z, counting(s.r)); }), Cost(4, 2));
}

template <int axis>
void expect_axial_screw() {
  for_samples([](const Sample& s) {
    const double t = 2 * s.f.n.x(), d = s.f.n.y();
    const auto S = axial_screw<axis>(t, d);
    const Matrix6 turn = axis == 0 ? rotx(t) : axis == 1 ? roty(t) : rotz(t), shift = xlt(d * Vector3::Unit(axis));
    const Matrix6 X = turn * shift, Xd = X.inverse().transpose();
    expect_near(X, Matrix6(shift * turn));
    expect_near(vector(apply(S, s.v)), Vector6(X * vector(s.v)));
    expect_near(vector(apply_dual(S, s.f)), Vector6(Xd * vector(s.f)));
    expect_near(matrix6(apply_dual(S, s.I)), Matrix6(Xd * matrix6(s.I) * X.inverse()));
    // the inverse from the same cosine and sine, with m d known
    const auto back = axial_screw<axis>(std::cos(t), -std::sin(t), -d);
    expect_near(matrix6(apply_dual(back, s.I, -s.I.m * d)), Matrix6(X.transpose() * matrix6(s.I) * X));
    expect_near(vector(apply_dual(back, s.f)), Vector6(X.transpose() * vector(s.f)));
    expect_near(matrix6(apply_dual(back, s.IA)), Matrix6(X.transpose() * matrix6(s.IA) * X));
    expect_near(matrix6(apply_dual(S, s.IA)), Matrix6(Xd * matrix6(s.IA) * X.inverse()));
  });
  const Sample s(1);
  const AxialScrew<axis, C> S{0.6, 0.8, 0.3, 0.64, 0.48, 0.96, -0.28};
  const Motion<C> v{counting(s.v.w), counting(s.v.v)};
  const Force<C> f{counting(s.f.n), counting(s.f.f)};
  const RigidBodyInertia<C> I{s.I.m, counting(s.I.h), counting(s.I.I)};
  const ArticulatedInertia<C> IA{counting(s.IA.I), counting(s.IA.H), counting(s.IA.M)};
  EXPECT_EQ(cost([&] { (void)apply(S, v); }), Cost(10, 6));
  EXPECT_EQ(cost([&] { (void)apply_dual(S, f); }), Cost(10, 6));
  EXPECT_EQ(cost([&] { (void)apply_dual(S, I); }), Cost(16, 15));
  EXPECT_EQ(cost([&] { (void)apply_dual(S, I, C(0.7)); }), Cost(15, 15));
  EXPECT_EQ(cost([&] { (void)axial_screw<axis>(C(0.6), C(0.8), C(0.3)); }), Cost(2, 3));  // once per angle
  EXPECT_EQ(cost([&] { (void)apply_dual(S, IA); }), Cost(38, 40));
  EXPECT_EQ(cost([&] { (void)turn(S, counting(s.IA.H)); }), Cost(12, 12));
  EXPECT_EQ(cost([&] { (void)turn(S, counting(s.IA.I)); }), Cost(8, 7));
}
TEST(TableA5, AxialScrewsCostWhatTheBookSays) {
  expect_axial_screw<0>(), expect_axial_screw<1>(), expect_axial_screw<2>();
}

// Section 2.5, (2.10)
TEST(Screw, PartsAddUpAndThePitchIsInvariant) {
  for_samples([](const Sample& s) {
    const Screw<double> x = screw(s.v);
    expect_near(Vec3d(x.line_moment + x.free_part), s.v.v);
    EXPECT_NEAR(dot(x.direction, x.line_moment), 0, 1e-14);          // a line vector
    expect_near(Vec3d(cross(x.point, x.direction)), x.line_moment);  // whose line goes through the point
    EXPECT_LT(cross(x.free_part, x.direction).norm(), 1e-14);        // and a free vector parallel to it
    EXPECT_NEAR(dot(x.point, x.direction), 0, 1e-14);
    const Placement<double> P{s.E.transpose(), s.r};
    EXPECT_NEAR(screw(apply(P, s.v)).pitch, x.pitch, 1e-13 * (1 + std::abs(x.pitch)));
    const Screw<double> w = screw(s.f);
    EXPECT_NEAR(screw(apply_dual(P, s.f)).pitch, w.pitch, 1e-13 * (1 + std::abs(w.pitch)));
    // points of the axis move along it; moments about it are parallel to it
    EXPECT_LT(cross(velocity_at(s.v, Vec3d(x.point + x.direction * 0.7)), x.direction).norm(), 1e-13);
    EXPECT_LT(cross(moment_at(s.f, Vec3d(w.point - w.direction * 2.0)), w.direction).norm(), 1e-13);
    // (2.1), (2.6) as parts of transforms
    const Placement<double> shift{Mat3d::Identity(), s.r};
    expect_near(velocity_at(s.v, s.r), apply(shift, s.v).v);
    expect_near(moment_at(s.f, s.r), apply_dual(shift, s.f).n);
    EXPECT_TRUE(is_line(x.direction, x.line_moment, 1e-13));
    EXPECT_FALSE(is_line(s.v.w, s.v.v, 1e-6));
  });
  const Screw<double> free = screw(Motion<double>{{0, 0, 0}, {1, 2, 3}});  // infinite pitch: nothing is divided by zero
  EXPECT_EQ(free.free_part, Vec3d(1, 2, 3));
  EXPECT_EQ(free.pitch, 0);
  EXPECT_EQ(free.line_moment, Vec3d(0, 0, 0));
  EXPECT_TRUE(is_free(Vec3d(0, 0, 0)));
}

}  // namespace
}  // namespace featherstorm::test_appendix_a
