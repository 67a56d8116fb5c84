// Contacts of pairs that are near in a few of the instances side by side: pairs go on a list, instance by instance, and a list is
// worked off as many at a time as a pack holds, whatever pairs and instances they are of.
//
// A list has pairs of the same two shapes, number of rows and power of softness, so that one text serves them. What touches is gathered
// once more: frames, velocities and the numbers of rows are computed for a whole pack of contacts.
#pragma once
#include "host/contacts/find_rows.h"
#include "host/contacts/row_slots.h"

namespace featherstorm {

// Contacts that touch, until a pack of them is full.
template <class T> class ListedContacts {
 public:
  using Number = typename NumberIn<T>::Type;
  static constexpr int width = lanes<T>, most = width * (8 + 1);  // of a closed form at most 8 slots

  struct Contact {
    int pair, instance, slot;
    Number distance, inside;  // inside: how far below the distance where rows begin
    Number point[3], normal[3];
  };

  Contact contact[most];
  int count = 0;

  // x(contact) of the first n of them, and of the first again where there are fewer than a pack holds.
  T gather(int n, auto&& x) const {
    return number_by_number<T>([&](int k) { return static_cast<Number>(x(contact[k < n ? k : 0])); });
  }
  Vec3<T> gather_vector(int n, auto&& x) const {
    Vec3<T> v;
    for (int i = 0; i < 3; i++) v(i) = gather(n, [&](const Contact& c) { return x(c, i); });
    return v;
  }
  void drop(int n) {
    for (int k = n; k < count; k++) contact[k - n] = contact[k];
    count -= n;
  }
};

// The points of the n items of a pack.
template <class T>
void add_points(const auto& solver, const int* item, int n, auto& places, bool reads, ListedContacts<T>& to) {
  using Number = typename NumberIn<T>::Type;
  const auto& contacts = solver.world.contacts;
  Placement<T> X[2];
  Geom<T> geom[2];
  ContactPair<T> pair;
  const auto& like = contacts.pair[item[0] / lanes<T>];
  int of_pair[lanes<T>], instance[lanes<T>];
  for (int k = 0; k < lanes<T>; k++)
    of_pair[k] = item[k < n ? k : 0] / lanes<T>, instance[k] = item[k < n ? k : 0] % lanes<T>;
  for (int side = 0; side < 2; side++) {
    const GeomType type = geom[side].type = contacts.geom[like.geom[side]].type;
    const Placement<T>* from[lanes<T>];
    const decltype(&contacts.geom[0]) of_geom = &contacts.geom[0];
    int g[lanes<T>];
    for (int k = 0; k < lanes<T>; k++) g[k] = contacts.pair[of_pair[k]].geom[side], from[k] = &places[g[k]];
    // of what is round about its axis that alone counts
    const int first = type == GeomType::Sphere || type == GeomType::Capsule ? 2 : 0;
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++)
        X[side].R(i, j) =
            j < first ? T(0.0)
                      : number_by_number<T>([&](int k) { return number_of<Number>(from[k]->R(i, j), instance[k]); });
      X[side].r(i) = number_by_number<T>([&](int k) { return number_of<Number>(from[k]->r(i), instance[k]); });
      geom[side].size(i) = number_by_number<T>([&](int k) { return of_geom[g[k]].size(i); });
    }
  }
  pair.detection = number_by_number<T>([&](int k) { return contacts.pair[of_pair[k]].detection; });
  const T margin = number_by_number<T>([&](int k) { return contacts.pair[of_pair[k]].margin; });
  const T detection = number_by_number<T>([&](int k) { return solver.detection[of_pair[k]]; });
  ContactPoint<T> point[8];
  closed_form_points(contacts, geom[0], geom[1], pair, X[0], X[1], point);
  unsigned touch[8], any = 0;
  for (int s = 0; s < like.slots; s++) {
    touch[s] = instances_above_zero(T(margin - point[s].distance));
    if (reads) touch[s] |= instances_above_zero(select(point[s].distance <= detection, T(1.0), T(0.0)));
    any |= touch[s];
  }
  for (int k = 0; k < n; k++) {
    if (((any >> k) & 1u) == 0) continue;
    for (int s = 0; s < like.slots; s++) {
      if (((touch[s] >> k) & 1u) == 0) continue;
      const ContactPoint<T>& from = point[s];
      auto& c = to.contact[to.count++];
      c.pair = item[k] / lanes<T>, c.instance = item[k] % lanes<T>, c.slot = s;
      c.distance = number_of<Number>(from.distance, k), c.inside = number_of<Number>(margin, k) - c.distance;
      for (int i = 0; i < 3; i++)
        c.point[i] = number_of<Number>(from.point(i), k), c.normal[i] = number_of<Number>(from.normal(i), k);
    }
  }
}

// Which entry of PresentRows the slots of a pair have.
struct EntriesOfPair {
  int pair = -1, block[8], contact[8];
  void begin(int p) {
    if (p == pair) return;
    pair = p;
    for (int s = 0; s < 8; s++) block[s] = contact[s] = -1;
  }
};

