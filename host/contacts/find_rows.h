// Find the rows of constraints and contacts that have a force in some instances of one pack. Pairs whose bounding
// spheres are apart in all of them are skipped, and so are contact candidates that do not touch.
#pragma once
#include <type_traits>

#include "host/contacts/near_pairs.h"

namespace featherstorm {

// A block of rows with a force in some instances, and the indices of its numbers.
struct PresentBlock {
  bool contact;
  int source;  // pair, or block of constraints
  int output;  // index among the rows of contacts or of constraints
  int J, row;
  unsigned instances;
};

// A contact that some instances have, for readings. row: first row of its forces, or -1 if it has none.
template <class T> struct PresentContact {
  Candidate<T> at;
  T there, held;  // as in FoundContact
  int pair, row;
};

// All rows that are present, constraints first.
template <class T> struct PresentRows {
  PresentBlock* block;
  ScratchArray<T> J, D, aref, friction;  // J: by columns of each block; others: by rows
  int count = 0, entries = 0, rows = 0, constraints = 0;
  T gap{no_contact};                     // the least distance
  ContactPoint<T>* point = nullptr;      // of blocks that are contacts, if requested
  PresentContact<T>* contact = nullptr;  // if readings are requested; so are the forces of rows
  ScratchArray<T> force{};
  int contacts = 0;
};

template <class T>
FS_HD Geom<T> sized_geom(const auto& solver, int geom, const auto& touch) {
  const auto& g = solver.world.contacts.geom[geom];
  const GeomNumbers<T> numbers = geom_among<T>(solver, geom, touch);
  return {g.type, {g.place.body, numbers.X}, numbers.size, g.hull, g.field};
}

// Return the time step, and the ratio of friction impedance to normal impedance, of these instances.
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

// Return a pair with the numbers of these instances.
template <class T>
FS_HD ContactPair<T> pair_among(const auto& solver, int p, const auto& touch) {
  ContactPair<T> pair = cast<T>(solver.world.contacts.pair[p]);
  if (solver.touch.of_pair.empty()) return pair;
  set_numbers<T>(pair, solver.touch.of_pair[p], touch);
  pair.softness.power = solver.touch.power[p];
  if (solver.rigid && solver.touch.margin_differs(p)) {
    // margins of the robot include look_ahead already
    if (solver.touch.of_pair[p][16] >= 0) pair.margin = pair.margin + T(solver.rigid->look_ahead);
    pair.detection = max(pair.detection, pair.margin);
  }
  return pair;
}

// Return the distance below which contacts of a pair count.
template <class T> FS_HD T detection_among(const auto& solver, int p, const auto& touch) {
  const int at = solver.touch.of_pair.empty() ? -1 : solver.touch.of_pair[p][17];
  return at >= 0 ? T(touch[at]) : T(solver.detection[p]);
}

// Set the rows of a contact by MuJoCo's law.
template <class T>
FS_HD void set_soft_rows(const auto& solver, const ContactLaw<T>& law, const auto& pair,
                         std::span<const PathColumn> path, auto& of_contacts, const auto& weights, const T& distance,
                         const T* velocity, const auto& numbers) {
  const T inertia = contact_inertia(solver.own, law, pair, path, of_contacts.jacobian(), weights);
  set_contact_rows(law, pair, inertia, distance, velocity, numbers);
}
// On devices, a function that is not inlined: kernels in float then spill less, and those in double more.
template <class T> FS_CALLED FS_HD void set_soft_rows_by_call(auto&... arguments) { set_soft_rows<T>(arguments...); }

// Find the contacts of a pair, and its margin, with the numbers of these instances if its sizes differ. If the geoms
// have derivatives (U), so do the contacts.
template <class T, class U>
FS_HD void find_points(const auto& solver, int p, const Placement<U>& A, const Placement<U>& B, const auto& touch,
                       T& margin, ContactPoint<U>* out) {
  const auto& contacts = solver.world.contacts;
  const auto& pair = contacts.pair[p];
  const bool differ = solver.reaches_differ[p];
  margin = T(pair.margin);
  if constexpr (std::is_same_v<const ContactPair<T>&, decltype(pair)>) {
    // numbers of one instance: one call only, because each call inlines the algorithm of all shapes
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

// Rows stored with those of other blocks, and their Jacobians by columns: the memory that the contact algorithm writes
// to, and the functions that keep its results.
template <class T, class Solver> class RowsByColumns {
 public:
  static constexpr bool wants_jacobian = true, takes_single_contacts = false;
  FS_HD RowsByColumns(const Solver& solver, PresentRows<T>& present) : solver_(solver), present_(present) {}
  FS_HD auto jacobian() const { return present_.J + present_.entries; }
  FS_HD auto D() const { return present_.D + present_.rows; }
  FS_HD auto aref() const { return present_.aref + present_.rows; }
  FS_HD auto friction() const { return present_.friction + present_.rows; }
  FS_HD void add_constraint(const auto& in, int i, int, unsigned) {
    const PackedBlock& b = solver_.constraints.block[i];
    for (int k = 0; k < b.columns; k++) jacobian()[k] = in.jacobian[b.entry + k];
    present_.entries += b.columns;
  }
  FS_HD void add_contact(int p, int, int, const auto&, const Candidate<T>&, unsigned) {
    present_.entries += solver_.world.contacts.pair[p].dimension * solver_.pairs.columns(p);
  }

 private:
  const Solver& solver_;
  PresentRows<T>& present_;
};

template <class T>
FS_HD void find_constraints(const auto& solver, const auto& in, auto&& rows, PresentRows<T>& present) {
  const auto& block = solver.constraints.block;
  for (int i = 0; i < static_cast<int>(block.size()); i++) {
    const PackedBlock& b = block[i];
    const unsigned instances = instances_above_zero(T(in.D[b.first]));
    if (instances == 0) continue;
    rows.D()[0] = in.D[b.first], rows.aref()[0] = in.aref[b.first], rows.friction()[0] = in.friction[b.first];
    present.block[present.count++] = {false, i, b.first, present.entries, present.rows, instances};
    rows.add_constraint(in, i, present.count - 1, instances);
    present.rows++;
  }
  present.constraints = present.count;
}

// in   inside  depth below the margin
template <class T>
FS_HD void add_present(const auto& solver, int p, const Candidate<T>& c, const T& inside, const T& there,
                       PresentRows<T>& present) {
  const T beyond = solver.rigid ? T(solver.rigid->look_ahead) : T(0.0);
  const T held = select(beyond < inside, T(1.0), T(0.0));
  present.contact[present.contacts++] = {c, there, held, p, -1};
}

// Pairs that are near in one instance each, in linked lists, in the order in which they are found.
struct PairItems {
  int *item, *next;   // pair * lanes + instance; the next of its list, or -1
  int *first, *last;  // of each list, or -1
  int count = 0;
  FS_HD void begin(int lists) {
    for (int i = 0; i < lists; i++) first[i] = -1;
  }
  FS_HD void add(int list, int x) {
    (first[list] < 0 ? first[list] : next[last[list]]) = count;
    item[count] = x, next[count] = -1, last[list] = count++;
  }
};

// Find the contacts of pairs that are near in single instances (pair_lists.h).
template <class T>
void find_listed(const auto& solver, const PairItems& items, auto& places, const auto& X, const auto& twist,
                 auto& of_contacts, PresentRows<T>& present);

// Call f(d) with the dimension of a contact, as a constant in packs of several instances.
template <class T> FS_HD void with_dimension(int d, auto&& f) {
  if constexpr (lanes<T> > 1) {
    if (d == 1) return f(std::integral_constant<int, 1>{});
    if (d == 3) return f(std::integral_constant<int, 3>{});
    if (d == 4) return f(std::integral_constant<int, 4>{});
    assert(d == 6);
    f(std::integral_constant<int, 6>{});
  } else {
    f(d);
  }
}

// Frames of the contacts of a pair. The contacts of a plane share one frame. If the plane is static, all other geoms
// except capsules share it, too.
template <class T> class PairFrames {
 public:
  FS_HD void begin(const auto& a, const auto& b, int geom) {
    one_ = a.type == GeomType::Plane;
    const int plane = one_ && a.place.body == 0 && b.type != GeomType::Capsule ? geom : -1;
    if (plane < 0 || plane != plane_) known_ = false;
    plane_ = plane;
  }
  FS_HD const ContactFrame<T>& of(const auto& a, const auto& b, const Placement<T>& B, const Vec3<T>& normal) {
    if (!known_) frame_ = candidate_frame(a, b, B, normal), known_ = one_;
    return frame_;
  }

 private:
  ContactFrame<T> frame_;
  int plane_ = -1;
  bool known_ = false, one_ = false;
};

template <class T>
FS_HD void find_contacts(const auto& solver, const auto& X, const auto& twist, const auto& axis, const auto& touch,
                         const auto& weights, auto&& of_contacts, PresentRows<T>& present) {
  const auto& w = solver.world;
  using Solver = std::remove_cvref_t<decltype(solver)>;
  using Bodies = std::remove_cvref_t<decltype(X)>;
  const ContactLaw<T> law = law_among<T>(solver, touch);
  GeomPlaces<T, Solver, Bodies, std::remove_cvref_t<decltype(touch)>> places(solver, X, touch);
  auto position = scratch<T>(most_rows), active = scratch<T>(most_rows);
  auto point = scratch<ContactPoint<T>>(most_slots);
  PairFrames<T> frames;
  const int pairs = static_cast<int>(w.contacts.pair.size());
  using Rows = std::remove_cvref_t<decltype(of_contacts)>;
  const bool wants_jacobian = Rows::wants_jacobian || law.exact || law.rows.discrete;
  constexpr bool lists = lanes<T> > 1 && Rows::takes_single_contacts;
  int count = 0;  // number of lists
  if constexpr (lists) count = solver.lists;
  const int most = lists ? pairs * lanes<T> : 0;
  auto item = scratch<int>(2 * most), list = scratch<int>(2 * count);
  PairItems items{item.data(), item.data() + most, list.data(), list.data() + count};
  items.begin(count);
  const auto look_at = [&](int p, unsigned here) {
    const auto& pair = w.contacts.pair[p];
    if constexpr (lists) {
      if (const int of = solver.list_of[p]; of >= 0) {
        for (; here != 0; here &= here - 1) items.add(of, p * lanes<T> + lowest_bit(here));
        return;
      }
    }
    const auto &a = w.contacts.geom[pair.geom[0]], &b = w.contacts.geom[pair.geom[1]];
    const bool round = a.type == GeomType::Plane && (b.type == GeomType::Sphere || b.type == GeomType::Capsule);
    const Placement<T>& A = places[pair.geom[0]];
    const Placement<T>& B = round && !b.surface_moves ? places.line(pair.geom[1]) : places[pair.geom[1]];
    T margin;
    find_points(solver, p, A, B, touch, margin, point.data());
    frames.begin(a, b, pair.geom[0]);
    for (int slot = 0; slot < pair.slots; slot++) {
      const T distance = point[slot].distance, inside = margin - distance;
      unsigned instances = here & instances_above_zero(inside);
      T there(0.0);
      if (present.contact)
        there = keep(here, T(select(distance <= detection_among<T>(solver, p, touch), T(1.0), T(0.0))));
      if (instances == 0 && !some(there)) continue;
      if (solver.report) present.gap = min(present.gap, T(select(T(0.0) < inside, distance, T(no_contact))));
      const Candidate<T> c = {point[slot], frames.of(a, b, B, point[slot].normal)};
      if (present.contact) add_present(solver, p, c, inside, there, present);
      if (instances == 0) continue;
      T velocity[most_rows];
      const auto set_velocity = [&](int d) {
        relative_velocity(X, twist, a.place.body, b.place.body, c, d, velocity);
        add_surface_velocity(a, b, A, B, c, d, velocity);
      };
      const auto add = [&](auto rows, const auto& numbers) {
        const int d = rows;
        if (present.point) present.point[present.count] = point[slot];
        if (present.contact) {
          present.contact[present.contacts - 1].row = present.rows;
          for (int k = 0; k < d; k++) present.force[present.rows + k] = T(0.0);
        }
        present.block[present.count++] = {true,         p,        solver.first_row[p] + slot * d, present.entries,
                                          present.rows, instances};
        of_contacts.add_contact(p, present.count - 1, rows, numbers, c, instances);
        present.rows += d;
      };
      if constexpr (Rows::takes_single_contacts) {
        if (!solver.gains.empty()) {
          with_dimension<T>(pair.dimension, [&](auto rows) {
            T idle[most_rows], D[most_rows], aref[most_rows], friction[most_rows];
            const ConstraintRows<T*> numbers{{}, idle, D, aref, idle, friction};
            set_velocity(rows);
            set_contact_rows(solver.gains[p], contact_answer(solver.gains[p], T(-inside)), rows, T(-inside), velocity,
                             numbers);
            add(rows, numbers);
          });
          continue;
        }
      }
      const int d = pair.dimension;
      set_velocity(d);
      const std::span<const PathColumn> path(solver.pairs.column.data() + solver.pairs.start[p],
                                             solver.pairs.columns(p));
      if (wants_jacobian) contact_jacobian(path, X, axis, c, d, of_contacts.jacobian());
      const ConstraintRows<ScratchArray<T>> numbers{
          {}, position.data(), of_contacts.D(), of_contacts.aref(), active.data(), of_contacts.friction()};
      const auto set_rows = [&](const auto& of_pair) {
        if (!solver.rigid) {
          if constexpr (std::is_same_v<T, float>)
            return set_soft_rows_by_call<T>(solver, law, of_pair, path, of_contacts, weights, distance, velocity,
                                            numbers);
          return set_soft_rows<T>(solver, law, of_pair, path, of_contacts, weights, distance, velocity, numbers);
        }
        const T gap = distance - (margin - T(solver.rigid->look_ahead));
        instances &=
            instances_above_zero(rigid_contact_rows(law.rows.timestep, *solver.rigid, of_pair, gap, velocity, numbers));
      };
      if (solver.touch.of_pair.empty()) set_rows(pair);
      else set_rows(pair_among<T>(solver, p, touch));
      if (instances != 0) add(d, numbers);
    }
  };
  for_each_near_pair<T>(solver, X, places, touch, look_at);
  if constexpr (lists) find_listed(solver, items, places, X, twist, of_contacts, present);
}

// in   rows  receives the rows
template <class T> FS_HD void find_rows(const auto& solver, const auto& in, auto&& rows, PresentRows<T>& present) {
  using Memory = std::remove_cvref_t<decltype(in.placement)>;
  find_constraints(solver, in, rows, present);
  if (solver.contacts.slots > 0)
    find_contacts(solver, Placements<T, Memory>{in.placement}, Motions<T, Memory>{in.twist},
                  Motions<T, Memory>{in.axis}, in.touch, in.weights, rows, present);
}

// The rows of these instances with their Jacobians, and their memory.
template <class T> class FoundRows {
 public:
  // in      as in SolverInputs (solver_data.h)
  // points  whether contact points are kept read    whether contacts are kept for readings
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
    find_rows<T>(solver, in, RowsByColumns<T, std::remove_cvref_t<decltype(solver)>>(solver, present_), present_);
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

// For bodies in `alone`: store 1 in instances where a contact of the body has a row.
template <class T>
FS_HD void store_touched(const auto& solver, const PresentRows<T>& present, const auto& out) {
  for (std::size_t i = 0; i < solver.alone.size(); i++) out.touched[static_cast<int>(i)] = T(0.0);
  for (int k = present.constraints; k < present.count && !solver.alone.empty(); k++)
    for (const int geom : solver.world.contacts.pair[present.block[k].source].geom) {
      const int i = solver.alone_of[solver.world.contacts.geom[geom].place.body];
      if (i >= 0) out.touched[i] = select(where<T>(present.block[k].instances), T(1.0), T(out.touched[i]));
    }
}

}  // namespace featherstorm
