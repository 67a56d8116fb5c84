// Contacts that touch and the acceleration under all constraints, among many instances side by side.
//
// Where all candidates of a robot are more than touch at a time, what is far is left out: pairs whose bounding spheres are
// apart in every instance of a scalar T, candidates without a force, limits that are not active. Rows are built of what
// is left, and Newton's method (core/constraint/newton_step.h) goes on until every instance is done.
#pragma once
#include "core/constraint/contact_rows.h"
#include "core/constraint/newton_step.h"
#include "core/mujoco/constrained.h"

namespace featherstorm {

// Whether x > 0 in any instance.
inline bool some(double x) { return x > 0; }
inline bool some(float x) { return x > 0; }

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
  std::vector<char> couples;  // (pairs) whether a pair needs the second tree
  std::vector<P> reach;       // (geoms) radius of the bounding sphere about its centre [m]; 0 of planes
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

// Rows that are left, and where in the outputs their forces go: below 0 in those of contacts, -1 - row.
template <class T> struct NearRows {
  RowPatternOf<BlockList, const int*> pattern;
  T *J, *D, *aref, *friction;
  int* to;
  bool coupled = false;  // whether bodies on different branches touch
};

template <class T, class P>
FS_HD void add_constraints(const ContactSolver<P>& solver, const auto& in, NearRows<T>& rows) {
  const RowPattern& all = solver.constraints;
  for (const PackedBlock& b : all.block) {
    if (b.kind == RowKind::Unilateral && !some(T(in.D[b.first]))) continue;
    const PackedBlock& to = rows.pattern.add(b.kind, b.rows, b.column, b.columns);
    for (int k = 0; k < b.rows * b.columns; k++) rows.J[to.entry + k] = in.jacobian[b.entry + k];
    for (int i = 0; i < b.rows; i++) {
      const int from = b.first + i, at = to.first + i;
      rows.D[at] = in.D[from], rows.aref[at] = in.aref[from], rows.friction[at] = in.friction[from];
      rows.to[at] = from;
    }
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
  T position[most_rows], active[most_rows], velocity[most_rows];
  ContactPoint<T> point[most_slots];
  int all = 0;
  for (int p = 0; p < static_cast<int>(w.contacts.pair.size()); p++) {
    const ContactPair<P>& pair = w.contacts.pair[p];
    const int first = all, d = pair.dimension;
    all += pair.slots * d;
    if (!some(nearness(solver, pair, places))) continue;
    const Placement<T>&A = places[pair.geom[0]], &B = places[pair.geom[1]];
    contact_points(w.contacts, pair, A, B, point);
    const Geom<P>&a = w.contacts.geom[pair.geom[0]], &b = w.contacts.geom[pair.geom[1]];
    for (int slot = 0; slot < pair.slots; slot++) {
      if (!some(T(T(pair.margin) - point[slot].distance))) continue;
      const Candidate<T> c = {point[slot], candidate_frame(a, b, B, point[slot].normal)};
      const RowKind kind = d == 1 ? RowKind::Unilateral : w.contacts.elliptic ? RowKind::Cone : RowKind::Pyramid;
      const int begin = solver.pairs.start[p], n = solver.pairs.columns(p);
      const PackedBlock& to = rows.pattern.add(kind, d, static_cast<int>(solver.constraints.column.size()) + begin, n);
      relative_velocity(X, twist, a.place.body, b.place.body, c, d, velocity);
      contact_jacobian(std::span(solver.pairs.column).subspan(begin, n), X, axis, c, d, rows.J + to.entry);
      const ConstraintRows<T*> at{
          nullptr, position, rows.D + to.first, rows.aref + to.first, active, rows.friction + to.first};
      set_contact_rows(w, pair, c.contact.distance, velocity, at);
      for (int k = 0; k < d; k++) rows.to[to.first + k] = -1 - (first + slot * d + k);
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
  for (int i = 0; i < rows_of(solver.world.contacts); i++) out.contact_force[i] = zero;
  for (int i = 0; i < n; i++) {
    if (rows.to[i] < 0) out.contact_force[-1 - rows.to[i]] = found[i];
    else out.row_force[rows.to[i]] = found[i];
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
  auto blocks = scratch<PackedBlock>(solver.constraints.size() + slots_of(w.contacts));
  auto J = scratch<T>(entries + 1), D = scratch<T>(rows + 1), aref = scratch<T>(rows + 1),
       friction = scratch<T>(rows + 1);
  auto to = scratch<int>(rows + 1);
  NearRows<T> near{
      {{blocks.data()}, solver.column.data()}, J.data(), D.data(), aref.data(), friction.data(), to.data()};
  add_constraints(solver, in, near);
  add_contacts(solver, X.data(), twist.data(), axis.data(), near);
  iterate(solver, near, in, out);
}

}  // namespace featherstorm
