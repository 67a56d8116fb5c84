#include "host/solver/contact_solver.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <tuple>
#include <type_traits>

#include "host/contacts/solver_data.h"
#include "host/memory/cpu_library.h"
#include "host/solver/device_solver.h"
#include "host/solver/limb_tables.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

// Compute the bounding spheres of bodies, and group the pairs of geoms by pairs of bodies, or of a plane and a body.
// Pairs with other static geoms always count as near, and so do bodies with a geom that differs among instances.
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
  for (const ContactPair<double>& pair : contacts.pair) {
    const int p = static_cast<int>(&pair - contacts.pair.data());
    const Geom<double>& first = contacts.geom[static_cast<std::size_t>(pair.geom[0])];
    PairGroup<P> of{p, p + 1};
    of.a = first.place.body, of.b = contacts.geom[static_cast<std::size_t>(pair.geom[1])].place.body;
    of.plane = first.type == GeomType::Plane && of.a == 0 ? pair.geom[0] : -1;
    const bool margin_differs = s.touch.margin_differs(p);
    s.reaches_differ.push_back(margin_differs || s.touch.sizes_differ(pair.geom[0]) ||
                               s.touch.sizes_differ(pair.geom[1]));
    of.always = (of.a == 0 && of.plane < 0) || of.b == 0 || margin_differs || differs[static_cast<std::size_t>(of.a)] ||
                differs[static_cast<std::size_t>(of.b)];
    const double detection = pair.detection + (s.rigid ? static_cast<double>(s.rigid->look_ahead) : 0);
    const double far = beyond_rounding * ((of.plane >= 0 ? 0 : reach[static_cast<std::size_t>(of.a)]) +
                                          reach[static_cast<std::size_t>(of.b)] + detection);
    of.reach = static_cast<P>(of.plane >= 0 ? far : far > 0 ? far * far : -1);
    if (of.plane < 0 && of.a > of.b) std::swap(of.a, of.b);
    PairGroup<P>* last = s.group_of_pairs.empty() ? nullptr : &s.group_of_pairs.back();
    if (last && last->plane == of.plane && last->a == of.a && last->b == of.b && last->always == of.always)
      last->last = p + 1, last->reach = std::max(last->reach, of.reach);
    else s.group_of_pairs.push_back(of);
  }
}

// List, for each pair, the differing numbers that its contacts depend on, each once.
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

// Return the index of x in `all`; append x if it is missing.
template <class Element> int number_in(std::vector<Element>& all, const Element& x, auto&& equal) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const Element& y) { return equal(x, y); });
  if (at != all.end()) return static_cast<int>(at - all.begin());
  all.push_back(x);
  return static_cast<int>(all.size()) - 1;
}

// Set the row groups of the constraint blocks (0) and pairs (1) and, for the rigid law, their half solutions.
template <class P> void add_rows(const Model<double>& m, const GeomContacts<double>& contacts, ContactSolver<P>& s) {
  std::map<std::vector<int>, int> half_of_columns;
  const auto add = [&](int of, const RowGroup& group, const std::vector<int>& columns) {
    s.group_of[of].push_back(number_in(
        s.group, group, [](const RowGroup& x, const RowGroup& y) { return x.kind == y.kind && x.rows == y.rows; }));
    if (!s.rigid) return;
    const auto [at, is_new] = half_of_columns.try_emplace(columns, static_cast<int>(s.half.size()));
    if (is_new) s.half.push_back(half_solution(m, columns));
    s.half_of[of].push_back(at->second);
  };
  for (const PackedBlock& b : s.constraints.block) {
    const auto begin = s.constraints.column.begin() + b.column;
    add(0, {b.kind, b.rows}, {begin, begin + b.columns});
  }
  for (int p = 0; p < static_cast<int>(contacts.pair.size()); p++) {
    const ContactPair<double>& pair = contacts.pair[static_cast<std::size_t>(p)];
    std::vector<int> columns;
    for (int k = s.pairs.start[p]; k < s.pairs.start[p + 1]; k++) columns.push_back(s.pairs.column[k].v);
    add(1, {kind_of(contacts, pair), pair.dimension}, columns);
  }
}

