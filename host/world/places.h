// Frames of the elements of a MuJoCo model in the bodies of the robot that was made from it.
#pragma once
#include <string>
#include <vector>

#include "core/model/builder.h"
#include "host/world/world_tables.h"

namespace featherstorm {

// The placement of a MuJoCo body in its parent.
template <class T> Placement<T> place_of_body(const WorldTables<T>& tables, int body);

template <class T> class Places {
 public:
  // link_names: the robot's frame for each MuJoCo body, "" for the world. joint_names: the robot's joint for each
  // MuJoCo joint. Throws Error for a name that the robot does not have, and if the coordinates are in a different
  // order.
  Places(const Robot& robot, const WorldTables<T>& tables, const std::vector<std::string>& link_names,
         const std::vector<std::string>& joint_names);

  const Frame<T>& link(int body) const { return links_.at(static_cast<std::size_t>(body)); }
  // A frame given in the axes of a MuJoCo body; quaternion w first.
  Frame<T> in_link(int body, const std::vector<T>& position, const std::vector<T>& quaternion) const;
  Frame<T> inertial(int body) const;
  Frame<T> site(int site) const;
  Frame<T> geom(int geom) const;
  // The body of the tree that a joint moves.
  int joint(int joint) const { return joints_.at(static_cast<std::size_t>(joint)); }

 private:
  Frame<T> in_link(int body, int same, std::vector<T> position, std::vector<T> quaternion) const;

  const WorldTables<T>& tables_;
  void move_bodies();

  std::vector<Frame<T>> links_;
  std::vector<int> joints_;
};

}  // namespace featherstorm
