// Candidates of pairs: which slots there are, where nothing touches, frames, and what is fixed to the world.
#include "core/collision/candidates.h"

#include "core/trace/program.h"
#include "tests/core/collision/shapes.h"

namespace featherstorm::test_candidates {
namespace {

using namespace testing;

constexpr GeomType types[] = {GeomType::Plane,   GeomType::HeightField, GeomType::Sphere,
                              GeomType::Capsule, GeomType::Ellipsoid,   GeomType::Cylinder,
                              GeomType::Box,     GeomType::Mesh,        GeomType::SignedDistance};

// Two geoms on body 0 and body 1, or on body 1 and body 2.
World<double> world_of(GeomType a, GeomType b, bool fixed, double detection, Random& random) {
  World<double> w;
  int body = fixed ? 0 : 1;
  for (const GeomType type : {a, b}) {
    Geom<double> g;
    g.type = type, g.place = {body++, random_place(random, 0.1)};
    g.size = {0.1 + 0.1 * random.uniform(0, 1), 0.1 + 0.1 * random.uniform(0, 1), 0.1 + 0.1 * random.uniform(0, 1)};
    if (type == GeomType::Mesh) g.hull = 0;
    if (type == GeomType::HeightField) g.field = 0;
    w.contacts.geom.push_back(g);
  }
  w.contacts.hull.push_back(tetrahedron());
  w.contacts.field.push_back({2, 3, 0.5, 0.4, 0.2, 0.1, {0, 1, 0.5, 0.3, 0.8, 0.1}});
  ContactPair<double> p;
  p.geom[1] = 1, p.slots = slots_of(a, b), p.detection = detection;
  w.contacts.pair.push_back(p);
  return w;
}
std::vector<Placement<double>> places(Random& random) {
  return {identity_placement<double>(), random_place(random, 0.2), random_place(random, 0.2)};
}
template <class T> std::vector<Candidate<T>> candidates(const auto& w, const std::vector<Placement<T>>& X) {
  std::vector<Candidate<T>> out(static_cast<std::size_t>(slots_of(w.contacts)));
  contact_candidates(0, w, X, out.data());
  return out;
}
void for_each_pair(const auto& check) {
  for (const GeomType a : types)
    for (const GeomType b : types)
      if (a <= b && slots_of(a, b) > 0) {
        SCOPED_TRACE("shapes " + std::to_string(static_cast<int>(a)) + ", " + std::to_string(static_cast<int>(b)));
        check(a, b);
      }
}

// Meshes may be tens of megabytes: copies of a world have the same ones until one of them gets more.
TEST(Candidates, CopiesOfAWorldShareItsShapes) {
  Random random(6);
  const World<double> w = world_of(GeomType::HeightField, GeomType::Mesh, false, 0.1, random);
  World<double> copy = cast<double>(w);
  EXPECT_EQ(&copy.contacts.hull[0], &w.contacts.hull[0]);
  EXPECT_EQ(&copy.contacts.field[0], &w.contacts.field[0]);
  Program p;
  {
    Tracing scope(p.graph);
    EXPECT_EQ(&cast<Expr>(w).contacts.hull[0], &w.contacts.hull[0]) << "shapes are not traced";
  }
  const World<float> single = cast<float>(w);
  EXPECT_EQ(single.contacts.field[0].height[4], 0.8f);
  EXPECT_EQ(single.contacts.hull[0].corner.size(), 4u);
  copy.contacts.hull.push_back(tetrahedron());
  EXPECT_EQ(copy.contacts.hull.size(), 2u);
  EXPECT_EQ(w.contacts.hull.size(), 1u);
  EXPECT_EQ(copy.contacts.hull[0].reach, w.contacts.hull[0].reach);
  SharedList<int> none;
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.begin(), none.end());
}

TEST(Candidates, EveryPairFillsItsSlots) {
  Random random(1);
  int pairs = 0;
  for_each_pair([&](GeomType a, GeomType b) {
    pairs++;
    const World<double> w = world_of(a, b, false, 0.1, random);
    const double nan = std::nan("");
    const Vec3d none(nan, nan, nan);
    Contact3d out[most_slots + 1];
    for (Contact3d& c : out) c = {nan, none, none};
    const auto X = places(random);
    contact_points(w.contacts, w.contacts.pair[0], X[1], X[2], out);
    for (int k = 0; k <= most_slots; k++) {
      EXPECT_EQ(std::isfinite(out[k].distance), k < slots_of(a, b)) << "slot " << k;
      EXPECT_EQ(out[k].point.allFinite() && out[k].normal.allFinite(), k < slots_of(a, b)) << "slot " << k;
    }
  });
  EXPECT_EQ(pairs, 33);
  for (const GeomType type : types) EXPECT_EQ(slots_of(type, GeomType::SignedDistance), 0);
}

TEST(Candidates, AreThoseOfThePairNearerThanTheDetection) {
  Random random(2);
  int found = 0, lost = 0;
  for_each_pair([&](GeomType a, GeomType b) {
    for (int i = 0; i < 20; i++) {
      const World<double> w = world_of(a, b, i % 2, 0.05, random);
      const auto X = places(random);
      const auto& pair = w.contacts.pair[0];
      const Geom<double>&g = w.contacts.geom[0], &h = w.contacts.geom[1];
      const auto in_world = [&](const Geom<double>& x) { return X[x.place.body] * x.place.X; };
      Contact3d out[most_slots];
      contact_points(w.contacts, pair, in_world(g), in_world(h), out);
      const auto all = candidates(w, X);
      ASSERT_EQ(static_cast<int>(all.size()), slots_of(a, b));
      for (std::size_t k = 0; k < all.size(); k++) {
        const bool near = out[k].distance < 0.05;
        (near ? found : lost)++;
        EXPECT_EQ(all[k].contact.distance, near ? out[k].distance : no_contact);
        if (!near) continue;
        expect_vector(all[k].contact.point, out[k].point);
        expect_vector(all[k].frame.e[0], out[k].normal);
        expect_vector(all[k].frame.e[0].cross(all[k].frame.e[1]), all[k].frame.e[2], 1e-12);
      }
    }
  });
  EXPECT_GT(found, 100);
  EXPECT_GT(lost, 100);
}

TEST(Candidates, OfAGeomThatIsFixedToTheWorldTakeItsPlaceAsItIs) {
  Random random(4);
  for_each_pair([&](GeomType a, GeomType b) {
    const World<double> w = world_of(a, b, true, 0.1, random);
    auto X = places(random);
    const auto before = candidates(w, X);
    X[0].r.setConstant(std::nan("")), X[0].R.setConstant(std::nan(""));
    const auto after = candidates(w, X);
    for (std::size_t k = 0; k < before.size(); k++) EXPECT_EQ(after[k].contact.distance, before[k].contact.distance);
  });
}

// Those with closed forms are traced in tests/python/world/test_contact_steps.py.
TEST(Candidates, ThatAreFoundByLoopsHaveNoTrace) {
  Random random(5);
  for_each_pair([&](GeomType a, GeomType b) {
    if (has_closed_form(a, b)) return;
    Program p;
    Tracing scope(p.graph);
    const std::vector<Placement<Expr>> X(3, identity_placement<Expr>());
    EXPECT_THROW(candidates(world_of(a, b, false, 10, random), X), NoTrace);
  });
}

}  // namespace
}  // namespace featherstorm::test_candidates
