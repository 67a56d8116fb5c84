// Which numbers of geoms and of their pairs differ from instance to instance, and where they are in the array `touch`
// (world_programs.h). The same traced number, such as the friction of one geom against several, has one place there.
#pragma once
#include <array>
#include <vector>

#include "core/trace/expr.h"
#include "core/world/contacts.h"

namespace featherstorm {

// visit(x) for friction (5), reference (2), impedance (5), friction_reference (2), inverse_inertia (2).
template <class P> FS_HD void for_each_number(ContactPair<P>& p, const auto& visit) {
  for (P& x : p.friction) visit(x);
  for (P& x : p.softness.reference) visit(x);
  for (P& x : p.softness.impedance) visit(x);
  for (P& x : p.friction_reference) visit(x);
  for (P& x : p.inverse_inertia) visit(x);
}
// R by rows, then r.
template <class P> FS_HD void for_each_number(Placement<P>& X, const auto& visit) {
  for (int k = 0; k < 9; k++) visit(X.R(k / 3, k % 3));
  for (int k = 0; k < 3; k++) visit(X.r(k));
}

// Of each number its place in the array, -1: a constant. Empty where all are constants.
struct TouchNumbers {
  int size = 0;                                // of the array
  std::vector<std::array<int, 16>> of_pair{};  // (pairs)
  std::vector<int> power{};                    // (pairs) of Softness
  std::vector<std::array<int, 12>> of_geom{};  // (geoms) of its place on its body
};

// out  touch  the numbers
inline TouchNumbers touch_numbers(const GeomContacts<Expr>& contacts, std::vector<Expr>& touch) {
  TouchNumbers t;
  const auto place_of = [&](const Expr& x) {
    if (lane(x, 0) == lane(x, 0)) return -1;  // no NaN: a constant
    std::size_t k = 0;
    while (k < touch.size() && !(touch[k].edge() == x.edge())) k++;
    if (k == touch.size()) touch.push_back(x);
    return static_cast<int>(k);
  };
  const auto places_of = [&](auto of, auto& places) {
    std::size_t k = 0;
    for_each_number(of, [&](const Expr& x) { places[k++] = place_of(x); });
  };
  for (const ContactPair<Expr>& pair : contacts.pair)
    places_of(pair, t.of_pair.emplace_back()), t.power.push_back(pair.softness.power);
  if (touch.empty()) t.of_pair.clear();
  const std::size_t of_pairs = touch.size();
  for (const Geom<Expr>& geom : contacts.geom) places_of(geom.place.X, t.of_geom.emplace_back());
  if (touch.size() == of_pairs) t.of_geom.clear();
  t.size = static_cast<int>(touch.size());
  return t;
}

}  // namespace featherstorm
