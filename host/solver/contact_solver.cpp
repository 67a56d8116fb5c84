#include "host/solver/contact_solver.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "host/memory/cpu_library.h"
#include "host/solver/contact_solve.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

// Whether the coordinates of a pair are not one branch of the tree.
bool is_coupling(const Model<double>& m, const PairColumns& pairs, int pair) {
  for (int k = pairs.start[pair] + 1; k < pairs.start[pair + 1]; k++)
    if (m.dof_parent[pairs.column[k].v] != pairs.column[k - 1].v) return true;
  return false;
}

// Bounding spheres of bodies, and which pairs of bodies the pairs of geoms are; planes, the world, and bodies with a geom that is not
// the same in all instances are always near.
template <class P> void add_bodies(const GeomContacts<double>& contacts, ContactSolver<P>& s) {
  const auto n = static_cast<std::size_t>(s.nb) + 1;
  std::vector<char> differs(n);
  std::vector<Vec3<double>> low(n, Vec3<double>(1e30, 1e30, 1e30)), high(n, Vec3<double>(-1e30, -1e30, -1e30));
  std::vector<double> reach(n);
  for (const Geom<double>& g : contacts.geom) {
    const auto body = static_cast<std::size_t>(g.place.body);
    differs[body] |= s.touch.geom_differs(static_cast<int>(&g - contacts.geom.data()));
    const double r = reach_of(contacts, g);
    for (int k = 0; k < 3; k++) {
      low[body](k) = std::min(low[body](k), g.place.X.r(k) - r);
      high[body](k) = std::max(high[body](k), g.place.X.r(k) + r);
    }
  }
  std::vector<Vec3<double>> centre(n, zero3<double>());
  for (const Geom<double>& g : contacts.geom) {
    const auto body = static_cast<std::size_t>(g.place.body);
    centre[body] = 0.5 * (low[body] + high[body]);
    reach[body] = std::max(reach[body], (g.place.X.r - centre[body]).norm() + reach_of(contacts, g));
  }
  for (const Vec3<double>& c : centre) s.body_centre.push_back(cast<P>(c));
  std::map<std::pair<int, int>, int> number;
  for (const ContactPair<double>& pair : contacts.pair) {
    const int a = contacts.geom[static_cast<std::size_t>(pair.geom[0])].place.body,
              b = contacts.geom[static_cast<std::size_t>(pair.geom[1])].place.body;
    const bool margin_differs = s.touch.margin_differs(static_cast<int>(&pair - contacts.pair.data()));
    s.reaches_differ.push_back(margin_differs || s.touch.sizes_differ(pair.geom[0]) ||
                               s.touch.sizes_differ(pair.geom[1]));
    if (a == 0 || b == 0 || margin_differs || differs[static_cast<std::size_t>(a)] ||
        differs[static_cast<std::size_t>(b)]) {
      s.bodies_of.push_back(-1);
      continue;
    }
    const auto [at, is_new] = number.try_emplace(std::minmax(a, b), static_cast<int>(s.bodies.size()));
    if (is_new) s.bodies.push_back({a, b, P(0)});
    P& most = s.bodies[static_cast<std::size_t>(at->second)].reach;
    const double detection = pair.detection + (s.rigid ? static_cast<double>(s.rigid->look_ahead) : 0);
    const double far = reach[static_cast<std::size_t>(a)] + reach[static_cast<std::size_t>(b)] + detection;
    most = std::max(most, static_cast<P>(beyond_rounding * far));
    s.bodies_of.push_back(at->second);
  }
}

// Number of x in all, which it is added to where it is not there.
template <class Element> int number_in(std::vector<Element>& all, const Element& x, auto&& equal) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const Element& y) { return equal(x, y); });
  if (at != all.end()) return static_cast<int>(at - all.begin());
  all.push_back(x);
  return static_cast<int>(all.size()) - 1;
}

