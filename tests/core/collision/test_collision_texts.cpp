// Every pair is one text: double, float and traced it has the same contacts; moved together, two geoms touch as before.
#include "core/collision/box_box.h"
#include "core/collision/capsule_box.h"
#include "core/collision/capsule_capsule.h"
#include "core/collision/plane_box.h"
#include "core/collision/plane_mesh.h"
#include "core/collision/sphere_pairs.h"
#include "core/scalar/pack.h"
#include "core/trace/evaluate.h"
#include "tests/core/collision/shapes.h"
#include "tests/support/tools/traced_counts.h"

namespace featherstorm::test_collision_texts {
namespace {

using namespace testing;

struct Shapes {
  const char* name;
  int slots;
  Vec3d a, b;  // sizes
  int most;    // operations when both move, multiply-adds counted once
};
const Shapes pairs[] = {
    {"plane_sphere", 1, {}, {0.2, 0, 0}, 14},
    {"plane_capsule", 2, {}, {0.1, 0.3, 0}, 34},
    {"plane_ellipsoid", 1, {}, {0.1, 0.2, 0.3}, 47},
    {"plane_cylinder", 4, {}, {0.2, 0.3, 0}, 101},
    {"plane_box", 4, {}, {0.1, 0.2, 0.3}, 148},
    {"plane_mesh", 4, {}, {}, 250},
    {"sphere_sphere", 1, {0.2, 0, 0}, {0.3, 0, 0}, 40},
    {"sphere_capsule", 1, {0.2, 0, 0}, {0.1, 0.3, 0}, 51},
    {"sphere_cylinder", 1, {0.2, 0, 0}, {0.2, 0.3, 0}, 76},
    {"sphere_box", 1, {0.2, 0, 0}, {0.1, 0.2, 0.3}, 70},
    {"capsule_capsule", 2, {0.1, 0.3, 0}, {0.2, 0.2, 0}, 128},
    {"capsule_box", 2, {0.1, 0.3, 0}, {0.1, 0.2, 0.3}, 760},
    {"box_box", 8, {0.2, 0.1, 0.15}, {0.1, 0.2, 0.3}, 1220},
};

template <class T, class P>
void collide(const Shapes& s, const Placement<T>& A, const Placement<T>& B, ContactPoint<T>* out) {
  static const Hull<double> mesh = tetrahedron();
  const std::string name = s.name;
  const Vec3<P> a = cast<P>(s.a), b = cast<P>(s.b);
  if (name == "plane_sphere") plane_sphere(A, B, b, out);
  if (name == "plane_capsule") plane_capsule(A, B, b, out);
  if (name == "plane_ellipsoid") plane_ellipsoid(A, B, b, out);
  if (name == "plane_cylinder") plane_cylinder(A, B, b, out);
  if (name == "plane_box") plane_box(A, B, b, out);
  if (name == "plane_mesh") plane_mesh(A, B, cast<P>(mesh), out);
  if (name == "sphere_sphere") sphere_sphere(A, a, B, b, out);
  if (name == "sphere_capsule") sphere_capsule(A, a, B, b, out);
  if (name == "sphere_cylinder") sphere_cylinder(A, a, B, b, out);
  if (name == "sphere_box") sphere_box(A, a, B, b, out);
  if (name == "capsule_capsule") capsule_capsule(A, a, B, b, out);
  if (name == "capsule_box") capsule_box(A, a, B, b, out);
  if (name == "box_box") box_box(A, a, B, b, T(0.05), out);
}

// 24 numbers of two placements, 7 of each contact.
template <class T, class P, class In> std::vector<T> run(const Shapes& s, const In& in) {
  Placement<T> X[2];
  for (int g = 0; g < 2; g++) {
    for (int i = 0; i < 3; i++) X[g].r(i) = T(in[12 * g + i]);
    for (int i = 0; i < 9; i++) X[g].R(i / 3, i % 3) = T(in[12 * g + 3 + i]);
  }
  ContactPoint<T> c[8];
  collide<T, P>(s, X[0], X[1], c);
  std::vector<T> out;
  for (int k = 0; k < s.slots; k++) {
    out.push_back(c[k].distance);
    for (const auto& v : {c[k].point, c[k].normal})
      for (int i = 0; i < 3; i++) out.push_back(v(i));
  }
  return out;
}

std::vector<double> numbers(const Placement<double>& a, const Placement<double>& b) {
  std::vector<double> x;
  for (const auto& X : {a, b}) {
    for (int i = 0; i < 3; i++) x.push_back(X.r(i));
    for (int i = 0; i < 9; i++) x.push_back(X.R(i / 3, i % 3));
  }
  return x;
}

TEST(CollisionTexts, HaveOneAnswerForEveryScalar) {
  for (const Shapes& s : pairs) {
    SCOPED_TRACE(s.name);
    Program p;
    const std::vector<Expr> x = p.input("x", 24);
    {
      Tracing scope(p.graph);
      p.output("out", run<Expr, double>(s, x));
    }
    Random random(7);
    int other_points = 0;
    for (int i = 0; i < 100; i++) {
      const std::vector<double> in = numbers(random_place(random, 0.2), random_place(random, 0.2));
      const std::vector<double> d = run<double, double>(s, in), t = evaluate<double>(p, {in})[0];
      const std::vector<float> f = run<float, float>(s, in);
      const auto v = run<Pack<double, 2>, double>(s, in);
      double error = 0;
      for (std::size_t k = 0; k < d.size(); k++) {
        ASSERT_TRUE(std::isfinite(d[k]) && std::isfinite(f[k]));
        ASSERT_NEAR(t[k], d[k], 1e-11 * (1 + std::abs(d[k])));
        ASSERT_NEAR(v[k].v[0], d[k], 1e-11 * (1 + std::abs(d[k])));
        error = std::max(error, std::abs(f[k] - d[k]) / (1 + std::abs(d[k])));
      }
      other_points += error > 1e-4;
    }
    EXPECT_LE(other_points, 2);  // float may choose another edge where two are nearly as good
  }
}

TEST(CollisionTexts, DoNotDependOnTheFrame) {
  for (const Shapes& s : pairs) {
    SCOPED_TRACE(s.name);
    Random random(8);
    for (int i = 0; i < 50; i++) {
      const Placement<double> a = random_place(random, 0.2), b = random_place(random, 0.2), X = random_place(random, 1);
      Contact3d c[8], d[8];
      collide<double, double>(s, a, b, c);
      collide<double, double>(s, X * a, X * b, d);
      for (int k = 0; k < s.slots; k++) {
        ASSERT_NEAR(c[k].distance, d[k].distance, 1e-11);
        if (c[k].distance == no_contact) continue;
        expect_vector(d[k].point, X.r + X.R * c[k].point, 1e-11);
        expect_vector(d[k].normal, X.R * c[k].normal, 1e-11);
        EXPECT_NEAR(c[k].normal.norm(), 1, 1e-12);
      }
    }
  }
}

TEST(CollisionTexts, HaveAsManyOperationsAsTheyHad) {
  for (const Shapes& s : pairs) {
    SCOPED_TRACE(s.name);
    const Counts c = traced(24, [&](const auto& x) { return run<Expr, double>(s, x); });
    EXPECT_LE(c.instructions() + c.rcp + c.sqrt + c.other, s.most);
  }
}

}  // namespace
}  // namespace featherstorm::test_collision_texts
