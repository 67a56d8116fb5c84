// The world of a robot from the compiled MuJoCo model that it was made of.
#pragma once
#include "host/world/places.h"

namespace featherstorm {

// What a world is read from.
struct WorldSource {
  MujocoTables tables;
  std::vector<std::string> link_names, joint_names;  // as for Places
};

// The robot with its world, read from `source`, which it keeps. Throws Error naming the element for what is not supported; what the
// world can do without is left out, with a sentence in `notices`.
Robot with_world(const Robot& robot, std::shared_ptr<const WorldSource> source, std::vector<std::string>& notices);

// The world of a robot that has one, where whole tables of its source are other numbers; T as of WorldTables.
template <class T> World<T> world_of(const Robot& robot, const WorldTables<T>& tables);

// The parts of a world, a file each.
template <class T>
void add_links(World<T>& world, const WorldTables<T>& tables,
               const Places<T>& places);  // links, medium, springs, damping
template <class T> void add_tendons(World<T>& world, const WorldTables<T>& tables, const Places<T>& places);
template <class T>
void add_actuators(World<T>& world, const WorldTables<T>& tables,
                   const Places<T>& places);  // and controls, limits of effort
template <class T> void add_constraints(World<T>& world, const WorldTables<T>& tables, const Places<T>& places);
// The numbers in the file of the equalities among them, in order: those of what moves.
template <class T> std::vector<int> held_equalities(const WorldTables<T>& tables, const Places<T>& places);
// Geoms too.
template <class T>
void add_contacts(World<T>& world, const WorldTables<T>& tables, const Places<T>& places,
                  std::vector<std::string>& notices);
// After actuators and contacts.
template <class T> void add_adhesion(World<T>& world, const WorldTables<T>& tables);
template <class T> void add_sensors(World<T>& world, const WorldTables<T>& tables, const Places<T>& places);

}  // namespace featherstorm
