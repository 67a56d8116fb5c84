// Numbers of geoms and of their pairs that differ between instances, and their indices in the array `touch`
// (world_programs.h). A traced number that occurs several times, such as one geom's friction in several pairs, has one
// index.
#pragma once
#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "core/trace/expr.h"
#include "core/world/world.h"

namespace featherstorm {

// Calls visit(x) for friction (5), reference (2), impedance (5), friction_reference (2), inverse_inertia (2), margin,
// detection.
template <class P> FS_HD void for_each_number(ContactPair<P>& p, const auto& visit) {
  for (P& x : p.friction) visit(x);
  for (P& x : p.softness.reference) visit(x);
  for (P& x : p.softness.impedance) visit(x);
  for (P& x : p.friction_reference) visit(x);
  for (P& x : p.inverse_inertia) visit(x);
  visit(p.margin), visit(p.detection);
}
// A geom on its body: placement (R by rows, r), size, and reach (radius of its bounding sphere).
template <class P> struct GeomNumbers {
  Placement<P> X;
  Vec3<P> size;
  P reach;
};
template <class P> FS_HD void for_each_number(GeomNumbers<P>& g, const auto& visit) {
  for (int k = 0; k < 9; k++) visit(g.X.R(k / 3, k % 3));
  for (int k = 0; k < 3; k++) visit(g.X.r(k));
  for (int k = 0; k < 3; k++) visit(g.size(k));
  visit(g.reach);
}
// Numbers that all contacts share.
template <class P> struct CommonNumbers { P timestep, impedance_ratio; };
template <class P> FS_HD void for_each_number(CommonNumbers<P>& c, const auto& visit) {
  visit(c.timestep), visit(c.impedance_ratio);
}

// Index in the array of each number, -1 for a constant. The lists are empty if all their numbers are constants.
struct TouchNumbers {
  int size = 0;                                // size of the array
  std::vector<std::array<int, 18>> of_pair{};  // (pairs)
  std::vector<int> power{};                    // (pairs) Softness::power
  std::vector<std::array<int, 16>> of_geom{};  // (geoms)
  std::array<int, 2> of_all{-1, -1};

  // True if a geom's placement or size, its size alone, or a pair's margin or detection differs between instances.
  bool geom_differs(int geom) const {
    return !of_geom.empty() && std::any_of(of_geom[geom].begin(), of_geom[geom].end(), [](int at) { return at >= 0; });
  }
  bool sizes_differ(int geom) const {
    return !of_geom.empty() &&
           std::any_of(of_geom[geom].begin() + 12, of_geom[geom].end(), [](int at) { return at >= 0; });
  }
  bool margin_differs(int pair) const { return !of_pair.empty() && (of_pair[pair][16] >= 0 || of_pair[pair][17] >= 0); }
};

// Collects the numbers and their indices.
//
// out  touch  the numbers
inline TouchNumbers touch_numbers(const World<Expr>& w, std::vector<Expr>& touch) {
  const GeomContacts<Expr>& contacts = w.contacts;
  TouchNumbers t;
  std::unordered_map<int, int> place;  // key: edge code of the traced number
  const auto place_of = [&](const Expr& x) {
    if (lane(x, 0) == lane(x, 0)) return -1;  // no NaN: a constant
    const auto [at, is_new] = place.try_emplace(x.edge().code, static_cast<int>(touch.size()));
    if (is_new) touch.push_back(x);
    return at->second;
  };
  const auto places_of = [&](auto of, auto& places) {
    std::size_t k = 0;
    for_each_number(of, [&](const Expr& x) { places[k++] = place_of(x); });
  };
  for (const ContactPair<Expr>& pair : contacts.pair)
    places_of(pair, t.of_pair.emplace_back()), t.power.push_back(pair.softness.power);
  const auto differ = [](const auto& all) {
    return std::any_of(all.begin(), all.end(), [](const auto& places) {
      return std::any_of(places.begin(), places.end(), [](int at) { return at >= 0; });
    });
  };
  if (!differ(t.of_pair)) t.of_pair.clear();
  for (const Geom<Expr>& geom : contacts.geom)
    places_of(GeomNumbers<Expr>{geom.place.X, geom.size, reach_of(contacts, geom)}, t.of_geom.emplace_back());
  if (!differ(t.of_geom)) t.of_geom.clear();
  places_of(CommonNumbers<Expr>{w.timestep, contacts.impedance_ratio}, t.of_all);
  t.size = static_cast<int>(touch.size());
  return t;
}

}  // namespace featherstorm
