// The rows of constraints and contacts that have a force in some of the instances side by side. Pairs whose bounding spheres are
// apart in all of them are left out, and so are candidates that do not touch.
#pragma once
#include "host/solver/solver_data.h"

namespace featherstorm {

// A block of rows with a force in some instances; where its numbers begin.
struct PresentBlock {
  bool contact;
  int source;  // pair, or block of constraints
  int output;  // among the rows of contacts or of constraints
  int J, row;
  unsigned instances;
};

// A contact that some instances have, for readings. row: of its forces, -1: without.
template <class T> struct PresentContact {
  Candidate<T> at;
  T there, held;  // FoundContact
  int pair, row;
};

// All of them; constraints first.
template <class T> struct PresentRows {
  PresentBlock* block;
  ScratchArray<T> J, D, aref, friction;  // of each its columns; of each its rows
  int count = 0, entries = 0, rows = 0, constraints = 0;
  T gap{no_contact};                     // the least distance
  ContactPoint<T>* point = nullptr;      // of blocks that are contacts, where it is asked for
  PresentContact<T>* contact = nullptr;  // where readings are asked for, and the forces of rows
  ScratchArray<T> force{};
  int contacts = 0;
};

// Placements and motions in memory, loaded where they are used.
template <class T, class Array> struct Placements {
  Array of;
  FS_HD Placement<T> operator[](int i) const {
    Placement<T> X;
    for (int k = 0; k < 9; k++) X.R(k / 3, k % 3) = of[12 * i + k];
    for (int k = 0; k < 3; k++) X.r(k) = of[12 * i + 9 + k];
    return X;
  }
};
template <class T, class Array> struct Motions {
  Array of;
  FS_HD Motion<T> operator[](int i) const {
    Motion<T> V;
    for (int k = 0; k < 3; k++) V.w(k) = of[6 * i + k], V.v(k) = of[6 * i + 3 + k];
    return V;
  }
};

// Numbers with those of these instances that differ.
template <class T> FS_HD void set_numbers(auto& numbers, const auto& at, const auto& touch) {
  int k = 0;
  for_each_number(numbers, [&](T& x) {
    if (at[k] >= 0) x = touch[at[k]];
    k++;
  });
}

// A geom in these instances.
template <class T>
FS_HD GeomNumbers<T> geom_among(const auto& solver, int geom, const auto& touch) {
  const auto& g = solver.world.contacts.geom[geom];
  GeomNumbers<T> numbers{cast<T>(g.place.X), cast<T>(g.size), T(solver.reach[geom])};
  if (!solver.touch.of_geom.empty()) set_numbers<T>(numbers, solver.touch.of_geom[geom], touch);
  return numbers;
}
template <class T>
FS_HD Placement<T> place_among(const auto& solver, int geom, const auto& touch) {
  if (solver.touch.of_geom.empty()) return cast<T>(solver.world.contacts.geom[geom].place.X);
  return geom_among<T>(solver, geom, touch).X;
}
template <class T>
FS_HD Geom<T> sized_geom(const auto& solver, int geom, const auto& touch) {
  const auto& g = solver.world.contacts.geom[geom];
  const GeomNumbers<T> numbers = geom_among<T>(solver, geom, touch);
  return {g.type, {g.place.body, numbers.X}, numbers.size, g.hull, g.field};
}

// The time step, and friction beside the normal.
template <class T> FS_HD CommonNumbers<T> common_among(const auto& solver, const auto& touch) {
  CommonNumbers<T> numbers{T(solver.world.timestep), T(solver.world.contacts.impedance_ratio)};
  set_numbers<T>(numbers, solver.touch.of_all, touch);
  return numbers;
}

template <class T> FS_HD ContactLaw<T> law_among(const auto& solver, const auto& touch) {
  ContactLaw<T> law = contact_law<T>(solver.world);
  const CommonNumbers<T> common = common_among<T>(solver, touch);
  law.rows.timestep = common.timestep, law.impedance_ratio = common.impedance_ratio;
  return law;
}

// A pair with the numbers of these instances.
template <class T>
FS_HD ContactPair<T> pair_among(const auto& solver, int p, const auto& touch) {
  ContactPair<T> pair = cast<T>(solver.world.contacts.pair[p]);
  if (solver.touch.of_pair.empty()) return pair;
  set_numbers<T>(pair, solver.touch.of_pair[p], touch);
  pair.softness.power = solver.touch.power[p];
  if (solver.rigid && solver.touch.margin_differs(p)) {
    // margins of the robot have it already
    if (solver.touch.of_pair[p][16] >= 0) pair.margin = pair.margin + T(solver.rigid->look_ahead);
    pair.detection = max(pair.detection, pair.margin);
  }
  return pair;
}

// Below which distance contacts of a pair count.
template <class T> FS_HD T detection_among(const auto& solver, int p, const auto& touch) {
  const int at = solver.touch.of_pair.empty() ? -1 : solver.touch.of_pair[p][17];
  return at >= 0 ? T(touch[at]) : T(solver.detection[p]);
}

// Where the geoms are, computed when they are asked for.
template <class T, class Solver, class Bodies, class Array> class GeomPlaces {
 public:
  FS_HD GeomPlaces(const Solver& solver, const Bodies& X, const Array& touch)
      : solver_(solver), X_(X), touch_(touch), place_(geoms()), centre_(geoms()), known_(geoms()) {
    for (int i = 0; i < geoms(); i++) known_[i] = 0;
  }
  FS_HD const Vec3<T>& centre(int geom) {
    if (known_[geom] == 0) {
      const int body = solver_.world.contacts.geom[geom].place.body;
      const Vec3<T> r = place_among<T>(solver_, geom, touch_).r;
      if (body == 0) {
        centre_[geom] = r;
      } else {
        const Placement<T> X = X_[body];
        centre_[geom] = X.r + X.R * r;
      }
      known_[geom] = 1;
    }
    return centre_[geom];
  }
  FS_HD const Placement<T>& operator[](int geom) {
    if (known_[geom] < 2) {
      const int body = solver_.world.contacts.geom[geom].place.body;
      place_[geom] = place_among<T>(solver_, geom, touch_);
      if (body != 0) place_[geom] = X_[body] * place_[geom];
      centre_[geom] = place_[geom].r, known_[geom] = 2;
    }
    return place_[geom];
  }

 private:
  FS_HD int geoms() const { return static_cast<int>(solver_.world.contacts.geom.size()); }
  const Solver& solver_;
  const Bodies& X_;
  const Array& touch_;
  Scratch<Placement<T>> place_;
  Scratch<Vec3<T>> centre_;
  Scratch<char> known_;
};

// A number above zero where the bounding spheres of a pair are near.
template <class T>
FS_HD T nearness(const auto& solver, int p, auto& places, const auto& touch) {
  const auto& pair = solver.world.contacts.pair[p];
  const int a = pair.geom[0], b = pair.geom[1];
  T reach = T(solver.reach[a]) + T(solver.reach[b]) + T(pair.detection);
  if (solver.reaches_differ[p])
    reach = geom_among<T>(solver, a, touch).reach + geom_among<T>(solver, b, touch).reach +
            pair_among<T>(solver, p, touch).detection;
  if (solver.world.contacts.geom[a].type == GeomType::Plane)
    return reach - dot(axis_of(places[a], 2), places.centre(b) - places[a].r);
  const Vec3<T> d = places.centre(b) - places.centre(a);
  return reach * reach - dot(d, d);
}

// Which pairs of bodies are near in some instance, computed when it is asked for.
template <class T, class Solver, class Bodies> class NearBodies {
 public:
  FS_HD NearBodies(const Solver& solver, const Bodies& X)
      : solver_(solver),
        X_(X),
        near_(static_cast<int>(solver.bodies.size()) + 1),
        centre_(solver.nb + 1),
        known_(solver.nb + 1) {
    for (std::size_t i = 0; i < solver.bodies.size(); i++) near_[static_cast<int>(i)] = unknown;
    for (int i = 0; i <= solver.nb; i++) known_[i] = 0;
  }
  // of a pair of geoms
  FS_HD bool operator()(int pair, auto& places) {
    const int i = solver_.bodies_of[pair];
    if (i < 0) return true;
    if (near_[i] == unknown) {
      const auto& bodies = solver_.bodies[i];
      const T reach(bodies.reach);
      if (bodies.plane >= 0) {
        const Placement<T>& plane = places[bodies.plane];
        near_[i] = some(T(reach - dot(axis_of(plane, 2), centre(bodies.b) - plane.r))) ? 1 : 0;
      } else {
        const Vec3<T> d = centre(bodies.a) - centre(bodies.b);
        near_[i] = some(T(reach * reach - dot(d, d))) ? 1 : 0;
      }
    }
    return near_[i] != 0;
  }

 private:
  static constexpr char unknown = 2;
  FS_HD const Vec3<T>& centre(int body) {
    if (known_[body] == 0) {
      const Placement<T> X = X_[body];
      centre_[body] = X.r + X.R * cast<T>(solver_.body_centre[body]), known_[body] = 1;
    }
    return centre_[body];
  }
  const Solver& solver_;
  const Bodies& X_;
  Scratch<char> near_;
  Scratch<Vec3<T>> centre_;
  Scratch<char> known_;
};

// Where the geoms of a pair touch, and within which margin; with the numbers of these instances where its sizes differ. Where geoms have
// derivatives (U) so have contacts.
template <class T, class U>
FS_HD void find_points(const auto& solver, int p, const Placement<U>& A, const Placement<U>& B, const auto& touch,
                       T& margin, ContactPoint<U>* out) {
  const auto& contacts = solver.world.contacts;
  const auto& pair = contacts.pair[p];
  const bool differ = solver.reaches_differ[p];
  margin = T(pair.margin);
  if constexpr (std::is_same_v<const ContactPair<T>&, decltype(pair)>) {
    // numbers of one instance: one call, as each is the text of all shapes
    auto own = scratch<ContactPair<T>>(1);
    auto sized = scratch<Geom<T>>(2);
    const ContactPair<T>* of = &pair;
    const Geom<T>*a = &contacts.geom[pair.geom[0]], *b = &contacts.geom[pair.geom[1]];
    if (differ) {
      own[0] = pair_among<T>(solver, p, touch), margin = own[0].margin;
      for (int k = 0; k < 2; k++) sized[k] = sized_geom<T>(solver, pair.geom[k], touch);
      of = &own[0], a = &sized[0], b = &sized[1];
    }
    contact_points(contacts, *a, *b, *of, A, B, out);
  } else if (differ) {
    const ContactPair<T> own = pair_among<T>(solver, p, touch);
    margin = own.margin;
    contact_points(contacts, sized_geom<T>(solver, pair.geom[0], touch), sized_geom<T>(solver, pair.geom[1], touch),
                   own, A, B, out);
  } else {
    contact_points(contacts, pair, A, B, out);
  }
}

template <class T>
FS_HD void find_constraints(const auto& solver, const auto& in, PresentRows<T>& present) {
  const auto& block = solver.constraints.block;
  for (int i = 0; i < static_cast<int>(block.size()); i++) {
    const PackedBlock& b = block[i];
    const unsigned instances = instances_above_zero(T(in.D[b.first]));
    if (instances == 0) continue;
    for (int k = 0; k < b.columns; k++) present.J[present.entries + k] = in.jacobian[b.entry + k];
    present.D[present.rows] = in.D[b.first], present.aref[present.rows] = in.aref[b.first];
    present.friction[present.rows] = in.friction[b.first];
    present.block[present.count++] = {false, i, b.first, present.entries, present.rows, instances};
    present.entries += b.columns, present.rows++;
  }
  present.constraints = present.count;
}

// in   inside  how far below the distance where rows begin
template <class T>
FS_HD void add_present(const auto& solver, int p, const Candidate<T>& c, const T& inside, const T& there,
                       PresentRows<T>& present) {
  const T beyond = solver.rigid ? T(solver.rigid->look_ahead) : T(0.0);
  const T held = select(beyond < inside, T(1.0), T(0.0));
  present.contact[present.contacts++] = {c, there, held, p, -1};
}

template <class T>
FS_HD void find_contacts(const auto& solver, const auto& X, const auto& twist, const auto& axis, const auto& touch,
                         const auto& weights, PresentRows<T>& present) {
  const auto& w = solver.world;
  using Solver = std::remove_cvref_t<decltype(solver)>;
  using Bodies = std::remove_cvref_t<decltype(X)>;
  const ContactLaw<T> law = law_among<T>(solver, touch);
  GeomPlaces<T, Solver, Bodies, std::remove_cvref_t<decltype(touch)>> places(solver, X, touch);
  NearBodies<T, Solver, Bodies> near(solver, X);
  auto position = scratch<T>(most_rows), active = scratch<T>(most_rows);
  T velocity[most_rows];
  auto point = scratch<ContactPoint<T>>(most_slots);
  const int pairs = static_cast<int>(w.contacts.pair.size());
  for (int p = 0; p < pairs; p++) {
    const auto& pair = w.contacts.pair[p];
    const int d = pair.dimension;
    if (!near(p, places)) {
      p = solver.next_bodies[p] - 1;
      continue;
    }
    if (!some(nearness<T>(solver, p, places, touch))) continue;
    const Placement<T>&A = places[pair.geom[0]], &B = places[pair.geom[1]];
    T margin;
    find_points(solver, p, A, B, touch, margin, point.data());
    const auto &a = w.contacts.geom[pair.geom[0]], &b = w.contacts.geom[pair.geom[1]];
    const int begin = solver.pairs.start[p], n = solver.pairs.columns(p);
    for (int slot = 0; slot < pair.slots; slot++) {
      const T distance = point[slot].distance, inside = margin - distance;
      unsigned instances = instances_above_zero(inside);
      T there(0.0);
      if (present.contact) there = select(distance <= detection_among<T>(solver, p, touch), T(1.0), T(0.0));
      if (instances == 0 && !some(there)) continue;
      if (solver.report) present.gap = min(present.gap, T(select(T(0.0) < inside, distance, T(no_contact))));
      const Candidate<T> c = {point[slot], candidate_frame(a, b, B, point[slot].normal)};
      if (present.contact) add_present(solver, p, c, inside, there, present);
      if (instances == 0) continue;
      relative_velocity(X, twist, a.place.body, b.place.body, c, d, velocity);
      add_surface_velocity(a, b, A, B, c, d, velocity);
      contact_jacobian(std::span<const PathColumn>(solver.pairs.column.data() + begin, n), X, axis, c, d,
                       present.J + present.entries);
      const ConstraintRows<ScratchArray<T>> rows{{},
                                                 position.data(),
                                                 present.D + present.rows,
                                                 present.aref + present.rows,
                                                 active.data(),
                                                 present.friction + present.rows};
      const auto set_rows = [&](const auto& of_pair) {
        if (!solver.rigid) {
          const std::span<const PathColumn> path(solver.pairs.column.data() + begin, n);
          const T A = contact_inertia(solver.own, law, of_pair, path, present.J + present.entries, weights);
          return set_contact_rows(law, of_pair, A, distance, velocity, rows);
        }
        const T gap = distance - (margin - T(solver.rigid->look_ahead));
        instances &=
            instances_above_zero(rigid_contact_rows(law.rows.timestep, *solver.rigid, of_pair, gap, velocity, rows));
      };
      if (solver.touch.of_pair.empty()) set_rows(pair);
      else set_rows(pair_among<T>(solver, p, touch));
      if (instances == 0) continue;
      if (present.point) present.point[present.count] = point[slot];
      if (present.contact) {
        present.contact[present.contacts - 1].row = present.rows;
        for (int k = 0; k < d; k++) present.force[present.rows + k] = T(0.0);
      }
      present.block[present.count++] = {true,         p,        solver.first_row[p] + slot * d, present.entries,
                                        present.rows, instances};
      present.entries += d * n, present.rows += d;
    }
  }
}

// The rows of these instances, in memory of their own.
template <class T> class FoundRows {
 public:
  // in      as of SolverInputs (solver_data.h)
  // points  whether those of contacts are kept
  // read    whether contacts are kept for readings
  FS_HD FoundRows(const auto& solver, const auto& in, bool points, bool read = false)
      : block_(blocks(solver)),
        J_(solver.constraints.entries() + solver.contacts.entries + 1),
        D_(rows(solver)),
        aref_(rows(solver)),
        friction_(rows(solver)),
        point_(points ? blocks(solver) : 0),
        contact_(read ? solver.contacts.slots : 0),
        force_(read ? rows(solver) : 0),
        present_{block_.data(), J_.data(), D_.data(), aref_.data(), friction_.data()} {
    if (points) present_.point = point_.data();
    if (read) present_.contact = contact_.data(), present_.force = force_.data();
    find_constraints(solver, in, present_);
    using Memory = std::remove_cvref_t<decltype(in.placement)>;
    if (solver.contacts.slots > 0)
      find_contacts(solver, Placements<T, Memory>{in.placement}, Motions<T, Memory>{in.twist},
                    Motions<T, Memory>{in.axis}, in.touch, in.weights, present_);
  }
  FS_HD const PresentRows<T>& present() const { return present_; }

 private:
  FS_HD static int blocks(const auto& solver) { return solver.constraints.size() + solver.contacts.slots + 1; }
  FS_HD static int rows(const auto& solver) { return solver.constraints.rows() + solver.contacts.rows + 1; }
  Scratch<PresentBlock> block_;
  Scratch<T> J_, D_, aref_, friction_;
  Scratch<ContactPoint<T>> point_;
  Scratch<PresentContact<T>> contact_;
  Scratch<T> force_;
  PresentRows<T> present_;
};

// Of bodies on their own, where a contact has a row.
template <class T>
FS_HD void hand_out_touched(const auto& solver, const PresentRows<T>& present, const auto& out) {
  for (std::size_t i = 0; i < solver.alone.size(); i++) out.touched[static_cast<int>(i)] = T(0.0);
  for (int k = present.constraints; k < present.count && !solver.alone.empty(); k++)
    for (const int geom : solver.world.contacts.pair[present.block[k].source].geom) {
      const int i = solver.alone_of[solver.world.contacts.geom[geom].place.body];
      if (i >= 0) out.touched[i] = select(where<T>(present.block[k].instances), T(1.0), T(out.touched[i]));
    }
}

}  // namespace featherstorm
