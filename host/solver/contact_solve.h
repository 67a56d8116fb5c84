// Contacts that touch and the acceleration under all constraints, among many instances side by side.
//
// Where all candidates of a robot are more than touch at a time, what is far is left out: pairs whose bounding spheres are
// apart in every instance of a scalar T, and candidates without a force. What is left is solved in one of two ways.
//
//   places   A kernel for one robot has a few places for contacts: for each limb, and for pairs of bodies of different limbs,
//            which need all coordinates. The contacts of each instance take the places of their kind one after the other, so
//            that the second contact of a foot in one instance and that of a shank in another may stand in the same one.
//   loops    Over what is left, as many as there are, where no kernel has as many places.
//
// Newton's method (core/constraint/newton_step.h) goes on until every instance is done.
#pragma once
#include "core/constraint/contact_rows.h"
#include "core/constraint/newton_step.h"
#include "core/mujoco/constrained.h"
#include "host/memory/kernel.h"

namespace featherstorm {

// A pass of Newton's method for one robot, with places for contacts: the step, and how far to go along it
// (host/trace/world_programs.h).
struct PlacesKernels {
  Kernel direction = nullptr, search = nullptr;
  const void *of_direction = nullptr, *of_search = nullptr;
};

// What contacts may share a place: those whose coordinates are among its columns.
struct PlaceKind {
  RowKind kind = RowKind::Pyramid;
  int rows = 3;
  bool universal = false;  // for bodies of different limbs: all coordinates
  std::vector<int> column;
};

// How many places of each kind a kernel has.
struct PlaceCount {
  int of_limb = 0, universal = 0;
  int of(const PlaceKind& k) const { return k.universal ? universal : of_limb; }
};

// Multiply-adds of a block of rows in a pass, about.
inline double block_cost(int rows, int columns) { return rows * columns * (rows + 0.5 * columns) + 20 * rows; }

// Of one robot.
template <class P> struct ContactSolver {
  int nv = 0, nb = 0;
  World<P> world;           // its contacts and how they are held
  RowPattern constraints;   // rows of constraints
  PairColumns pairs;        // columns of contacts
  std::vector<int> column;  // coordinates of constraints, then of pairs
  // Trees of M and the rows: without contacts between bodies on different branches, and with them. entry: where the packed
  // inertia matrix of the robot's own tree goes.
  EliminationTree tree[2];
  std::vector<int> entry[2];
  std::vector<char> couples;   // (pairs) whether a pair needs the second tree
  std::vector<int> first_row;  // (pairs) of its candidates, among the rows of contacts
  std::vector<P> reach;        // (geoms) radius of the bounding sphere about its centre [m]; 0 of planes
  std::vector<PlaceKind> kind;
  std::vector<int> kind_of;        // (pairs)
  std::vector<int> position;       // of each of the pairs' columns, among those of its kind
  std::vector<PlaceCount> counts;  // of the kernels there may be, each with all places of those before it
  // Kernels with counts[i] places, made when they are first asked for; none where they cannot be had.
  PlacesKernels (*kernels)(const ContactSolver&, int i) = nullptr;
  void* maker = nullptr;
  int iterations = 100;
  P tolerance{};
};

// What the equations hand on (core/mujoco/constrained.h), each an array of scalars.
template <class Array> struct SolverInputs {
  Array mass, b;                      // (nh), (nv)
  Array jacobian, D, aref, friction;  // rows of constraints
  Array placement, twist, axis;       // (nb + 1) R row by row, r; (nb + 1) w, v; (nv) w, v
  Array qacc;                         // (nv)
};
template <class Array> struct SolverOutputs {
  Array qacc, passes;
  Array row_force;      // (rows of constraints)
  Array contact_force;  // (rows of contacts)
};

// Blocks in memory taken beforehand.
struct BlockList {
  PackedBlock* data;
  int count = 0;
  PackedBlock* begin() const { return data; }
  PackedBlock* end() const { return data + count; }
  std::size_t size() const { return static_cast<std::size_t>(count); }
  const PackedBlock& operator[](int i) const { return data[i]; }
  void push_back(const PackedBlock& b) { data[count++] = b; }
};

// Which instances of x are above zero, a bit each, and back: 1 where a bit is set, else 0.
FS_HD unsigned instances_above_zero(const double& x) { return x > 0 ? 1 : 0; }
FS_HD unsigned instances_above_zero(const float& x) { return x > 0 ? 1 : 0; }
template <class T> FS_HD T in_instances(unsigned bits) {
  T x(0.0);
  for (int i = 0; i < lanes<T>; i++) set_lane(x, i, (bits >> i & 1) != 0 ? 1 : 0);
  return x;
}

inline Array array_of(double* data) { return {data, 1}; }

// A candidate with a force in some instances; where its numbers begin.
struct NearContact {
  int pair;
  int output;  // among the rows of contacts
  int J, row;
  unsigned instances;
};

// Contacts with a force.
template <class T> struct NearContacts {
  NearContact* contact;
  T *J, *D, *aref, *friction;  // columns of their pairs; of each its rows
  int count = 0, entries = 0, rows = 0;
};

// Placements and motions in memory, loaded where they are used.
template <class T, class Array> struct Placements {
  Array of;
  Placement<T> operator[](int i) const {
    Placement<T> X;
    for (int k = 0; k < 9; k++) X.R(k / 3, k % 3) = of[12 * i + k];
    for (int k = 0; k < 3; k++) X.r(k) = of[12 * i + 9 + k];
    return X;
  }
};
template <class T, class Array> struct Motions {
  Array of;
  Motion<T> operator[](int i) const {
    Motion<T> V;
    for (int k = 0; k < 3; k++) V.w(k) = of[6 * i + k], V.v(k) = of[6 * i + 3 + k];
    return V;
  }
};

// Where the geoms are, computed when they are asked for.
template <class T, class P, class Bodies> class GeomPlaces {
 public:
  GeomPlaces(const GeomContacts<P>& contacts, const Bodies& X)
      : contacts_(contacts),
        X_(X),
        place_(static_cast<int>(contacts.geom.size())),
        centre_(static_cast<int>(contacts.geom.size())),
        known_(static_cast<int>(contacts.geom.size())) {
    for (std::size_t i = 0; i < contacts.geom.size(); i++) known_[static_cast<int>(i)] = 0;
  }
  const Vec3<T>& centre(int geom) {
    if (known_[geom] == 0) {
      const Frame<P>& f = contacts_.geom[geom].place;
      const Vec3<T> r = cast<T>(f.X.r);
      if (f.body == 0) {
        centre_[geom] = r;
      } else {
        const Placement<T> X = X_[f.body];
        centre_[geom] = X.r + X.R * r;
      }
      known_[geom] = 1;
    }
    return centre_[geom];
  }
  const Placement<T>& operator[](int geom) {
    if (known_[geom] < 2) {
      place_[geom] = geom_placement<T>(X_, contacts_.geom[geom]);
      centre_[geom] = place_[geom].r, known_[geom] = 2;
    }
    return place_[geom];
  }

 private:
  const GeomContacts<P>& contacts_;
  const Bodies& X_;
  Scratch<Placement<T>> place_;
  Scratch<Vec3<T>> centre_;
  Scratch<char> known_;
};

// A number above zero where the bounding spheres of a pair are near.
template <class T, class P>
FS_HD T nearness(const ContactSolver<P>& solver, const ContactPair<P>& pair, auto& places) {
  const int a = pair.geom[0], b = pair.geom[1];
  const T reach = T(solver.reach[a]) + T(solver.reach[b]) + T(pair.detection);
  if (solver.world.contacts.geom[a].type == GeomType::Plane)
    return reach - dot(axis_of(places[a], 2), places.centre(b) - places[a].r);
  const Vec3<T> d = places.centre(b) - places.centre(a);
  return reach * reach - dot(d, d);
}

template <class T, class P>
FS_HD void find_contacts(const ContactSolver<P>& solver, const auto& X, const auto& twist, const auto& axis,
                         NearContacts<T>& near) {
  const World<P>& w = solver.world;
  GeomPlaces<T, P, std::remove_cvref_t<decltype(X)>> places(w.contacts, X);
  T position[most_rows], active[most_rows], velocity[most_rows];
  ContactPoint<T> point[most_slots];
  const int pairs = static_cast<int>(w.contacts.pair.size());
  for (int p = 0; p < pairs; p++) {
    const ContactPair<P>& pair = w.contacts.pair[p];
    const int d = pair.dimension;
    if (!some(nearness<T>(solver, pair, places))) continue;
    const Placement<T>&A = places[pair.geom[0]], &B = places[pair.geom[1]];
    contact_points(w.contacts, pair, A, B, point);
    const Geom<P>&a = w.contacts.geom[pair.geom[0]], &b = w.contacts.geom[pair.geom[1]];
    const int begin = solver.pairs.start[p], n = solver.pairs.columns(p);
    for (int slot = 0; slot < pair.slots; slot++) {
      const unsigned instances = instances_above_zero(T(T(pair.margin) - point[slot].distance));
      if (instances == 0) continue;
      const Candidate<T> c = {point[slot], candidate_frame(a, b, B, point[slot].normal)};
      relative_velocity(X, twist, a.place.body, b.place.body, c, d, velocity);
      contact_jacobian(std::span(solver.pairs.column).subspan(begin, n), X, axis, c, d, near.J + near.entries);
      set_contact_rows(w, pair, c.contact.distance, velocity,
                       ConstraintRows<T*>{nullptr, position, near.D + near.rows, near.aref + near.rows, active,
                                          near.friction + near.rows});
      near.contact[near.count++] = {p, solver.first_row[p] + slot * d, near.entries, near.rows, instances};
      near.entries += d * n, near.rows += d;
    }
  }
}

// Passes of Newton's method until every instance is done: pass(a, a_next, force) -> T, above zero where another is needed.
//
// in   instances  that it is for; the others stay as they are
// in-out  a (nv)
// out  force (rows)  as the last pass of an instance leaves it
// returns how many passes each instance took
template <class T>
FS_HD T until_done(int iterations, unsigned instances, int nv, int rows, T* a, T* force, auto&& pass) {
  const T zero(0.0);
  auto next = scratch<T>(nv), found = scratch<T>(rows + 1);
  T more = in_instances<T>(instances), passes(0.0);
  for (int i = 0; i < iterations && some(more); i++) {
    const T needed = pass(a, next.data(), found.data());
    const auto goes_on = zero < more;
    for (int k = 0; k < nv; k++) a[k] = select(goes_on, next[k], a[k]);
    for (int k = 0; k < rows; k++) force[k] = select(goes_on, found[k], force[k]);
    passes = passes + more;
    more = select(goes_on, needed, zero);
  }
  return passes;
}

// What an instance's results are before its forces.
template <class T, class P>
FS_HD void clear(const ContactSolver<P>& solver, const auto& out) {
  const int constraints = solver.constraints.rows(), contacts = rows_of(solver.world.contacts);
  for (int i = 0; i < constraints; i++) out.row_force[i] = T(0.0);
  for (int i = 0; i < contacts; i++) out.contact_force[i] = T(0.0);
}

// Results of some instances; force(found, to) puts a force where it is one of theirs.
template <class T, class P>
FS_HD auto hand_out(const ContactSolver<P>& solver, unsigned instances, const T* a, const T& passes, const auto& out) {
  const auto theirs = T(0.0) < in_instances<T>(instances);
  for (int k = 0; k < solver.nv; k++) out.qacc[k] = select(theirs, a[k], out.qacc[k]);
  out.passes[0] = select(theirs, passes, out.passes[0]);
  return theirs;
}

template <class T, class P>
FS_HD void solve_by_loops(const ContactSolver<P>& solver, const NearContacts<T>& near, unsigned instances,
                          const auto& in, const auto& out) {
  const RowPattern& fixed = solver.constraints;
  auto blocks = scratch<PackedBlock>(fixed.size() + near.count + 1);
  auto J = scratch<T>(fixed.entries() + near.entries + 1);
  const int most = fixed.rows() + near.rows + 1;
  auto D = scratch<T>(most), aref = scratch<T>(most), friction = scratch<T>(most), force = scratch<T>(most);
  auto to = scratch<int>(most);
  RowPatternOf<BlockList, const int*> rows{{blocks.data()}, solver.column.data()};
  for (const PackedBlock& b : fixed.block) {
    if (b.kind == RowKind::Unilateral && !some(T(in.D[b.first]))) continue;
    const PackedBlock& at = rows.add(b.kind, b.rows, b.column, b.columns);
    for (int k = 0; k < b.rows * b.columns; k++) J[at.entry + k] = in.jacobian[b.entry + k];
    for (int i = 0; i < b.rows; i++) {
      const int row = at.first + i, from = b.first + i;
      D[row] = in.D[from], aref[row] = in.aref[from], friction[row] = in.friction[from], to[row] = from;
    }
  }
  const int constraints = rows.rows();
  bool coupled = false;
  for (int i = 0; i < near.count; i++) {
    const NearContact& c = near.contact[i];
    if ((c.instances & instances) == 0) continue;
    const PlaceKind& kind = solver.kind[solver.kind_of[c.pair]];
    const int n = solver.pairs.columns(c.pair);
    const PackedBlock& at =
        rows.add(kind.kind, kind.rows, static_cast<int>(fixed.column.size()) + solver.pairs.start[c.pair], n);
    for (int k = 0; k < kind.rows * n; k++) J[at.entry + k] = near.J[c.J + k];
    for (int k = 0; k < kind.rows; k++) {
      const int row = at.first + k, from = c.row + k;
      D[row] = near.D[from], aref[row] = near.aref[from], friction[row] = near.friction[from], to[row] = c.output + k;
    }
    coupled = coupled || solver.couples[c.pair] != 0;
  }
  const EliminationTree& tree = solver.tree[coupled];
  auto mass = scratch<T>(tree.nh), b = scratch<T>(solver.nv), a = scratch<T>(solver.nv);
  for (int k = 0; k < tree.nh; k++) mass[k] = T(0.0);
  const int entries = static_cast<int>(solver.entry[coupled].size());
  for (int k = 0; k < entries; k++) mass[solver.entry[coupled][k]] = in.mass[k];
  for (int k = 0; k < solver.nv; k++) b[k] = in.b[k], a[k] = in.qacc[k];
  const NewtonProblem problem{tree, rows, mass.data(), b.data(), J.data(), D.data(), aref.data(), friction.data()};
  const int n = rows.rows();
  for (int i = 0; i < n; i++) force[i] = T(0.0);
  const T passes =
      until_done(solver.iterations, instances, solver.nv, n, a.data(), force.data(), [&](T* x, T* next, T* found) {
        const NewtonOutcome<T> o = newton_step(problem, x, next, found);
        return T(select(T(solver.tolerance) < o.left, T(1.0) - o.exact, T(0.0)));
      });
  const auto theirs = hand_out(solver, instances, a.data(), passes, out);
  for (int i = 0; i < n; i++) {
    auto& place = i < constraints ? out.row_force[to[i]] : out.contact_force[to[i]];
    place = select(theirs, force[i], place);
  }
}

// What is solved how.
struct Ways {
  int which = 0;           // of counts: the least whose places hold all contacts of each of these instances
  unsigned in_places = 0;  // instances
  unsigned by_loops = 0;   // instances with more contacts than any kernel has places for
};

// An instance's way follows from its own contacts alone, but for the kernel, which may have more places than it needs.
// rank (contacts): which of the places of its kind a contact has in each instance.
template <class T, class P>
FS_HD Ways ways_for(const ContactSolver<P>& solver, const NearContacts<T>& near, unsigned char (*rank)[lanes<T>]) {
  const int kinds = static_cast<int>(solver.kind.size()), choices = static_cast<int>(solver.counts.size());
  auto taken = scratch<unsigned char[lanes<T>]>(kinds + 1);
  for (int k = 0; k < kinds; k++)
    for (int l = 0; l < lanes<T>; l++) taken[k][l] = 0;
  PlaceCount most[lanes<T>];
  for (int i = 0; i < near.count; i++) {
    const NearContact& c = near.contact[i];
    const int kind = solver.kind_of[c.pair];
    const bool universal = solver.kind[kind].universal;
    for (int l = 0; l < lanes<T>; l++) {
      if ((c.instances >> l & 1) == 0) continue;
      rank[i][l] = taken[kind][l];
      if (taken[kind][l] < 255) taken[kind][l]++;
      int& count = universal ? most[l].universal : most[l].of_limb;
      count = count > taken[kind][l] ? count : taken[kind][l];
    }
  }
  Ways ways;
  for (int l = 0; l < lanes<T>; l++) {
    int i = 0;
    while (i < choices &&
           (most[l].of_limb > solver.counts[i].of_limb || most[l].universal > solver.counts[i].universal))
      i++;
    if (i == choices) {
      ways.by_loops |= 1u << l;
    } else {
      ways.in_places |= 1u << l;
      ways.which = ways.which > i ? ways.which : i;
    }
  }
  return ways;
}

// Whether there is a kernel that does it.
template <class T, class P>
FS_HD bool solve_in_places(const ContactSolver<P>& solver, const NearContacts<T>& near, const Ways& ways,
                           const unsigned char (*rank)[lanes<T>], const auto& in, const auto& out) {
  const PlacesKernels kernels = solver.kernels(solver, ways.which);
  if (!kernels.direction || !kernels.search) return false;
  const PlaceCount& count = solver.counts[ways.which];
  // where the places of a kind begin
  const int kinds = static_cast<int>(solver.kind.size());
  auto first_entry = scratch<int>(kinds + 1), first_row = scratch<int>(kinds + 1);
  int entries = 0, rows = 0;
  for (int k = 0; k < kinds; k++) {
    const PlaceKind& kind = solver.kind[k];
    first_entry[k] = entries, first_row[k] = rows;
    rows += count.of(kind) * kind.rows;
    entries += count.of(kind) * kind.rows * static_cast<int>(kind.column.size());
  }
  auto J = scratch<T>(entries + 1), D = scratch<T>(rows + 1), aref = scratch<T>(rows + 1),
       friction = scratch<T>(rows + 1);
  const T zero(0.0);
  for (int k = 0; k < entries; k++) J[k] = zero;
  for (int k = 0; k < rows; k++) D[k] = aref[k] = friction[k] = zero;
  const auto for_each_place = [&](int i, auto&& visit) {
    const NearContact& c = near.contact[i];
    for (unsigned left = c.instances & ways.in_places; left != 0;) {
      int lane_of_first = 0;
      while ((left >> lane_of_first & 1) == 0) lane_of_first++;
      const unsigned char r = rank[i][lane_of_first];
      unsigned bits = 0;
      for (int l = lane_of_first; l < lanes<T>; l++)
        if ((left >> l & 1) != 0 && rank[i][l] == r) bits |= 1u << l;
      left &= ~bits;
      visit(c, solver.kind_of[c.pair], static_cast<int>(r), T(0.0) < in_instances<T>(bits));
    }
  };
  for (int i = 0; i < near.count; i++)
    for_each_place(i, [&](const NearContact& c, int k, int place, const auto& here) {
      const PlaceKind& kind = solver.kind[k];
      const int n = solver.pairs.columns(c.pair), columns = static_cast<int>(kind.column.size());
      const int* position = solver.position.data() + solver.pairs.start[c.pair];
      T* const at = J.data() + first_entry[k] + place * kind.rows * columns;
      for (int row = 0; row < kind.rows; row++) {
        for (int l = 0; l < n; l++) {
          T& to = at[row * columns + position[l]];
          to = select(here, near.J[c.J + row * n + l], to);
        }
        const int to = first_row[k] + place * kind.rows + row, from = c.row + row;
        D[to] = select(here, near.D[from], D[to]), aref[to] = select(here, near.aref[from], aref[to]);
        friction[to] = select(here, near.friction[from], friction[to]);
      }
    });
  const int constraints = solver.constraints.rows(), n = constraints + rows;
  auto a = scratch<T>(solver.nv), step = scratch<T>(solver.nv), g = scratch<T>(solver.nv);
  auto force = scratch<T>(n + 1), r = scratch<T>(n + 1), Js = scratch<T>(n + 1);
  for (int k = 0; k < solver.nv; k++) a[k] = in.qacc[k];
  const auto of = [](T* data) { return Array{data, lanes<T>}; };
  const T passes =
      until_done(solver.iterations, ways.in_places, solver.nv, n, a.data(), force.data(), [&](T* x, T* next, T* found) {
        T more, exact, line[5] = {T(1.0), zero, T(1e10), T(1e30), T(1.0)}, line_next[5];
        const Array from[] = {array_of(in.mass),
                              array_of(in.b),
                              array_of(in.jacobian),
                              of(J.data()),
                              array_of(in.D),
                              of(D.data()),
                              array_of(in.aref),
                              of(aref.data()),
                              array_of(in.friction),
                              of(friction.data()),
                              of(x)};
        const Array to[] = {of(&more),    of(&exact),    of(step.data()), of(g.data()),
                            of(r.data()), of(Js.data()), of(found)};
        kernels.direction(kernels.of_direction, from, to, 1, 0, lanes<T>);
        const Array along[] = {array_of(in.mass),   array_of(in.D),  of(D.data()), array_of(in.friction),
                               of(friction.data()), of(step.data()), of(g.data()), of(r.data()),
                               of(Js.data()),       of(found),       of(line)};
        const Array gone[] = {of(line_next)};
        for (int i = 0; i < most_searches && some(T(line[4] - exact)); i++) {
          kernels.search(kernels.of_search, along, gone, 1, 0, lanes<T>);
          for (int k = 0; k < 5; k++) line[k] = line_next[k];
        }
        const T alpha = select(zero < exact, T(1.0), line[0]);
        for (int k = 0; k < solver.nv; k++) next[k] = x[k] + alpha * step[k];
        return more;
      });
  const auto theirs = hand_out(solver, ways.in_places, a.data(), passes, out);
  for (int i = 0; i < constraints; i++) out.row_force[i] = select(theirs, force[i], out.row_force[i]);
  for (int i = 0; i < near.count; i++)
    for_each_place(i, [&](const NearContact& c, int k, int place, const auto& here) {
      for (int row = 0; row < solver.kind[k].rows; row++) {
        auto& to = out.contact_force[c.output + row];
        to = select(here, force[constraints + first_row[k] + place * solver.kind[k].rows + row], to);
      }
    });
  return true;
}

// in   in
// out  out
template <class T, class P>
FS_HD void solve_contacts(const ContactSolver<P>& solver, const auto& in, const auto& out) {
  const World<P>& w = solver.world;
  auto contact = scratch<NearContact>(slots_of(w.contacts) + 1);
  auto J = scratch<T>(solver.pairs.entries(w.contacts) + 1);
  const int rows = rows_of(w.contacts) + 1;
  auto D = scratch<T>(rows), aref = scratch<T>(rows), friction = scratch<T>(rows);
  NearContacts<T> near{contact.data(), J.data(), D.data(), aref.data(), friction.data()};
  using Memory = std::remove_cvref_t<decltype(in.placement)>;
  if (!w.contacts.pair.empty())
    find_contacts(solver, Placements<T, Memory>{in.placement}, Motions<T, Memory>{in.twist},
                  Motions<T, Memory>{in.axis}, near);
  auto rank = scratch<unsigned char[lanes<T>]>(near.count + 1);
  Ways ways = ways_for(solver, near, rank.data());
  clear<T>(solver, out);
  if (ways.in_places != 0 && !solve_in_places(solver, near, ways, rank.data(), in, out))
    ways.by_loops |= ways.in_places;
  if (ways.by_loops != 0) solve_by_loops(solver, near, ways.by_loops, in, out);
}

}  // namespace featherstorm
