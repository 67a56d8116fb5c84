// The world of a robot from the compiled MuJoCo model that it was made of.
#pragma once
#include "host/world/places.h"

namespace featherstorm {

// link_names, joint_names: as for Places. Throws Error naming the element for what is not supported; what the world can do
// without is left out, with a sentence in `notices`.
World<double> world_of(const Robot& robot, const MujocoTables& tables, const std::vector<std::string>& link_names,
                       const std::vector<std::string>& joint_names, std::vector<std::string>& notices);

// Its parts, a file each.
void add_links(World<double>& world, const MujocoTables& tables,
               const Places& places);  // links, medium, springs, damping
void add_tendons(World<double>& world, const MujocoTables& tables, const Places& places);
void add_actuators(World<double>& world, const MujocoTables& tables,
                   const Places& places);  // and controls, limits of effort
void add_constraints(World<double>& world, const MujocoTables& tables, const Places& places);
// Geoms too. Returns what is left out, in a sentence; empty where nothing is.
std::string add_contacts(World<double>& world, const MujocoTables& tables, const Places& places);
void add_sensors(World<double>& world, const MujocoTables& tables, const Places& places);

}  // namespace featherstorm
