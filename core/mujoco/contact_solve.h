// Contacts that touch and the acceleration under all constraints, among many instances side by side.
//
// Where all candidates of a robot are more than touch at a time, what is far is left out: pairs whose bounding spheres are
// apart in every instance of a scalar T, candidates without a force, limits that are not active. Rows are built of what
// is left. Rows of different instances share a place where one has no more columns than the other: a limit from below with
// that from above, the contact of a shank with that of a foot. Newton's method (core/constraint/newton_step.h) goes on until
// every instance is done.
#pragma once
#include "core/constraint/contact_rows.h"
#include "core/constraint/newton_step.h"
#include "core/mujoco/constrained.h"

namespace featherstorm {

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
  std::vector<char> is_path;   // (pairs) whether its columns are a path to the world, moving the second geom
  std::vector<int> order;      // of the pairs: long paths first
  std::vector<int> first_row;  // (pairs) of its candidates, among the rows of contacts
  std::vector<P> reach;        // (geoms) radius of the bounding sphere about its centre [m]; 0 of planes
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

// Which instances of x are above zero, a bit each.
FS_HD unsigned instances_above_zero(const double& x) { return x > 0 ? 1 : 0; }
FS_HD unsigned instances_above_zero(const float& x) { return x > 0 ? 1 : 0; }

// The forces of a place in the rows that are one of the outputs' in some instances.
template <class T> struct RowOutput {
  int row, rows;  // among those that are left
  int to;         // among the outputs
  bool contact;   // of contacts, else of constraints
  T active;       // 1 or 0
};

// Rows that are left.
template <class T> struct NearRows {
  RowPatternOf<BlockList, const int*> pattern;
  T *J, *D, *aref, *friction;
  unsigned* instances;  // (blocks) which have something there
  bool* chain;          // (blocks) whether its columns are a path to the world
  RowOutput<T>* output;
  int outputs = 0;
  bool coupled = false;  // whether bodies on different branches touch
};

// A place for rows with these columns in some instances: one whose columns begin with them and where the others are, or
// a new one. Columns of a chain begin with those of every body below it in the tree.
//
// in   chain  whether columns are those of one body's path to the world, so that places of longer paths will do
template <class T>
FS_HD int place_for(RowKind kind, int n, int at, int columns, bool chain, unsigned instances, NearRows<T>& rows) {
  const int* column = rows.pattern.column;
  for (int i = rows.pattern.size() - 1; i >= 0; i--) {
    const PackedBlock& b = rows.pattern.block[i];
    if (b.kind != kind || b.rows != n || (rows.instances[i] & instances) != 0) continue;
    const bool fits =
        chain ? rows.chain[i] && b.columns >= columns && column[b.column + columns - 1] == column[at + columns - 1]
              : !rows.chain[i] && b.column == at;
    if (!fits) continue;
    rows.instances[i] |= instances;
    return i;
  }
  const PackedBlock& b = rows.pattern.add(kind, n, at, columns);
  const int i = rows.pattern.size() - 1;
  rows.instances[i] = instances, rows.chain[i] = chain;
  const T zero(0.0);
  for (int k = 0; k < n * columns; k++) rows.J[b.entry + k] = zero;
  for (int k = b.first; k < b.first + n; k++) rows.D[k] = rows.aref[k] = rows.friction[k] = zero;
  return i;
}

// Rows into their place, where they are active.
template <class T>
FS_HD void put(const T& active, int columns, const auto& J, const auto& D, const auto& aref, const auto& friction,
               const PackedBlock& b, int to, bool contact, NearRows<T>& rows) {
  const auto there = T(0.0) < active;
  for (int i = 0; i < b.rows; i++) {
    for (int k = 0; k < columns; k++) {
      T& entry = rows.J[b.entry + i * b.columns + k];
      entry = select(there, T(J[i * columns + k]), entry);
    }
    const int at = b.first + i;
    rows.D[at] = select(there, T(D[i]), rows.D[at]), rows.aref[at] = select(there, T(aref[i]), rows.aref[at]);
    rows.friction[at] = select(there, T(friction[i]), rows.friction[at]);
  }
  rows.output[rows.outputs++] = {b.first, b.rows, to, contact, active};
}

template <class T, class P>
FS_HD void add_constraints(const ContactSolver<P>& solver, const auto& in, NearRows<T>& rows) {
  for (const PackedBlock& b : solver.constraints.block) {
    const T active = b.kind == RowKind::Unilateral ? T(select(T(0.0) < in.D[b.first], T(1.0), T(0.0))) : T(1.0);
    const unsigned instances = instances_above_zero(active);
    if (instances == 0) continue;
    const int i = place_for(b.kind, b.rows, b.column, b.columns, b.columns == 1, instances, rows);
    put(active, b.columns, slice(in.jacobian, b.entry), slice(in.D, b.first), slice(in.aref, b.first),
        slice(in.friction, b.first), rows.pattern.block[i], b.first, false, rows);
  }
}

// Where the geoms are, computed when they are asked for.
template <class T, class P> class GeomPlaces {
 public:
  GeomPlaces(const GeomContacts<P>& contacts, const Placement<T>* X)
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
      centre_[geom] = f.body == 0 ? r : Vec3<T>(X_[f.body].r + X_[f.body].R * r);
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
  const Placement<T>* X_;
  Scratch<Placement<T>> place_;
  Scratch<Vec3<T>> centre_;
  Scratch<char> known_;
};

// A number above zero where the bounding spheres of a pair are near.
template <class T, class P>
FS_HD T nearness(const ContactSolver<P>& solver, const ContactPair<P>& pair, GeomPlaces<T, P>& places) {
  const int a = pair.geom[0], b = pair.geom[1];
  const T reach = T(solver.reach[a]) + T(solver.reach[b]) + T(pair.detection);
  if (solver.world.contacts.geom[a].type == GeomType::Plane)
    return reach - dot(axis_of(places[a], 2), places.centre(b) - places[a].r);
  const Vec3<T> d = places.centre(b) - places.centre(a);
  return reach * reach - dot(d, d);
}

template <class T, class P>
FS_HD void add_contacts(const ContactSolver<P>& solver, const Placement<T>* X, const Motion<T>* twist,
                        const Motion<T>* axis, NearRows<T>& rows) {
  const World<P>& w = solver.world;
  GeomPlaces<T, P> places(w.contacts, X);
  T position[most_rows], active[most_rows], velocity[most_rows], D[most_rows], aref[most_rows], friction[most_rows];
  auto J = scratch<T>(most_rows * solver.nv);
  ContactPoint<T> point[most_slots];
  const ConstraintRows<T*> of_one{nullptr, position, D, aref, active, friction};
  for (const int p : solver.order) {
    const ContactPair<P>& pair = w.contacts.pair[p];
    const int d = pair.dimension;
    if (!some(nearness(solver, pair, places))) continue;
    const Placement<T>&A = places[pair.geom[0]], &B = places[pair.geom[1]];
    contact_points(w.contacts, pair, A, B, point);
    const Geom<P>&a = w.contacts.geom[pair.geom[0]], &b = w.contacts.geom[pair.geom[1]];
    const RowKind kind = d == 1 ? RowKind::Unilateral : w.contacts.elliptic ? RowKind::Cone : RowKind::Pyramid;
    const int begin = solver.pairs.start[p], n = solver.pairs.columns(p);
    for (int slot = 0; slot < pair.slots; slot++) {
      const unsigned instances = instances_above_zero(T(T(pair.margin) - point[slot].distance));
      if (instances == 0) continue;
      const Candidate<T> c = {point[slot], candidate_frame(a, b, B, point[slot].normal)};
      relative_velocity(X, twist, a.place.body, b.place.body, c, d, velocity);
      contact_jacobian(std::span(solver.pairs.column).subspan(begin, n), X, axis, c, d, J.data());
      set_contact_rows(w, pair, c.contact.distance, velocity, of_one);
      const int at = static_cast<int>(solver.constraints.column.size()) + begin;
      const int i = place_for(kind, d, at, n, solver.is_path[p] != 0, instances, rows);
      put(active[0], n, J.data(), D, aref, friction, rows.pattern.block[i], solver.first_row[p] + slot * d, true, rows);
      rows.coupled |= solver.couples[p] != 0;
    }
  }
}

// Newton's method until every instance is done.
template <class T, class P>
FS_HD void iterate(const ContactSolver<P>& solver, const NearRows<T>& rows, const auto& in, const auto& out) {
  const int nv = solver.nv, n = rows.pattern.rows();
  const EliminationTree& tree = solver.tree[rows.coupled];
  auto mass = scratch<T>(tree.nh);
  auto b = scratch<T>(nv), a = scratch<T>(nv), next = scratch<T>(nv), force = scratch<T>(n + 1),
       found = scratch<T>(n + 1);
  for (int k = 0; k < tree.nh; k++) mass[k] = T(0.0);
  for (std::size_t k = 0; k < solver.entry[rows.coupled].size(); k++)
    mass[solver.entry[rows.coupled][k]] = in.mass[static_cast<int>(k)];
  for (int k = 0; k < nv; k++) b[k] = in.b[k], a[k] = in.qacc[k];
  const NewtonProblem problem{tree, rows.pattern, mass.data(), b.data(), rows.J, rows.D, rows.aref, rows.friction};
  const T zero(0.0), one(1.0);
  T more(1.0), passes(0.0);
  for (int k = 0; k < n; k++) found[k] = zero;
  for (int i = 0; i < solver.iterations && some(more); i++) {
    const NewtonOutcome<T> o = newton_step(problem, a.data(), next.data(), force.data());
    const auto needs = zero < more;
    for (int k = 0; k < nv; k++) a[k] = select(needs, next[k], a[k]);
    for (int k = 0; k < n; k++) found[k] = select(needs, force[k], found[k]);
    passes = passes + more;
    more = select(needs, select(T(solver.tolerance) < o.left, one - o.exact, zero), zero);
  }
  for (int k = 0; k < nv; k++) out.qacc[k] = a[k];
  out.passes[0] = passes;
  for (int i = 0; i < solver.constraints.rows(); i++) out.row_force[i] = zero;
  const int candidates = rows_of(solver.world.contacts);
  for (int i = 0; i < candidates; i++) out.contact_force[i] = zero;
  for (int k = 0; k < rows.outputs; k++) {
    const RowOutput<T>& o = rows.output[k];
    for (int i = 0; i < o.rows; i++) {
      const T f = select(zero < o.active, found[o.row + i], zero);
      if (o.contact) out.contact_force[o.to + i] = f;
      else out.row_force[o.to + i] = f;
    }
  }
}

// in   in
// out  out
template <class T, class P>
FS_HD void solve_contacts(const ContactSolver<P>& solver, const auto& in, const auto& out) {
  const World<P>& w = solver.world;
  const int rows = solver.constraints.rows() + rows_of(w.contacts);
  const int entries = solver.constraints.entries() + solver.pairs.entries(w.contacts);
  auto X = scratch<Placement<T>>(solver.nb + 1);
  auto twist = scratch<Motion<T>>(solver.nb + 1), axis = scratch<Motion<T>>(solver.nv);
  for (int i = 0; i <= solver.nb; i++) {
    for (int k = 0; k < 9; k++) X[i].R(k / 3, k % 3) = in.placement[12 * i + k];
    for (int k = 0; k < 3; k++) X[i].r(k) = in.placement[12 * i + 9 + k];
    for (int k = 0; k < 3; k++) twist[i].w(k) = in.twist[6 * i + k], twist[i].v(k) = in.twist[6 * i + 3 + k];
  }
  for (int i = 0; i < solver.nv; i++)
    for (int k = 0; k < 3; k++) axis[i].w(k) = in.axis[6 * i + k], axis[i].v(k) = in.axis[6 * i + 3 + k];
  const int most = solver.constraints.size() + slots_of(w.contacts);
  auto blocks = scratch<PackedBlock>(most + 1);
  auto instances = scratch<unsigned>(most + 1);
  auto chain = scratch<bool>(most + 1);
  auto output = scratch<RowOutput<T>>(most + 1);
  auto J = scratch<T>(entries + 1), D = scratch<T>(rows + 1), aref = scratch<T>(rows + 1),
       friction = scratch<T>(rows + 1);
  NearRows<T> near{{{blocks.data()}, solver.column.data()},
                   J.data(),
                   D.data(),
                   aref.data(),
                   friction.data(),
                   instances.data(),
                   chain.data(),
                   output.data()};
  add_constraints(solver, in, near);
  add_contacts(solver, X.data(), twist.data(), axis.data(), near);
  iterate(solver, near, in, out);
}

}  // namespace featherstorm