// Set the gains of contacts if they are the same in all instances and do not depend on the configuration.
template <class P> void add_gains(const Model<double>& m, ContactSolver<P>& s) {
  const World<double>& w = m.world;
  const bool differ = !s.touch.of_pair.empty() || s.touch.of_all != std::array{-1, -1};
  if (differ || s.rigid || w.is_discrete() || w.constraints.exact_inertia) return;
  ContactLaw<double> law = contact_law<double>(w);
  law.single = std::is_same_v<P, float>;
  for (const ContactPair<double>& pair : w.contacts.pair) {
    ContactGains<double> g = contact_gains<double>(law, pair, usual_inertia<double>(pair, law.cone));
    s.gains.push_back(cast<P>(g));
  }
}

// Set the bounds of pairs, and the list that each pair belongs to.
template <class P> void add_bounds(const GeomContacts<double>& contacts, ContactSolver<P>& s) {
  std::map<std::tuple<int, int, GeomType, GeomType>, std::vector<std::size_t>> lists;  // by rows and power, then shapes
  for (std::size_t p = 0; p < contacts.pair.size(); p++) {
    const ContactPair<double>& pair = contacts.pair[p];
    PairBound<P> bound{{pair.geom[0], pair.geom[1]}};
    const Geom<double>* geom[2];
    for (int k = 0; k < 2; k++) geom[k] = &contacts.geom[static_cast<std::size_t>(pair.geom[k])];
    const double detection = static_cast<double>(s.world.contacts.pair[p].detection);
    const double reach[2] = {reach_of(contacts, *geom[0]), reach_of(contacts, *geom[1])};
    const auto squared = [&](double x) {
      return static_cast<P>(x > 0 ? beyond_rounding * beyond_rounding * x * x : -1);
    };
    const bool plane = geom[0]->type == GeomType::Plane;
    bound.spheres =
        plane ? static_cast<P>(beyond_rounding * (reach[1] + detection)) : squared(reach[0] + reach[1] + detection);
    if (plane) bound.shape = BoundShape::AbovePlane;
    for (int k = 0; k < 2 && !plane; k++) {
      if (geom[k]->type != GeomType::Capsule) continue;
      bound.about_axis[k] = squared(geom[k]->size.x() + reach[1 - k] + detection);
      bound.half[k] = static_cast<P>(geom[k]->size.y());
    }
    const bool box_first = geom[0]->type == GeomType::Box, box_second = geom[1]->type == GeomType::Box;
    if (!plane && box_first != box_second && detection >= 0) {
      bound.shape = box_first ? BoundShape::FirstIsBox : BoundShape::SecondIsBox;
      const int other = box_first ? 1 : 0;
      bound.about_box = squared(reach[other] + detection);
      if (geom[other]->type == GeomType::Capsule)
        bound.radius = static_cast<P>(beyond_rounding * (geom[other]->size.x() + detection));
    }
    if (s.reaches_differ[p]) bound.shape = BoundShape::Differs, bound.spheres = static_cast<P>(without_bound);
    s.bound.push_back(bound);
    // the no-slip sweeps find the rows again, in the order of pairs
    const bool listed = !plane && has_closed_form(contacts, pair) && !s.gains.empty() && s.touch.of_geom.empty() &&
                        s.world.no_slip.iterations == 0 && !geom[0]->surface_moves && !geom[1]->surface_moves;
    s.list_of.push_back(-1);
    if (listed) lists[{pair.dimension, pair.softness.power, geom[0]->type, geom[1]->type}].push_back(p);
    ContactGains<P> gains = s.gains.empty() ? ContactGains<P>{} : s.gains[p];
    for_each_number(gains, [&](P& x) { s.pair_number.push_back(x); });
    s.pair_number.push_back(s.world.contacts.pair[p].margin);
    s.pair_number.push_back(s.world.contacts.pair[p].detection);
  }
  // find the numbers that differ within a group of lists
  std::vector<unsigned> differs;  // (groups)
  std::pair<int, int> group;
  std::size_t first = 0;  // a pair of the group
  for (const auto& [key, pairs] : lists) {
    const std::pair of{std::get<0>(key), std::get<1>(key)};
    if (differs.empty() || of != group) group = of, first = pairs[0], differs.push_back(0);
    s.list_group.push_back(static_cast<int>(differs.size()) - 1);
    for (const std::size_t p : pairs) {
      s.list_of[p] = s.lists;
      for (int k = 0; k < numbers_of_pair; k++)
        if (s.pair_number[numbers_of_pair * p + k] != s.pair_number[numbers_of_pair * first + k])
          differs.back() |= 1u << k;
    }
    s.lists++;
  }
  for (const int of : s.list_group) s.list_differs.push_back(differs[static_cast<std::size_t>(of)]);
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
  add_rows(m, contacts, s), add_bodies(contacts, s), add_numbers(contacts, s), add_gains(m, s);
  add_bounds(contacts, s);
  // the stiffness of pyramid edges grows with 1 / friction^2
  for (const ContactPair<double>& pair : contacts.pair)
    if (!contacts.elliptic && pair.dimension > 1 && pair.friction[0] < 1e-3) s.refinements = 3;
  if (options.rigid) return solver;
  add_limb_tables(m, s);
  return solver;
}

