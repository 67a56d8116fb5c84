// Inertia of solids and shells against clouds of particles, quadrature over slices, meshes and parallel axes.
// Lynch and Park section 9.2.1, Kim (14)-(20), RBDA (2.63).
#include <gtest/gtest.h>

#include <functional>

#include "core/model/inertia_of.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_inertia_of {
namespace {

using namespace testing;

double difference(const MassProperties& a, const MassProperties& b) {
  const double I = a.inertia.norm(), l = std::sqrt(I / a.mass);
  return std::abs(a.mass - b.mass) / a.mass + (a.com - b.com).norm() / l + (a.inertia - b.inertia).norm() / I;
}

// Particles at the centres of the cells of a grid over a box that lie inside.
MassProperties cloud(double mass, const Vec3d& low, const Vec3d& high,
                     const std::function<bool(const Vec3d&)>& inside) {
  const int n = 30;
  std::vector<Vec3d> points;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        const Vec3d r = low + (high - low).cwiseProduct(Vec3d(i + 0.5, j + 0.5, k + 0.5) / n);
        if (inside(r)) points.push_back(r);
      }
  return particles(std::vector<double>(points.size(), mass / static_cast<double>(points.size())), points);
}

TEST(InertiaOf, SolidsAreThoseOfTheirParticles) {
  const double m = 3, r = 0.3, l = 0.8;
  const auto flat = [](const Vec3d& p) { return std::hypot(p.x(), p.y()); };
  const Vec3d e(0.2, 0.5, 0.3);
  EXPECT_LT(difference(box(m, {0.2, 0.5, 0.3}), cloud(m, -e / 2, e / 2, [](const Vec3d&) { return true; })), 2e-3);
  EXPECT_LT(difference(ellipsoid(m, e), cloud(m, -e, e, [&](const Vec3d& p) { return p.cwiseQuotient(e).norm() < 1; })),
            1e-2);
  EXPECT_LT(difference(sphere(m, r),
                       cloud(m, Vec3d::Constant(-r), Vec3d::Constant(r), [&](const Vec3d& p) { return p.norm() < r; })),
            1e-2);
  EXPECT_LT(difference(cylinder(m, r, l),
                       cloud(m, {-r, -r, -l / 2}, {r, r, l / 2}, [&](const Vec3d& p) { return flat(p) < r; })),
            1e-2);
  EXPECT_LT(difference(capsule(m, r, l), cloud(m, {-r, -r, -l / 2 - r}, {r, r, l / 2 + r},
                                               [&](const Vec3d& p) {
                                                 return std::hypot(flat(p), std::max(0.0, std::abs(p.z()) - l / 2)) < r;
                                               })),
            1e-2);
  EXPECT_LT(difference(cone(m, r, l),
                       cloud(m, {-r, -r, 0}, {r, r, l}, [&](const Vec3d& p) { return flat(p) < r * (1 - p.z() / l); })),
            1e-2);
}

// A solid of revolution as a stack of discs, by 3 points of Gauss: exact for polynomials of degree 5.
MassProperties revolved(double mass, double low, double high, const std::function<double(double)>& radius_squared) {
  const double h = (high - low) / 2;
  double V = 0, z1 = 0, z2 = 0, x = 0, zz = 0;
  for (int k = 0; k < 3; k++) {
    const double t = std::sqrt(0.6) * (k - 1), w = k == 1 ? 8.0 / 9 : 5.0 / 9, z = low + h * (1 + t);
    const double s = radius_squared(z), dV = M_PI * s * w * h;
    V += dV, z1 += z * dV, z2 += z * z * dV, x += s / 4 * dV, zz += s / 2 * dV;
  }
  const double rho = mass / V, c = z1 / V;
  MassProperties a{mass, {0, 0, c}, Mat3d::Zero()};
  a.inertia.diagonal() = rho * Vec3d(x + z2 - V * c * c, x + z2 - V * c * c, zz);
  return a;
}

