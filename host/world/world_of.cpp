#include "host/world/world_of.h"

namespace featherstorm {

World<double> world_of(const Robot& robot, const MujocoTables& tables, const std::vector<std::string>& link_names,
                       const std::vector<std::string>& joint_names, std::vector<std::string>& notices) {
  const Places places(robot, tables, link_names, joint_names);
  World<double> w;
  w.timestep = tables.real("opt.timestep");
  w.integrator = static_cast<Integrator>(tables.integer("opt.integrator"));
  constexpr int no_implicit_damping = 1 << 15, no_dampers = 1 << 6;  // mjtDisableBit
  w.implicit_damping = (tables.integer("opt.disableflags") & (no_implicit_damping | no_dampers)) == 0;
  add_links(w, tables, places);
  add_tendons(w, tables, places);
  add_actuators(w, tables, places);
  add_constraints(w, tables, places);
  const std::string left_out = add_contacts(w, tables, places);
  if (!left_out.empty()) notices.push_back(left_out);
  if (const int n = tables.integer("opt.noslip_iterations"); n > 0)
    notices.push_back("option noslip_iterations: " + std::to_string(n) +
                      " is left out: friction is as the solver finds it");
  add_sensors(w, tables, places);
  return w;
}

}  // namespace featherstorm
