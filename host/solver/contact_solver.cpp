#include "host/solver/contact_solver.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <tuple>

#include "host/memory/cpu_library.h"
#include "host/solver/device_solver.h"
#include "host/solver/solver_data.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

// Bounding spheres of bodies, and which pairs of bodies, or of a plane and a body, the pairs of geoms are; what else does not move, and
// bodies with a geom that is not the same in all instances, are always near.
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
  std::map<std::array<int, 3>, int> number;
  for (const ContactPair<double>& pair : contacts.pair) {
    const Geom<double>& first = contacts.geom[static_cast<std::size_t>(pair.geom[0])];
    const int a = first.place.body, b = contacts.geom[static_cast<std::size_t>(pair.geom[1])].place.body;
    const int plane = first.type == GeomType::Plane && a == 0 ? pair.geom[0] : -1;
    const bool margin_differs = s.touch.margin_differs(static_cast<int>(&pair - contacts.pair.data()));
    s.reaches_differ.push_back(margin_differs || s.touch.sizes_differ(pair.geom[0]) ||
                               s.touch.sizes_differ(pair.geom[1]));
    if ((a == 0 && plane < 0) || b == 0 || margin_differs || differs[static_cast<std::size_t>(a)] ||
        differs[static_cast<std::size_t>(b)]) {
      s.bodies_of.push_back(-1);
      continue;
    }
    const auto [at, is_new] =
        number.try_emplace({plane, std::min(a, b), std::max(a, b)}, static_cast<int>(s.bodies.size()));
    if (is_new) s.bodies.push_back({plane, a, b, P(0)});
    P& most = s.bodies[static_cast<std::size_t>(at->second)].reach;
    const double detection = pair.detection + (s.rigid ? static_cast<double>(s.rigid->look_ahead) : 0);
    const double of_a = plane >= 0 ? 0 : reach[static_cast<std::size_t>(a)];
    most = std::max(most, static_cast<P>(beyond_rounding * (of_a + reach[static_cast<std::size_t>(b)] + detection)));
    s.bodies_of.push_back(at->second);
  }
  const int pairs = static_cast<int>(s.bodies_of.size());
  s.next_bodies.resize(s.bodies_of.size());
  for (int p = pairs - 1; p >= 0; p--)
    s.next_bodies[p] = p + 1 < pairs && s.bodies_of[p + 1] == s.bodies_of[p] ? s.next_bodies[p + 1] : p + 1;
}

// Which of the numbers that differ contacts of each pair hang on, each once.
template <class P> void add_numbers(const GeomContacts<double>& contacts, ContactSolver<P>& s) {
  s.first_number = {0};
  for (std::size_t p = 0; p < contacts.pair.size(); p++) {
    const auto add = [&](const auto& places) {
      for (const int at : places)
        if (at >= 0 && std::find(s.number.begin() + s.first_number.back(), s.number.end(), at) == s.number.end())
          s.number.push_back(at);
    };
    add(s.touch.of_all);
    if (!s.touch.of_pair.empty()) add(s.touch.of_pair[p]);
    for (const int geom : contacts.pair[p].geom)
      if (!s.touch.of_geom.empty()) add(s.touch.of_geom[static_cast<std::size_t>(geom)]);
    s.first_number.push_back(static_cast<int>(s.number.size()));
  }
}

// Number of x in all, which it is added to where it is not there.
template <class Element> int number_in(std::vector<Element>& all, const Element& x, auto&& equal) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const Element& y) { return equal(x, y); });
  if (at != all.end()) return static_cast<int>(at - all.begin());
  all.push_back(x);
  return static_cast<int>(all.size()) - 1;
}

// How blocks of constraints (0) and pairs (1) are solved.
template <class P> void add_rows(const Model<double>& m, const GeomContacts<double>& contacts, ContactSolver<P>& s) {
  std::map<std::vector<int>, int> half_of_columns;
  const auto add = [&](int of, const RowGroup& group, const std::vector<int>& columns) {
    s.group_of[of].push_back(number_in(
        s.group, group, [](const RowGroup& x, const RowGroup& y) { return x.kind == y.kind && x.rows == y.rows; }));
    const auto [at, is_new] = half_of_columns.try_emplace(columns, static_cast<int>(s.half.size()));
    if (is_new) s.half.push_back(half_solution(m, columns));
    s.half_of[of].push_back(at->second);
  };
  for (const PackedBlock& b : s.constraints.block) {
    const auto begin = s.constraints.column.begin() + b.column;
    add(0, {b.kind, b.rows}, {begin, begin + b.columns});
  }
  std::map<std::tuple<RowKind, int, std::vector<int>>, int> number;
  for (int p = 0; p < static_cast<int>(contacts.pair.size()); p++) {
    const int rows = contacts.pair[static_cast<std::size_t>(p)].dimension;
    const RowKind kind = rows == 1 ? RowKind::Unilateral : contacts.elliptic ? RowKind::Cone : RowKind::Pyramid;
    std::vector<int> columns;
    for (int k = s.pairs.start[p]; k < s.pairs.start[p + 1]; k++) columns.push_back(s.pairs.column[k].v);
    add(1, {kind, rows}, columns);
    const auto [at, is_new] = number.try_emplace({kind, rows, columns}, static_cast<int>(s.branches.size()));
    if (is_new) s.branches.push_back({kind, rows, p});
    s.branches_of.push_back(at->second);
  }
}

// Rows that every instance has: equalities and dry friction.
int rows_always_there(const RowPattern& rows) {
  int n = 0;
  for (const PackedBlock& b : rows.block) n += b.kind == RowKind::Equality || b.kind == RowKind::Friction ? b.rows : 0;
  return n;
}

