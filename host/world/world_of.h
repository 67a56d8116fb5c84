// Makes the world of a robot from the compiled MuJoCo model from which the robot was made.
#pragma once
#include <array>

#include "host/world/places.h"

namespace featherstorm {

// The data from which a world is read.
struct WorldSource {
  MujocoTables tables;
  std::vector<std::string> link_names, joint_names;  // as for Places
};

// The robot with its world, read from `source`, which the robot keeps. Throws Error naming the element for unsupported
// features. Unsupported features that a simulation can do without are omitted, with a sentence in `notices`.
Robot with_world(const Robot& robot, std::shared_ptr<const WorldSource> source, std::vector<std::string>& notices);

// The world of a robot with a world, with other numbers for whole tables of its source; T as in WorldTables.
template <class T> World<T> world_of(const Robot& robot, const WorldTables<T>& tables);

// The robot with only these of its pairs of geoms, by the numbers of the two geoms in the file. Throws Error for a robot
// without a file's world, and for a pair that it does not have.
Robot with_pairs(const Robot& robot, const std::vector<std::array<int, 2>>& pairs);

// The parts of a world, one file each.
template <class T>
void add_links(World<T>& world, const WorldTables<T>& tables,
               const Places<T>& places);  // links, medium, springs, damping
template <class T> void add_tendons(World<T>& world, const WorldTables<T>& tables, const Places<T>& places);
template <class T>
void add_actuators(World<T>& world, const WorldTables<T>& tables,
                   const Places<T>& places);  // also controls and limits of effort
template <class T> void add_constraints(World<T>& world, const WorldTables<T>& tables, const Places<T>& places);
// The indices in the file of the world's equalities, in order. Equalities that hold only fixed bodies are not among
// them.
template <class T> std::vector<int> held_equalities(const WorldTables<T>& tables, const Places<T>& places);
// Focal lengths and principal point of a camera [pixel].
struct Lens { std::array<double, 2> focal, middle; };
Lens lens_of(const MujocoTables& tables, int camera);
HeightField<double> height_field_of(const MujocoTables& tables, int number);
// Geoms too.
template <class T>
void add_contacts(World<T>& world, const WorldTables<T>& tables, const Places<T>& places,
                  std::vector<std::string>& notices);
// Call it after actuators and contacts.
template <class T> void add_adhesion(World<T>& world, const WorldTables<T>& tables);
template <class T> void add_sensors(World<T>& world, const WorldTables<T>& tables, const Places<T>& places);

}  // namespace featherstorm