using Names = std::vector<std::string>;

Names inputs_of(SolverAlgorithm text, bool rigid) {
  const Names rows = {"jacobian", "row_D", "row_aref", "row_friction", "placement", "twist", "axis", "qacc"};
  Names in = rows;
  if (text == SolverAlgorithm::solution) {
    in.insert(in.begin(), {rigid ? "factor" : "mass", "qacc_smooth"});
    in.insert(in.end(), {"touch", "weights", "contact_zones"});
  } else {
    in.insert(in.begin(), "mass");
    if (text == SolverAlgorithm::gradients) in.insert(in.end(), {"qacc_bar", "touch", "weights"});
    else in.insert(in.end(), {"touch", "weights", "g_tan", "placement_tan", "twist_tan", "axis_tan", "touch_tan"});
  }
  return in;
}

Names outputs_of(SolverAlgorithm text) {
  switch (text) {
    case SolverAlgorithm::solution:
      return {"qacc_next", "row_force", "contact_force", "passes",       "residual",       "gap",
              "rows",      "touched",   "contact_count", "contact_link", "contact_sensor", "contact_selection",
              "order_key", "searches"};
    case SolverAlgorithm::gradients:
      return {"lambda", "pose_bar", "lambda_motion_bar", "qacc_motion_bar", "twist_bar", "touch_bar"};
    default: return {"qacc_tan"};
  }
}

template <class P>
ContactSolverStage stage_of(const Model<double>& m, const WorldPrograms& programs, Kernel kernel, int width,
                            const ContactSolverOptions& options, SolverAlgorithm text) {
  const auto solver = solver_of<P>(m, programs, options);
  return {{kernel, solver.get(), width, std::const_pointer_cast<ContactSolver<P>>(solver)},
          device_solver_stage(solver, text),
          inputs_of(text, solver->rigid.has_value()),
          outputs_of(text)};
}

}  // namespace

ContactSolverStage contact_solver(const Model<double>& model, const WorldPrograms& programs, Precision precision,
                                  const std::string& isa, const ContactSolverOptions& options, SolverAlgorithm text) {
  constexpr long sizes[2] = {sizeof(ContactSolver<float>), sizeof(ContactSolver<double>)};
  const SolverTable* table = cpu_solver(isa, text, sizes);
  if (!table)
    throw Error("the library of CPU kernels libfeatherstorm_cpu_" + isa +
                "_world.so was not found; `./featherstorm setup` builds it");
  return precision == Precision::float32
             ? stage_of<float>(model, programs, table->in_float, table->float_width, options, text)
             : stage_of<double>(model, programs, table->in_double, table->double_width, options, text);
}

}  // namespace featherstorm
