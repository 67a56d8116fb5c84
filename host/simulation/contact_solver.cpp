#include "host/simulation/contact_solver.h"

#include <algorithm>
#include <cmath>

#include "core/mujoco/contact_solve.h"
#include "host/memory/cpu_library.h"

namespace featherstorm {
namespace {

// Radius of the sphere about a geom's centre that holds it.
double reach_of(const GeomContacts<double>& c, const Geom<double>& g) {
  const Vec3d& s = g.size;
  switch (g.type) {
    case GeomType::Plane: return 0;
    case GeomType::Sphere: return s.x();
    case GeomType::Capsule: return s.x() + s.y();
    case GeomType::Cylinder: return std::hypot(s.x(), s.y());
    case GeomType::Ellipsoid: return s.maxCoeff();
    case GeomType::Box: return s.norm();
    case GeomType::Mesh: {
      double most = 0;
      if (g.hull >= 0)
        for (const HullCorner<double>& corner : c.hull[static_cast<std::size_t>(g.hull)].corner)
          most = std::max(most, corner.r.norm());
      return most;
    }
    case GeomType::HeightField:
    case GeomType::SignedDistance: break;  // in no pair
  }
  return 0;
}

// Whether the coordinates of a pair are not one branch of the tree.
bool is_coupling(const Model<double>& m, const PairColumns& pairs, int pair) {
  for (int k = pairs.start[pair] + 1; k < pairs.start[pair + 1]; k++)
    if (m.dof_parent[pairs.column[k].v] != pairs.column[k - 1].v) return true;
  return false;
}

template <class P>
std::shared_ptr<ContactSolver<P>> made(const Model<double>& m, const WorldPrograms& programs,
                                       const SolverOptions& options) {
  auto s = std::make_shared<ContactSolver<P>>();
  const GeomContacts<double>& contacts = m.world.contacts;
  s->nv = m.nv, s->nb = m.nb;
  s->world = cast<P>(m.world);
  s->constraints = programs.rows, s->pairs = programs.pairs;
  s->column = programs.rows.column;
  for (const PathColumn& c : programs.pairs.column) s->column.push_back(c.v);
  std::vector<std::vector<int>> coupled;
  int row = 0;
  for (int i = 0; i < static_cast<int>(contacts.pair.size()); i++) {
    const ContactPair<double>& pair = contacts.pair[static_cast<std::size_t>(i)];
    s->couples.push_back(is_coupling(m, s->pairs, i));
    s->is_path.push_back(contacts.geom[static_cast<std::size_t>(pair.geom[0])].place.body == 0);
    s->order.push_back(i), s->first_row.push_back(row);
    row += pair.slots * pair.dimension;
    if (!s->couples.back()) continue;
    const auto begin = s->column.begin() + static_cast<long>(programs.rows.column.size());
    coupled.emplace_back(begin + s->pairs.start[i], begin + s->pairs.start[i + 1]);
  }
  std::stable_sort(s->order.begin(), s->order.end(),
                   [&](int a, int b) { return s->pairs.columns(a) > s->pairs.columns(b); });
  s->tree[0] = tree_with(m, programs.rows), s->tree[1] = tree_with(m, programs.rows, coupled);
  for (int k = 0; k < 2; k++) s->entry[k] = entries_on(m, s->tree[k]);
  for (const Geom<double>& g : contacts.geom) s->reach.push_back(static_cast<P>(reach_of(contacts, g)));
  s->iterations = options.iterations, s->tolerance = static_cast<P>(options.tolerance);
  return s;
}

}  // namespace

BoundKernel contact_solver(const Model<double>& model, const WorldPrograms& programs, Precision precision,
                           const std::string& isa, const SolverOptions& options) {
  const SolverTable* table = cpu_solver(isa);
  if (!table)
    throw Error("the library of CPU kernels libfeatherstorm_cpu_" + isa +
                ".so was not found; `./featherstorm setup` builds it");
  if (precision == Precision::float32) {
    auto solver = made<float>(model, programs, options);
    return {table->in_float, solver.get(), table->float_width, solver};
  }
  auto solver = made<double>(model, programs, options);
  return {table->in_double, solver.get(), table->double_width, solver};
}

}  // namespace featherstorm