// How blocks of constraints (0) and pairs (1) are solved in the space of rows.
template <class P> void add_rows(const Model<double>& m, const GeomContacts<double>& contacts, ContactSolver<P>& s) {
  const auto add = [&](int of, const RowGroup& group, const std::vector<int>& columns) {
    s.group_of[of].push_back(number_in(
        s.group, group, [](const RowGroup& x, const RowGroup& y) { return x.kind == y.kind && x.rows == y.rows; }));
    s.half_of[of].push_back(number_in(s.half, half_solution(m, columns), [](const auto& x, const auto& y) {
      return x.column == y.column && x.position == y.position;
    }));
  };
  for (const PackedBlock& b : s.constraints.block) {
    const auto begin = s.constraints.column.begin() + b.column;
    add(0, {b.kind, b.rows}, {begin, begin + b.columns});
  }
  for (int p = 0; p < static_cast<int>(contacts.pair.size()); p++) {
    const int rows = contacts.pair[static_cast<std::size_t>(p)].dimension;
    const RowKind kind = rows == 1 ? RowKind::Unilateral : contacts.elliptic ? RowKind::Cone : RowKind::Pyramid;
    std::vector<int> columns;
    for (int k = s.pairs.start[p]; k < s.pairs.start[p + 1]; k++) columns.push_back(s.pairs.column[k].v);
    add(1, {kind, rows}, columns);
  }
}

// Rows beyond which an instance is solved in the space of coordinates.
constexpr int most_rows_of_an_instance = 72;

template <class P>
BoundKernel made(const Model<double>& m, const WorldPrograms& programs, Kernel kernel, int width,
                 const ContactSolverOptions& options) {
  auto solver = std::make_shared<ContactSolver<P>>();
  ContactSolver<P>& s = *solver;
  const GeomContacts<double>& contacts = m.world.contacts;
  s.nv = m.nv, s.nb = m.nb;
  s.world = cast<P>(m.world);
  if (options.rigid) {
    s.rigid = cast<P>(*options.rigid);
    for (ContactPair<P>& pair : s.world.contacts.pair)
      pair.margin += s.rigid->look_ahead, pair.detection = std::max(pair.detection, pair.margin);
  }
  s.constraints = programs.rows, s.pairs = programs.pairs, s.touch = programs.touch;
  s.column = programs.rows.column;
  for (const PathColumn& c : programs.pairs.column) s.column.push_back(c.v);
  std::vector<std::vector<int>> coupled;
  int row = 0;
  for (int i = 0; i < static_cast<int>(contacts.pair.size()); i++) {
    const ContactPair<double>& pair = contacts.pair[static_cast<std::size_t>(i)];
    s.couples.push_back(is_coupling(m, s.pairs, i));
    s.first_row.push_back(row);
    row += pair.slots * pair.dimension;
    if (!s.couples.back()) continue;
    const auto begin = s.column.begin() + static_cast<long>(programs.rows.column.size());
    coupled.emplace_back(begin + s.pairs.start[i], begin + s.pairs.start[i + 1]);
  }
  s.tree[0] = tree_with(m, programs.rows), s.tree[1] = tree_with(m, programs.rows, coupled);
  for (int k = 0; k < 2; k++) s.entry[k] = entries_on(m, s.tree[k]);
  for (const Geom<double>& g : contacts.geom) s.reach.push_back(static_cast<P>(reach_of(contacts, g)));
  s.alone = programs.alone;
  s.alone_of.assign(static_cast<std::size_t>(m.nb) + 1, -1);
  for (std::size_t i = 0; i < s.alone.size(); i++)
    s.alone_of[static_cast<std::size_t>(s.alone[i])] = static_cast<int>(i);
  s.iterations = options.iterations, s.tolerance = static_cast<P>(options.tolerance);
  // the rigid law has no other way
  s.forces = options.forces;
  s.most_rows = options.rigid ? std::numeric_limits<unsigned short>::max() : most_rows_of_an_instance;
  s.report = options.report;
  s.own = elimination_tree(m.dof_parent, {});
  for (int k = 0; k < m.nv; k++) s.diagonal.push_back(m.at(k, k));
  add_rows(m, contacts, s), add_bodies(contacts, s);
  return {kernel, solver.get(), width, solver};
}

}  // namespace

BoundKernel contact_solver(const Model<double>& model, const WorldPrograms& programs, Precision precision,
                           const std::string& isa, const ContactSolverOptions& options) {
  const SolverTable* table = cpu_solver(isa);
  if (!table)
    throw Error("the library of CPU kernels libfeatherstorm_cpu_" + isa +
                ".so was not found; `./featherstorm setup` builds it");
  return precision == Precision::float32
             ? made<float>(model, programs, table->in_float, table->float_width, options)
             : made<double>(model, programs, table->in_double, table->double_width, options);
}

}  // namespace featherstorm
