// Where the elements of a MuJoCo model are on the tree of a robot that was made of it.
#pragma once
#include <string>
#include <vector>

#include "core/model/builder.h"
#include "host/world/world_tables.h"

namespace featherstorm {

// Where one of MuJoCo's bodies is in its parent.
template <class T> Placement<T> place_of_body(const WorldTables<T>& tables, int body);

template <class T> class Places {
 public:
  // link_names: the frame of each of MuJoCo's bodies, "" for the world; joint_names: the joint of the robot for each of its
  // joints. Throws Error for a name that the robot does not have, and where coordinates are not in the same order.
  Places(const Robot& robot, const WorldTables<T>& tables, const std::vector<std::string>& link_names,
         const std::vector<std::string>& joint_names);

  const Frame<T>& link(int body) const { return links_.at(static_cast<std::size_t>(body)); }
  // A place in the axes of one of MuJoCo's bodies; quaternion w first.
  Frame<T> in_link(int body, const std::vector<T>& position, const std::vector<T>& quaternion) const;
  Frame<T> inertial(int body) const;
  Frame<T> site(int site) const;
  Frame<T> geom(int geom) const;
  // The tree's body that a joint moves.
  int joint(int joint) const { return joints_.at(static_cast<std::size_t>(joint)); }

 private:
  Frame<T> in_link(int body, int same, std::vector<T> position, std::vector<T> quaternion) const;

  const WorldTables<T>& tables_;
  void move_bodies();

  std::vector<Frame<T>> links_;
  std::vector<int> joints_;
};

}  // namespace featherstorm