TEST(InertiaOf, SolidsOfRevolutionAreStacksOfDiscs) {
  const double m = 3, r = 0.3, l = 0.6;
  EXPECT_LT(difference(cylinder(m, r, l), revolved(m, -l / 2, l / 2, [&](double) { return r * r; })), 1e-14);
  EXPECT_LT(difference(cone(m, r, l), revolved(m, 0, l, [&](double z) { return std::pow(r * (1 - z / l), 2); })),
            1e-13);
  EXPECT_LT(difference(sphere(m, r), revolved(m, -r, r, [&](double z) { return r * r - z * z; })), 1e-13);
  const auto ends = [&](double z) { return r * r - z * z; };
  MassProperties end = revolved(1, 0, r, ends);
  const double ball = 4 * r / (4 * r + 3 * l);
  end = with_mass(end, m * ball / 2);
  Placement<double> up = identity_placement<double>(), down = up;
  up.r.z() = l / 2, down.r.z() = -l / 2, down.R = Vec3d(1, -1, -1).asDiagonal();
  EXPECT_LT(difference(capsule(m, r, l), cylinder(m * (1 - ball), r, l) + placed(up, end) + placed(down, end)), 1e-13);
}

// A shell is the derivative of the solid by its thickness.
TEST(InertiaOf, ShellsAreDifferencesOfSolids) {
  const double t = 1e-5, r = 0.3;
  const auto shell = [](const MassProperties& outer, const MassProperties& inner, double m_outer, double m_inner) {
    MassProperties s{m_outer - m_inner, Vec3d::Zero(),
                     with_mass(outer, m_outer).inertia - with_mass(inner, m_inner).inertia};
    return with_mass(s, 2);
  };
  const auto cube = [](double x) { return x * x * x; };
  EXPECT_LT(difference(sphere_shell(2, r), shell(sphere(1, r + t), sphere(1, r - t), cube(r + t), cube(r - t))), 1e-8);
  const double l = 0.7, o = (r + t) * (r + t), i = (r - t) * (r - t);
  EXPECT_LT(difference(cylinder_shell(2, r, l), shell(cylinder(1, r + t, l), cylinder(1, r - t, l), o, i)), 1e-8);
  const Vec3d e(0.2, 0.5, 0.3), T = Vec3d::Constant(t), a = e + T, b = e - T;
  EXPECT_LT(difference(box_shell(2, e), shell(box(1, a), box(1, b), a.prod(), b.prod())), 1e-8);
  EXPECT_LT(difference(disc(2, r), cylinder(2, r, 1e-8)), 1e-12);
  EXPECT_LT(difference(rod(2, l), cylinder(2, 1e-8, l)), 1e-12);
}

