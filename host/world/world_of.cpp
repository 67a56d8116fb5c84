#include "host/world/world_of.h"

#include <algorithm>

#include "core/trace/expr.h"
#include "host/world/geom_pairs.h"

namespace featherstorm {
namespace {

template <class T>
World<T> read(const Robot& robot, const WorldTables<T>& tables, const WorldSource& source,
              std::vector<std::string>& notices) {
  const Places<T> places(robot, tables, source.link_names, source.joint_names);
  World<T> w;
  w.timestep = tables.real("opt.timestep");
  w.integrator = static_cast<Integrator>(tables.integer("opt.integrator"));
  w.iterations = std::max(tables.integer("opt.iterations"), 1);
  constexpr int no_implicit_damping = 1 << 15, no_dampers = 1 << 6;  // mjtDisableBit
  w.implicit_damping = (tables.integer("opt.disableflags") & (no_implicit_damping | no_dampers)) == 0;
  constexpr int dual_solver = 0;  // mjSOL_PGS
  w.implicit_lengths = tables.integer("opt.solver") != dual_solver;
  add_links(w, tables, places);
  add_tendons(w, tables, places);
  add_actuators(w, tables, places);
  add_constraints(w, tables, places);
  add_contacts(w, tables, places, notices);
  add_adhesion(w, tables);
  if (const int n = tables.integer("opt.noslip_iterations"); n > 0)
    w.no_slip = {n, T(tables.nominal("opt.noslip_tolerance"))};
  constexpr int sleep = 1 << 4;  // mjtEnableBit
  if (tables.integer("opt.enableflags") & sleep)
    notices.push_back("flag sleep is ignored: bodies stay awake and move as if it were disabled");
  add_sensors(w, tables, places);
  return w;
}

}  // namespace

Robot with_world(const Robot& robot, std::shared_ptr<const WorldSource> source, std::vector<std::string>& notices) {
  Robot r = robot;
  r.model.world = read(robot, WorldTables<double>(source->tables), *source, notices);
  r.source = std::move(source);
  return r;
}

Robot with_pairs(const Robot& robot, const std::vector<std::array<int, 2>>& pairs) {
  if (!robot.source) throw Error("robot '" + robot.name + "' has no world of a file, and no pairs of geoms");
  const auto& own = robot.model.world.contacts.pair;
  std::vector<double> numbers;
  for (const auto& [a, b] : pairs) {
    if (std::none_of(own.begin(), own.end(), [&, a = a, b = b](const ContactPair<double>& p) {
          return (p.geom[0] == a && p.geom[1] == b) || (p.geom[0] == b && p.geom[1] == a);
        }))
      throw Error("robot '" + robot.name + "': geoms " + std::to_string(a) + " and " + std::to_string(b) +
                  " are no pair that may touch");
    numbers.push_back(a), numbers.push_back(b);
  }
  auto source = std::make_shared<WorldSource>(*robot.source);
  source->tables.set(kept_pairs, std::move(numbers));
  std::vector<std::string> known;
  return with_world(robot, std::move(source), known);
}

template <class T> World<T> world_of(const Robot& robot, const WorldTables<T>& tables) {
  std::vector<std::string> known;
  return read(robot, tables, *robot.source, known);
}
template World<Expr> world_of(const Robot&, const WorldTables<Expr>&);

}  // namespace featherstorm
