#include "host/solver/contact_solver.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>

#include "host/memory/cpu_library.h"
#include "host/solver/contact_solve.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

// Radius of the sphere about a geom's centre that holds it.
double reach_of(const GeomContacts<double>& c, const Geom<double>& g) {
  const Vec3<double>& s = g.size;
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

// Whether coordinates `first` to `last` of a path have one child each.
bool is_one_limb(const Model<double>& m, int first, int last) {
  for (int v = last; v != first; v = m.dof_parent[v])
    if (std::count(m.dof_parent.begin(), m.dof_parent.end(), m.dof_parent[v]) > 1) return false;
  return true;
}

// The kinds of places that the pairs need, and which is whose.
void add_kinds(const Model<double>& m, const PairColumns& pairs, const std::vector<char>& couples, auto& s) {
  const GeomContacts<double>& contacts = m.world.contacts;
  const int n = static_cast<int>(contacts.pair.size());
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return pairs.columns(a) > pairs.columns(b); });
  const auto coordinates = [&](int p) {
    std::vector<int> v;
    for (int k = pairs.start[p]; k < pairs.start[p + 1]; k++) v.push_back(pairs.column[k].v);
    return v;
  };
  s.kind_of.resize(order.size());
  s.position.resize(pairs.column.size());
  for (const int p : order) {
    const std::vector<int> of_pair = coordinates(p);
    PlaceKind kind;
    kind.rows = contacts.pair[static_cast<std::size_t>(p)].dimension;
    kind.kind = kind.rows == 1 ? RowKind::Unilateral : contacts.elliptic ? RowKind::Cone : RowKind::Pyramid;
    kind.universal = couples[static_cast<std::size_t>(p)] != 0;
    // a body that several limbs begin at has places of its own
    const auto serves = [&](const PlaceKind& k) {
      return k.kind == kind.kind && k.rows == kind.rows && k.universal == kind.universal &&
             std::includes(k.column.begin(), k.column.end(), of_pair.begin(), of_pair.end()) &&
             (kind.universal || is_one_limb(m, of_pair.back(), k.column.back()));
    };
    auto at = std::find_if(s.kind.begin(), s.kind.end(), serves);
    if (at == s.kind.end()) {
      if (kind.universal) {
        kind.column.resize(static_cast<std::size_t>(m.nv));
        std::iota(kind.column.begin(), kind.column.end(), 0);
      } else {
        for (int v = of_pair.back(); v >= 0; v = m.dof_parent[v]) kind.column.insert(kind.column.begin(), v);
      }
      at = s.kind.insert(s.kind.end(), kind);
    }
    s.kind_of[static_cast<std::size_t>(p)] = static_cast<int>(at - s.kind.begin());
    for (std::size_t k = 0; k < of_pair.size(); k++)
      s.position[static_cast<std::size_t>(pairs.start[p]) + k] =
          static_cast<int>(std::lower_bound(at->column.begin(), at->column.end(), of_pair[k]) - at->column.begin());
  }
}

// A solver and the kernels that it has made.
template <class P> struct Maker {
  ContactSolver<P> solver;
  Model<double> model;
  double tolerance = 0;
  std::string isa;
  std::mutex mutex;
  struct Pair { BoundKernel direction, search; };
  std::vector<std::unique_ptr<const Pair>> kernels;
  std::vector<std::atomic<const Pair*>> ready;  // of those that there are, read without the lock

  // Kernels larger than this cost more than the loops.
  static constexpr int most_nodes = 200000;

  PlacesKernels of(int i) {
    const auto at = static_cast<std::size_t>(i);
    const Pair* k = ready[at].load(std::memory_order_acquire);
    if (!k) {
      std::lock_guard lock(mutex);
      if (!kernels[at]) kernels[at] = std::make_unique<const Pair>(made(solver.counts[at]));
      k = kernels[at].get();
      ready[at].store(k, std::memory_order_release);
    }
    return {k->direction.kernel, k->search.kernel, k->direction.model, k->search.model};
  }

 private:
  Pair made(const PlaceCount& count) const {
    RowPattern places;
    for (const PlaceKind& kind : solver.kind)
      for (int k = 0; k < count.of(kind); k++) places.add(kind.kind, kind.rows, kind.column);
    const PassPrograms p = newton_pass(model, solver.constraints, places, tolerance);
    if (static_cast<int>(p.direction.graph.size()) > most_nodes) return {};
    constexpr Precision precision = std::is_same_v<P, float> ? Precision::float32 : Precision::float64;
    return {assemble_program(p.direction, precision, isa), assemble_program(p.search, precision, isa)};
  }
};

// How many times as much as a pass without contacts one with places may cost; of robots whose limbs touch each other, where
// some instances of a few always need the loops, and two ways side by side cost more than one.
constexpr double most_places = 20, most_beside_loops = 1.1;

template <class P>
BoundKernel made(const Model<double>& m, const WorldPrograms& programs, const std::string& isa, Kernel kernel,
                 int width, const ContactSolverOptions& options) {
  auto maker = std::make_shared<Maker<P>>();
  ContactSolver<P>& s = maker->solver;
  const GeomContacts<double>& contacts = m.world.contacts;
  maker->model = m, maker->tolerance = options.tolerance, maker->isa = isa;
  s.nv = m.nv, s.nb = m.nb;
  s.world = cast<P>(m.world);
  s.constraints = programs.rows, s.pairs = programs.pairs;
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
  s.iterations = options.iterations, s.tolerance = static_cast<P>(options.tolerance);
  add_kinds(m, s.pairs, s.couples, s);
  // as many places as cost no more than a few passes without any: loops do the rest
  double factor[2] = {};
  for (int k = 0; k < 2; k++)
    for (const int d : s.tree[k].depth) factor[k] += 0.5 * (d + 1) * (d + 6);
  for (const PlaceCount& count : {PlaceCount{0, 0}, {1, 0}, {2, 0}, {3, 1}, {4, 2}}) {
    double cost = factor[count.universal > 0];
    for (const PlaceKind& kind : s.kind)
      cost += count.of(kind) * block_cost(kind.rows, static_cast<int>(kind.column.size()));
    const double most = coupled.empty() ? most_places : most_beside_loops;
    if (options.assemble && cost < most * factor[0]) s.counts.push_back(count);
  }
  maker->kernels.resize(s.counts.size());
  maker->ready = std::vector<std::atomic<const typename Maker<P>::Pair*>>(s.counts.size());
  s.maker = maker.get();
  s.kernels = [](const ContactSolver<P>& solver, int i) { return static_cast<Maker<P>*>(solver.maker)->of(i); };
  return {kernel, &s, width, maker};
}

}  // namespace

BoundKernel contact_solver(const Model<double>& model, const WorldPrograms& programs, Precision precision,
                           const std::string& isa, const ContactSolverOptions& options) {
  const SolverTable* table = cpu_solver(isa);
  if (!table)
    throw Error("the library of CPU kernels libfeatherstorm_cpu_" + isa +
                ".so was not found; `./featherstorm setup` builds it");
  return precision == Precision::float32
             ? made<float>(model, programs, isa, table->in_float, table->float_width, options)
             : made<double>(model, programs, isa, table->in_double, table->double_width, options);
}

}  // namespace featherstorm
