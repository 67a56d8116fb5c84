// Contacts of pairs that are near in only a few instances of a pack. Each pair goes on a list, once for each instance.
// A list is then processed in packs of items, whatever their pairs and instances are.
//
// The pairs of a list have the same two shapes, number of rows and power of softness, so one algorithm serves them all.
// Contacts that touch are gathered a second time: frames, velocities and the numbers of rows are computed for a full
// pack of contacts. Such a pack may come from any lists of one group, that is, with the same number of rows and power.
#pragma once
#include <cstring>

#include "host/contacts/find_rows.h"
#include "host/contacts/row_slots.h"

namespace featherstorm {

// Return the pack of the numbers at `offset` from each address.
template <class T, class Number> T gather(const Number* const* from, long offset) {
  return number_by_number<T>([&](int k) { return from[k][offset]; });
}

// Contacts that touch, collected until a pack is full.
template <class T> struct ListedContacts {
  using Number = typename NumberIn<T>::Type;
  static constexpr int width = lanes<T>, most = width * (8 + 1);  // a closed form has at most 8 slots
  static constexpr int distance = 0, inside = 1, point = 2, normal = 5, numbers = 8;

  int pair[most], instance[most], slot[most];
  Number number[numbers][most];  // inside: depth below the margin
  int count = 0;

  T load(int at) const {
    T x;
    std::memcpy(&x, number[at], sizeof x);
    return x;
  }
  Vec3<T> load_vector(int at) const { return {load(at), load(at + 1), load(at + 2)}; }
  void copy(int from, int to) {
    pair[to] = pair[from], instance[to] = instance[from], slot[to] = slot[from];
    for (int i = 0; i < numbers; i++) number[i][to] = number[i][from];
  }
  void drop(int n) {
    for (int k = n; k < count; k++) copy(k, k - n);
    count -= n;
  }
};

// Two geoms and the numbers of their pair, for one pack of items of a list. They lie in scratch memory because
// constructors would set all numbers.
template <class T> class ListedPairs {
 public:
  using Number = typename NumberIn<T>::Type;
  ListedPairs() : pair_(1), gains_(1), geom_(2) {}
  ContactPair<T>& pair() { return pair_[0]; }  // only margin and detection are set
  ContactGains<T>& gains() { return gains_[0]; }
  Geom<T>& geom(int side) { return geom_[side]; }

  // Begin the lists of a group, and set the numbers of one of their pairs. All pairs share them except the differing
  // ones.
  void begin(const auto& solver, int list, int like) {
    const auto& of = solver.world.contacts.pair[like];
    differs_ = solver.list_differs[list];
    pair().dimension = of.dimension, gains().impedance.power = of.softness.power;
    const Number* number = &solver.pair_number[numbers_of_pair * like];
    for_each([&](T& x) { x = T(*number++); });
  }
  // Set the shapes of the pairs of a list.
  void set_shapes(const auto& solver, int like) {
    const auto& of = solver.world.contacts.pair[like];
    pair().slots = of.slots;
    for (int side = 0; side < 2; side++) geom(side).type = solver.world.contacts.geom[of.geom[side]].type;
  }
  // Set the numbers that differ among the pairs of the list.
  void set_numbers(const auto& solver, const int* of_pair) {
    if (differs_ == 0) return;
    const Number* from[lanes<T>];
    for (int k = 0; k < lanes<T>; k++) from[k] = &solver.pair_number[numbers_of_pair * of_pair[k]];
    int at = 0;
    for_each([&](T& x) {
      if (((differs_ >> at) & 1u) != 0) x = gather<T>(from, at);
      at++;
    });
  }
  // Set them if margin or detection, the last two numbers of a pair, differ.
  void set_margin(const auto& solver, const int* of_pair) {
    if ((differs_ >> (numbers_of_pair - 2)) != 0) set_numbers(solver, of_pair);
  }

 private:
  void for_each(auto&& visit) {
    for_each_number(gains(), visit);
    visit(pair().margin), visit(pair().detection);
  }
  Scratch<ContactPair<T>> pair_;
  Scratch<ContactGains<T>> gains_;
  Scratch<Geom<T>> geom_;
  unsigned differs_ = 0;
};

// Find the contacts of the n items of a pack.
template <class T>
void add_points(const auto& solver, const int* item, int n, auto& places, bool reads, ListedPairs<T>& pairs,
                ListedContacts<T>& to) {
  using Number = typename NumberIn<T>::Type;
  using To = ListedContacts<T>;
  constexpr int width = lanes<T>;
  const auto& contacts = solver.world.contacts;
  Placement<T> X[2];
  int of_pair[width], instance[width];
  for (int k = 0; k < width; k++) of_pair[k] = item[k < n ? k : 0] / width, instance[k] = item[k < n ? k : 0] % width;
  for (int side = 0; side < 2; side++) {
    const GeomType type = pairs.geom(side).type;
    // shapes that are round about their axis need only that axis
    const bool round = type == GeomType::Sphere || type == GeomType::Capsule;
    const int first = round ? 2 : 0, sizes = type == GeomType::Sphere ? 1 : type == GeomType::Capsule ? 2 : 3;
    const Number *centre[width], *axis[width], *size[width];
    for (int k = 0; k < width; k++) {
      const int g = solver.bound[of_pair[k]].geom[side];
      const Placement<T>& at = round ? places.line(g) : places[g];
      centre[k] = &number_of<Number>(at.r(0), instance[k]), axis[k] = &number_of<Number>(at.R(0, first), instance[k]);
      size[k] = &contacts.geom[g].size(0);
    }
    for (int i = 0; i < 3; i++) X[side].r(i) = gather<T>(centre, i * width);
    for (int j = 0; j < 3; j++)
      for (int i = 0; i < 3; i++) X[side].R(i, j) = j < first ? T(0.0) : gather<T>(axis, (3 * (j - first) + i) * width);
    for (int i = 0; i < sizes; i++) pairs.geom(side).size(i) = gather<T>(size, i);
  }
  pairs.set_margin(solver, of_pair);
  ContactPoint<T> point[8];
  closed_form_points(contacts, pairs.geom(0), pairs.geom(1), pairs.pair(), X[0], X[1], point);
  unsigned touch[8], any = 0;
  T inside[8];
  for (int s = 0; s < pairs.pair().slots; s++) {
    inside[s] = pairs.pair().margin - point[s].distance;
    touch[s] = instances_above_zero(inside[s]);
    if (reads) touch[s] |= instances_above_zero(select(point[s].distance <= pairs.pair().detection, T(1.0), T(0.0)));
    any |= touch[s];
  }
  if (n < width) any &= (1u << n) - 1;
  for (; any != 0; any &= any - 1) {
    const int k = lowest_bit(any);
    for (int s = 0; s < pairs.pair().slots; s++) {
      if (((touch[s] >> k) & 1u) == 0) continue;
      const int at = to.count++;
      to.pair[at] = of_pair[k], to.instance[at] = instance[k], to.slot[at] = s;
      to.number[To::distance][at] = number_of<Number>(point[s].distance, k);
      to.number[To::inside][at] = number_of<Number>(inside[s], k);
      for (int i = 0; i < 3; i++) {
        to.number[To::point + i][at] = number_of<Number>(point[s].point(i), k);
        to.number[To::normal + i][at] = number_of<Number>(point[s].normal(i), k);
      }
    }
  }
}

// The entries in PresentRows of the slots of a pair.
struct EntriesOfPair {
  int pair = -1, block[8], contact[8];
  void begin(int p) {
    if (p == pair) return;
    pair = p;
    for (int s = 0; s < 8; s++) block[s] = contact[s] = -1;
  }
};

// Keep contact k of a list for readings.
//
// in   frame  lane k is the frame of contact k
template <class T>
void add_listed_contact(const auto& solver, const ListedContacts<T>& list, int k, const ContactFrame<T>& frame, int& at,
                        PresentRows<T>& present) {
  using Number = typename NumberIn<T>::Type;
  using From = ListedContacts<T>;
  const int l = list.instance[k];
  if (at < 0) {
    at = present.contacts++;
    const Vec3<T> up{T(0.0), T(0.0), T(1.0)};
    present.contact[at] = {{{T(no_contact), zero3<T>(), up}, contact_frame(up)}, T(0.0), T(0.0), list.pair[k], -1};
  }
  PresentContact<T>& to = present.contact[at];
  const Number distance = list.number[From::distance][k];
  number_of<Number>(to.there, l) = distance <= static_cast<Number>(solver.detection[list.pair[k]]) ? 1 : 0;
  number_of<Number>(to.held, l) = list.number[From::inside][k] > 0 ? 1 : 0;
  number_of<Number>(to.at.contact.distance, l) = distance;
  for (int i = 0; i < 3; i++) {
    number_of<Number>(to.at.contact.point(i), l) = list.number[From::point + i][k];
    number_of<Number>(to.at.contact.normal(i), l) = list.number[From::normal + i][k];
    for (int e = 0; e < 3; e++) number_of<Number>(to.at.frame.e[e](i), l) = number_of<Number>(frame.e[e](i), k);
  }
}

// Add the rows of the first n contacts.
template <class T>
void add_listed_rows(const auto& solver, const auto& X, const auto& twist, int n, ListedPairs<T>& pairs,
                     ListedContacts<T>& list, EntriesOfPair& entries, auto& of_contacts, PresentRows<T>& present) {
  using Number = typename NumberIn<T>::Type;
  using From = ListedContacts<T>;
  constexpr int width = lanes<T>;
  const auto& contacts = solver.world.contacts;
  const int d = pairs.pair().dimension;
  for (int k = n; k < width; k++) list.copy(0, k);
  Candidate<T> c;
  c.contact = {list.load(From::distance), list.load_vector(From::point), list.load_vector(From::normal)};
  c.frame = contact_frame(c.contact.normal);
  // bodies 1 and 2 are those of the geoms
  Placement<T> place[3];
  Motion<T> motion[3];
  const auto between = [](const auto& numbers) {
    return &number_of<Number>(numbers[1], 0) - &number_of<Number>(numbers[0], 0);
  };
  const long of_place = between(X.of), of_motion = between(twist.of);
  for (int side = 0; side < 2; side++) {
    const Number *r[width], *V[width];
    for (int k = 0; k < width; k++) {
      const int body = contacts.geom[solver.bound[list.pair[k]].geom[side]].place.body, l = list.instance[k];
      r[k] = &number_of<Number>(X.of[12 * body + 9], l), V[k] = &number_of<Number>(twist.of[6 * body], l);
    }
    for (int i = 0; i < 3; i++) {
      place[1 + side].r(i) = gather<T>(r, i * of_place);
      motion[1 + side].w(i) = gather<T>(V, i * of_motion), motion[1 + side].v(i) = gather<T>(V, (3 + i) * of_motion);
    }
  }
  pairs.set_numbers(solver, list.pair);
  T velocity[most_rows], active[most_rows];
  // aref, D, coefficients, point, axes
  T row[3 * most_rows + point_and_axes];
  T *aref = row, *D = row + d, *friction = row + 2 * d, *point = row + 3 * d;
  relative_velocity(place, motion, 1, 2, c, d, velocity);
  const T r = c.contact.distance - pairs.pair().margin;
  set_contact_rows(pairs.gains(), contact_answer(pairs.gains(), r), d, r, velocity,
                   ConstraintRows<T*>{{}, nullptr, D, aref, active, friction});
  for (int i = 0; i < 3; i++) {
    point[i] = c.contact.point(i);
    for (int e = 0; e < 3; e++) point[3 + 3 * e + i] = c.frame.e[e](i);
  }
  for (int k = 0; k < n; k++) {
    const int p = list.pair[k], l = list.instance[k], slot = list.slot[k];
    entries.begin(p);
    if (present.contact) add_listed_contact(solver, list, k, c.frame, entries.contact[slot], present);
    if (!(list.number[From::inside][k] > 0)) continue;
    if (solver.report) {
      Number& gap = number_of<Number>(present.gap, l);
      const Number distance = list.number[From::distance][k];
      gap = distance < gap ? distance : gap;
    }
    int& at = entries.block[slot];
    if (at < 0) {
      at = present.count++;
      present.block[at] = {true, p, solver.first_row[p] + slot * d, present.entries, present.rows, 0};
      if (present.contact) {
        present.contact[entries.contact[slot]].row = present.rows;
        for (int i = 0; i < d; i++) present.force[present.rows + i] = T(0.0);
      }
      present.rows += d;
    }
    present.block[at].instances |= 1u << l;
    of_contacts.add_contact_of(p, at, l, row, k);
  }
  list.drop(n);
}

template <class T>
void find_listed(const auto& solver, const PairItems& items, auto& places, const auto& X, const auto& twist,
                 auto& of_contacts, PresentRows<T>& present) {
  constexpr int width = lanes<T>;
  if (items.count == 0) return;
  ListedPairs<T> pairs;
  ListedContacts<T> found;
  EntriesOfPair entries;
  int group = -1;
  const auto add_rows = [&](int n) {
    add_listed_rows(solver, X, twist, n, pairs, found, entries, of_contacts, present);
  };
  for (int list = 0; list < solver.lists; list++) {
    if (items.first[list] < 0) continue;
    const int first = items.item[items.first[list]] / width;
    if (solver.list_group[list] != group) {
      if (found.count > 0) add_rows(found.count);
      group = solver.list_group[list];
      pairs.begin(solver, list, first);
    }
    pairs.set_shapes(solver, first);
    int pack[width], n = 0;
    for (int i = items.first[list]; i >= 0; i = items.next[i]) {
      pack[n++] = items.item[i];
      if (n < width && items.next[i] >= 0) continue;
      add_points(solver, pack, n, places, present.contact != nullptr, pairs, found);
      n = 0;
      while (found.count >= width) add_rows(width);
    }
  }
  if (found.count > 0) add_rows(found.count);
}

}  // namespace featherstorm