// Rows beyond which an instance is solved in the space of coordinates. A row takes n^2 / 6 multiply-adds of a factor there and about
// nv n / 3 of A in each of some passes; here as many as M + J^T W J has entries, which cost more each. Where most instances would be
// beyond or near, all are: each way takes as long for one instance of a vector as for all.
template <class P> int most_rows_of_an_instance(const Model<double>& m, const ContactSolver<P>& s) {
  std::vector<std::vector<int>> together;
  for (const HalfSolution& half : s.half) together.push_back(half.column);
  const double entries = elimination_tree(m.dof_parent, together).nh;
  int n = 0;
  while (n * n / 6.0 + n * m.nv / 3.0 < 1.5 * entries) n++;
  return 4 * rows_always_there(s.constraints) < n ? n : 0;
}

template <class P>
std::shared_ptr<const ContactSolver<P>> solver_of(const Model<double>& m, const WorldPrograms& programs,
                                                  const ContactSolverOptions& options) {
  auto solver = std::make_shared<ContactSolver<P>>();
  ContactSolver<P>& s = *solver;
  const GeomContacts<double>& contacts = m.world.contacts;
  s.nv = m.nv, s.nb = m.nb;
  s.world = cast<P>(m.world);
  s.readings = cast<P>(options.readings);
  for (const ContactPair<double>& pair : contacts.pair) s.detection.push_back(static_cast<P>(pair.detection));
  if (options.rigid) {
    s.rigid = cast<P>(*options.rigid);
    for (ContactPair<P>& pair : s.world.contacts.pair)
      pair.margin += s.rigid->look_ahead, pair.detection = std::max(pair.detection, pair.margin);
  }
  s.constraints = programs.rows, s.pairs = programs.pairs, s.touch = programs.touch;
  s.contacts = {slots_of(contacts), rows_of(contacts), s.pairs.entries(contacts)};
  int row = 0;
  for (int i = 0; i < static_cast<int>(contacts.pair.size()); i++) {
    const ContactPair<double>& pair = contacts.pair[static_cast<std::size_t>(i)];
    s.first_row.push_back(row);
    row += pair.slots * pair.dimension;
  }
  for (const Geom<double>& g : contacts.geom) s.reach.push_back(static_cast<P>(reach_of(contacts, g)));
  s.alone = programs.alone;
  s.alone_of.assign(static_cast<std::size_t>(m.nb) + 1, -1);
  for (std::size_t i = 0; i < s.alone.size(); i++)
    s.alone_of[static_cast<std::size_t>(s.alone[i])] = static_cast<int>(i);
  s.iterations = options.iterations, s.tolerance = static_cast<P>(options.tolerance);
  s.forces = options.forces;
  s.report = options.report;
  s.own = elimination_tree(m.dof_parent, {});
  for (int k = 0; k < m.nv; k++) s.diagonal.push_back(m.at(k, k));
  add_rows(m, contacts, s), add_bodies(contacts, s), add_numbers(contacts, s);
  // the rigid law has no other way
  s.most_rows = options.rigid ? std::numeric_limits<unsigned short>::max() : most_rows_of_an_instance(m, s);
  return solver;
}

using Names = std::vector<std::string>;

Names inputs_of(SolverText text, bool by_rows) {
  const Names rows = {"jacobian", "row_D", "row_aref", "row_friction", "placement", "twist", "axis", "qacc"};
  Names in = rows;
  if (text == SolverText::solution) {
    in.insert(in.begin(), {by_rows ? "factor" : "mass", "qacc_smooth"});
    in.insert(in.end(), {"touch", "weights", "contact_zones"});
  } else {
    in.insert(in.begin(), "mass");
    if (text == SolverText::gradients) in.insert(in.end(), {"qacc_bar", "touch", "weights"});
    else in.insert(in.end(), {"touch", "weights", "g_tan", "placement_tan", "twist_tan", "axis_tan", "touch_tan"});
  }
  return in;
}

Names outputs_of(SolverText text) {
  switch (text) {
    case SolverText::solution:
      return {"qacc_next", "row_force", "contact_force", "passes",       "residual",       "gap",
              "rows",      "touched",   "contact_count", "contact_link", "contact_sensor", "contact_selection"};
    case SolverText::gradients:
      return {"lambda", "pose_bar", "lambda_motion_bar", "qacc_motion_bar", "twist_bar", "touch_bar"};
    default: return {"qacc_tan"};
  }
}

template <class P>
ContactSolverStage stage_of(const Model<double>& m, const WorldPrograms& programs, Kernel kernel, int width,
                            const ContactSolverOptions& options, SolverText text) {
  const auto solver = solver_of<P>(m, programs, options);
  return {{kernel, solver.get(), width, std::const_pointer_cast<ContactSolver<P>>(solver)},
          device_solver_stage(solver, text),
          inputs_of(text, solver->most_rows > 0),
          outputs_of(text)};
}

}  // namespace

ContactSolverStage contact_solver(const Model<double>& model, const WorldPrograms& programs, Precision precision,
                                  const std::string& isa, const ContactSolverOptions& options, SolverText text) {
  constexpr long sizes[2] = {sizeof(ContactSolver<float>), sizeof(ContactSolver<double>)};
  const SolverTable* table = cpu_solver(isa, text, sizes);
  if (!table)
    throw Error("the library of CPU kernels libfeatherstorm_cpu_" + isa +
                ".so was not found; `./featherstorm setup` builds it");
  return precision == Precision::float32
             ? stage_of<float>(model, programs, table->in_float, table->float_width, options, text)
             : stage_of<double>(model, programs, table->in_double, table->double_width, options, text);
}

}  // namespace featherstorm