struct Surface {
  std::vector<Vec3d> vertices;
  std::vector<Triangle> triangles;
};
Surface box_surface(const Vec3d& size) {
  Surface s;
  for (int i = 0; i < 8; i++)
    s.vertices.push_back(size.cwiseProduct(Vec3d(i & 1, (i >> 1) & 1, (i >> 2) & 1) - Vec3d::Constant(0.5)));
  s.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                 {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return s;
}
Surface moved_surface(Surface s, const Placement<double>& X) {
  for (Vec3d& v : s.vertices) v = X.r + X.R * v;
  return s;
}

TEST(InertiaOf, MeshOfABoxIsTheBoxAnywhere) {
  Random random(3);
  const Vec3d size(0.2, 0.5, 0.3);
  for (double far : {0.0, 1.0, 1e5}) {
    const Placement<double> X{random.rotation(), random.vector(far)};
    const Surface s = moved_surface(box_surface(size), X);
    EXPECT_LT(difference(placed(X, box(700 * size.prod(), size)), mesh(700, s.vertices, s.triangles)),
              1e-13 + 1e-14 * far);
    const double area = 2 * (0.2 * 0.5 + 0.5 * 0.3 + 0.3 * 0.2);
    EXPECT_LT(difference(placed(X, box_shell(3 * area, size)), mesh_shell(3, s.vertices, s.triangles)),
              1e-13 + 1e-14 * far);
  }
}

// A box with a box cut out of it: not convex, not even connected on its surface.
TEST(InertiaOf, MeshesMayHaveHoles) {
  const Vec3d size(0.6, 0.5, 0.4), hole(0.2, 0.1, 0.3);
  Placement<double> X = identity_placement<double>();
  X.r = {0.1, -0.05, 0.02};
  Surface s = box_surface(size), inner = moved_surface(box_surface(hole), X);
  for (const Vec3d& v : inner.vertices) s.vertices.push_back(v);
  for (const Triangle& t : inner.triangles) s.triangles.push_back({t[0] + 8, t[2] + 8, t[1] + 8});
  const MassProperties got = mesh(1000, s.vertices, s.triangles);
  const MassProperties whole = got + placed(X, box(1000 * hole.prod(), hole));
  EXPECT_LT(difference(box(1000 * size.prod(), size), whole), 1e-14);
}

TEST(InertiaOf, MeshOfABallApproachesTheBallAsTheSquareOfItsEdges) {
  double before = 0;
  for (int n : {16, 32}) {
    Surface s;
    for (int i = 0; i <= n; i++)  // rings from pole to pole
      for (int j = 0; j < 2 * n; j++) {
        const double a = M_PI * i / n, b = M_PI * j / n;
        s.vertices.push_back(0.3 * Vec3d(std::sin(a) * std::cos(b), std::sin(a) * std::sin(b), std::cos(a)));
      }
    const auto at = [&](int i, int j) { return i == 0 ? 0 : i == n ? n * 2 * n : i * 2 * n + j % (2 * n); };
    for (int i = 0; i < n; i++)
      for (int j = 0; j < 2 * n; j++) {
        if (i > 0) s.triangles.push_back({at(i, j), at(i + 1, j), at(i, j + 1)});
        if (i + 1 < n) s.triangles.push_back({at(i, j + 1), at(i + 1, j), at(i + 1, j + 1)});
      }
    const double solid = difference(sphere(1000 * 4 * M_PI / 3 * 0.027, 0.3), mesh(1000, s.vertices, s.triangles));
    const double shell = difference(sphere_shell(2 * 4 * M_PI * 0.09, 0.3), mesh_shell(2, s.vertices, s.triangles));
    EXPECT_LT(shell, 0.05);
    if (before > 0) EXPECT_NEAR(solid / before, 0.25, 0.02);
    else EXPECT_LT(solid, 0.05);
    before = solid;
  }
}

// Sums, placements and RBDA (2.63) against all particles at once; Kim (14): the blocks of the spatial inertia are
// integrals.
TEST(InertiaOf, CloudsAddAndMoveByParallelAxes) {
  Random random(7);
  std::vector<double> masses;
  std::vector<Vec3d> points, moved_points;
  const Placement<double> X{random.rotation(), random.vector(2)};
  MassProperties sum;
  Eigen::Matrix<double, 6, 6> I = Eigen::Matrix<double, 6, 6>::Zero();
  for (int cloud = 0; cloud < 3; cloud++) {
    std::vector<double> m;
    std::vector<Vec3d> p;
    for (int i = 0; i < 10; i++) m.push_back(random.uniform(0.1, 2)), p.push_back(random.vector(1));
    sum = sum + particles(m, p);
    for (int i = 0; i < 10; i++) {
      masses.push_back(m[i]), points.push_back(p[i]), moved_points.push_back(X.r + X.R * p[i]);
      Mat3d r;
      r << 0, -p[i].z(), p[i].y(), p[i].z(), 0, -p[i].x(), -p[i].y(), p[i].x(), 0;
      I.topLeftCorner<3, 3>() += m[i] * r.transpose() * r, I.topRightCorner<3, 3>() += m[i] * r;
      I.bottomLeftCorner<3, 3>() += m[i] * r.transpose(), I.bottomRightCorner<3, 3>() += m[i] * Mat3d::Identity();
    }
  }
  EXPECT_LT(difference(particles(masses, points), sum), 1e-14);
  EXPECT_LT(difference(particles(masses, moved_points), placed(X, sum)), 1e-14);
  const RigidBodyInertia<double> J = rigid_body_inertia<double>(sum.mass, sum.com, upper(sum.inertia));
  const Motion<double> v{random.vector(), random.vector()};
  Eigen::Matrix<double, 6, 1> x;
  x << v.w, v.v;
  const Force<double> h = J * v;
  EXPECT_LT((I * x - (Eigen::Matrix<double, 6, 1>() << h.n, h.f).finished()).norm(), 1e-12);
  // products of inertia are negative: a pair of particles along the diagonal of x and y
  EXPECT_NEAR(particles({1, 1}, {{1, 1, 0}, {-1, -1, 0}}).inertia(0, 1), -2, 1e-15);
}

TEST(InertiaOf, SolidsMakeLinksThatBuild) {
  const MassProperties all[] = {box(1, {1, 2, 3}),
                                ellipsoid(1, {1, 2, 3}),
                                sphere(1, 1),
                                cylinder(1, 1, 2),
                                capsule(1, 1, 2),
                                cone(1, 1, 2),
                                box_shell(1, {1, 2, 3}),
                                sphere_shell(1, 1),
                                cylinder_shell(1, 1, 2),
                                disc(1, 1),
                                rod(1, 1),
                                particles({1, 1}, {{0, 0, 0}, {1, 0, 0}})};
  for (const MassProperties& a : all) {
    ModelBuilder b;
    b.add_link(link("body", a));
    b.add_joint({"joint", JointType::Free, "", "body"});
    EXPECT_NEAR(b.build().model.body[1].I.m, a.mass, 1e-15);
  }
}

// A plate as four triangles about a point that is not its centre, so that the middle of the vertices is not either.
TEST(InertiaOf, OpenSurfacesMayBeCutInAnyWay) {
  Random random(6);
  const double a = 0.7, b = 0.4, density = 5, m = density * a * b;
  const Placement<double> X{random.rotation(), random.vector(3)};
  std::vector<Vec3d> vertices{{0, 0, 0}, {a, 0, 0}, {a, b, 0}, {0, b, 0}, {0.2 * a, 0.7 * b, 0}};
  for (Vec3d& v : vertices) v = X.r + X.R * v;
  const Vec3d I = Vec3d(b * b, a * a, a * a + b * b) * (m / 12);
  const MassProperties plate{m, {a / 2, b / 2, 0}, I.asDiagonal()};
  const MassProperties fan = mesh_shell(density, vertices, {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}});
  EXPECT_LT(difference(placed(X, plate), fan), 1e-13);
}

TEST(InertiaOf, RefusesWhatIsNoShape) {
  EXPECT_EQ(message([] { sphere(1, -0.5); }), "sphere: radius is -0.500000, expected more than 0");
  EXPECT_EQ(message([] { rod(1, 0); }), "rod: length is 0.000000, expected more than 0");
  EXPECT_EQ(message([] { box(-1, {1, 1, 1}); }), "box: mass is -1.000000, expected 0 or more");
  EXPECT_EQ(message([] { particles({1}, {}); }), "particles: 1 masses and 0 points, expected as many of both");
  Surface s = box_surface({1, 1, 1});
  for (Triangle& t : s.triangles) std::swap(t[0], t[1]);
  EXPECT_NE(message([&] { mesh(1, s.vertices, s.triangles); }).find("encloses -1.0"), std::string::npos);
  s.triangles.pop_back();
  EXPECT_NE(message([&] { mesh(1, s.vertices, s.triangles); }).find("the surface is open"), std::string::npos);
  s.triangles.push_back({0, 1, 8});
  EXPECT_EQ(message([&] { mesh(1, s.vertices, s.triangles); }), "mesh: triangle has vertex 8, expected 0 to 7");
}

}  // namespace
}  // namespace featherstorm::test_inertia_of