// The rows of the first n contacts.
template <class T>
void add_listed_rows(const auto& solver, const auto& X, const auto& twist, const ContactLaw<T>& law, int n,
                     ListedContacts<T>& list, EntriesOfPair& entries, auto& of_contacts, PresentRows<T>& present) {
  using Number = typename NumberIn<T>::Type;
  using Contact = typename ListedContacts<T>::Contact;
  const auto& contacts = solver.world.contacts;
  const int d = contacts.pair[list.contact[0].pair].dimension;
  Candidate<T> c;
  c.contact.distance = list.gather(n, [](const Contact& x) { return x.distance; });
  c.contact.point = list.gather_vector(n, [](const Contact& x, int i) { return x.point[i]; });
  c.contact.normal = list.gather_vector(n, [](const Contact& x, int i) { return x.normal[i]; });
  c.frame = contact_frame(c.contact.normal);
  // bodies 1 and 2 are those of the geoms
  Placement<T> place[3];
  Motion<T> motion[3];
  for (int side = 0; side < 2; side++) {
    const auto body_of = [&](const Contact& x) { return contacts.geom[contacts.pair[x.pair].geom[side]].place.body; };
    for (int i = 0; i < 3; i++) {
      const auto of_body = [&](auto&& numbers, int at, int size) {
        return list.gather(n, [&](const Contact& x) {
          const int body = body_of(x);
          return body == 0 ? Number(0) : number_of<Number>(numbers[size * body + at], x.instance);
        });
      };
      place[1 + side].r(i) = of_body(X.of, 9 + i, 12);
      motion[1 + side].w(i) = of_body(twist.of, i, 6), motion[1 + side].v(i) = of_body(twist.of, 3 + i, 6);
    }
  }
  ContactPair<T> pair;
  pair.dimension = d, pair.softness.power = contacts.pair[list.contact[0].pair].softness.power;
  const int first = list.contact[0].pair;
  int number = 0;
  for_each_number(pair, [&](T& x) {
    const int at = number++;
    if (((solver.list_differs[solver.list_of[first]] >> at) & 1u) == 0)
      x = T(solver.pair_number[numbers_of_pair * first + at]);
    else x = list.gather(n, [&](const Contact& of) { return solver.pair_number[numbers_of_pair * of.pair + at]; });
  });
  T velocity[most_rows], position[most_rows], D[most_rows], aref[most_rows], active[most_rows], friction[most_rows];
  relative_velocity(place, motion, 1, 2, c, d, velocity);
  set_contact_rows(law, pair, usual_inertia<T>(pair, law.cone), c.contact.distance, velocity,
                   ConstraintRows<T*>{{}, position, D, aref, active, friction});
  for (int k = 0; k < n; k++) {
    const Contact& x = list.contact[k];
    FoundRow<Number> row;
    Number of_D[most_rows], of_aref[most_rows], of_friction[most_rows];
    for (int i = 0; i < 3; i++) {
      row.point(i) = x.point[i];
      for (int e = 0; e < 3; e++) row.frame.e[e](i) = number_of<Number>(c.frame.e[e](i), k);
    }
    for (int i = 0; i < d; i++)
      of_D[i] = number_of<Number>(D[i], k), of_aref[i] = number_of<Number>(aref[i], k),
      of_friction[i] = number_of<Number>(friction[i], k);
    row.D = of_D, row.aref = of_aref, row.friction = of_friction;
    entries.begin(x.pair);
    if (present.contact) {
      int& at = entries.contact[x.slot];
      if (at < 0) {
        at = present.contacts++;
        const Vec3<T> up{T(0.0), T(0.0), T(1.0)};
        present.contact[at] = {{{T(no_contact), zero3<T>(), up}, contact_frame(up)}, T(0.0), T(0.0), x.pair, -1};
      }
      PresentContact<T>& to = present.contact[at];
      number_of<Number>(to.there, x.instance) = x.distance <= static_cast<Number>(solver.detection[x.pair]) ? 1 : 0;
      number_of<Number>(to.held, x.instance) = x.inside > 0 ? 1 : 0;
      number_of<Number>(to.at.contact.distance, x.instance) = x.distance;
      for (int i = 0; i < 3; i++) {
        number_of<Number>(to.at.contact.point(i), x.instance) = x.point[i];
        number_of<Number>(to.at.contact.normal(i), x.instance) = x.normal[i];
        for (int e = 0; e < 3; e++) number_of<Number>(to.at.frame.e[e](i), x.instance) = row.frame.e[e](i);
      }
    }
    if (!(x.inside > 0)) continue;
    if (solver.report) {
      Number& gap = number_of<Number>(present.gap, x.instance);
      gap = x.distance < gap ? x.distance : gap;
    }
    int& at = entries.block[x.slot];
    if (at < 0) {
      at = present.count++;
      present.block[at] = {true, x.pair, solver.first_row[x.pair] + x.slot * d, present.entries, present.rows, 0};
      if (present.contact) {
        present.contact[entries.contact[x.slot]].row = present.rows;
        for (int i = 0; i < d; i++) present.force[present.rows + i] = T(0.0);
      }
      present.rows += d;
    }
    present.block[at].instances |= 1u << x.instance;
    of_contacts.add_contact_of(x.pair, at, x.instance, row);
  }
  list.drop(n);
}

template <class T>
void find_listed(const auto& solver, const int* item, int items, auto& places, const auto& X, const auto& twist,
                 const ContactLaw<T>& law, auto& of_contacts, PresentRows<T>& present) {
  constexpr int width = lanes<T>;
  ListedContacts<T> found;
  for (int list = 0; list < solver.lists && items > 0; list++) {
    EntriesOfPair entries;
    int pack[width], n = 0;
    const auto work_off = [&] {
      if (n > 0) add_points(solver, pack, n, places, present.contact != nullptr, found);
      n = 0;
      while (found.count >= width) add_listed_rows(solver, X, twist, law, width, found, entries, of_contacts, present);
    };
    for (int i = 0; i < items; i++) {
      if (solver.list_of[item[i] / width] != list) continue;
      pack[n++] = item[i];
      if (n == width) work_off();
    }
    work_off();
    if (found.count > 0) add_listed_rows(solver, X, twist, law, found.count, found, entries, of_contacts, present);
  }
}

}  // namespace featherstorm
