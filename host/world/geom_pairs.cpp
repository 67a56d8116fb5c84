#include "host/world/geom_pairs.h"

#include <algorithm>
#include <set>

#include "host/system/interruption.h"

namespace featherstorm {
namespace {

constexpr int no_parent_filter = 1 << 10, no_midphase = 1 << 14;  // mjtDisableBit

// Selects pairs of bodies that may touch: neither welded together, nor parent and child, nor excluded.
class BodyFilter {
 public:
  explicit BodyFilter(const MujocoTables& t) : t_(t) {
    with_parents_ = (t.integer("opt.disableflags") & no_parent_filter) != 0;
    for (int i = 0; i < t.integer("nexclude"); i++) excluded_.insert(t.integer("exclude_signature", i));
  }
  // Requires a < b.
  bool allows(int a, int b) const {
    const int weld_a = t_.integer("body_weldid", a), weld_b = t_.integer("body_weldid", b);
    if (weld_a == weld_b || excluded_.count((a << 16) + b) > 0) return false;
    const bool related = weld_a == parent(weld_b) || weld_b == parent(weld_a);
    return with_parents_ || weld_a == 0 || weld_b == 0 || !related;
  }

 private:
  int parent(int weld) const { return t_.integer("body_weldid", t_.integer("body_parentid", weld)); }
  const MujocoTables& t_;
  bool with_parents_;
  std::set<int> excluded_;
};

class Finder {
 public:
  Finder(const MujocoTables& t, const std::vector<Geom<double>>& geoms) : t_(t), geom_(geoms) {}

  std::vector<GeomPair> find() {
    std::set<std::array<int, 2>> named;
    for (int i = 0; i < t_.integer("npair"); i++) {
      const int g = t_.integer("pair_geom1", i), h = t_.integer("pair_geom2", i);
      named.insert({std::min(g, h), std::max(g, h)});
      const int a = body(g), b = body(h);
      add(g, h, {std::min(a, b), std::max(a, b), 0, i, 0}, i);
    }
    const BodyFilter filter(t_);
    const int bodies = t_.integer("nbody");
    for (int a = 0; a < bodies; a++) {
      end_if_interrupted();
      for (int b = a + 1; b < bodies; b++)
        if (filter.allows(a, b)) add_of_bodies(a, b, named);
    }
    std::sort(found_.begin(), found_.end(), [](const GeomPair& x, const GeomPair& y) { return x.order < y.order; });
    return std::move(found_);
  }

 private:
  int body(int g) const { return t_.integer("geom_bodyid", g); }
  GeomType type(int g) const { return geom_[static_cast<std::size_t>(g)].type; }

  // Adds a pair, unless the two geoms never move relative to each other.
  void add(int g, int h, const std::array<int, 5>& order, int named) {
    if (geom_[static_cast<std::size_t>(g)].place.body == geom_[static_cast<std::size_t>(h)].place.body) return;
    if (type(g) > type(h)) std::swap(g, h);
    found_.push_back({{g, h}, named, order});
  }
  void add_of_bodies(int a, int b, const std::set<std::array<int, 2>>& named) {
    const int first_a = t_.integer("body_geomadr", a), n_a = t_.integer("body_geomnum", a);
    const int first_b = t_.integer("body_geomadr", b), n_b = t_.integer("body_geomnum", b);
    // MuJoCo finds the pairs of bodies with several geoms by a tree of boxes, and then sorts contacts by geom 1, 2
    const bool sorted = (n_a > 1 || n_b > 1) && (t_.integer("opt.disableflags") & no_midphase) == 0 &&
                        t_.integer("body_bvhadr", a) >= 0 && t_.integer("body_bvhadr", b) >= 0;
    for (int g = first_a; g < first_a + n_a; g++) {
      for (int h = first_b; h < first_b + n_b; h++) {
        const int g_meets = t_.integer("geom_contype", g) & t_.integer("geom_conaffinity", h);
        const int h_meets = t_.integer("geom_contype", h) & t_.integer("geom_conaffinity", g);
        if ((g_meets == 0 && h_meets == 0) || named.count({std::min(g, h), std::max(g, h)}) > 0) continue;
        const bool swapped = sorted && type(g) > type(h);
        add(g, h, {a, b, 1, swapped ? h : g, swapped ? g : h}, -1);
      }
    }
  }

  const MujocoTables& t_;
  const std::vector<Geom<double>>& geom_;
  std::vector<GeomPair> found_;
};

}  // namespace

std::vector<GeomPair> geom_pairs(const MujocoTables& tables, const std::vector<Geom<double>>& geoms) {
  std::vector<GeomPair> found = Finder(tables, geoms).find();
  if (!tables.has(kept_pairs)) return found;
  std::set<std::array<int, 2>> kept;
  for (int i = 0; i < tables.size(kept_pairs) / 2; i++) {
    const std::span<const double> pair = tables.row(kept_pairs, i, 2);
    kept.insert({static_cast<int>(std::min(pair[0], pair[1])), static_cast<int>(std::max(pair[0], pair[1]))});
  }
  std::erase_if(found, [&](const GeomPair& p) {
    return !kept.contains({std::min(p.geom[0], p.geom[1]), std::max(p.geom[0], p.geom[1])});
  });
  return found;
}

}  // namespace featherstorm
